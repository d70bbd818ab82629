"""Search recorded matches (fairplay library)."""

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
MIN_JOURNALS_FOR_PROGRESS = 100  # to read, from which on a progress bar is shown
MAX_LISTED_NAME_CHARS = 40
MAX_STATUS_REASON_CHARS = 200
MAX_DETAIL_LINE_CHARS = 4000
MAX_TERMINAL_MATCHES = 300  # in a table that is fitted to the terminal, which is slow


def journal_directory(_: click.Context, __: click.Parameter, directory: str) -> str:
    """The directory of the journals; that of a tournament has a subdirectory for them."""
    return str(Path(directory) / MATCHES_DIR) if (Path(directory) / LOG_FILE).is_file() else directory


directory_argument = click.argument(
    "directory", metavar="DIR", type=click.Path(exists=True, file_okay=False), callback=journal_directory
)
limit_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="List only the newest N.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per match.")


@click.group()
def library() -> None:
    """Search recorded matches.

    DIR holds journals, or is the output directory of a tournament. Other commands accept DIR/ID as the FILE of a match,
    with an ID listed here; and ID alone if DIR is the current directory or one below it.

    An index is kept in DIR/.index.sqlite. It is always updated first, and can be deleted at any time.
    """


@library.command("list")
@directory_argument
@game_option
@limit_option
@json_option
def list_all(directory: str, limit: int | None, as_json: bool) -> None:
    """List the matches in DIR.

    The newest come first. A match is finished, unfinished, damaged (not a journal, or a changed one), or unreadable
    (unknown rules, another format, or a file that cannot be opened).
    """
    print_matches(directory, find_matches(directory, Query(limit=limit), progress=show_progress), as_json=as_json)


@library.command("find")
@directory_argument
@click.option("--game", type=GAME, help="Find matches of this game; py:module:Name for your own.")
@click.option(
    "--player", "players", multiple=True, metavar="NAME|ADDRESS", help="Find matches with this player; may be repeated."
)
@click.option("--winner", metavar="NAME", help="Find matches won by this player, alone or in a tie.")
@click.option(
    "--fault",
    type=click.Choice([*(fault.value for fault in Fault), "any"]),
    help="Find matches with an ejection for this fault; with --player, of one of these players.",
)
@click.option(
    "--since", metavar="DATE", help="Find matches started on this day or later: 2026-11-16, or 2026-11-16T08:30."
)
@click.option("--until", metavar="DATE", help="Find matches started on this day, in this minute, or earlier.")
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Find matches with this status.")
@click.option(
    "--with", "settings", multiple=True, metavar="NAME=VALUE", help="Find matches with this parameter; may be repeated."
)
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
    """List the matches in DIR that fit all options.

    The newest come first.
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
    """Show one match in DIR.

    Its id begins with ID. Useful commands for the match are shown as well.
    """
    refuse_unreadable([id])
    for line in format_details(find_match(directory, id, progress=show_progress), directory):
        click.echo(line)


def parse_date(option: str, text: str, *, end: bool = False) -> float:
    """The start or the end of a day or minute of local time, in seconds."""
    try:
        if (written := DATE.fullmatch(text)) is None:
            raise ValueError
        day = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{option} {text}: expected a date such as 2026-11-16 or 2026-11-16T08:30") from None
    length = timedelta(minutes=1) if written[1] else timedelta(days=1)
    try:
        return (day + length if end else day).timestamp()
    except (OverflowError, ValueError):  # outside of the range of timestamps
        return inf if day.year > FIRST_YEAR else -inf


def show_progress(ids: Sequence[str]) -> Iterable[str]:
    """The journals to read, with a progress bar where there are many."""
    return progress_bar(ids, "reading journals", MIN_JOURNALS_FOR_PROGRESS)


def print_matches(directory: str, found: Sequence[Summary], *, as_json: bool) -> None:
    """Print matches as JSON, as a table, or as lines."""
    if as_json:
        for one in found:
            fields = match_fields(one, directory)
            click.echo(json.dumps(fields, separators=(",", ":")))  # in ASCII, so safe for a terminal
    elif not found:
        click.echo("no matches")
    elif sys.stdout.isatty() and len(found) <= MAX_TERMINAL_MATCHES:
        print_table([format_row(one) for one in found])
    else:
        click.echo("\n".join(align_columns([HEADINGS, *(format_row(one) for one in found)])))


def match_fields(one: Summary, directory: str) -> dict[str, Any]:
    """The JSON fields of a match, as docs/library.md lists them."""
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
    """The number of facts, or - if it is unknown."""
    return "-" if facts is None else str(facts)


def format_ranking(one: Summary) -> str:
    """The names by rank, ties joined by "="; by seat as long as there is no ranking."""
    if one.status is not Status.FINISHED:
        return ", ".join(map(format_label, one.seats))
    ranked = sorted((seated.rank, seat) for seat, seated in enumerate(one.seats) if seated.rank)
    groups = [
        "=".join(format_label(one.seats[seat]) for _, seat in group) for _, group in groupby(ranked, lambda at: at[0])
    ]
    return ", ".join(groups if ranked and ranked[0][0] == 1 else ["(none)", *groups])


def format_label(seated: SeatSummary) -> str:
    """A name made printable for a table."""
    return printable(seated.name, MAX_LISTED_NAME_CHARS)


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """The table for a terminal, fitted to its width."""
    from rich.console import Console  # imported late, as it is slow
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=heading in ("id", "started", "facts"), overflow="fold")
    for *cells, status in rows:
        colour = STATUS_COLOURS[status.partition(":")[0]]
        table.add_row(*map(Text, cells), Text(status, style=colour))  # Text: rich would read markup in a string
    Console().print(table)


def format_details(one: Summary, directory: str) -> list[str]:
    """The lines that describe one match."""
    path = str(Path(directory) / one.file)
    values = " ".join(f"{name}={value}" for name, value in one.parameters.items())
    about = [
        ("match", printable(one.id, MAX_STATUS_REASON_CHARS)),
        *([("renamed from", printable(one.match, MAX_STATUS_REASON_CHARS))] if one.match not in ("", one.id) else []),
        ("status", describe_status(one)),
        ("game", printable(f"{one.game}, rules version {one.rules}" if one.game else "-", MAX_STATUS_REASON_CHARS)),
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
    """The player at a seat and its outcome, as a line of a table."""
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
    """Useful commands for a match, each with its purpose."""
    option = game_info(one.game).option if one.game in EXTERNAL_GAMES else ()
    path = " ".join([shlex.quote(str(Path(directory) / one.file)), *option])
    if one.status in (Status.FINISHED, Status.UNFINISHED):
        yield "replay it", f"fairplay replay {path}"
        if any(seated.fault for seated in one.seats):
            yield "explain the ejections", f"fairplay why {path}"
    if one.status is Status.UNFINISHED:
        if all(seated.address for seated in one.seats):
            yield "resume it", f"fairplay resume {path}"
        else:  # the players are unknown, so it becomes a branch
            yield "play on from there", f"fairplay resume {path} PLAYER... --journal {shlex.quote(directory)}"
    yield "check it", f"fairplay verify {path}"


def format_local_time(at: float | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time as text for people; "?" for one that no calendar has."""
    try:
        return "-" if at is None else datetime.fromtimestamp(at).strftime(form)
    except (OverflowError, ValueError, OSError):
        return "?"


def format_utc(at: float | None) -> str | None:
    """A time in UTC for programs."""
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None
