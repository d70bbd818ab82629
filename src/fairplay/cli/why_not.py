"""fairplay why-not: say whether an action is lawful in a view, and by which rule it is not."""

from collections.abc import Sequence

import click
import msgspec

from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import settings
from fairplay.core.errors import BadRequest
from fairplay.diagnosis.why_not import NO_JSON, Position, action_from, position_in, verdict
from fairplay.games import game_with
from fairplay.journal.files import content
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful

OPENING = b'{"type":"opening"'  # how every journal begins


@click.command("why-not")
@game_argument()
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
    said = read("-") if action == "-" else action.encode(errors="surrogateescape")
    lawful, lines = verdict(position, action_from(position, said))
    click.echo("\n".join(lines))
    context.exit(0 if lawful else 1)


def look(game: str, file: str, at: int | None, parameters: Sequence[str]) -> Position:
    """The view in a file, or the one of whoever is to move in a journal."""
    rules = game_with(game, settings(parameters))
    text = read(file)
    if text.startswith(OPENING):
        if parameters:
            raise BadRequest(f"{file} is a journal, which has the parameters of its match, so --set makes no sense")
        if file == "-":
            raise BadRequest("a journal cannot come from standard input, so name its file")
        with about(file):
            recorded = read_lawful(file)
        if recorded.opening.game != game:
            raise BadRequest(f"{file} is the journal of a match of {recorded.opening.game}, not of {game}")
        return position_in(recorded, at)
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


def read(file: str) -> bytes:
    """What is in a file, or comes from standard input."""
    try:
        if file == "-":
            with click.open_file("-", "rb") as stdin:
                text: bytes = stdin.read()
                return text
        return content(file)
    except (OSError, ValueError) as error:  # ValueError: no file can be called like that
        raise BadRequest(f"{called(file)} cannot be read: {getattr(error, 'strerror', error)}") from None


def called(file: str) -> str:
    """What people call a file."""
    return "standard input" if file == "-" else file
