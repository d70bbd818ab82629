"""fairplay why-not: say whether an action is legal in a view, and by which rule it is not."""

from collections.abc import Sequence

import click
import msgspec

from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import parse_pairs
from fairplay.core.errors import BadRequest
from fairplay.diagnosis.action_explanation import JSON_ERRORS, JudgedView, judge_action, judged_view, parse_action
from fairplay.games import make_game
from fairplay.journal.files import read_content
from fairplay.journal.replay import journal_errors
from fairplay.journal.verification import read_legal

OPENING_PREFIX = b'{"type":"opening"'  # how every journal begins


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
    """Say whether an ACTION is legal in a view of GAME.

    ACTION is JSON, as a player answers it; - is standard input. The view is one that a journal keeps as "shown", or
    that of whoever is to move in a journal. Yes: exit code 0. No: the rule, and exit code 1.

    \b
    For example:
      fairplay why-not fish --view FILE --at 8 '{"type": "place", "at": [0, 0]}'
    """
    if file == action == "-":
        raise BadRequest("only one of the view and the action can come from standard input")
    position = load_view(game, file, at, parameters)
    said = read_input("-") if action == "-" else action.encode(errors="surrogateescape")
    legal, lines = judge_action(position, parse_action(position, said))
    click.echo("\n".join(lines))
    context.exit(0 if legal else 1)


def load_view(game: str, file: str, at: int | None, parameters: Sequence[str]) -> JudgedView:
    """The view in a file, or the one of whoever is to move in a journal."""
    rules = make_game(game, parse_pairs(parameters))
    text = read_input(file)
    if text.startswith(OPENING_PREFIX):
        if parameters:
            raise BadRequest(f"{file} is a journal, which has the parameters of its match, so --set makes no sense")
        if file == "-":
            raise BadRequest("a journal cannot come from standard input, so name its file")
        with journal_errors(file):
            recorded = read_legal(file)
        if recorded.opening.game != game:
            raise BadRequest(f"{file} is the journal of a match of {recorded.opening.game}, not of {game}")
        return judged_view(recorded, at)
    if at is not None:
        raise BadRequest(f"{display_name(file)} is no journal, so --at makes no sense")
    try:
        view = rules.unpack(msgspec.json.decode(text))
    except JSON_ERRORS as error:
        raise BadRequest(f"{display_name(file)} is neither a journal nor a view in JSON: {error}") from None
    except BadRequest as error:
        raise BadRequest(f"{display_name(file)} is neither a journal nor a view of {game}: {error}") from None
    seat = getattr(view, "seat", None)
    return JudgedView(rules, view, "a spectator" if seat is None else f"seat {seat}")


def read_input(file: str) -> bytes:
    """What is in a file, or comes from standard input."""
    try:
        if file == "-":
            with click.open_file("-", "rb") as stdin:
                text: bytes = stdin.read()
                return text
        return read_content(file)
    except (OSError, ValueError) as error:  # ValueError: no file can be called like that
        raise BadRequest(f"{display_name(file)} cannot be read: {getattr(error, 'strerror', error)}") from None


def display_name(file: str) -> str:
    """What people call a file."""
    return "standard input" if file == "-" else file
