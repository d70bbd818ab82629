"""fairplay library: list the matches in a directory, find some of them, look at one."""

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
from fairplay.cli.options.match_options import parse_pairs as parameters
from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.games import EXTERNAL_GAMES, game_info, is_known, unknown_game_message
from fairplay.journal.library import Query, find_match, find_matches
from fairplay.journal.summary import SeatSummary, Status, Summary
from fairplay.render.text import align_columns, printable
from fairplay.terminal.output import progress_bar
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR

HEADINGS = ("id", "started", "game", "players by rank", "ejected", "facts", "status")
STATUS_COLOURS = {"finished": "green", "unfinished": "yellow", "damaged": "red", "unreadable": "red"}
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2})?")
MIN_JOURNALS_FOR_PROGRESS = 100  # journals to be read that are worth a bar
MAX_LISTED_NAME_CHARS = 40  # signs of a name in a table
MAX_STATUS_REASON_CHARS = 200
MAX_DETAIL_LINE_CHARS = 4000
MAX_TERMINAL_MATCHES = 300  # matches in a table that fits itself to the terminal, which takes its time


def journal_directory(_: click.Context, __: click.Parameter, directory: str) -> str:
    """Where the journals are: of a tournament, in a directory of their own."""
    return str(Path(directory) / MATCHES_DIR) if (Path(directory) / LOG_FILE).is_file() else directory


directory_argument = click.argument(
    "directory", metavar="DIR", type=click.Path(exists=True, file_okay=False), callback=journal_directory
)
limit_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per match instead.")


@click.group()
def library() -> None:
    """Look for matches in a directory of journals, or of a tournament.

    Wherever a verb takes the FILE of a match, it takes DIR/ID too, with an id as it is listed here; and the id alone
    if DIR is the directory where you are, or lies in it.

    What is known of them is kept in the directory, in .index.sqlite, which is always brought up to date first and can be
    deleted at any time.
    """


@library.command("list")
@directory_argument
@game_option
@limit_option
@json_option
def list_all(directory: str, limit: int | None, as_json: bool) -> None:
    """List the matches in DIR.

    The newest come first. A match is finished, unfinished, damaged (no journal, or one that was changed), or
    unreadable (of rules or a format that are not known here, or a file that cannot be opened).
    """
    print_matches(directory, find_matches(directory, Query(limit=limit), progress=show_progress), as_json=as_json)


@library.command("find")
@directory_argument
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
    directory: str,
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
        raise BadRequest(unknown_game_message(game))
    query = Query(
        game=game,
        status=Status(status) if status else None,
        players=players,
        winner=winner,
        fault=Fault(fault) if fault and fault != "any" else None,
        any_fault=fault == "any",
        since=None if since is None else parse_date("--since", since),
        until=None if until is None else parse_date("--until", until, end=True),
        parameters=parameters(settings, "--with"),
        limit=limit,
    )
    print_matches(directory, find_matches(directory, query, progress=show_progress), as_json=as_json)


@library.command("show")
@directory_argument
@click.argument("id")
@game_option
def show_one(directory: str, id: str) -> None:
    """Show all about one match in DIR.

    It is the one whose id begins with ID. The commands that one may want next are shown as well.
    """
    refuse_unreadable([id])
    for line in format_details(find_match(directory, id, progress=show_progress), directory):
        click.echo(line)


def parse_date(option: str, text: str, *, end: bool = False) -> float:
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


def show_progress(ids: Sequence[str]) -> Iterable[str]:
    """The journals that are to be read, with a bar where there are many."""
    return progress_bar(ids, "reading journals", MIN_JOURNALS_FOR_PROGRESS)


def print_matches(directory: str, found: Sequence[Summary], *, as_json: bool) -> None:
    """Print the matches as they were asked for."""
    if as_json:
        for one in found:
            click.echo(
                json.dumps(match_fields(one, directory), separators=(",", ":"))
            )  # nothing but ASCII reaches a terminal
    elif not found:
        click.echo("no matches")
    elif sys.stdout.isatty() and len(found) <= MAX_TERMINAL_MATCHES:
        print_table([format_row(one) for one in found])
    else:
        click.echo("\n".join(align_columns([HEADINGS, *(format_row(one) for one in found)])))


def match_fields(one: Summary, directory: str) -> dict[str, Any]:
    """A match as it is told to programs; docs/library.md lists the fields."""
    plain: dict[str, Any] = msgspec.to_builtins(one)
    times = {key: format_utc(plain[key]) for key in ("started", "last", "ended")}
    return {**plain, **times, "path": str(Path(directory) / one.file)}


def format_row(one: Summary) -> tuple[str, ...]:
    """A match as a line of a table."""
    return (
        printable(one.short, MAX_LISTED_NAME_CHARS),
        format_local_time(one.started, "%Y-%m-%d %H:%M"),
        printable(one.game, MAX_LISTED_NAME_CHARS) or "-",
        format_ranking(one) or "-",
        ", ".join(f"{format_label(seated)} {seated.fault.description}" for seated in one.seats if seated.fault),
        format_count(one.facts),
        describe_status(one),
    )


