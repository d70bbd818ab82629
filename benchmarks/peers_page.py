"""Format the figures of fairplay and other libraries as tables and as a plot."""

from collections.abc import Iterator
from math import ceil, floor, log10
from typing import NamedTuple

import msgspec

from fairplay.render import svg

UNIT_BENCHMARK = "openspiel"  # the unit of all ratios

WIDTH, ROW, TOP_MARGIN, BOTTOM = 860.0, 26.0, 62.0, 34.0
LEFT, RIGHT = 300.0, 66.0  # for the names, and for the figures behind the dots
DOT_SIZE = 6.0
STYLE = """
.ground { fill: #ffffff } .ink { fill: #1b1f24 } .faint { stroke: #d0d7de }
.ours { fill: #0b6cb3; stroke: #0b6cb3 } .theirs { fill: #b35900; stroke: #b35900 }
@media (prefers-color-scheme: dark) {
.ground { fill: #14181d } .ink { fill: #e6edf3 } .faint { stroke: #3d444d }
.ours { fill: #6cb6ff; stroke: #6cb6ff } .theirs { fill: #f0a04b; stroke: #f0a04b }
}
"""


class Subject(NamedTuple):
    """A row of the comparison."""

    package: str
    label: str  # in the plot
    about: str  # in the table


FAIRPLAY = "fairplay"
MOVE_BY_MOVE = {
    "fish.raw": Subject(FAIRPLAY, "Fish", "Fish, 5 × 5, two players: `view`, `actions`, `apply`"),
    "tsuro.raw": Subject(FAIRPLAY, "Tsuro", "Tsuro, three players: `view`, `actions`, `apply`"),
    "q.raw": Subject(FAIRPLAY, "Q", "Q, two players: `view`, what the built-in player `random` places, `apply`"),
    UNIT_BENCHMARK: Subject("open_spiel", "OpenSpiel: connect four", "connect four: `legal_actions`, `apply_action`"),
    "textarena.raw": Subject(
        "textarena", "TextArena, no wrappers: connect four", "connect four without wrappers: `get_observation`, `step`"
    ),
    "textarena": Subject("textarena", "TextArena: connect four", "connect four: `get_observation`, `step`"),
    "chess": Subject("chess", "python-chess: chess", "chess: `legal_moves`, `push`, `is_game_over`"),
    "pettingzoo": Subject("pettingzoo", "PettingZoo: connect four", "connect four: `agent_iter`, `last`, `step`"),
    "easyai": Subject("easyAI", "easyAI: connect four", "connect four: `possible_moves`, `make_move`, `is_over`"),
}
REFEREED = {
    "fish.refereed": Subject(FAIRPLAY, "Fish, refereed", "Fish, 5 × 5, two players `random`"),
    "fish.journalled": Subject(
        FAIRPLAY, "Fish, refereed and journalled", "Fish, 5 × 5, two players `random`, every turn in the journal"
    ),
    "tsuro.refereed": Subject(FAIRPLAY, "Tsuro, refereed", "Tsuro, three players `random`"),
    "q.refereed": Subject(FAIRPLAY, "Q, refereed", "Q, two players `dag`, which think less than `random`"),
}
IN_BATCHES = {
    "fish.batch": Subject(FAIRPLAY, "Fish in batches, one thread", "Fish, 5 × 5: `playouts`, in C, one thread"),
    "fish.batch.two": Subject(FAIRPLAY, "Fish in batches, two threads", "Fish, 5 × 5: `playouts`, in C, two threads"),
    "openspiel.bots": Subject(
        "open_spiel", "OpenSpiel's bots: connect four", "connect four: `evaluate_bots`, in C++, a match a call"
    ),
    "pgx": Subject("pgx", "Pgx in batches: connect four", "connect four: `step` for 10,000 matches at once"),
}
TABLES = {"Move by move": MOVE_BY_MOVE, "With a referee": REFEREED, "In batches": IN_BATCHES}
SUBJECTS = MOVE_BY_MOVE | REFEREED | IN_BATCHES
OURS = tuple(name for name, subject in SUBJECTS.items() if subject.package == FAIRPLAY)


class Run(msgspec.Struct, frozen=True):
    """The results of one run."""

    microseconds: dict[str, float]  # per move, of each subject that was measured
    versions: dict[str, str]  # by package
    rounds: int
    cores: int
    load: float  # processes that wanted a core when it began
    python: str
    day: str

    def ratio(self, name: str) -> float:
        """The time of a move as a multiple of the unit."""
        return self.microseconds[name] / self.microseconds[UNIT_BENCHMARK]


