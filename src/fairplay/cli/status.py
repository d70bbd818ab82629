"""fairplay status: ask a server what goes on there."""

from collections.abc import Iterator, Sequence

import click
import msgspec

from fairplay.cli.client.server_session import HOST_HELP, open_session, session_options
from fairplay.core.errors import BadRequest
from fairplay.render.formatting import format_json, format_time
from fairplay.render.text import align_columns, printable, truncate
from fairplay.server.status import FinishedStatus, RoomStatus, ServerStatus, decode

MAX_STATUS_NAME_CHARS = 40  # characters of a name
MAX_CELL_COLUMNS = 60  # columns of a cell
MAX_LISTED_FINISHED = 10  # matches


@click.command(epilog=HOST_HELP)
@click.argument("host", metavar="HOST:PORT")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
@session_options
def status(host: str, as_json: bool, wait: float, ca: str | None) -> None:
    """Ask a server what goes on there.

    It tells who plays what, who waits and what is over.
    """
    with open_session(host, "status", wait=wait, ca=ca) as lines:
        line = next(lines, b"")
    try:
        told = decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadRequest(f"{host} did not say what goes on there") from None
    click.echo(format_json(told) if as_json else "\n".join(format_status(told)))


def format_status(told: ServerStatus) -> Iterator[str]:
    """What goes on, for people."""
    yield f"{format_name(told.name)}: fairplay {format_name(told.version)}, open for {format_duration(told.uptime_s)}"
    offers = (
        f"{format_name(offer.game)} for {format_range(offer.min_players, offer.max_players)}" for offer in told.offers
    )
    yield f"played here: {', '.join(offers) or 'nothing'}"
    yield f"connected: {', '.join(map(format_name, told.players)) or 'nobody'}"
    waiting = (
        f"{format_name(one.name)} ({format_name(one.game) or 'any game'}, {format_duration(one.waited_s)})"
        for one in told.waiting
    )
    yield f"waiting: {', '.join(waiting) or 'nobody'}"
    yield ""
    if told.rooms:
        rows = [
            (format_name(room.name), format_name(room.game), str(room.seq), format_players(room), room.id)
            for room in told.rooms
        ]
        yield from format_table(("ROOM", "GAME", "MOVES", "PLAYERS", "ID"), rows)
    else:
        yield "no room is open"
    if told.finished:
        yield ""
        over = [
            (format_time(one.ended_at), format_name(one.game), format_players(one), one.match)
            for one in told.finished[:MAX_LISTED_FINISHED]
        ]
        yield from format_table(("OVER SINCE", "GAME", "PLAYERS", "MATCH"), over)


def format_players(seen: RoomStatus | FinishedStatus) -> str:
    """Who plays, with scores; an arrow is at whose turn it is, a star at who has won, a cross at who is out."""
    first = seen.ranking[0] if isinstance(seen, FinishedStatus) and seen.ranking else ()
    turn = seen.turn if isinstance(seen, RoomStatus) else None
    shown = []
    for seat, label in enumerate(seen.names):
        mark = "→" if seat == turn else "*" if seat in first else "✗" if seat in seen.ejected else ""
        score = f" {seen.scores[seat]}" if seen.scores is not None and seat < len(seen.scores) else ""
        shown.append(f"{mark}{format_name(label)}{score}")
    return ", ".join(shown)


def format_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under their heads, in columns as wide as they have to be."""
    cells = [[truncate(printable(cell, 200), MAX_CELL_COLUMNS) for cell in row] for row in (heads, *rows)]
    return align_columns(cells)


def format_name(text: str) -> str:
    """A name that is fit for a terminal."""
    return printable(text, MAX_STATUS_NAME_CHARS)


def format_duration(seconds: float) -> str:
    """How long something has lasted.

    >>> format_duration(3.2), format_duration(200), format_duration(8000), format_duration(1e9)
    ('3 s', '3 min', '2 h', '11574 days')
    """
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_range(least: int, most: int) -> str:
    """How many.

    >>> format_range(2, 2), format_range(2, 4)
    ('2', '2 to 4')
    """
    return f"{least}" if least == most else f"{least} to {most}"