def describe_status(one: Summary) -> str:
    """The status of a match, with the reason if there is one."""
    return f"{one.status.value}: {printable(one.reason, MAX_STATUS_REASON_CHARS)}" if one.reason else one.status.value


def format_count(facts: int | None) -> str:
    """How many facts there are, if anybody can tell."""
    return "-" if facts is None else str(facts)


def format_ranking(one: Summary) -> str:
    """The names by rank, ties joined by "="; by seat as long as nobody is ranked."""
    if one.status is not Status.FINISHED:
        return ", ".join(map(format_label, one.seats))
    ranked = sorted((seated.rank, seat) for seat, seated in enumerate(one.seats) if seated.rank)
    groups = [
        "=".join(format_label(one.seats[seat]) for _, seat in group) for _, group in groupby(ranked, lambda at: at[0])
    ]
    return ", ".join(groups if ranked and ranked[0][0] == 1 else ["(nobody)", *groups])


def format_label(seated: SeatSummary) -> str:
    """A name that is fit for a table."""
    return printable(seated.name, MAX_LISTED_NAME_CHARS)


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """The table for a terminal, fitted to its width."""
    from rich.console import Console  # start-up: it takes long to load
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=heading in ("id", "started", "facts"), overflow="fold")
    for *cells, status in rows:
        colour = STATUS_COLOURS[status.partition(":")[0]]
        table.add_row(*map(Text, cells), Text(status, style=colour))  # Text: what stands in it is no mark-up
    Console().print(table)


def format_details(one: Summary, directory: str) -> list[str]:
    """The lines that tell all about one match."""
    path = str(Path(directory) / one.file)
    values = " ".join(f"{name}={value}" for name, value in one.parameters.items())
    about = [
        ("match", printable(one.id, MAX_STATUS_REASON_CHARS)),
        *([("renamed from", printable(one.match, MAX_STATUS_REASON_CHARS))] if one.match not in ("", one.id) else []),
        ("status", describe_status(one)),
        (
            "game",
            printable(f"{one.game}, version {one.rules} of its rules" if one.game else "-", MAX_STATUS_REASON_CHARS),
        ),
        ("parameters", printable(values or "-", MAX_DETAIL_LINE_CHARS)),
        ("started", format_local_time(one.started)),
        ("last fact", format_local_time(one.last)),
        ("ended", format_local_time(one.ended)),
        ("facts", format_count(one.facts)),
        ("file", printable(path, MAX_DETAIL_LINE_CHARS)),
    ]
    seats = (
        [("seat", "rank", "score", "name", "player", ""), *map(format_seat, range(len(one.seats)), one.seats)]
        if one.seats
        else []
    )
    steps = [("to " + aim, printable(command, MAX_DETAIL_LINE_CHARS)) for aim, command in next_steps(one, directory)]
    return [*align_columns(about), "", *align_columns(seats), *([""] if seats else []), *align_columns(steps)]


def format_seat(seat: int, seated: SeatSummary) -> tuple[str, ...]:
    """Who sat at a seat and what became of them, as a line of a table."""
    out = ""
    if seated.fault and seated.moment:
        out = f"ejected: {seated.fault.description} ({seated.moment.value}), {seated.why}"
    rank = str(seated.rank) if seated.rank else "-"
    score = "-" if seated.score is None else str(seated.score)
    return (
        str(seat),
        rank,
        score,
        *(printable(text, MAX_STATUS_REASON_CHARS) for text in (seated.name, seated.address or "-", out)),
    )


def next_steps(one: Summary, directory: str) -> Iterator[tuple[str, str]]:
    """What one may want to do next with a match: the aim, and the command."""
    option = game_info(one.game).option if one.game in EXTERNAL_GAMES else ()
    path = " ".join([shlex.quote(str(Path(directory) / one.file)), *option])
    if one.status in (Status.FINISHED, Status.UNFINISHED):
        yield "see it again", f"fairplay replay {path}"
        if any(seated.fault for seated in one.seats):
            yield "see why somebody was ejected", f"fairplay why {path}"
    if one.status is Status.UNFINISHED:
        if all(seated.address for seated in one.seats):
            yield "go on with it", f"fairplay resume {path}"
        else:  # nobody knows who played, so it becomes a match of its own
            yield "go on from there", f"fairplay resume {path} PLAYER... --journal {shlex.quote(directory)}"
    yield "check it", f"fairplay verify {path}"


def format_local_time(at: float | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A moment for people; what is no moment in any calendar is a question mark."""
    try:
        return "-" if at is None else datetime.fromtimestamp(at).strftime(form)
    except (OverflowError, ValueError, OSError):
        return "?"


def format_utc(at: float | None) -> str | None:
    """A moment for programs."""
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None
