"""fairplay library: list the matches in a folder, find some of them, look at one."""

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import MINYEAR as FIRST_YEAR
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

import click
import msgspec

from fairplay.cli.options.game import GAME, game_option
from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.cli.options.match_options import settings as parameters
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.games import EXTERNAL, is_known, no_game, title
from fairplay.journal.library import Query, find, look_up
from fairplay.journal.summary import Seated, Status, Summary
from fairplay.render.text import aligned, printable
from fairplay.terminal.output import with_bar
from fairplay.tournament.places import FILE, MATCHES

HEADINGS = ("id", "started", "game", "players by rank", "ejected", "facts", "status")
COLOURS = {"finished": "green", "unfinished": "yellow", "damaged": "red", "unreadable": "red"}
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2})?")
MANY = 100  # journals to be read that are worth a bar
LONGEST = 40  # signs of a name in a table
LONGEST_REASON = 200
LONGEST_LINE = 4000
MOST_ON_TERMINAL = 300  # matches in a table that fits itself to the terminal, which takes its time


def journals_in(_: click.Context, __: click.Parameter, folder: str) -> str:
    """Where the journals are: of a tournament, in a folder of their own."""
    return str(Path(folder) / MATCHES) if (Path(folder) / FILE).is_file() else folder


folder_argument = click.argument(
    "folder", metavar="DIR", type=click.Path(exists=True, file_okay=False), callback=journals_in
)
limit_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per match instead.")


@click.group()
def library() -> None:
    """Look for matches in a folder of journals, or of a tournament.

    Wherever a verb takes the FILE of a match, it takes DIR/ID too, with an id as it is listed here; and the id alone
    if DIR is the folder where you are, or lies in it.

    What is known of them is kept in the folder, in .index.sqlite, which is always brought up to date first and can be
    deleted at any time.
    """


@library.command("list")
@folder_argument
@game_option
@limit_option
@json_option
def list_all(folder: str, limit: int | None, as_json: bool) -> None:
    """List the matches in DIR.

    The newest come first. A match is finished, unfinished, damaged (no journal, or one that was changed), or
    unreadable (of rules or a format that are not known here, or a file that cannot be opened).
    """
    tell(folder, find(folder, Query(limit=limit), watch=watched), as_json=as_json)


@library.command("find")
@folder_argument
@click.option("--game", type=GAME, help="Of this game; py:module:Name for one of your own.")
@click.option("--player", "players", multiple=True, metavar="NAME|ADDRESS", help="With this player; may be repeated.")
@click.option("--winner", metavar="NAME", help="Won by this player, alone or in a tie.")
@click.option(
    "--fault",
    type=click.Choice([*(fault.value for fault in Fault), "any"]),
    help="With somebody ejected for this; with --player: with one of these players ejected for it.",
)
@click.option("--since", metavar="DATE", help="Started on this day or later: 2026-11-16, or 2026-11-16T08:30.")
@click.option("--until", metavar="DATE", help="Started on this day, in this minute, or earlier.")
@click.option("--status", type=click.Choice([status.value for status in Status]), help="In this state.")
@click.option("--with", "settings", multiple=True, metavar="NAME=VALUE", help="With this parameter; may be repeated.")
@limit_option
@json_option
def find_some(
    folder: str,
    game: str | None,
    players: tuple[str, ...],
    winner: str | None,
    fault: str | None,
    since: str | None,
    until: str | None,
    status: str | None,
    settings: tuple[str, ...],
    limit: int | None,
    as_json: bool,
) -> None:
    """List some of the matches in DIR.

    Those of which everything is true that is asked for, the newest first.
    """
    refuse_unreadable((*players, *settings, winner or ""))
    if game is not None and not is_known(game):
        raise BadRequest(no_game(game))
    query = Query(
        game=game,
        status=Status(status) if status else None,
        players=players,
        winner=winner,
        fault=Fault(fault) if fault and fault != "any" else None,
        any_fault=fault == "any",
        since=None if since is None else moment("--since", since),
        until=None if until is None else moment("--until", until, end=True),
        parameters=parameters(settings, "--with"),
        limit=limit,
    )
    tell(folder, find(folder, query, watch=watched), as_json=as_json)


@library.command("show")
@folder_argument
@click.argument("id")
@game_option
def show_one(folder: str, id: str) -> None:
    """Show all about one match in DIR.

    It is the one whose id begins with ID. The commands that one may want next are shown as well.
    """
    refuse_unreadable([id])
    for line in card(look_up(folder, id, watch=watched), folder):
        click.echo(line)


def moment(option: str, text: str, *, end: bool = False) -> float:
    """A day or a minute of local time, in seconds: its beginning, or its end."""
    try:
        if (written := DATE.fullmatch(text)) is None:
            raise ValueError
        day = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{option} {text}: write a date as 2026-11-16 or 2026-11-16T08:30") from None
    length = timedelta(minutes=1) if written[1] else timedelta(days=1)
    try:
        return (day + length if end else day).timestamp()
    except (OverflowError, ValueError):  # the calendar of computers has its ends
        return inf if day.year > FIRST_YEAR else -inf


def watched(ids: Sequence[str]) -> Iterable[str]:
    """The journals that are to be read, with a bar where there are many."""
    return with_bar(ids, "reading journals", MANY)


