"""fairplay why-not: say whether an action is lawful in a view, and by which rule it is not."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click
import msgspec

from fairplay.cli.match_options import settings
from fairplay.cli.output import about
from fairplay.cli.why import alternatives, rule
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Game
from fairplay.games import game_with, title
from fairplay.journal.appeal import MOST_COUNTED, clauses, lawful_in
from fairplay.journal.verify import read_lawful
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, paragraph, plain

OPENING = b'{"type":"opening"'  # how every journal begins
NO_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Position(msgspec.Struct, frozen=True):
    """A view that an action is held against, and who sees it."""

    game: Game[Any, Any, Any]
    view: Any  # None: nobody is to move
    who: str
    facts: int | None = None  # that led there; None: nobody knows


@click.command("why-not")
@click.argument("game")
@click.argument("action")
@click.option(
    "--view", "file", required=True, metavar="FILE", help="A journal, or a view in JSON; - is standard input."
)
@click.option("--at", type=int, metavar="K", help="After K facts of the journal; at its end if not given.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.pass_context
def why_not(
    context: click.Context, game: str, action: str, file: str, at: int | None, parameters: tuple[str, ...]
) -> None:
    """Say whether an ACTION is lawful in a view of GAME.

    ACTION is JSON, as a player answers it; - is standard input. The view is one that a journal keeps as "shown", or
    that of whoever is to move in a journal. Yes: exit code 0. No: the rule, and exit code 1.

    \b
    For example:
      fairplay why-not fish --view FILE --at 8 '{"type": "place", "at": [0, 0]}'
    """
    if file == action == "-":
        raise BadRequest("only one of the view and the action can come from standard input")
    position = look(game, file, at, parameters)
    said = read_action(position, action)
    if position.view is None:
        click.echo(f"no: nobody is to move after {position.facts} facts: the game is over")
        context.exit(1)
    try:
        position.game.check(position.view, said)
    except IllegalAction as illegal:
        click.echo("\n".join(refused(position, said, illegal)))
        context.exit(1)
    click.echo(printable(f"yes: {position.who} {said}", LONGEST))


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


def look(game: str, file: str, at: int | None, parameters: Sequence[str]) -> Position:
    """The view in a file, or the one of whoever is to move in a journal."""
    rules = game_with(game, settings(parameters))
    text = read(file)
    if text.startswith(OPENING):
        if parameters:
            raise BadRequest(f"{file} is a journal, which has the parameters of its match, so --set makes no sense")
        return look_into(game, file, at)
    if at is not None:
        raise BadRequest(f"{called(file)} is no journal, so --at makes no sense")
    try:
        view = rules.unpack(msgspec.json.decode(text))
    except NO_JSON as error:
        raise BadRequest(f"{called(file)} is neither a journal nor a view in JSON: {error}") from None
    except BadRequest as error:
        raise BadRequest(f"{called(file)} is neither a journal nor a view of {game}: {error}") from None
    seat = getattr(view, "seat", None)
    return Position(rules, view, "a spectator" if seat is None else f"seat {seat}")


def look_into(game: str, file: str, at: int | None) -> Position:
    """The view of whoever is to move in a journal."""
    if file == "-":
        raise BadRequest("a journal cannot come from standard input, so name its file")
    with about(file):
        recorded = read_lawful(file)
    if recorded.opening.game != game:
        raise BadRequest(f"{file} is the journal of a match of {recorded.opening.game}, not of {game}")
    match = recorded.at(at)
    seat, facts = match.turn, len(recorded.entries) if at is None else at
    if seat is None:
        return Position(match.game, None, "", facts)
    return Position(match.game, match.view(seat), match.names[seat], facts)


def read_action(position: Position, text: str) -> Any:
    """The action in a text, read as the answer of a player is."""
    game = position.game
    said = read("-") if text == "-" else text.encode(errors="surrogateescape")
    try:
        return msgspec.json.decode(said, type=game.action)
    except msgspec.ValidationError as error:
        raise BadRequest(f"this is no action of {game.name}: {error}; one is {example(position)}") from None
    except NO_JSON as error:
        raise BadRequest(f"the action is no JSON: {error}; write {example(position)}") from None


def example(position: Position) -> str:
    """Actions to learn from, one of each kind: lawful ones, else some of positions that come with the game."""
    shelf, found = title(position.game.name), dict[type, Any]()
    here = iter(()) if position.view is None else position.game.actions(position.view)
    for action in islice(here, MOST_COUNTED):
        found.setdefault(type(action), action)
    for state in () if found else shelf.examples.values():
        rules = shelf.rules()
        for action in islice(rules.actions(rules.view(state, rules.turn(state))), MOST_COUNTED):
            found.setdefault(type(action), action)
    return " or ".join(plain(action) for action in found.values())


def read(file: str) -> bytes:
    """What is in a file, or comes from standard input."""
    try:
        if file == "-":
            with click.open_file("-", "rb") as stdin:
                text: bytes = stdin.read()
                return text
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: no file can be called like that
        raise BadRequest(f"{called(file)} cannot be read: {getattr(error, 'strerror', error)}") from None


def called(file: str) -> str:
    """What people call a file."""
    return "standard input" if file == "-" else file
