"""Test that the built-in players of Q do what their descriptions say."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import Map, cell_at, map_of, position_of
from fairplay.games.q.draft import draft_of, drafts
from fairplay.games.q.examples import EXAMPLES
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import KINDS, NAMES, colour_of, shape_of
from fairplay.games.q.strategies import BUILT_IN, LADDER, RECIPES, best, random_strategy
from fairplay.games.q.view import View
from tests.nonempty import nonempty

GAME = Q()
KEY = bytes(range(32))
Board = dict[tuple[int, int], int]

dag, ldasg = RECIPES["dag"], RECIPES["ldasg"]
FEW = {"foresight": "2"}  # playouts, which take long in Python


def seen(tiles: dict[tuple[int, int], str], hand: list[str], left: int = 0) -> View:
    shown = map_of((at, KINDS[tile]) for at, tile in tiles.items())
    return View(0, shown, tuple(KINDS[tile] for tile in hand), (0, 1), (0, 0), left)


def placing(**places: tuple[int, int]) -> Place:
    return Place(tuple(Placement(tile.replace("_", " "), at) for tile, at in places.items()))


def random_views(seed: int, count: int, most_tiles: int = 14) -> Iterator[View]:
    """Positions that grew at random, some with stray tiles, of few kinds so that much fits."""
    chance = Random(seed)
    for _ in range(count):
        kinds = chance.sample(range(len(NAMES)), chance.randint(3, 12))
        shown = map_of([((0, 0), kinds[0])])
        for _ in range(chance.randrange(most_tiles)):
            options = [(cell, kind) for cell in shown.edge for kind in kinds if shown.frontier[cell] >> kind & 1]
            if options and chance.random() < 0.9:
                shown = shown.with_tiles([chance.choice(options)])
            else:
                away = cell_at((chance.randint(-5, 5), chance.randint(-5, 5)))
                shown = shown.with_tiles([(away, chance.choice(kinds))] if away not in shown.tiles else [])
        hand = tuple(chance.choice(kinds) for _ in range(chance.randint(0, 6)))
        yield View(0, shown, hand, (0, 1), (0, 0), chance.randint(0, 8))


# The two recipes once more, word by word.


def neighbours(board: Board, at: tuple[int, int]) -> list[int | None]:
    """Left, right, above and below."""
    row, column = at
    return [board.get(near) for near in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))]


def plainly_fits(board: Board, at: tuple[int, int], kind: int) -> bool:
    left, right, up, down = neighbours(board, at)
    pairs = [[near for near in pair if near is not None] for pair in ((left, right), (up, down))]
    by_shape = [all(shape_of(near) == shape_of(kind) for near in pair) for pair in pairs]
    by_colour = [all(colour_of(near) == colour_of(kind) for near in pair) for pair in pairs]
    return at not in board and any(pairs) and all(map(max, by_shape, by_colour))


def plain_step(board: Board, hand: list[int], *, tightest: bool) -> tuple[tuple[int, int], int] | None:
    rows, columns = [row for row, _ in board], [column for _, column in board]
    places = [
        (row, column)
        for row in range(min(rows) - 1, max(rows) + 2)
        for column in range(min(columns) - 1, max(columns) + 2)
    ]
    for kind in sorted(hand):
        candidates = [at for at in places if plainly_fits(board, at, kind)]
        if candidates:
            crowds = {at: sum(near is not None for near in neighbours(board, at)) for at in candidates}
            return min(candidates, key=lambda at: (-crowds[at] if tightest else 0, at)), kind
    return None


def plain_answer(view: View, *, tightest: bool) -> Action:
    board = {position_of(cell): kind for cell, kind in view.map.tiles.items()}
    hand, placed = list(view.kinds), list[Placement]()
    while (found := plain_step(board, hand, tightest=tightest)) is not None:
        at, kind = found
        longer = [*placed, Placement(NAMES[kind], at)]
        if len({one.at[0] for one in longer}) > 1 and len({one.at[1] for one in longer}) > 1:
            break
        placed, board = longer, {**board, at: kind}
        hand.remove(kind)
    if placed:
        return Place(tuple(placed))
    return Exchange() if view.left >= len(view.kinds) else Pass()


@pytest.mark.parametrize("name", ["dag", "ldasg"])
def test_the_recipes_agree_with_their_plain_definition(name: str) -> None:
    for view in nonempty(random_views(seed=1, count=300)):
        assert RECIPES[name](view) == plain_answer(view, tightest=name == "ldasg"), view


def test_dag_takes_the_smallest_tile_that_fits_and_its_first_place() -> None:
    view = seen({(0, 0): "red star", (0, 1): "green star"}, ["green circle", "blue square", "purple diamond"])

    assert dag(view) == placing(green_circle=(-1, 1))


def test_ldasg_takes_the_place_with_most_neighbours() -> None:
    corner = {(0, 0): "red star", (0, 1): "green star", (1, 0): "red circle"}

    assert ldasg(seen(corner, ["green circle", "blue diamond"])) == placing(green_circle=(1, 1))


def test_of_places_with_equally_many_neighbours_ldasg_takes_the_first() -> None:
    assert ldasg(seen({(0, 0): "red star"}, ["red circle", "blue diamond"])) == placing(red_circle=(-1, 0))


def test_a_recipe_goes_on_as_long_as_its_tiles_lie_in_one_line() -> None:
    view = seen({(0, 0): "red star"}, ["red star", "red 8star", "red square", "green diamond"])

    assert dag(view) == placing(red_star=(-1, 0), red_8star=(-2, 0), red_square=(-3, 0))


def test_the_first_tile_out_of_line_is_dropped_and_no_other_is_tried() -> None:
    tiles = {(0, 0): "red star", (0, 1): "red circle", (1, 1): "blue circle"}

    # The red star goes on top. The blue square fits beside the blue circle alone, which is not in line; the red diamond
    # would fit above the star, but it comes after the square.
    assert dag(seen(tiles, ["red star", "blue square", "red diamond"])) == placing(red_star=(-1, 0))


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize(
    ("hand", "left", "expected"),
    [
        (["green circle", "blue square"], 2, Exchange()),
        (["green circle", "blue square"], 1, Pass()),
        ([], 0, Exchange()),
    ],
)
def test_where_nothing_fits_a_built_in_player_exchanges_if_it_may(
    name: str, hand: list[str], left: int, expected: Action
) -> None:
    assert BUILT_IN[name].make("", KEY)(seen({(0, 0): "red star"}, hand, left)) == expected


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("players", [2, 4])
def test_built_in_players_do_nothing_illegal(name: str, players: int) -> None:
    strategy = BUILT_IN[name].make(FEW.get(name, ""), KEY)
    state, turns = GAME.deal(players, KEY), 0
    while (seat := GAME.turn(state)) is not None and turns < 400:
        view = GAME.view(state, seat)
        action = strategy(view)
        GAME.check(view, action)
        state, turns = GAME.apply(state, action), turns + 1


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("hand", [(), (0,) * 20, tuple(range(36)), tuple(range(36)) * 3])
def test_built_in_players_play_hands_of_any_size(name: str, hand: tuple[int, ...]) -> None:
    for view in random_views(seed=2, count=5):
        large = msgspec.structs.replace(view, kinds=hand)
        GAME.check(large, BUILT_IN[name].make(FEW.get(name, ""), KEY)(large))


@pytest.mark.parametrize("name", BUILT_IN)
def test_how_a_map_came_about_makes_no_difference(name: str) -> None:
    strategy = BUILT_IN[name].make(FEW.get(name, ""), KEY)
    for view in nonempty(random_views(seed=3, count=6 if name in FEW else 60)):
        same = map_of((position_of(cell), kind) for cell, kind in sorted(view.map.tiles.items(), reverse=True))
        assert strategy(msgspec.structs.replace(view, map=same)) == strategy(view)


@pytest.mark.parametrize("example", ["almost a q", "a gap"])
def test_chance_treats_all_first_tiles_alike(example: str) -> None:
    view = GAME.view(EXAMPLES[example], 0)
    options = {draft.placed for draft in drafts(view) if len(draft.placed) == 1}

    answers = [random_strategy(key.to_bytes(32, "big"))(view) for key in range(200 * len(options))]

    drawn = Counter(
        (cell_at(answer.tiles[0].at), KINDS[answer.tiles[0].tile]) for answer in answers if isinstance(answer, Place)
    )
    assert {(option,) for option in drawn} == options
    assert all(130 < times < 270 for times in drawn.values())  # five standard deviations from 200


def test_chance_finds_a_tile_that_fits_in_only_one_place() -> None:
    tiles = {(0, column): f"red {shape}" for column, shape in enumerate(("star", "circle", "star", "circle"))}
    view = seen({**tiles, (1, 0): "blue star"}, ["blue circle", "green diamond", "yellow diamond", "orange diamond"])

    answers = {random_strategy(key.to_bytes(32, "big"))(view) for key in range(300)}

    assert answers == {draft.action for draft in drafts(view)}


def test_chance_places_several_tiles_now_and_then() -> None:
    view = seen({(0, 0): "red star"}, ["red circle", "red square", "red clover"])

    sizes = Counter(
        len(answer.tiles)
        for answer in (random_strategy(key.to_bytes(32, "big"))(view) for key in range(400))
        if isinstance(answer, Place)
    )

    assert sizes[1] > sizes[2] > sizes[3] > 50


def test_best_brings_at_least_what_the_recipes_bring() -> None:
    def points(view: View, action: Action) -> int:
        draft = draft_of(view)
        for one in action.tiles if isinstance(action, Place) else ():
            draft = draft.place(one.tile, one.at)
        return draft.score(GAME.q_bonus, GAME.finish_bonus) if draft.placed else 0

    for view in nonempty(random_views(seed=4, count=60, most_tiles=40)):
        assert points(view, best(view)) >= max(points(view, dag(view)), points(view, ldasg(view)))


def test_best_makes_a_q_where_it_can() -> None:
    answer = best(GAME.view(EXAMPLES["almost a q"], 0))

    assert isinstance(answer, Place)
    assert "red diamond" in [one.tile for one in answer.tiles]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("parameter", ["0", "-1", "8001", "two", "²", "1" * 5000, " 2", "2:2"])
def test_an_invalid_parameter_of_a_built_in_player_is_refused_in_one_line(name: str, parameter: str) -> None:
    with pytest.raises(BadRequest) as refused:
        BUILT_IN[name].make(parameter, KEY)

    assert "\n" not in str(refused.value)
    assert name in str(refused.value)
    assert repr(parameter) in str(refused.value)


def test_the_ladder_has_five_built_in_players_that_differ() -> None:
    assert len(set(LADDER)) == 5
    assert LADDER[-1] == "foresight"
    views = [GAME.view(GAME.deal(2, number.to_bytes(32, "big")), 0) for number in range(12)]
    answers = [[made(rung)(view) for view in views] for rung in LADDER]
    for number, answer in enumerate(answers):
        assert answer not in answers[:number]


@pytest.mark.parametrize(("lower", "upper"), list(pairwise(LADDER)))
def test_neighbours_on_the_ladder_play_matches_to_their_end(lower: str, upper: str) -> None:
    state, players = GAME.deal(2, KEY), [made(lower), made(upper)]
    while (seat := GAME.turn(state)) is not None:
        view = GAME.view(state, seat)
        action = players[seat](view)
        GAME.check(view, action)
        state = GAME.apply(state, action)

    assert len(state.order) == 2


def made(rung: str) -> Any:
    name, _, parameter = rung.partition(":")
    return BUILT_IN[name].make(parameter or FEW.get(name, ""), KEY)


def test_every_built_in_player_has_a_description_of_one_line() -> None:
    for player in BUILT_IN.values():
        assert player.description
        assert "\n" not in player.description


def test_looking_at_a_map_leaves_it_as_it_was() -> None:
    for view in nonempty(random_views(seed=5, count=20)):
        before = snapshot(view.map)
        for name, player in BUILT_IN.items():
            player.make(FEW.get(name, ""), KEY)(view)

        assert snapshot(view.map) == before
        assert list(view.map.edge) == sorted(view.map.frontier)


def snapshot(shown: Map) -> Any:
    return dict(shown.tiles), dict(shown.frontier), list(shown.edge)
