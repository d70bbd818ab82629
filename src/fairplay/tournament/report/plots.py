"""Draw the plots of the report as SVG that takes its colours from the page."""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from math import nan
from statistics import fmean
from typing import Any
from unicodedata import east_asian_width

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy import percentile

from fairplay.core.events import Fault
from fairplay.render.svg import escape
from fairplay.render.text import printable
from fairplay.tournament.rating.ratings import SeatEffect
from fairplay.tournament.rating.standings import StandingsRow
from fairplay.tournament.report.figures import HeadToHead, ThinkingTime

PLOT_WIDTH_IN = 5.0
ROW_HEIGHT_IN = 0.26  # for a player
FRAME_HEIGHT_IN = 0.75  # around the rows
MAX_LABEL_CHARS = 16  # of a name
MAX_ANNOTATED_PLAYERS = 12  # whose figures fit into the cells of a matrix
INK, FAINT = "#010203", "#010204"  # stand-ins for the colours of the page
BLUE, PALE, ORANGE = "#3b8bc4", "#3b8bc455", "#e08214"
FAULT_COLOURS = dict(zip(Fault, ("#d55e00", "#cc79a7", "#e69f00", "#3b8bc4", "#8c8c8c", "#009e73"), strict=True))
SHARE_COLOURS = LinearSegmentedColormap.from_list("shares", [ORANGE, "#f4f2ee", BLUE])
MATPLOTLIB_STYLE: dict[Any, Any] = {  # Any: matplotlib declares each key
    "svg.fonttype": "none",  # the fonts of the reader, which have more letters
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.axisbelow": True,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "legend.frameon": False,
}
SVG_CLUTTER = re.compile(r"^.*?(?=<svg)|<!--.*?-->|<metadata>.*?</metadata>| xmlns(:xlink)?=\"[^\"]*\"", re.DOTALL)
NUMBERED_ID = re.compile(r' id="[\w.]+_\d+"')  # which nothing refers to, and which repeat in each picture
NAME_PLACEHOLDER = re.compile(r"@(\d+)@[nm]*")


def ratings_plot(rows: Sequence[StandingsRow]) -> str:
    """The rating of each player with its interval; an arrow where the interval has no bound."""
    rated = [(row, row.rating) for row in rows if row.rating is not None]
    names = [row.name for row, _ in rated]
    with rc_context(MATPLOTLIB_STYLE):
        figure, axes = player_rows(names)
        known = [it for row, rating in rated for it in (row.rating_low, rating, row.rating_high) if it is not None]
        reach = max(known) - min(known) or 100.0
        least, most = min(known) - reach * 0.06, max(known) + reach * 0.06
        for height, (row, _) in enumerate(rated):
            low = least if row.rating_low is None else row.rating_low
            high = most if row.rating_high is None else row.rating_high
            axes.plot([low, high], [height] * 2, color=BLUE, linewidth=2.0, solid_capstyle="butt")
            if row.rating_low is None:
                axes.plot(low, height, "<", color=BLUE)
            elif row.rating_high is None:
                axes.plot(high, height, ">", color=BLUE)
        axes.plot([rating for _, rating in rated], range(len(rated)), "o", color=BLUE, markersize=6)
        axes.set_xlim(least - reach * 0.03, most + reach * 0.03)
        axes.set_xlabel("rating in Elo, with 95 % interval")
        return render_svg(figure, names, "ratings")


def head_to_head_plot(met: HeadToHead, max_players: int) -> str:
    """The share of points of each row against each column, of so many players at most."""
    names = met.names[:max_players]
    count = len(names)
    few = count <= MAX_ANNOTATED_PLAYERS
    side = max(PLOT_WIDTH_IN, 2.0 + 0.2 * count)
    shares = [
        [won / played if played else nan for won, played in zip(points[:max_players], games[:max_players], strict=True)]
        for points, games in zip(met.points[:max_players], met.games[:max_players], strict=True)
    ]
    with rc_context(MATPLOTLIB_STYLE):
        figure = Figure(figsize=(side, max(2.4, side * min(1.0, 0.35 + count * 0.06))), layout="constrained")
        axes = figure.subplots()
        axes.pcolormesh(shares, cmap=SHARE_COLOURS, vmin=0, vmax=1, edgecolors=FAINT, linewidth=0.4)
        for row in range(count if few else 0):
            for column in range(count):
                if met.games[row][column]:
                    share = f"{shares[row][column]:.0%}".rstrip("%")
                    axes.text(column + 0.5, row + 0.5, share, ha="center", va="center", color="#1b1b1b", fontsize=8)
        middles = [index + 0.5 for index in range(count)]
        labels = [name_placeholder(index, name) for index, name in enumerate(names)]
        size = 9 if few else 7
        axes.set_yticks(middles, labels, fontsize=size)
        axes.set_xticks(middles, labels, fontsize=size, rotation=90)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        axes.invert_yaxis()
        axes.spines[:].set_visible(False)
        return render_svg(figure, names, "meetings")


def seats_plot(seats: Sequence[SeatEffect]) -> str:
    """The advantage of each seat."""
    with rc_context(MATPLOTLIB_STYLE):
        figure, axes = labelled_rows([f"seat {it.seat}" for it in seats])
        for height, it in enumerate(seats):
            axes.plot([it.low, it.high], [height] * 2, color=BLUE, linewidth=2.0, solid_capstyle="butt")
        axes.plot([it.advantage for it in seats], range(len(seats)), "o", color=BLUE, markersize=6)
        axes.axvline(0, color=FAINT, linewidth=1.2)
        axes.set_xlabel("advantage in Elo, with 95 % interval")
        return render_svg(figure, (), "seats")


