"""Draw what a seat sees of Fish, as SVG and as text for a terminal."""

from collections.abc import Iterator, Sequence
from math import ceil, dist, sqrt

from fairplay.core.game import Seat
from fairplay.games.fish.shapes import DARK, FOAM, INK, LIGHT, MARK, PLAIN_FISH, SIDE, definitions, figure, penguin_id
from fairplay.games.fish.state import Stage, State
from fairplay.games.fish.terminal import board_lines, standing
from fairplay.games.fish.view import View
from fairplay.render.fit import Room
from fairplay.render.panel import EDGE, Board, Header, Look, Player, grain, named, picture, roster
from fairplay.render.svg import box, group, path, use, words

# People who do not see red have red and brown at different brightness; the letters help as well.
LOOKS = {
    "red": Look("R", "97;41", "#f4525a"),
    "white": Look("W", "30;107", "#ffffff"),
    "brown": Look("B", "97;48;5;94", "#6f4218"),
    "black": Look("K", "97;40", "#15181d"),
}
UNKNOWN = Look("?", "7", "#8d99a6")

# The measures of the picture. A tile's centre is at (column * ACROSS, row * DOWN), in odd rows half of ACROSS further.
ACROSS = 3 * SIDE
DOWN = sqrt(3) / 2 * SIDE
HEAD = 6.0  # of a penguin, above its tile
INSET = 12.0  # how far the sea reaches into what is around the board


def svg(
    view: View,
    names: Sequence[str] = (),
    *,
    before: View | None = None,
    around: View | None = None,
    dark: bool = False,
    small: bool = False,
) -> str:
    """A picture of the board and the players, as a document of its own; what is new since `before` is marked.

    The board never grows, so that there is always room for `around`.
    """
    state, players = view.state, _players(view.state, names)
    rows, columns = state.grid.rows, state.grid.columns
    width = (columns - 1) * ACROSS + (ACROSS / 2 if rows > 1 else 0) + 2 * SIDE
    height, units = (rows + 1) * DOWN, grain(width, small=small)
    label = max(13.0, 10 * units)
    shore = 4 * units if small else label * 1.9 + 4  # of the sea around the tiles, with room for the labels
    right, down = (0.0, shore) if small else (max(0.0, shore + INSET - EDGE), shore - INSET)
    content = [
        box(-SIDE - shore, -DOWN - shore, width + 2 * shore, height + 2 * shore, rx=18.0, fill="url(#sea)"),
        group(_tiles(state, water=units <= PLAIN_FISH), id="tiles"),
        group(_news(state, before, units), id="news"),
        group(_penguins(state), id="penguins"),
        *(() if small else _labels(state, label)),
    ]
    said = ", ".join(f"{player.called} {player.score}" for player in players)
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
        label=f"Fish, {state.stage.value}: {said}",
        ids=f"fish{columns}" if rows > 1 else f"fish{columns}row",
        unit="body",
        small=small,
    )


def text(
    view: View,
    names: Sequence[str] = (),
    *,
    colour: bool = False,
    width: int | None = None,
    height: int | None = None,
    before: View | None = None,
) -> str:
    """The board and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else.

    No line is wider than `width`, and there are not more than `height`, as long as there is room for anything at all.
    """
    state, players = view.state, [*roster(_players(view.state, names), colour=colour, width=width)]
    room = Room(width, height).less(len(players) + 1)
    board = board_lines(state, looks(view), room, colour=colour, before=None if before is None else before.state)
    return "\n".join([*board, "", *players]).rstrip("\n")


def looks(view: View) -> list[Look]:
    """What everybody's penguins look like, by seat."""
    return [_look(view.state, seat) for seat in range(len(view.state.colours))]


def _players(state: State, names: Sequence[str]) -> list[Player]:
    players = []
    for seat, score in enumerate(state.scores):
        mark = _mark(state, seat)
        out = seat not in state.order
        player = Player(
            _look(state, seat),
            state.colours[seat],
            named(names, seat),
            mark,
            lit=bool(mark) and not out,
            out=out,
            facts=f"{score:4} fish",
            score=str(score),
        )
        players.append(player)
    return players


def _mark(state: State, seat: Seat) -> str:
    """What there is to say about a seat now."""
    if seat not in state.order:
        return "ejected"
    if state.stage is Stage.DONE:
        return "most fish" if state.scores[seat] == max(state.scores[other] for other in state.order) else ""
    if seat != state.order[0]:
        return ""
    return "to place" if state.stage is Stage.PLACING else "to move"


def _look(state: State, seat: Seat) -> Look:
    return LOOKS.get(state.colours[seat], UNKNOWN)


# The picture, from its tiles to its labels.


def _centre(state: State, cell: int) -> tuple[float, float]:
    row, column = divmod(cell, state.grid.columns)
    return column * ACROSS + row % 2 * ACROSS / 2, row * DOWN


def _tiles(state: State, *, water: bool) -> Iterator[str]:
    taken = standing(state)
    for cell in range(state.grid.rows * state.grid.columns):
        fish = state.fish_at(cell)
        if fish or water:
            shape = f"{'taken' if cell in taken else 'free'}{fish}" if fish else "water"
            yield use(shape, *_centre(state, cell))


def _news(state: State, before: View | None, units: float) -> Iterator[str]:
    """Where penguins have come to since then, and from where."""
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
            yield use(penguin_id(_look(state, seat)), *_centre(state, cell))


def _labels(state: State, size: float) -> Iterator[str]:
    """The numbers of the rows on the left; on top, those of the columns in even rows and in odd ones, if they fit."""
    rows, columns = state.grid.rows, state.grid.columns
    left = (
        words(-SIDE - size / 2, row * DOWN + size / 3, str(row), text_anchor="end")
        for row in range(0, rows, ceil(size / DOWN))
    )
    top = (
        words(column * ACROSS + odd * ACROSS / 2, -DOWN - size / 2 - HEAD, str(column))
        for column in range(columns)
        for odd in range(min(rows, 2) if size < DOWN else 1)
    )
    yield group([*left, *top], fill=FOAM, font_family="sans-serif", font_size=size, text_anchor="middle")
