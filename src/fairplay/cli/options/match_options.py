"""Share the options of all verbs that play a match, and say what they mean."""

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.journal.options import Durability
from fairplay.players.location import keep_in_process
from fairplay.protocol.limits import Limits, parse_limits
from fairplay.sandbox.policy import SandboxLevel
from fairplay.terminal.matches import DEFAULT_PACE_S

# The options of every verb that plays a match.
DIRECTORY_TYPE = click.Path(file_okay=False)
journal_option = click.option(
    "--journal", "directory", metavar="DIR", type=DIRECTORY_TYPE, help="Record the match there."
)
sync_option = click.option(
    "--sync",
    type=click.Choice([sync.value for sync in Durability]),
    default=Durability.BATCH.value,
    show_default=True,
    help="When a recorded fact is safe from a power cut: before it is told, at most 50 ms later, or nobody knows when.",
)
limit_option = click.option(
    "--limit",
    metavar="SECONDS",
    help="For each answer of a player elsewhere; or move=5,first=20,bank=60,increment=1,start=10,arrival=60,people=300 "
    f"[default: {Limits().move:g}, and none for people; a match that goes on keeps its own]",
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", *(level.value for level in SandboxLevel)]),
    help="How programs are shut in; see: fairplay doctor. "
    "[default: auto; a match that goes on keeps its own if that is stricter]",
)
pondering_option = click.option(
    "--pondering", is_flag=True, help="Let programs think while others are asked; else they are stopped."
)
verbose_option = click.option(
    "--verbose",
    is_flag=True,
    help="Log each message to and from players that are not in this process, with its time, on stderr.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Print only the ranking and who was ejected.")
lines_option = click.option("--lines", is_flag=True, help="Print lines on a terminal too, instead of drawing in place.")
pace_option = click.option(
    "--pace",
    type=Seconds(more_than_none=False),
    metavar="SECONDS",
    help="How long each position is drawn on a terminal, if all players are in this process; 0: as fast as it goes.  "
    f"[default: {DEFAULT_PACE_S}]",
)
in_process_option = click.option(
    "--in-process",
    is_flag=True,
    help="Keep players py:module:Name in this process, which they can do anything with. "
    "[default: each runs in a process and a sandbox of its own]",
)
events_option = click.option("--events", is_flag=True, help="Print one JSON object per event instead.")
pictures_option = click.option(
    "--pictures",
    metavar="DIR",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    help="Draw every change as it happens, for spectators: DIR/MATCH/000.svg, 001.svg, ... "
    "Each match has a directory of its own there, and one that goes on adds to it.",
)


def check_log_directory(_: click.Context, __: click.Parameter, directory: str | None) -> str | None:
    """The directory for logs, which is there and can be written to, if one was named."""
    if directory is None:
        return None
    from fairplay.players.bot_log import prepare_log_directory  # for a quick start: few want any

    return prepare_log_directory(directory)


bot_logs_option = click.option(
    "--bot-logs",
    metavar="DIR",
    type=DIRECTORY_TYPE,
    callback=check_log_directory,
    help="Keep what programs say on stderr, with marks of their turns: DIR/PLAYER/MATCH.log, for you alone to read.",
)


def match_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of how one match is played and shown."""
    played = (limit_option, sandbox_option, in_process_option, journal_option, sync_option, verbose_option)
    shown = (quiet_option, events_option, lines_option, pace_option, pictures_option, bot_logs_option)
    for option in reversed((*played, *shown)):
        command = option(command)
    return command


def log_messages() -> None:
    """Have each question and reply logged on stderr."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s.%(msecs)03d %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("fairplay").setLevel(logging.DEBUG)


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Take nothing that is not UTF-8, for no journal could hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is no text in UTF-8") from None


def parse_limit_option(text: str | None) -> Limits | None:
    """The limits of --limit, if there are any."""
    return None if text is None else parse_limits(text)


def parse_pairs(pairs: Sequence[str], option: str = "--set") -> dict[str, str]:
    """What was said by an option NAME=VALUE that can be given several times, such as --set."""
    found: dict[str, str] = {}
    for text in pairs:
        name, equals, value = text.partition("=")
        if not name or not equals or name in found:
            raise BadRequest(f"{option} {text}: write NAME=VALUE, and each name once")
        found[name] = value
    return found


def place_players(players: Sequence[str], *, in_process: bool) -> tuple[str, ...]:
    """The players of a command line, those in modules kept in this process if --in-process says so."""
    return tuple(keep_in_process(player) if in_process else player for player in players)
