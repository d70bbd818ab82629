"""Test the tiles of Tsuro against the rule book."""

import pytest

from fairplay.games.tsuro.pieces import CODES, COLOURS, CONNECTIONS, DEGREES, EXITS, PORTS, TILES, code_of, exits_of

Matching = frozenset[frozenset[str]]

# The tiles as the course numbers them.
COURSE = """
    AE BF CH DG | AE BF CG DH | AF BE CH DG | AE BD CG FH | AH BC DE FG | AE BC DH FG | AE BC DG FH
    AD BG CF EH | AD BF CG EH | AD BE CH FG | AD BE CG FH | AD BC EH FG | AC BH DF EG | AC BH DE FG
    AC BG DF EH | AC BG DE FH | AC BF DH EG | AC BF DG EH | AC BE DH FG | AC BE DG FH | AC BD EH FG
    AC BD EG FH | AB CH DG EF | AB CH DF EG | AB CH DE FG | AB CG DH EF | AB CG DF EH | AB CG DE FH
    AB CF DH EG | AB CF DG EH | AB CE DH FG | AB CE DG FH | AB CD EH FG | AB CD EG FH | AB CD EF GH
"""


def matching(tile: int, degrees: int) -> Matching:
    """The connections of a tile as it lies, as the game has them."""
    exits = exits_of(tile, degrees // 90)
    return frozenset(frozenset({PORTS[port], PORTS[exits[port]]}) for port in range(8))


def turned(pairs: Matching) -> Matching:
    """The connections after a quarter turn: every port becomes the one two further on."""
    return frozenset(frozenset("CDEFGHAB"["ABCDEFGH".index(letter)] for letter in pair) for pair in pairs)


def all_matchings(letters: str = "ABCDEFGH") -> list[Matching]:
    """Every way to connect these ports in pairs."""
    if not letters:
        return [frozenset()]
    one, rest = letters[0], letters[1:]
    return [found | {frozenset({one, other})} for other in rest for found in all_matchings(rest.replace(other, ""))]


def through(tile: int, degrees: int, entry: str) -> str:
    return PORTS[EXITS[8 * code_of(tile, degrees) + PORTS.index(entry)]]


def test_the_tiles_are_numbered_as_in_the_course() -> None:
    numbered = [frozenset(frozenset(pair) for pair in tile.split()) for tile in COURSE.replace("\n", "|").split("|")]

    assert [matching(tile, 0) for tile in range(35)] == [tile for tile in numbered if tile]


def test_there_are_thirty_five_tiles() -> None:
    assert (TILES, len(CONNECTIONS), len(set(CONNECTIONS))) == (35, 35, 35)


def test_the_tiles_and_their_rotations_are_all_105_matchings_each_of_one_tile_only() -> None:
    classes = [{matching(tile, degrees) for degrees in DEGREES} for tile in range(TILES)]

    assert len(all_matchings()) == 105
    assert set().union(*classes) == set(all_matchings())
    assert sum(len(found) for found in classes) == 105


def test_twenty_tiles_have_four_rotations_and_ten_have_two_and_five_have_one() -> None:
    rotations = [len({matching(tile, degrees) for degrees in DEGREES}) for tile in range(TILES)]

    assert [rotations.count(count) for count in (4, 2, 1)] == [20, 10, 5]
    assert [tile for tile, count in enumerate(rotations) if count == 1] == [1, 2, 4, 7, 34]


@pytest.mark.parametrize("tile", range(35))
def test_a_quarter_turn_sends_every_port_two_further_on(tile: int) -> None:
    lying = [matching(tile, degrees) for degrees in DEGREES]

    assert [turned(before) for before in lying] == [*lying[1:], lying[0]]


@pytest.mark.parametrize(
    ("tile", "degrees", "entry", "exit"),
    [
        (0, 90, "A", "F"),
        (13, 270, "A", "G"),
        (0, 0, "A", "E"),
        (0, 180, "D", "G"),
        (34, 90, "H", "G"),
        (2, 270, "C", "H"),
    ],
)
def test_who_comes_in_at_one_port_leaves_at_another(tile: int, degrees: int, entry: str, exit: str) -> None:
    assert through(tile, degrees, entry) == exit
    assert through(tile, degrees, exit) == entry


@pytest.mark.parametrize("tile", range(35))
def test_the_table_of_exits_is_what_the_connections_say(tile: int) -> None:
    for degrees in DEGREES:
        pairs = {frozenset({port, through(tile, degrees, port)}) for port in PORTS}

        assert pairs == matching(tile, degrees)


@pytest.mark.parametrize("tile", range(35))
def test_a_tile_as_it_lies_has_one_code_that_of_the_smallest_degrees(tile: int) -> None:
    for degrees in DEGREES:
        code = code_of(tile, degrees)
        same = [other for other in DEGREES if matching(tile, other) == matching(tile, degrees)]

        assert code == 4 * tile + min(same) // 90
        assert code == CODES[4 * tile + degrees // 90]


def test_different_tiles_never_share_a_code() -> None:
    looks = {code_of(tile, degrees): matching(tile, degrees) for tile in range(TILES) for degrees in DEGREES}

    assert len(looks) == 105
    assert len(set(looks.values())) == 105


def test_the_colours_are_in_the_fixed_order() -> None:
    assert COLOURS == ("white", "black", "red", "green", "blue")
