"""Explain why an action is illegal (fairplay why-not)."""

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

OPENING_PREFIX = b'{"type":"opening"'  # of every journal


@click.command("why-not")
@game_argument()
@click.argument("action")
@click.option(
    "--view",
    "file",
    required=True,
    metavar="FILE",
    help="Read the view from a journal, or as JSON; - is standard input.",
)
@click.option("--at", type=int, metavar="K", help="Take the view after K facts of the journal.  [default: all]")
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the game; see: fairplay games."
)
@click.pass_context
def why_not(
    context: click.Context, game: str, action: str, file: str, at: int | None, parameters: tuple[str, ...]
) -> None:
    """Explain why an action is illegal.

    ACTION is JSON, as a player answers it; - is standard input. The view is one that a journal keeps as "shown", or
    that of the player on turn in a journal. Exit code 0: the action is legal. Exit code 1: it breaks the printed rule.

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
    """The view in a file, or of the player on turn in a journal."""
    rules = make_game(game, parse_pairs(parameters))
    text = read_input(file)
    if text.startswith(OPENING_PREFIX):
        if parameters:
            raise BadRequest(f"--set cannot be used with a journal, which has the parameters of its match: {file}")
        if file == "-":
            raise BadRequest("a journal cannot come from standard input: name its file")
        with journal_errors(file):
            recorded = read_legal(file)
        if recorded.opening.game != game:
            raise BadRequest(f"{file} is the journal of a match of {recorded.opening.game}, not of {game}")
        return judged_view(recorded, at)
    if at is not None:
        raise BadRequest(f"--at is for a journal, and {display_name(file)} is not one")
    try:
        view = rules.unpack(msgspec.json.decode(text))
    except JSON_ERRORS as error:
        raise BadRequest(f"{display_name(file)} is neither a journal nor a view in JSON: {error}") from None
    except BadRequest as error:
        raise BadRequest(f"{display_name(file)} is neither a journal nor a view of {game}: {error}") from None
    seat = getattr(view, "seat", None)
    return JudgedView(rules, view, "a spectator" if seat is None else f"seat {seat}")


def read_input(file: str) -> bytes:
    """Read a file, or standard input."""
    try:
        if file == "-":
            with click.open_file("-", "rb") as stdin:
                text: bytes = stdin.read()
                return text
        return read_content(file)
    except (OSError, ValueError) as error:  # ValueError: no file can have this name
        raise BadRequest(f"{display_name(file)} cannot be read: {getattr(error, 'strerror', error)}") from None


def display_name(file: str) -> str:
    """The name of a file for messages."""
    return "standard input" if file == "-" else file
