"""fairplay watch: follow a match that is played at a house."""

import sys
from collections.abc import Iterable, Iterator
from functools import partial

import click
import msgspec

from fairplay.cli.client.visiting import HOST_HELP, visiting, visitor_options
from fairplay.cli.options.game import game_option
from fairplay.cli.options.match_options import lines_option
from fairplay.cli.options.seconds import A_DAY
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ended, Event, Fact, Started
from fairplay.core.game import Seat
from fairplay.games import title
from fairplay.observers.reporter import Reporter, standings
from fairplay.render.text import printable
from fairplay.render.words import plain
from fairplay.server.spectating.following import QUIET, Follower, Watched
from fairplay.terminal.live import live
from fairplay.terminal.output import can_be_drawn_on, in_colour, size_of

LONGEST = 64  # characters of a name
CUT_OFF = "the house hung up before the end of the match"

Told = tuple[Event, Watched]


@click.command(epilog=HOST_HELP)
@click.argument("host", metavar="HOST:PORT")
@click.argument("room", default="")
@game_option
@click.option("--json", "as_json", is_flag=True, help="Print what the house says, line by line (docs/rooms.md).")
@lines_option
@visitor_options
def watch(host: str, room: str, as_json: bool, lines: bool, wait: float, ca: str | None) -> None:
    """Follow a match that is played at a house.

    ROOM is the name or the id of one, as `fairplay status` tells them; without it, the house chooses. Ctrl-C leaves.
    """
    try:
        with visiting(host, "watch", room, wait=wait, ca=ca, patience=A_DAY) as said:
            if as_json:
                pass_through(said)
                return
            told = told_in(host, said)
            first = next(told, None)
            if first is None:
                raise BadRequest(f"{host}: {CUT_OFF}")
            show = in_place if not lines and can_be_drawn_on(sys.stdout) else by_lines
            if not show(first, told):
                raise BadRequest(f"{host}: {CUT_OFF}")
    except KeyboardInterrupt:  # that is how one leaves
        return


def pass_through(lines: Iterable[bytes]) -> None:
    """Print lines up to the last, which tells how all ended."""
    follower = Follower()
    event: Event | None = None
    for line in lines:
        told = follower.hear(line)  # which refuses whatever is no line of a room
        click.echo(in_ascii(line))
        if told is not None:
            event = told[0]
        if isinstance(event, Ended) and b'"snapshot"' in line[:32]:
            return
    raise BadRequest(CUT_OFF)


def in_ascii(line: bytes) -> str:
    """A line as it is, but for signs that could move a terminal."""
    try:
        return plain(msgspec.json.decode(line))
    except RecursionError:  # which a few levels less do not raise where lines are heard
        raise BadRequest("no line of a room: RecursionError") from None


def told_in(host: str, lines: Iterable[bytes]) -> Iterator[Told]:
    """What happens, event by event, up to the end; that nothing does is said at once."""
    follower = Follower()
    for line in lines:
        if line == QUIET:
            click.echo(f"fairplay: nothing is played at {host} now; waiting for a match", err=True)
        told = follower.hear(line)
        if told is not None:
            yield told
            if isinstance(told[0], Ended):
                return


def in_place(first: Told, told: Iterable[Told]) -> bool:
    """Draw the board as it stands, whenever something happens; False: the end did not come."""
    event, match = first
    since = match.at
    took: dict[Seat, list[float]] = {}
    with live(title(match.game.name).text, match, lambda: took) as board:
        board.observe(event, match, match.number)
        for event, match in told:
            if isinstance(event, Fact):
                took.setdefault(event.seat, []).append(max(0.0, match.at - since))
            since = match.at
            board.observe(event, match, match.number)
    if isinstance(event, Ended):
        click.echo("\n".join(standings(event.result, match.names)))
    return isinstance(event, Ended)


def by_lines(first: Told, told: Iterable[Told]) -> bool:
    """Say what happens, with the board when one comes in and at the end; False: the end did not come."""
    event, match = first
    draw = partial(title(match.game.name).text, colour=in_colour(sys.stdout), width=size_of(sys.stdout)[0])
    reporter = Reporter(partial(click.echo, nl=False), draw, narrow=sys.stdout.isatty())
    if not isinstance(event, Started | Ended):
        names = ", ".join(printable(name, LONGEST) for name in match.names)
        click.echo(f"at the table: {names}; {match.number} moves so far\n\n{draw(match.view(None), match.names)}\n")
    reporter.observe(event, match)
    for event, match in told:
        reporter.observe(event, match)
    return isinstance(event, Ended)
