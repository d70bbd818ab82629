"""fairplay status: ask a house what goes on there."""

from collections.abc import Iterator, Sequence

import click
import msgspec

from fairplay.cli.client.visiting import HOST_HELP, visiting, visitor_options
from fairplay.core.errors import BadRequest
from fairplay.render.text import aligned, cut, printable
from fairplay.render.words import plain, wall_time
from fairplay.server.status import FinishedSeen, HouseStatus, RoomSeen, decode

LONGEST = 40  # characters of a name
WIDEST = 60  # columns of a cell
MOST_FINISHED = 10  # matches


@click.command(epilog=HOST_HELP)
@click.argument("host", metavar="HOST:PORT")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
@visitor_options
def status(host: str, as_json: bool, wait: float, ca: str | None) -> None:
    """Ask a house what goes on there.

    It tells who plays what, who waits and what is over.
    """
    with visiting(host, "status", wait=wait, ca=ca) as lines:
        line = next(lines, b"")
    try:
        told = decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise BadRequest(f"{host} did not say what goes on there") from None
    click.echo(plain(told) if as_json else "\n".join(in_lines(told)))


def in_lines(told: HouseStatus) -> Iterator[str]:
    """What goes on, for people."""
    yield f"{name(told.name)}: fairplay {name(told.version)}, open for {ago(told.up)}"
    offers = (f"{name(offer.game)} for {between(offer.least, offer.most)}" for offer in told.offers)
    yield f"played here: {', '.join(offers) or 'nothing'}"
    yield f"connected: {', '.join(map(name, told.players)) or 'nobody'}"
    waiting = (f"{name(one.name)} ({name(one.game) or 'any game'}, {ago(one.seconds)})" for one in told.waiting)
    yield f"waiting: {', '.join(waiting) or 'nobody'}"
    yield ""
    if told.rooms:
        rows = [(name(room.name), name(room.game), str(room.number), people(room), room.id) for room in told.rooms]
        yield from table(("ROOM", "GAME", "MOVES", "PLAYERS", "ID"), rows)
    else:
        yield "no room is open"
    if told.finished:
        yield ""
        over = [(wall_time(one.at), name(one.game), people(one), one.match) for one in told.finished[:MOST_FINISHED]]
        yield from table(("OVER SINCE", "GAME", "PLAYERS", "MATCH"), over)


def people(seen: RoomSeen | FinishedSeen) -> str:
    """Who plays, with scores; an arrow is at whose turn it is, a star at who has won, a cross at who is out."""
    first = seen.ranking[0] if isinstance(seen, FinishedSeen) and seen.ranking else ()
    turn = seen.turn if isinstance(seen, RoomSeen) else None
    shown = []
    for seat, label in enumerate(seen.names):
        mark = "→" if seat == turn else "*" if seat in first else "✗" if seat in seen.out else ""
        score = f" {seen.scores[seat]}" if seen.scores is not None and seat < len(seen.scores) else ""
        shown.append(f"{mark}{name(label)}{score}")
    return ", ".join(shown)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows under their heads, in columns as wide as they have to be."""
    cells = [[cut(printable(cell, 200), WIDEST) for cell in row] for row in (heads, *rows)]
    return aligned(cells)


def name(text: str) -> str:
    """A name that is fit for a terminal."""
    return printable(text, LONGEST)


def ago(seconds: float) -> str:
    """How long something has lasted.

    >>> ago(3.2), ago(200), ago(8000), ago(1e9)
    ('3 s', '3 min', '2 h', '11574 days')
    """
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def between(least: int, most: int) -> str:
    """How many.

    >>> between(2, 2), between(2, 4)
    ('2', '2 to 4')
    """
    return f"{least}" if least == most else f"{least} to {most}"
