"""Show what a server is doing (fairplay status)."""

from collections.abc import Iterator, Sequence

import click
import msgspec

from fairplay.cli.client.server_session import HOST_HELP, open_session, session_options
from fairplay.core.errors import BadRequest
from fairplay.render.formatting import format_json, format_time
from fairplay.render.text import align_columns, printable, truncate
from fairplay.server.status import FinishedStatus, RoomStatus, ServerStatus, decode

MAX_STATUS_NAME_CHARS = 40
MAX_CELL_COLUMNS = 60
MAX_LISTED_FINISHED = 10


@click.command(epilog=HOST_HELP)
@click.argument("host", metavar="HOST:PORT")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@session_options
def status(host: str, as_json: bool, wait: float, ca: str | None) -> None:
    """Show what a server is doing.

    It lists rooms, connected and waiting players, and the last finished matches.
    """
    with open_session(host, "status", wait=wait, ca=ca) as lines:
        line = next(lines, b"")
    try:
        status = decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadRequest(f"{host} sent no valid status") from None
    click.echo(format_json(status) if as_json else "\n".join(format_status(status)))


def format_status(status: ServerStatus) -> Iterator[str]:
    """The status of a server as text."""
    yield f"{format_name(status.name)}: fairplay {format_name(status.version)}, up {format_duration(status.uptime_s)}"
    offers = (
        f"{format_name(offer.game)} for {format_range(offer.min_players, offer.max_players)}" for offer in status.offers
    )
    yield f"played here: {', '.join(offers) or 'nothing'}"
    yield f"connected: {', '.join(map(format_name, status.players)) or 'none'}"
    waiting = (
        f"{format_name(one.name)} ({format_name(one.game) or 'any game'}, {format_duration(one.waited_s)})"
        for one in status.waiting
    )
    yield f"waiting: {', '.join(waiting) or 'none'}"
    yield ""
    if status.rooms:
        rows = [
            (format_name(room.name), format_name(room.game), str(room.seq), format_players(room), room.id)
            for room in status.rooms
        ]
        yield from format_table(("ROOM", "GAME", "MOVES", "PLAYERS", "ID"), rows)
    else:
        yield "no rooms are open"
    if status.finished:
        yield ""
        over = [
            (format_time(one.ended_at), format_name(one.game), format_players(one), one.match)
            for one in status.finished[:MAX_LISTED_FINISHED]
        ]
        yield from format_table(("ENDED", "GAME", "PLAYERS", "MATCH"), over)


def format_players(match: RoomStatus | FinishedStatus) -> str:
    """The players with their scores; an arrow marks the one on turn, a star a winner, a cross an ejected one."""
    first = match.ranking[0] if isinstance(match, FinishedStatus) and match.ranking else ()
    turn = match.turn if isinstance(match, RoomStatus) else None
    players = []
    for seat, label in enumerate(match.names):
        mark = "→" if seat == turn else "*" if seat in first else "✗" if seat in match.ejected else ""
        score = f" {match.scores[seat]}" if match.scores is not None and seat < len(match.scores) else ""
        players.append(f"{mark}{format_name(label)}{score}")
    return ", ".join(players)


def format_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under their heads, in aligned columns."""
    cells = [[truncate(printable(cell, 200), MAX_CELL_COLUMNS) for cell in row] for row in (heads, *rows)]
    return align_columns(cells)


def format_name(text: str) -> str:
    """A name made printable for a terminal."""
    return printable(text, MAX_STATUS_NAME_CHARS)


def format_duration(seconds: float) -> str:
    """A duration as text.

    >>> format_duration(3.2), format_duration(200), format_duration(8000), format_duration(1e9)
    ('3 s', '3 min', '2 h', '11574 days')
    """
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_range(least: int, most: int) -> str:
    """A range of numbers as text.

    >>> format_range(2, 2), format_range(2, 4)
    ('2', '2 to 4')
    """
    return f"{least}" if least == most else f"{least} to {most}"