def faults_plot(rows: Sequence[StandingsRow]) -> str:
    """The ejections of each player by fault."""
    guilty = [row for row in rows if row.faults]
    with rc_context(MATPLOTLIB_STYLE):
        figure, axes = player_rows([row.name for row in guilty])
        left = [0] * len(guilty)
        for fault, colour in FAULT_COLOURS.items():
            counts = [row.faults.get(fault.value, 0) for row in guilty]
            if any(counts):
                label = fault.description
                axes.barh(range(len(guilty)), counts, 0.62, left=left, color=colour, label=label)
                left = [before + count for before, count in zip(left, counts, strict=True)]
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("ejections")
        figure.legend(loc="outside upper center", ncols=len(FAULT_COLOURS), columnspacing=1.0, handlelength=1.0)
        return render_svg(figure, [row.name for row in guilty], "faults")


def thinking_time_plot(known: Sequence[ThinkingTime]) -> str:
    """The mean and the slowest time of a move of each player."""
    with rc_context(MATPLOTLIB_STYLE):
        figure, axes = player_rows([it.name for it in known])
        least = 1e-7  # as zero has no logarithm
        heights = range(len(known))
        means = [max(it.mean_s, least) for it in known]
        slowest = [max(it.slowest_s, least) for it in known]
        axes.hlines(heights, means, slowest, color=FAINT, linewidth=1.2)
        axes.plot(means, heights, "o", color=BLUE, markersize=6, label="mean")
        axes.plot(slowest, heights, ">", color=ORANGE, markersize=6, label="slowest")
        axes.set_xscale("log")
        low, high = min(means), max(slowest)
        axes.set_xlim(min(low / 2, high / 20), high * 2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_seconds(value)))
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("time of a move")
        figure.legend(loc="outside upper center", ncols=2, handlelength=1.0)
        return render_svg(figure, [it.name for it in known], "paces")


def scores_plot(known: Mapping[str, Sequence[int]]) -> str:
    """The distribution of the scores of each player."""
    with rc_context(MATPLOTLIB_STYLE):
        figure, axes = player_rows(list(known))
        heights = range(len(known))
        low, left, middle, right, high = percentiles(known, (5, 25, 50, 75, 95))
        axes.hlines(heights, low, high, color=BLUE, linewidth=1.2)
        axes.plot([low, high], [heights, heights], "|", color=BLUE, markersize=7)
        widths = [to - since for since, to in zip(left, right, strict=True)]
        axes.barh(heights, widths, 0.6, left=left, color=PALE, edgecolor=BLUE, linewidth=1.2)
        axes.plot(middle, heights, "|", color=BLUE, markersize=11, markeredgewidth=2.4)
        axes.plot([fmean(some) for some in known.values()], heights, "D", color=ORANGE, markersize=4)
        axes.set_xlabel("points in a match")
        return render_svg(figure, list(known), "scores")


def percentiles(known: Mapping[str, Sequence[int]], percents: Sequence[int]) -> list[list[float]]:
    """For each percentage, that percentile of each player's figures."""
    return [[float(percentile(some, percent)) for some in known.values()] for percent in percents]


def player_rows(names: Sequence[str]) -> tuple[Figure, Axes]:
    """A picture with a row for each player."""
    return labelled_rows([name_placeholder(index, name) for index, name in enumerate(names)])


def labelled_rows(labels: Sequence[str]) -> tuple[Figure, Axes]:
    """A picture with a row for each label, from top to bottom."""
    figure = Figure(figsize=(PLOT_WIDTH_IN, FRAME_HEIGHT_IN + ROW_HEIGHT_IN * len(labels)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    return figure, axes


def render_svg(figure: Figure, names: Sequence[str], salt: str) -> str:
    """The picture as SVG for a page, equal for equal figures; the salt keeps the ids of pictures distinct."""
    written = StringIO()
    with rc_context({"svg.hashsalt": salt}):
        figure.savefig(written, format="svg", transparent=True)
    text = NUMBERED_ID.sub("", SVG_CLUTTER.sub("", written.getvalue()))
    text = text.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    return NAME_PLACEHOLDER.sub(lambda found: escape(printable(names[int(found[1])], MAX_LABEL_CHARS)), text).strip()


def name_placeholder(index: int, name: str) -> str:
    """A placeholder for a name, about as wide, which is replaced after drawing.

    A name may hold characters that the plotting library would interpret.
    """
    shown = "".join(
        "m" if sign.isupper() or sign in "mw@%" or east_asian_width(sign) in "WF" else "n"
        for sign in printable(name, MAX_LABEL_CHARS)
    )
    return (key := f"@{index}@") + shown[len(key) :]


def format_seconds(seconds: float) -> str:
    """A time on an axis.

    >>> format_seconds(0.01), format_seconds(1.0), format_seconds(0.0000005)
    ('10 ms', '1 s', '0.5 µs')
    """
    unit, size = ("s", 1.0) if seconds >= 1 else ("ms", 1e-3) if seconds >= 1e-3 else ("µs", 1e-6)
    return f"{seconds / size:.3g} {unit}"
