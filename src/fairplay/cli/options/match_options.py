"""Define the options of all commands that play a match."""

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from fairplay.cli.options.sandbox_levels import SandboxLevels
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.journal.options import Durability
from fairplay.players.location import keep_in_process
from fairplay.protocol.limits import Limits, parse_limits
from fairplay.terminal.matches import DEFAULT_PACE_S

DIRECTORY_TYPE = click.Path(file_okay=False)
journal_option = click.option(
    "--journal", "directory", metavar="DIR", type=DIRECTORY_TYPE, help="Record the match in DIR."
)
sync_option = click.option(
    "--sync",
    type=click.Choice([sync.value for sync in Durability]),
    default=Durability.BATCH.value,
    show_default=True,
    help="Make facts durable (safe from a power cut): before they are announced (always), within 50 ms (batch), or "
    "without a guarantee (off).",
)
limit_option = click.option(
    "--limit",
    metavar="SECONDS",
    help="Limit the time for each answer of a player outside of this process; or several limits, as in "
    "move=5,first=20,bank=60,increment=1,start=10,arrival=60,people=300  "
    f"[default: {Limits().move:g}, none for people; a resumed match keeps its own]",
)
sandbox_option = click.option(
    "--sandbox",
    type=SandboxLevels(),
    help="Run programs in this sandbox, or in the first of several that this machine has (strict,landlock); see: "
    "fairplay doctor.  "
    "[default: auto; a resumed match keeps its own if that is stricter]",
)
pondering_option = click.option(
    "--pondering", is_flag=True, help="Let programs think during the turns of others.  [default: they are paused]"
)
verbose_option = click.option(
    "--verbose",
    is_flag=True,
    help="Log each message to and from players outside of this process, with its time, on stderr.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Print only the ranking and the ejections.")
lines_option = click.option(
    "--lines", is_flag=True, help="Print lines instead of drawing in place, also on a terminal."
)
pace_option = click.option(
    "--pace",
    type=Seconds(more_than_none=False),
    metavar="SECONDS",
    help="Show each position on a terminal for SECONDS, if all players are in this process; 0: without a pause.  "
    f"[default: {DEFAULT_PACE_S}]",
)
in_process_option = click.option(
    "--in-process",
    is_flag=True,
    help="Load players py:module:Name into this process, unprotected.  [default: each has its own process and sandbox]",
)
events_option = click.option("--events", is_flag=True, help="Print one JSON object per event.")
pictures_option = click.option(
    "--pictures",
    metavar="DIR",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    help="Draw every position as spectators see it: DIR/MATCH/000.svg, 001.svg, ...; a resumed match adds to its own.",
)


def check_log_directory(_: click.Context, __: click.Parameter, directory: str | None) -> str | None:
    """Create the directory for logs, if one was named, and check that it is writable."""
    if directory is None:
        return None
    from fairplay.players.bot_log import prepare_log_directory  # imported late for a quick start

    return prepare_log_directory(directory)


bot_logs_option = click.option(
    "--bot-logs",
    metavar="DIR",
    type=DIRECTORY_TYPE,
    callback=check_log_directory,
    help="Write the stderr of programs, with their turns, to DIR/PLAYER/MATCH.log, readable by you alone.",
)


def match_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add all options for playing and showing one match."""
    played = (limit_option, sandbox_option, in_process_option, journal_option, sync_option, verbose_option)
    shown = (quiet_option, events_option, lines_option, pace_option, pictures_option, bot_logs_option)
    for option in reversed((*played, *shown)):
        command = option(command)
    return command


def log_messages() -> None:
    """Log each question and reply on stderr."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s.%(msecs)03d %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("fairplay").setLevel(logging.DEBUG)


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Raise BadRequest for text that is not UTF-8, as journals cannot hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is not valid UTF-8") from None


def parse_limit_option(text: str | None) -> Limits | None:
    """Parse --limit."""
    return None if text is None else parse_limits(text)


def parse_pairs(pairs: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Parse an option NAME=VALUE that may be repeated, such as --set."""
    found: dict[str, str] = {}
    for text in pairs:
        name, equals, value = text.partition("=")
        if not name or not equals or name in found:
            raise BadRequest(f"{option} {text}: expected NAME=VALUE, each NAME once")
        found[name] = value
    return found


def place_players(players: Sequence[str], *, in_process: bool) -> tuple[str, ...]:
    """The players of a command line; with --in-process those in modules stay in this process."""
    return tuple(keep_in_process(player) if in_process else player for player in players)