def tell(folder: str, found: Sequence[Summary], *, as_json: bool) -> None:
    """Print the matches as they were asked for."""
    if as_json:
        for one in found:
            click.echo(json.dumps(as_plain(one, folder), separators=(",", ":")))  # nothing but ASCII reaches a terminal
    elif not found:
        click.echo("no matches")
    elif sys.stdout.isatty() and len(found) <= MOST_ON_TERMINAL:
        print_table([row(one) for one in found])
    else:
        click.echo("\n".join(aligned([HEADINGS, *(row(one) for one in found)])))


def as_plain(one: Summary, folder: str) -> dict[str, Any]:
    """A match as it is told to programs; docs/library.md lists the fields."""
    plain: dict[str, Any] = msgspec.to_builtins(one)
    times = {key: in_utc(plain[key]) for key in ("started", "last", "ended")}
    return {**plain, **times, "path": str(Path(folder) / one.file)}


def row(one: Summary) -> tuple[str, ...]:
    """A match as a line of a table."""
    return (
        printable(one.short, LONGEST),
        in_local_time(one.started, "%Y-%m-%d %H:%M"),
        printable(one.game, LONGEST) or "-",
        ranking(one) or "-",
        ", ".join(f"{label(seated)} {seated.fault.in_words}" for seated in one.seats if seated.fault),
        count(one.facts),
        state(one),
    )


def state(one: Summary) -> str:
    """The status of a match, with the reason if there is one."""
    return f"{one.status.value}: {printable(one.reason, LONGEST_REASON)}" if one.reason else one.status.value


def count(facts: int | None) -> str:
    """How many facts there are, if anybody can tell."""
    return "-" if facts is None else str(facts)


def ranking(one: Summary) -> str:
    """The names by rank, ties joined by "="; by seat as long as nobody is ranked."""
    if one.status is not Status.FINISHED:
        return ", ".join(map(label, one.seats))
    ranked = sorted((seated.rank, seat) for seat, seated in enumerate(one.seats) if seated.rank)
    groups = ["=".join(label(one.seats[seat]) for _, seat in group) for _, group in groupby(ranked, lambda at: at[0])]
    return ", ".join(groups if ranked and ranked[0][0] == 1 else ["(nobody)", *groups])


def label(seated: Seated) -> str:
    """A name that is fit for a table."""
    return printable(seated.name, LONGEST)


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """The table for a terminal, fitted to its width."""
    from rich.console import Console  # start-up: it takes long to load
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=heading in ("id", "started", "facts"), overflow="fold")
    for *cells, status in rows:
        colour = COLOURS[status.partition(":")[0]]
        table.add_row(*map(Text, cells), Text(status, style=colour))  # Text: what stands in it is no mark-up
    Console().print(table)


def card(one: Summary, folder: str) -> list[str]:
    """The lines that tell all about one match."""
    path = str(Path(folder) / one.file)
    values = " ".join(f"{name}={value}" for name, value in one.parameters.items())
    about = [
        ("match", printable(one.id, LONGEST_REASON)),
        *([("renamed from", printable(one.match, LONGEST_REASON))] if one.match not in ("", one.id) else []),
        ("status", state(one)),
        ("game", printable(f"{one.game}, version {one.rules} of its rules" if one.game else "-", LONGEST_REASON)),
        ("parameters", printable(values or "-", LONGEST_LINE)),
        ("started", in_local_time(one.started)),
        ("last fact", in_local_time(one.last)),
        ("ended", in_local_time(one.ended)),
        ("facts", count(one.facts)),
        ("file", printable(path, LONGEST_LINE)),
    ]
    seats = (
        [("seat", "rank", "score", "name", "player", ""), *map(place, range(len(one.seats)), one.seats)]
        if one.seats
        else []
    )
    next_steps = [("to " + aim, printable(command, LONGEST_LINE)) for aim, command in steps(one, folder)]
    return [*aligned(about), "", *aligned(seats), *([""] if seats else []), *aligned(next_steps)]


def place(seat: int, seated: Seated) -> tuple[str, ...]:
    """Who sat at a seat and what became of them, as a line of a table."""
    out = ""
    if seated.fault and seated.moment:
        out = f"ejected: {seated.fault.in_words} ({seated.moment.value}), {seated.why}"
    rank = str(seated.rank) if seated.rank else "-"
    score = "-" if seated.score is None else str(seated.score)
    return (
        str(seat),
        rank,
        score,
        *(printable(text, LONGEST_REASON) for text in (seated.name, seated.address or "-", out)),
    )


def steps(one: Summary, folder: str) -> Iterator[tuple[str, str]]:
    """What one may want to do next with a match: the aim, and the command."""
    option = title(one.game).option if one.game in EXTERNAL else ()
    path = " ".join([shlex.quote(str(Path(folder) / one.file)), *option])
    if one.status in (Status.FINISHED, Status.UNFINISHED):
        yield "see it again", f"fairplay replay {path}"
        if any(seated.fault for seated in one.seats):
            yield "see why somebody was ejected", f"fairplay why {path}"
    if one.status is Status.UNFINISHED:
        if all(seated.address for seated in one.seats):
            yield "go on with it", f"fairplay resume {path}"
        else:  # nobody knows who played, so it becomes a match of its own
            yield "go on from there", f"fairplay resume {path} PLAYER... --journal {shlex.quote(folder)}"
    yield "check it", f"fairplay verify {path}"


def in_local_time(at: float | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A moment for people; what is no moment in any calendar is a question mark."""
    try:
        return "-" if at is None else datetime.fromtimestamp(at).strftime(form)
    except (OverflowError, ValueError, OSError):
        return "?"


def in_utc(at: float | None) -> str | None:
    """A moment for programs."""
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None