def render_page(run: Run) -> str:
    """The part of the page that holds the figures."""
    return "\n".join(["", *describe_run(run), ""])


def describe_run(run: Run) -> Iterator[str]:
    """The figures in Markdown, line by line."""
    yield f"Measured on {run.day} with Python {run.python} on {run.cores} cores; {run.load:.2f} other processes wanted"
    yield f"one of them when it began. The best of {run.rounds} rounds counts. In OpenSpiel a move of connect four took"
    yield f"{run.microseconds[UNIT_BENCHMARK]:.2f} µs from Python."
    for heading, subjects in TABLES.items():
        there = sorted((name for name in subjects if name in run.microseconds), key=run.ratio)
        if there:
            yield from ("", f"### {heading}", "")
            yield from ("| library | what is played | µs a move | × OpenSpiel |", "|---|---|--:|--:|")
        for name in there:
            package, _, about = subjects[name]
            bold = "**" if package == FAIRPLAY else ""
            library = f"{bold}{package} {run.versions[package]}{bold}"
            time, ratio = format_figure(run.microseconds[name]), format_figure(run.ratio(name))
            yield f"| {library} | {about} | {time} | {ratio} |"
    if missing := [subject.label for name, subject in SUBJECTS.items() if name not in run.microseconds]:
        yield from ("", f"Not measured, as it could not be had there: {'; '.join(missing)}.")


def format_figure(figure: float) -> str:
    """A figure with as many digits as are reproducible."""
    if figure >= 9.95:
        return f"{figure:,.0f}"
    return f"{figure:.{1 - floor(log10(figure))}f}"


def draw_plot(run: Run) -> str:
    """All figures on one logarithmic scale, the quickest on top, with colours for light and dark pages."""
    ratios = {name: run.ratio(name) for name in sorted(run.microseconds, key=run.ratio)}
    first, last = floor(log10(min(ratios.values()))), ceil(log10(max(ratios.values())))
    height = TOP_MARGIN + ROW * len(ratios) + BOTTOM

    def across(ratio: float) -> float:
        return LEFT + (log10(ratio) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    content = [svg.rectangle(0, 0, WIDTH, height, rx=8, **{"class": "ground"}), *draw_legend()]
    for power in range(first, last + 1):
        at = across(10.0**power)
        content.append(draw_line(at, TOP_MARGIN - 8, at, height - BOTTOM + 2, 2.0 if power == 0 else 1.0, "faint"))
        content.append(draw_text(at, height - 12, f"{10.0**power:,g} ×", text_anchor="middle"))
    for index, (name, ratio) in enumerate(ratios.items()):
        whose = "ours" if SUBJECTS[name].package == FAIRPLAY else "theirs"
        at, down = across(ratio), TOP_MARGIN + ROW * (index + 0.5)
        content.append(draw_text(LEFT - 14, down + 4.5, SUBJECTS[name].label, text_anchor="end"))
        content.append(draw_line(across(1.0), down, at, down, 2.5, whose))
        content.append(draw_dot(at, down, whose))
        content.append(draw_text(max(at, across(1.0)) + 12, down + 4.5, format_figure(ratio)))
    label = "Time of a move as a multiple of OpenSpiel's connect four"
    return svg.document(WIDTH, height, [svg.element("style", STYLE)], content, label=label, ids="benchmarks")


def draw_legend() -> Iterator[str]:
    """The legend and the scale."""
    yield draw_text(20, 28, "Time of a move as a multiple of OpenSpiel's connect four, from Python", font_weight="bold")
    for at, whose, words in ((WIDTH - 232, "ours", "fairplay"), (WIDTH - 140, "theirs", "other libraries")):
        yield draw_dot(at, 24, whose)
        yield draw_text(at + 12, 28.5, words)


def draw_dot(x: float, y: float, whose: str) -> str:
    """The mark of a figure: a disc for fairplay and a diamond for others, so that colours are not needed."""
    if whose == "ours":
        return svg.circle(x, y, DOT_SIZE, **{"class": whose})
    return svg.polygon([(x - DOT_SIZE, y), (x, y - DOT_SIZE), (x + DOT_SIZE, y), (x, y + DOT_SIZE)], **{"class": whose})


def draw_line(x: float, y: float, to_x: float, to_y: float, width: float, style: str) -> str:
    """A line."""
    return svg.element("line", x1=x, y1=y, x2=to_x, y2=to_y, stroke_width=width, **{"class": style})


def draw_text(x: float, y: float, text: str, **attributes: str) -> str:
    """A text in the picture."""
    return svg.text(x, y, text, font_family="sans-serif", font_size=13.5, **{"class": "ink"}, **attributes)
