"""Explain whether an action is legal in a view, and which rule forbids it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Game
from fairplay.diagnosis.ejection_explanation import describe_legal_actions, describe_rule
from fairplay.games import game_info
from fairplay.journal.ejection_report import clauses, first_legal_actions, legal_actions
from fairplay.journal.replay import RecordedMatch
from fairplay.render.formatting import MAX_PRINTED_CHARS, format_json, format_paragraph
from fairplay.render.text import printable

JSON_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class JudgedView(msgspec.Struct, frozen=True):
    """A view in which an action is judged, and the player that sees it."""

    game: Game[Any, Any, Any]
    view: Any  # None: no player is to move
    name: str
    facts: int | None = None  # that led to the view; None: it is not from a record


def judged_view(recorded: RecordedMatch, at: int | None) -> JudgedView:
    """The view of the player to move in a record, after so many facts; None: after all of them."""
    match = recorded.match_after(at)
    seat, facts = match.turn, len(recorded.entries) if at is None else at
    if seat is None:
        return JudgedView(match.game, None, "", facts)
    return JudgedView(match.game, match.view(seat), match.names[seat], facts)


def parse_action(position: JudgedView, text: bytes) -> Any:
    """The action in a text, which is read like the answer of a player."""
    game = position.game
    try:
        return msgspec.json.decode(text, type=game.action)
    except msgspec.ValidationError as error:
        raise BadRequest(f"not an action of {game.name}: {error}; write {format_examples(position)}") from None
    except JSON_ERRORS as error:
        raise BadRequest(f"the action is not JSON: {error}; write {format_examples(position)}") from None


def judge_action(position: JudgedView, action: Any) -> tuple[bool, list[str]]:
    """Is it legal? And the explanation, line by line."""
    if position.view is None:
        return False, [f"no: no player is to move after {position.facts} facts: the game is over"]
    try:
        position.game.check(position.view, action)
    except IllegalAction as illegal:
        return False, list(explain_refusal(position, action, illegal))
    return True, [printable(f"yes: {position.name} {action}", MAX_PRINTED_CHARS)]


def explain_refusal(position: JudgedView, action: Any, illegal: IllegalAction) -> Iterator[str]:
    """Why an action is not legal, line by line."""
    legal = legal_actions(position.game, position.view)
    yield printable(f"no: {illegal}", MAX_PRINTED_CHARS)
    yield ""
    yield from describe_rule(illegal.clause, clauses(position.game.name).get(illegal.clause, ""))
    yield from format_paragraph("action", f"{position.name} {action}")
    if legal.count or position.facts is not None:
        yield from format_paragraph("legal", *describe_legal_actions(legal, "action", position.name))
    else:  # a view does not tell the two apart
        yield from format_paragraph("legal", f"none: {position.name} is not to move, or has no legal option")


def format_examples(position: JudgedView) -> str:
    """One action of each kind as examples: legal ones, or else actions in the game's example positions."""
    info, found = game_info(position.game.name), dict[type, Any]()
    for action in () if position.view is None else first_legal_actions(position.game, position.view):
        found.setdefault(type(action), action)
    for state in () if found else info.examples.values():
        rules = info.rules()
        for action in first_legal_actions(rules, rules.view(state, rules.turn(state))):
            found.setdefault(type(action), action)
    return " or ".join(format_json(action) for action in found.values())
