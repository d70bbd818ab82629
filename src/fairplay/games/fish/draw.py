"""Draw what a seat sees of Fish, as SVG and as text for a terminal."""

from collections.abc import Iterator, Sequence
from math import sqrt

from fairplay.core.game import Seat
from fairplay.games.fish.pieces import MOST_FISH
from fairplay.games.fish.state import Stage, State, View
from fairplay.render.panel import Board, Header, Look, Player, Skin, named, picture, roster
from fairplay.render.svg import circle, element, fade, group, path, polygon, use, words
from fairplay.render.text import dye

LOOKS = {
    "red": Look("R", "97;41", "#dc3340"),
    "white": Look("W", "30;107", "#ffffff"),
    "brown": Look("B", "97;48;5;94", "#8b5526"),
    "black": Look("K", "97;40", "#23272e"),
}
UNKNOWN = Look("?", "7", "#8d99a6")

# The measures of the picture. A tile's centre is at (column * ACROSS, row * DOWN), in odd rows half of ACROSS further.
SIDE = 40.0
ACROSS = 3 * SIDE
DOWN = sqrt(3) / 2 * SIDE

INK = "#17324a"
PALE = "#cfe8f5"
SKIN = Skin(ground="url(#sea)", panel="#0b2f4c", letters="#fff", pale=PALE, faint="#a9d3ea", gold="#ffd166")
SEA = ("#2f86b5", "#124a72")
FREE = {  # where the fish are on a tile
    1: ((0, 0),),
    2: ((-9, -10), (9, 10)),
    3: ((0, -16), (-13, 7), (13, 7)),
    4: ((-13, -12), (13, -12), (-13, 12), (13, 12)),
    5: ((-13, -18), (13, -18), (0, 0), (-13, 18), (13, 18)),
}
TAKEN = {  # and where, at half their size, when a penguin stands there
    1: ((0, 44),),
    2: ((-13, 44), (13, 44)),
    3: ((-26, 44), (0, 44), (26, 44)),
    4: ((-13, 37), (13, 37), (-13, 53), (13, 53)),
    5: ((-26, 37), (0, 37), (26, 37), (-13, 53), (13, 53)),
}


def svg(view: View, names: Sequence[str] = (), *, before: View | None = None) -> str:
    """A picture of the board and the players, as a document of its own."""
    state, players = view.state, _players(view.state, names)
    rows, columns = state.grid.rows, state.grid.columns
    board = Board(
        [*_tiles(state), *_penguins(state), *_labels(state)],
        width=(columns - 1) * ACROSS + (ACROSS / 2 if rows > 1 else 0) + 2 * SIDE,
        height=(rows + 1) * DOWN,
        origin=(SIDE, DOWN),
    )
    icon = use("fish", 0, 0, transform="translate(30 24) scale(1.3)")
    said = ", ".join(f"{player.called} {player.score}" for player in players)
    return picture(
        board,
        players,
        [(use("ice", 0, 0), use("penguin", 0, 12, color=player.look.paint)) for player in players],
        header=Header(icon, "Fish", [stage.value for stage in Stage], list(Stage).index(state.stage)),
        skin=SKIN,
        definitions=_definitions(),
        label=f"Fish, {state.stage.value}: {said}",
        unit="body",
    )


def text(view: View, names: Sequence[str] = (), *, colour: bool = False) -> str:
    """The board and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else."""
    state = view.state
    lines = [*_text_board(state, colour=colour), "", *roster(_players(state, names), colour=colour)]
    return "\n".join(lines).rstrip("\n")


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


def _standing(state: State) -> dict[int, Seat]:
    """Who stands on which cell."""
    return {cell: seat for seat, cells in enumerate(state.penguins) for cell in cells}


def _look(state: State, seat: Seat) -> Look:
    return LOOKS.get(state.colours[seat], UNKNOWN)


# The picture, from its shapes to its panel.


def _definitions() -> Iterator[str]:
    yield fade("sea", *SEA)
    yield fade("top", "#ffffff", "#d3eaf6")
    yield path(
        "M10 0C6-6-2-6-6-1.5L-11-5.5Q-9 0-11 5.5L-6 1.5C-2 6 6 6 10 0z", id="body", fill="#f2862b", stroke="#b9560d"
    )
    yield element("g", element("use", href="#body"), circle(5.5, -1.2, 1.1, fill=INK), id="fish")
    yield element("g", _hexagon(SIDE - 2, 4.5, "#7fb4d1"), _hexagon(SIDE - 2, 0, "url(#top)"), id="ice")
    for count in range(1, MOST_FISH + 1):
        large = (use("fish", x, y) for x, y in FREE[count])
        small = (use("fish", x, y) for x, y in TAKEN[count])
        yield element("g", use("ice", 0, 0), *large, id=f"free{count}")
        yield element("g", use("ice", 0, 0), element("g", *small, transform="scale(.5)"), id=f"taken{count}")
    yield path("M-14-3q3.5-4 7 0t7 0M0 6q3.5-4 7 0t7 0", id="water", fill="none", stroke="#6fb3d8", stroke_width=1.6)
    yield _penguin()


