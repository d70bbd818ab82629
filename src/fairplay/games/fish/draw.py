"""Draw a view of Fish as SVG."""

from collections.abc import Iterator, Sequence
from math import ceil, dist, sqrt

from fairplay.games.fish.roster import look_of, occupants, players_of
from fairplay.games.fish.shapes import DARK, FOAM, INK, LIGHT, MARK, PLAIN_FISH, SIDE, definitions, figure, penguin_id
from fairplay.games.fish.state import Stage, State
from fairplay.games.fish.view import View
from fairplay.render.panel import EDGE, Board, Header, picture, units_per_pixel
from fairplay.render.svg import group, path, rectangle, text, use

# The measures of the picture. A tile's centre is at (column * ACROSS, row * DOWN), in odd rows half of ACROSS further.
ACROSS = 3 * SIDE
DOWN = sqrt(3) / 2 * SIDE
HEAD = 6.0  # height of a penguin's head above its tile
INSET = 12.0  # by how much the sea overlaps the panels around the board


def svg(
    view: View,
    names: Sequence[str] = (),
    *,
    before: View | None = None,
    around: View | None = None,
    dark: bool = False,
    small: bool = False,
) -> str:
    """A picture of the board and the players, as an SVG document; what changed since `before` is marked.

    The board never grows, so there is always room for `around`.
    """
    state, players = view.state, players_of(view.state, names)
    rows, columns = state.grid.rows, state.grid.columns
    width = (columns - 1) * ACROSS + (ACROSS / 2 if rows > 1 else 0) + 2 * SIDE
    height, units = (rows + 1) * DOWN, units_per_pixel(width, small=small)
    label = max(13.0, 10 * units)
    shore = 4 * units if small else label * 1.9 + 4  # of the sea around the tiles, with room for the labels
    right, down = (0.0, shore) if small else (max(0.0, shore + INSET - EDGE), shore - INSET)
    content = [
        rectangle(-SIDE - shore, -DOWN - shore, width + 2 * shore, height + 2 * shore, rx=18.0, fill="url(#sea)"),
        group(_tiles(state, water=units <= PLAIN_FISH), id="tiles"),
        group(_news(state, before, units), id="news"),
        group(_penguins(state), id="penguins"),
        *(() if small else _labels(state, label)),
    ]
    scores = ", ".join(f"{player.display_name} {player.score}" for player in players)
    return picture(
        Board(content, width + 2 * right, height + 2 * down, origin=(SIDE + right, DOWN + down)),
        players,
        [figure(player.look, units, small=small) for player in players],
        header=Header(
            use("fish", 0, 0, transform="translate(30 24) scale(1.3)"),
            "Fish",
            [stage.value for stage in Stage],
            list(Stage).index(state.stage),
        ),
        skin=DARK if dark else LIGHT,
        definitions=definitions({player.look for player in players}, units, dark=dark),
        label=f"Fish, {state.stage.value}: {scores}",
        ids=f"fish{columns}" if rows > 1 else f"fish{columns}row",
        unit="body",
        small=small,
    )


def _centre(state: State, cell: int) -> tuple[float, float]:
    row, column = divmod(cell, state.grid.columns)
    return column * ACROSS + row % 2 * ACROSS / 2, row * DOWN


def _tiles(state: State, *, water: bool) -> Iterator[str]:
    taken = occupants(state)
    for cell in range(state.grid.rows * state.grid.columns):
        fish = state.fish_at(cell)
        if fish or water:
            shape = f"{'taken' if cell in taken else 'free'}{fish}" if fish else "water"
            yield use(shape, *_centre(state, cell))


def _news(state: State, before: View | None, units: float) -> Iterator[str]:
    """The placements and moves since `before`."""
    for now, then in zip(state.penguins, before.state.penguins, strict=True) if before else ():
        for cell in now[len(then) :]:
            yield use("last", *_centre(state, cell))
        for start, cell in zip(then, now, strict=False):
            if start != cell:
                (left, top), (x, y) = _centre(state, start), _centre(state, cell)
                part = 1 - DOWN / dist((left, top), (x, y))  # up to the tile's edge: a penguin is narrower than that
                right, down = (x - left) * part, (y - top) * part
                for paint, width in ((INK, 3.4), (MARK, 2.0)):
                    line = f"M{left:.2f} {top:.2f}l{right:.2f} {down:.2f}"
                    yield path(line, stroke=paint, stroke_width=width * max(2.0, units), stroke_linecap="round")
                yield use("left", left, top)
                yield use("last", x, y)


def _penguins(state: State) -> Iterator[str]:
    for seat, cells in enumerate(state.penguins):
        for cell in cells:
            yield use(penguin_id(look_of(state, seat)), *_centre(state, cell))


def _labels(state: State, size: float) -> Iterator[str]:
    """The numbers of the rows on the left; on top, those of the columns in even rows and in odd ones, if they fit."""
    rows, columns = state.grid.rows, state.grid.columns
    left = (
        text(-SIDE - size / 2, row * DOWN + size / 3, str(row), text_anchor="end")
        for row in range(0, rows, ceil(size / DOWN))
    )
    top = (
        text(column * ACROSS + odd * ACROSS / 2, -DOWN - size / 2 - HEAD, str(column))
        for column in range(columns)
        for odd in range(min(rows, 2) if size < DOWN else 1)
    )
    yield group([*left, *top], fill=FOAM, font_family="sans-serif", font_size=size, text_anchor="middle")
