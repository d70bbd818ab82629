"""Write the report of a tournament: one page with the standings, plots and ejections, which needs nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from fairplay.core.events import Fault
from fairplay.render.svg import escape
from fairplay.render.words import plain, whole
from fairplay.tournament.counted import Counted
from fairplay.tournament.rating.ratings import Ratings
from fairplay.tournament.rating.standings import Row
from fairplay.tournament.report import plots
from fairplay.tournament.report.boards import Board, shown, write_replays
from fairplay.tournament.report.decision import decision
from fairplay.tournament.report.ejections import Told, chosen, file_of, tell
from fairplay.tournament.report.figures import Ejection, ejections, meetings, paces, scores
from fairplay.tournament.report.page import LONGEST_NAME, called, figure, folded, grid, page, paragraph, words
from fairplay.tournament.report.results import put
from fairplay.tournament.report.table import describe_unranked, interval, told_apart
from fairplay.tournament.result import TournamentResult
from fairplay.tournament.spec import Cup

LONGEST_STORY = 10_000  # signs of the answer to why somebody was ejected
MOST_MET = 40  # players who are shown one against the other
MANY = 12  # players, whose meetings take the whole width of the page


def write_report(result: TournamentResult) -> None:
    """Write the report, and the replays that it links to, into the folder of the tournament, where the journals are."""
    boards = write_replays(result.directory, result.counted)
    put(result.report, report(result, boards))


def report(result: TournamentResult, boards: Sequence[Board] = ()) -> str:
    """The page."""
    cup, rows, counted, ratings = result.cup, result.standings, result.counted, result.ratings
    title = f"Tournament of {cup.game}"
    found = list(ejections(counted))
    some = chosen(found)
    parts = [
        f"<h1>{words(title)}</h1>",
        *about(cup, rows, counted),
        paragraph(words(told_apart([row.name for row in rows], ratings.apart), 2000), kind="lead"),
        *(paragraph(words(said, 2000), kind="lead") for said, _ in [decision(cup, counted) or ("", None)] if said),
        standings_table(rows),
        '<div class="notes">',
        *meaning(rows),
        "</div>",
        '<div class="plots">',
        *pictures(rows, counted, ratings),
        "</div>",
        *shown(boards),
        "<h2>Ejections</h2>",
        *ejected(rows, found, tell(result.directory, some)),
    ]
    return page(title, parts)


def about(cup: Cup, rows: Sequence[Row], counted: Sequence[Counted]) -> Iterator[str]:
    """What was played."""
    settings: dict[str, Any] = msgspec.to_builtins(cup.format)
    played = sum(bool(one.places) for one in counted)
    yield paragraph(
        words(f"{settings.pop('kind')}{f' ({listed(settings)})' if settings else ''}:"),
        f"{number(len(rows), 'player')}, {number(played, 'match', 'matches')}.",
        f"The game has {words(listed(cup.rules().public_parameters()), 2000)}.",
        kind="soft",
    )
    void = Counter(one.void or "no reason is known" for one in counted if not one.places)
    if void:
        reasons = "; ".join(f"{words(why)} ({count})" for why, count in void.most_common(5))
        yield paragraph(f"{number(void.total(), 'match does', 'matches do')} not count: {reasons}")
    if said := describe_unranked(counted):
        yield paragraph(f"{words(said)}.")


def standings_table(rows: Sequence[Row]) -> str:
    """The standings; what there is to say of a player is below its name."""
    faulty = any(row.faults for row in rows)
    scored = any(row.mean_score is not None for row in rows)
    shared = any(row.shared for row in rows)
    headings = [("#", ""), ("player", "name"), ("rating", ""), ("95 % interval", ""), ("ranks", ""), ("best", "")]
    headings += [("games", ""), ("points", ""), ("wins", ""), *([("shared", "")] if shared else []), ("place", "")]
    headings += [*([("score", "")] if scored else []), *([("ejected", "fault")] if faulty else [])]
    return grid(
        headings,
        [
            [
                str(row.place),
                f"{called(row.name)}{below(row.address)}{below(note(row))}",
                whole(row.rating),
                words(interval(row)),
                "–".join(map(str, dict.fromkeys(row.ranks))) if row.ranks else "",
                words(percent(row.best)) if row.rating is not None else "",
                str(row.games),
                f"{row.points:.1f}",
                str(row.wins),
                *([str(row.shared)] if shared else []),
                mean(row.mean_place, 2),
                *([mean(row.mean_score, 1)] if scored else []),
                *([words(by_kind(row.faults))] if faulty else []),
            ]
            for row in rows
        ],
    )


def below(said: str) -> str:
    """A line below a name, if there is anything to say."""
    return f"<small>{words(said, LONGEST_NAME)}</small>" if said else ""


def note(row: Row) -> str:
    """What has to be said beside the figures of a player."""
    return ", ".join(filter(None, [row.note, "expelled" if row.expelled else ""]))


def by_kind(faults: Mapping[str, int]) -> str:
    """How often somebody was ejected, and for what.

    >>> by_kind({"malformed": 14, "timed_out": 1})
    '14 malformed, 1 timed out'
    """
    return ", ".join(f"{count} {Fault(kind).in_words}" for kind, count in faults.items())


def meaning(rows: Sequence[Row]) -> Iterator[str]:
    """What the figures mean, in a few sentences."""
    yield paragraph(
        "Ratings are in Elo: whoever stands 100 higher scores 64 % against the other.",
        "In 95 of 100 tournaments like this one, the interval holds the true rating.",
        "Two players are <em>told apart</em> if the difference is beyond doubt, with all pairs looked at together;",
        "<em>ranks</em> are those that a player may deserve by that, and <em>best</em> is how likely nobody is better.",
        "A <em>point</em> is for beating everybody at the table, a tie being half of that; the ejected have none.",
        "<em>Place</em> is the mean place at the table"
        + (" and <em>score</em> the mean score." if any(row.mean_score is not None for row in rows) else "."),
        "The order is the format's, or that of the ratings where it has none.",
        kind="soft",
    )
    notes = " ".join(row.note for row in rows)
    yield paragraph(
        "<em>Too few games</em>: nothing much can be made of this rating yet." if "too few" in notes else "",
        "Who <em>never scored</em> may be arbitrarily weak, and who <em>never lost</em> arbitrarily strong:"
        " such intervals are open at one end."
        if "never scored" in notes or "never lost" in notes
        else "",
        kind="soft",
    )


def pictures(rows: Sequence[Row], counted: Sequence[Counted], ratings: Ratings) -> Iterator[str]:
    """The plots, as far as there is something to be seen."""
    names = [row.name for row in rows]
    if any(row.rating is not None for row in rows):
        caption = "The dot is the rating, the line its interval; an arrow means that it has no end."
        yield figure("Ratings", caption, plots.ratings_plot(rows))
    if ratings.seats:
        caption = "What it is worth to sit there, as a difference in rating. Seat 0 goes first."
        yield figure("Seats", caption, plots.seats_plot(ratings.seats))
    if points := scores(names, counted):
        caption = (
            "Half of them are in the box, 9 of 10 between the whiskers; the line is the median, the diamond the mean."
        )
        yield figure("Scores", caption, plots.scores_plot(points))
    if any(row.faults for row in rows):
        yield figure("Ejections by fault", "Who was ejected how often, and for what.", plots.faults_plot(rows))
    if pace := paces(names, counted):
        yield figure("Time of a move", "It differs from run to run.", plots.paces_plot(pace))
    if any(row.games for row in rows):
        caption = "The share of points, in percent, of the player on the left against the one above."
        caption += f" Only the first {MOST_MET} are shown; results.json has all." if len(names) > MOST_MET else ""
        met = meetings(names, counted)
        yield figure("Head to head", caption, plots.meetings_plot(met, MOST_MET), large=len(names) > MANY)


def ejected(rows: Sequence[Row], found: Sequence[Ejection], answers: Sequence[Told]) -> Iterator[str]:
    """Who was ejected, and for some of them why."""
    if not found:
        yield paragraph("Nobody was ejected.")
        return
    left_out = len(found) - len(answers)
    yield paragraph(
        f"{number(len(found), 'ejection')}.",
        f"Here are {len(answers)} of them, some of every kind; {left_out} more are in the journals:"
        " <code>fairplay library find matches --fault any</code>."
        if left_out
        else "",
        "Commands are to be typed in the folder of the tournament.",
        kind="soft",
    )
    counts = Counter((ejection.name, ejection.fault.value) for ejection in found)
    for row in rows:
        mine = [answer for answer in answers if answer.ejection.name == row.name]
        if mine:
            kinds = by_kind({kind: counts[row.name, kind] for kind in row.faults})
            yield folded(f"{called(row.name)}: {words(kinds)}", "\n".join(map(answered, mine)))


def answered(answer: Told) -> str:
    """One ejection: in a line, and with its whole story where there is one."""
    ejection = answer.ejection
    line = f"match {words(ejection.match)}: {ejection.fault.in_words}, {words(answer.why)}"
    story = "\n".join(answer.story)
    if len(story) > LONGEST_STORY:
        story = f"{story[:LONGEST_STORY]}…\n\nFor all of it: fairplay why {file_of(ejection.match)}"
    return folded(line, f"<pre>{escape(story)}</pre>") if story else paragraph(line)


def number(count: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> number(1, "player"), number(1200, "match", "matches")
    ('1 player', '1,200 matches')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def listed(values: Mapping[str, Any]) -> str:
    """Names and values in words.

    >>> listed({"rows": 5, "fish": "random", "cramped": False})
    'rows 5, fish random, cramped no'
    """
    known = {True: "yes", False: "no"}
    return ", ".join(
        f"{name} {known[value] if isinstance(value, bool) else value if isinstance(value, str) else plain(value)}"
        for name, value in values.items()
    )


def percent(share: float) -> str:
    """A probability; nothing is certain.

    >>> percent(0.424), percent(1.0), percent(0.0001)
    ('42 %', '> 99 %', '< 1 %')
    """
    return "< 1 %" if share < 0.01 else "> 99 %" if share > 0.99 else f"{share * 100:.0f} %"


def mean(value: float | None, digits: int) -> str:
    """A mean as it is shown."""
    return "" if value is None else f"{value:.{digits}f}"