def _hexagon(side: float, lower: float, fill: str) -> str:
    half, high = side / 2, side * sqrt(3) / 2
    points = ((side, 0), (half, high), (-half, high), (-side, 0), (-half, -high), (half, -high))
    return polygon([(x, y + lower) for x, y in points], fill=fill)


def _penguin() -> str:
    """A penguin in the current colour, with its feet a little below the middle of the tile."""
    return element(
        "g",
        element("ellipse", cx=0.0, cy=15.0, rx=15.0, ry=3.5, fill=INK, opacity=0.18),
        path("M-11 15q1-5 6-4t4 4zM11 15q-1-5-6-4t-4 4z", fill="#f59a23", stroke=INK),
        path(
            "M0-33C7-33 10-28 10-22 10-19 12-16 13-12 19-7 20-1 18 4 16 4 15 2 14.5 1 14 9 9 14 0 14"
            "-9 14-14 9-14.5 1-15 2-16 4-18 4-20-1-19-7-13-12-12-16-10-19-10-22-10-28-7-33 0-33z",
            fill="currentColor",
            stroke=INK,
            stroke_width=1.6,
        ),
        path("M0-11C7-11 10-4 10 1 10 8 6 11 0 11-6 11-10 8-10 1-10-4-7-11 0-11z", fill="#f3f6f8", stroke="#c4d2dc"),
        circle(-4, -23.5, 3.4, fill="#fff"),
        circle(4, -23.5, 3.4, fill="#fff"),
        circle(-3.4, -23.2, 1.7, fill=INK),
        circle(3.4, -23.2, 1.7, fill=INK),
        path("M-4-19.5Q0-22.5 4-19.5L0-14z", fill="#f59a23", stroke=INK, stroke_width=0.8),
        id="penguin",
        transform="translate(0 -4)",
    )


def _centre(state: State, cell: int) -> tuple[float, float]:
    row, column = divmod(cell, state.grid.columns)
    return column * ACROSS + row % 2 * ACROSS / 2, row * DOWN


def _tiles(state: State) -> Iterator[str]:
    taken = _standing(state)
    for cell in range(state.grid.rows * state.grid.columns):
        fish = state.fish_at(cell)
        shape = f"{'taken' if cell in taken else 'free'}{fish}" if fish else "water"
        yield use(shape, *_centre(state, cell))


def _penguins(state: State) -> Iterator[str]:
    for seat, cells in enumerate(state.penguins):
        if cells:
            standing = (use("penguin", *_centre(state, cell)) for cell in cells)
            yield group(standing, color=_look(state, seat).paint)


def _labels(state: State) -> Iterator[str]:
    """The numbers of the rows on the left; on top, those of the columns in even rows and in odd ones."""
    rows, columns = state.grid.rows, state.grid.columns
    left = (words(-SIDE - 8, row * DOWN + 4, str(row), text_anchor="end") for row in range(rows))
    top = (
        words(column * ACROSS + odd * ACROSS / 2, -DOWN - 8, str(column))
        for column in range(columns)
        for odd in range(min(rows, 2))
    )
    yield group([*left, *top], fill=PALE, font_family="sans-serif", font_size=11.0, text_anchor="middle")


# The picture for a terminal: a tile is two lines high, and its fish are on the line with the number of its row.


def _text_board(state: State, *, colour: bool) -> Iterator[str]:
    rows, columns = state.grid.rows, state.grid.columns
    margin = len(str(rows - 1)) + 1
    canvas = [[" "] * (margin + columns * 8 + 5) for _ in range(rows + 3)]
    for column in range(columns):
        for odd in range(min(rows, 2)):
            _put(canvas[0], margin + column * 8 + odd * 4 + 1, f"{column:^3}")
    for row in range(rows):
        _put(canvas[row + 2], 0, str(row).rjust(margin - 1))
    taken = _standing(state)
    for cell, (row, column) in enumerate(state.grid.positions):
        fish, left = state.fish_at(cell), margin + column * 8 + row % 2 * 4
        if fish:
            _put(canvas[row + 1], left + 1, "___")
            _put(canvas[row + 2], left, f"/ {fish} \\")
            _put(canvas[row + 3], left, "\\___/")
        if cell in taken:
            look = _look(state, taken[cell])
            shown = f"{look.letter} {fish}"
            canvas[row + 2][left + 1 : left + 4] = (dye(shown, look.code) if colour else shown, "", "")
    return ("".join(line).rstrip() for line in canvas)


def _put(line: list[str], at: int, signs: str) -> None:
    line[at : at + len(signs)] = signs
