"""Say whether an action is lawful in a view, and by which rule it is not."""

from collections.abc import Iterator
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Game
from fairplay.diagnosis.why import alternatives, rule
from fairplay.games import title
from fairplay.journal.appeal import clauses, lawful_in, some_actions
from fairplay.journal.replay import Recorded
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, paragraph, plain

NO_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Position(msgspec.Struct, frozen=True):
    """A view that an action is held against, and who sees it."""

    game: Game[Any, Any, Any]
    view: Any  # None: nobody is to move
    who: str
    facts: int | None = None  # that led there; None: nobody knows


def position_in(recorded: Recorded, at: int | None) -> Position:
    """The view of whoever is to move in a record, after so many facts."""
    match = recorded.at(at)
    seat, facts = match.turn, len(recorded.entries) if at is None else at
    if seat is None:
        return Position(match.game, None, "", facts)
    return Position(match.game, match.view(seat), match.names[seat], facts)


def action_from(position: Position, said: bytes) -> Any:
    """The action in a text, read as the answer of a player is."""
    game = position.game
    try:
        return msgspec.json.decode(said, type=game.action)
    except msgspec.ValidationError as error:
        raise BadRequest(f"this is no action of {game.name}: {error}; one is {example(position)}") from None
    except NO_JSON as error:
        raise BadRequest(f"the action is no JSON: {error}; write {example(position)}") from None


def verdict(position: Position, action: Any) -> tuple[bool, list[str]]:
    """Is it lawful? And what there is to say of it, line by line."""
    if position.view is None:
        return False, [f"no: nobody is to move after {position.facts} facts: the game is over"]
    try:
        position.game.check(position.view, action)
    except IllegalAction as illegal:
        return False, list(refused(position, action, illegal))
    return True, [printable(f"yes: {position.who} {action}", LONGEST)]


def refused(position: Position, action: Any, illegal: IllegalAction) -> Iterator[str]:
    """Why not, line by line."""
    lawful = lawful_in(position.game, position.view)
    yield printable(f"no: {illegal}", LONGEST)
    yield ""
    yield from rule(illegal.clause, clauses(position.game.name).get(illegal.clause, ""))
    yield from paragraph("action", f"{position.who} {action}")
    if lawful.count or position.facts is not None:
        yield from paragraph("lawful", *alternatives(lawful, "action", position.who))
    else:  # a view does not say which
        yield from paragraph("lawful", f"none: {position.who} is not to move, or has no legal option")


def example(position: Position) -> str:
    """Actions to learn from, one of each kind: lawful ones, else some of positions that come with the game."""
    shelf, found = title(position.game.name), dict[type, Any]()
    for action in () if position.view is None else some_actions(position.game, position.view):
        found.setdefault(type(action), action)
    for state in () if found else shelf.examples.values():
        rules = shelf.rules()
        for action in some_actions(rules, rules.view(state, rules.turn(state))):
            found.setdefault(type(action), action)
    return " or ".join(plain(action) for action in found.values())
