"""Write the report of a tournament: one HTML page with standings, plots and ejections, which loads nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from fairplay.core.events import Fault
from fairplay.render.formatting import format_json, format_rounded
from fairplay.render.svg import escape
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.ratings import Ratings
from fairplay.tournament.rating.standings import StandingsRow
from fairplay.tournament.report import plots
from fairplay.tournament.report.boards import FinalBoard, render_boards, write_replay_pages
from fairplay.tournament.report.decision import describe_verdict
from fairplay.tournament.report.ejections import ExplainedEjection, choose_ejections, explain_ejections, journal_link
from fairplay.tournament.report.figures import Ejection, head_to_head, list_ejections, scores_by_player, thinking_times
from fairplay.tournament.report.html_parts import (
    MAX_SHOWN_NAME_CHARS,
    escape_text,
    render_details,
    render_figure,
    render_name,
    render_page,
    render_paragraph,
    render_table,
)
from fairplay.tournament.report.results import write_file_atomically
from fairplay.tournament.report.table import (
    describe_significance,
    describe_unranked,
    format_ranks,
    format_rating_interval,
)
from fairplay.tournament.result import TournamentResult
from fairplay.tournament.spec import TournamentSpec

MAX_EXPLANATION_CHARS = 10_000  # of an ejection
MAX_HEAD_TO_HEAD_PLAYERS = 40
WIDE_PLOT_PLAYERS = 12  # with more, the plot of head to head takes the width of the page


def write_report(result: TournamentResult) -> None:
    """Write the report and the replays that it links to into the directory of the tournament."""
    boards = write_replay_pages(result.directory, result.counted)
    write_file_atomically(result.report, render_report(result, boards))


def render_report(result: TournamentResult, boards: Sequence[FinalBoard] = ()) -> str:
    """The report as HTML."""
    tournament, rows, counted, ratings = result.spec, result.standings, result.counted, result.ratings
    title = f"Tournament of {tournament.game}"
    found = list(list_ejections(counted))
    some = choose_ejections(found)
    parts = [
        f"<h1>{escape_text(title)}</h1>",
        *render_summary(tournament, rows, counted),
        render_paragraph(
            escape_text(describe_significance([row.name for row in rows], ratings.significant_pairs), 2000), kind="lead"
        ),
        *(
            render_paragraph(escape_text(text, 2000), kind="lead")
            for text, _ in [describe_verdict(tournament, counted) or ("", None)]
            if text
        ),
        render_standings(rows),
        '<div class="notes">',
        *explain_figures(rows),
        "</div>",
        '<div class="plots">',
        *render_plots(rows, counted, ratings),
        "</div>",
        *render_boards(boards),
        "<h2>Ejections</h2>",
        *render_ejections(rows, found, explain_ejections(result.directory, some)),
    ]
    return render_page(title, parts)


def render_summary(
    spec: TournamentSpec, rows: Sequence[StandingsRow], counted: Sequence[CountedMatch]
) -> Iterator[str]:
    """Render the settings of the tournament, and its number of matches."""
    settings: dict[str, Any] = msgspec.to_builtins(spec.format)
    played = sum(bool(one.places) for one in counted)
    yield render_paragraph(
        escape_text(f"{settings.pop('kind')}{f' ({format_list(settings)})' if settings else ''}:"),
        f"{format_count(len(rows), 'player')}, {format_count(played, 'match', 'matches')}.",
        f"The game has {escape_text(format_list(spec.rules().public_parameters()), 2000)}.",
        kind="soft",
    )
    void = Counter(one.void or "unknown reason" for one in counted if not one.places)
    if void:
        reasons = "; ".join(f"{escape_text(why)} ({count})" for why, count in void.most_common(5))
        yield render_paragraph(f"{format_count(void.total(), 'match does', 'matches do')} not count: {reasons}")
    if text := describe_unranked(counted):
        yield render_paragraph(f"{escape_text(text)}.")


def render_standings(rows: Sequence[StandingsRow]) -> str:
    """Render the standings; address and notes of a player are below its name."""
    faulty = any(row.faults for row in rows)
    scored = any(row.mean_score is not None for row in rows)
    shared = any(row.shared_wins for row in rows)
    headings = [("#", ""), ("player", "name"), ("rating", ""), ("95 % interval", ""), ("ranks", ""), ("best", "")]
    headings += [("games", ""), ("points", ""), ("wins", ""), *([("shared", "")] if shared else []), ("place", "")]
    headings += [*([("score", "")] if scored else []), *([("ejected", "fault")] if faulty else [])]
    return render_table(
        headings,
        [
            [
                str(row.place),
                f"{render_name(row.name)}{render_subline(row.address)}{render_subline(render_player_note(row))}",
                format_rounded(row.rating),
                escape_text(format_rating_interval(row)),
                format_ranks(row, "–"),
                escape_text(format_percent(row.best_probability)) if row.rating is not None else "",
                str(row.games),
                f"{row.points:.1f}",
                str(row.wins),
                *([str(row.shared_wins)] if shared else []),
                format_mean(row.mean_place, 2),
                *([format_mean(row.mean_score, 1)] if scored else []),
                *([escape_text(format_faults(row.faults))] if faulty else []),
            ]
            for row in rows
        ],
    )


def render_subline(text: str) -> str:
    """A line below a name, unless it is empty."""
    return f"<small>{escape_text(text, MAX_SHOWN_NAME_CHARS)}</small>" if text else ""


def render_player_note(row: StandingsRow) -> str:
    """The notes on a player."""
    return ", ".join(filter(None, [row.note, "expelled" if row.expelled else ""]))


def format_faults(faults: Mapping[str, int]) -> str:
    """The number of ejections for each fault.

    >>> format_faults({"malformed": 14, "timed_out": 1})
    '14 malformed, 1 timed out'
    """
    return ", ".join(f"{count} {Fault(kind).description}" for kind, count in faults.items())


def explain_figures(rows: Sequence[StandingsRow]) -> Iterator[str]:
    """Render the meaning of the figures."""
    yield render_paragraph(
        "Ratings are in Elo: a player that is 100 higher scores 64 % against the other.",
        "In 95 of 100 tournaments like this one, the interval holds the true rating.",
        "Two players are <em>significantly different</em> at the 5 % level, with all pairs tested together;",
        "<em>ranks</em> are those that a player may deserve by that test, and <em>best</em> is the probability",
        "that no player is better.",
        "A <em>point</em> is for beating all others at the table, and a tie is half a win; the ejected have none.",
        "<em>Place</em> is the mean place at the table"
        + (" and <em>score</em> the mean score." if any(row.mean_score is not None for row in rows) else "."),
        "The order is the format's, or that of the ratings where it has none.",
        kind="soft",
    )
    notes = " ".join(row.note for row in rows)
    yield render_paragraph(
        "<em>Too few games</em>: this rating is not reliable yet." if "too few" in notes else "",
        "A player that <em>never scored</em> may be arbitrarily weak, and one that <em>never lost</em> arbitrarily"
        " strong: such intervals have one bound."
        if "never scored" in notes or "never lost" in notes
        else "",
        kind="soft",
    )


def render_plots(rows: Sequence[StandingsRow], counted: Sequence[CountedMatch], ratings: Ratings) -> Iterator[str]:
    """Render the plots that have data."""
    names = [row.name for row in rows]
    if any(row.rating is not None for row in rows):
        caption = "The dot is the rating, the line its interval; an arrow means that it has no bound."
        yield render_figure("Ratings", caption, plots.ratings_plot(rows))
    if ratings.seats:
        caption = "The advantage of each seat, as a difference in rating. Seat 0 goes first."
        yield render_figure("Seats", caption, plots.seats_plot(ratings.seats))
    if points := scores_by_player(names, counted):
        caption = (
            "Half of them are in the box, 9 of 10 between the whiskers; the line is the median, the diamond the mean."
        )
        yield render_figure("Scores", caption, plots.scores_plot(points))
    if any(row.faults for row in rows):
        yield render_figure("Ejections by fault", "The number of ejections of each player.", plots.faults_plot(rows))
    if pace := thinking_times(names, counted):
        yield render_figure("Time of a move", "It differs from run to run.", plots.thinking_time_plot(pace))
    if any(row.games for row in rows):
        caption = "The share of points, in percent, of the player on the left against the one above."
        caption += (
            f" Only the first {MAX_HEAD_TO_HEAD_PLAYERS} are shown; results.json has all."
            if len(names) > MAX_HEAD_TO_HEAD_PLAYERS
            else ""
        )
        met = head_to_head(names, counted)
        yield render_figure(
            "Head to head",
            caption,
            plots.head_to_head_plot(met, MAX_HEAD_TO_HEAD_PLAYERS),
            large=len(names) > WIDE_PLOT_PLAYERS,
        )


def render_ejections(
    rows: Sequence[StandingsRow], found: Sequence[Ejection], answers: Sequence[ExplainedEjection]
) -> Iterator[str]:
    """Render all ejections by player, with explanations of some."""
    if not found:
        yield render_paragraph("No player was ejected.")
        return
    left_out = len(found) - len(answers)
    yield render_paragraph(
        f"{format_count(len(found), 'ejection')}.",
        f"Here are {len(answers)} of them, some of each player and fault; {left_out} more are in the journals:"
        " <code>fairplay library find matches --fault any</code>."
        if left_out
        else "",
        "Run the commands in the directory of the tournament.",
        kind="soft",
    )
    counts = Counter((ejection.name, ejection.fault.value) for ejection in found)
    for row in rows:
        mine = [answer for answer in answers if answer.ejection.name == row.name]
        if mine:
            kinds = format_faults({kind: counts[row.name, kind] for kind in row.faults})
            yield render_details(
                f"{render_name(row.name)}: {escape_text(kinds)}", "\n".join(map(render_ejection, mine))
            )


def render_ejection(answer: ExplainedEjection) -> str:
    """One ejection in a line, with its explanation if there is one."""
    ejection = answer.ejection
    line = f"match {escape_text(ejection.match)}: {ejection.fault.description}, {escape_text(answer.why)}"
    details = "\n".join(answer.details)
    if len(details) > MAX_EXPLANATION_CHARS:
        details = f"{details[:MAX_EXPLANATION_CHARS]}…\n\nFor all of it: fairplay why {journal_link(ejection.match)}"
    return render_details(line, f"<pre>{escape(details)}</pre>") if details else render_paragraph(line)


def format_count(count: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> format_count(1, "player"), format_count(1200, "match", "matches")
    ('1 player', '1,200 matches')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def format_list(values: Mapping[str, Any]) -> str:
    """Names and values as text.

    >>> format_list({"rows": 5, "fish": "random", "cramped": False})
    'rows 5, fish random, cramped no'
    """
    known = {True: "yes", False: "no"}
    return ", ".join(
        f"{name} {known[value] if isinstance(value, bool) else value if isinstance(value, str) else format_json(value)}"
        for name, value in values.items()
    )


def format_percent(share: float) -> str:
    """A probability as a percentage, never 0 or 100.

    >>> format_percent(0.424), format_percent(1.0), format_percent(0.0001)
    ('42 %', '> 99 %', '< 1 %')
    """
    return "< 1 %" if share < 0.01 else "> 99 %" if share > 0.99 else f"{share * 100:.0f} %"


def format_mean(value: float | None, digits: int) -> str:
    """A mean with so many digits, if there is one."""
    return "" if value is None else f"{value:.{digits}f}"
