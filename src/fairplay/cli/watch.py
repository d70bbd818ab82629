"""Watch a match on a server (fairplay watch)."""

import sys
from collections.abc import Iterable, Iterator
from functools import partial

import click
import msgspec

from fairplay.cli.client.server_session import HOST_HELP, open_session, session_options
from fairplay.cli.options.game import game_option
from fairplay.cli.options.match_options import lines_option
from fairplay.cli.options.seconds import DAY_S
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ended, Event, Fact, Started
from fairplay.core.game import Seat
from fairplay.games import game_info
from fairplay.observers.reporter import Reporter, format_standings
from fairplay.render.formatting import format_json
from fairplay.render.text import printable
from fairplay.server.spectating.follower import IDLE_LINE, Follower, SpectatedMatch
from fairplay.terminal.live import show_live
from fairplay.terminal.output import supports_colour, supports_drawing, terminal_size

MAX_WATCHED_NAME_CHARS = 64
CUT_OFF_MESSAGE = "the server closed the connection before the end of the match"

EventAndMatch = tuple[Event, SpectatedMatch]


@click.command(epilog=HOST_HELP)
@click.argument("host", metavar="HOST:PORT")
@click.argument("room", default="")
@game_option
@click.option("--json", "as_json", is_flag=True, help="Print the server's messages, line by line (see docs/rooms.md).")
@lines_option
@session_options
def watch(host: str, room: str, as_json: bool, lines: bool, wait: float, ca: str | None) -> None:
    """Watch a match on a server.

    ROOM is the name or id of a room, as `fairplay status` lists them; without it, the server chooses. Ctrl-C leaves.
    """
    try:
        with open_session(host, "watch", room, wait=wait, ca=ca, idle_timeout=DAY_S) as received:
            if as_json:
                print_lines(received)
                return
            events = read_events(host, received)
            first = next(events, None)
            if first is None:
                raise BadRequest(f"{host}: {CUT_OFF_MESSAGE}")
            show = draw_in_place if not lines and supports_drawing(sys.stdout) else print_events
            if not show(first, events):
                raise BadRequest(f"{host}: {CUT_OFF_MESSAGE}")
    except KeyboardInterrupt:  # the way to leave
        return


def print_lines(lines: Iterable[bytes]) -> None:
    """Print lines up to the last one, which holds the result."""
    follower = Follower()
    event: Event | None = None
    for line in lines:
        change = follower.read_line(line)  # raises for anything that is not a line of a room
        click.echo(escape_line(line))
        if change is not None:
            event = change[0]
        if isinstance(event, Ended) and b'"snapshot"' in line[:32]:
            return
    raise BadRequest(CUT_OFF_MESSAGE)


def escape_line(line: bytes) -> str:
    """A line without characters that control a terminal."""
    try:
        return format_json(msgspec.json.decode(line))
    except RecursionError:  # at a depth that the follower still accepts
        raise BadRequest("not a line of a room: RecursionError") from None


def read_events(host: str, lines: Iterable[bytes]) -> Iterator[EventAndMatch]:
    """The events up to the end of the match; print a note if no match is played."""
    follower = Follower()
    for line in lines:
        if line == IDLE_LINE:
            click.echo(f"fairplay: no match is played at {host} now; waiting for one", err=True)
        change = follower.read_line(line)
        if change is not None:
            yield change
            if isinstance(change[0], Ended):
                return


def draw_in_place(first: EventAndMatch, rest: Iterable[EventAndMatch]) -> bool:
    """Redraw the board at each event. False: the end was missing."""
    event, match = first
    since = match.at
    took: dict[Seat, list[float]] = {}
    with show_live(game_info(match.game.name).text, match, lambda: took) as board:
        board.observe(event, match, match.number)
        for event, match in rest:
            if isinstance(event, Fact):
                took.setdefault(event.seat, []).append(max(0.0, match.at - since))
            since = match.at
            board.observe(event, match, match.number)
    if isinstance(event, Ended):
        click.echo("\n".join(format_standings(event.result, match.names)))
    return isinstance(event, Ended)


def print_events(first: EventAndMatch, rest: Iterable[EventAndMatch]) -> bool:
    """Print the events, with the board at the start and at the end. False: the end was missing."""
    event, match = first
    draw = partial(
        game_info(match.game.name).text, colour=supports_colour(sys.stdout), width=terminal_size(sys.stdout)[0]
    )
    reporter = Reporter(partial(click.echo, nl=False), draw, narrow=sys.stdout.isatty())
    if not isinstance(event, Started | Ended):
        names = ", ".join(printable(name, MAX_WATCHED_NAME_CHARS) for name in match.names)
        click.echo(f"at the table: {names}; {match.number} moves so far\n\n{draw(match.view(None), match.names)}\n")
    reporter.observe(event, match)
    for event, match in rest:
        reporter.observe(event, match)
    return isinstance(event, Ended)
