"""Test that the search for the best placement of Q finds as many points as trying all of them."""

from collections.abc import Iterator
from random import Random

import pytest

from fairplay.games.q import search
from fairplay.games.q.board import cell_at, map_of, position_of
from fairplay.games.q.draft import draft_of, drafts
from fairplay.games.q.game import Q
from fairplay.games.q.lines import Geometry
from fairplay.games.q.pieces import COLOURS, KINDS, NAMES, SHAPES
from fairplay.games.q.search import best_draft, place_in_order
from fairplay.games.q.view import View
from tests.nonempty import nonempty

GAME = Q()
BONUSES = [(8, 4), (0, 0), (30, 1), (2, 30)]
REDS = [f"red {shape}" for shape in SHAPES]


def seen(tiles: dict[tuple[int, int], str], hand: list[str]) -> View:
    shown = map_of((at, KINDS[tile]) for at, tile in tiles.items())
    return View(0, shown, tuple(KINDS[tile] for tile in hand), (0, 1), (0, 0), 9)


def most(view: View, q_bonus: int = 8, finish_bonus: int = 4) -> int | None:
    """The points of the best of all legal placements."""
    return max((draft.score(q_bonus, finish_bonus) for draft in drafts(view)), default=None)


def found(view: View, q_bonus: int = 8, finish_bonus: int = 4, enough: int = search.DEFAULT_TILE_TRIES) -> int | None:
    """The points of the placement that the search finds, which has to be legal."""
    draft = best_draft(view, q_bonus, finish_bonus, enough)
    if draft is None:
        return None
    GAME.check(view, draft.action)
    return draft.score(q_bonus, finish_bonus)


def placed(view: View) -> dict[tuple[int, int], str]:
    draft = best_draft(view, 8, 4)
    assert draft is not None
    return {one.at: one.tile for one in draft.action.tiles}


def small_views(seed: int, count: int, kinds_from: list[int], most_tiles: int = 10) -> Iterator[View]:
    """Maps that grew at random, some with stray tiles, and hands of up to four tiles of the same few kinds."""
    chance = Random(seed)
    for _ in range(count):
        kinds = chance.sample(kinds_from, min(len(kinds_from), chance.randint(3, 8)))
        shown = map_of([((0, 0), kinds[0])])
        for _ in range(chance.randrange(most_tiles)):
            options = [(cell, kind) for cell in shown.edge for kind in kinds if shown.frontier[cell] >> kind & 1]
            if options and chance.random() < 0.85:
                shown = shown.with_tiles([chance.choice(options)])
            else:
                away = cell_at((chance.randint(-4, 4), chance.randint(-4, 4)))
                shown = shown.with_tiles([(away, chance.choice(kinds))] if away not in shown.tiles else [])
        hand = tuple(chance.choice(kinds) for _ in range(chance.randint(0, 4)))
        yield View(0, shown, hand, (0, 1), (0, 0), 9)


@pytest.mark.parametrize(("q_bonus", "finish_bonus"), BONUSES)
def test_the_search_finds_as_much_as_trying_all_placements(q_bonus: int, finish_bonus: int) -> None:
    for view in nonempty(small_views(q_bonus, 120, list(range(len(NAMES))))):
        assert found(view, q_bonus, finish_bonus) == most(view, q_bonus, finish_bonus), view


@pytest.mark.parametrize(("q_bonus", "finish_bonus"), BONUSES)
def test_it_does_so_where_a_q_is_never_far(q_bonus: int, finish_bonus: int) -> None:
    two_colours = [KINDS[f"{colour} {shape}"] for colour in COLOURS[:2] for shape in SHAPES]
    for view in nonempty(small_views(100 + q_bonus, 60, two_colours, most_tiles=14)):
        assert found(view, q_bonus, finish_bonus) == most(view, q_bonus, finish_bonus), view


def test_nothing_is_found_where_nothing_fits() -> None:
    assert best_draft(seen({(0, 0): "red star"}, ["green circle"]), 8, 4) is None
    assert best_draft(seen({(0, 0): "red star"}, []), 8, 4) is None


def test_a_whole_hand_makes_a_q_and_finishes() -> None:
    view = seen({(0, 0): "red star"}, REDS[1:])

    assert found(view) == 5 + 6 + 8 + 4


def test_a_q_is_not_spoiled_by_a_seventh_tile() -> None:
    view = seen({(0, column): tile for column, tile in enumerate(REDS[:5])}, ["red diamond", "red star"])

    assert found(view) == 2 + 6 + 8 + 2 + 4
    assert [at[0] for at in placed(view)].count(0) == 1


WIDE = {
    (0, -2): "red circle",
    (0, -1): "red square",
    (0, 0): "red star",
    (0, 4): "blue circle",
    (0, 5): "blue square",
    (0, 6): "blue star",
}  # room for three in between


def test_a_block_between_tiles_is_closed_where_one_tile_shares_a_trait_with_both_sides() -> None:
    view = seen(WIDE, ["red square", "blue square", "blue clover"])

    assert placed(view) == {(0, 1): "red square", (0, 2): "blue square", (0, 3): "blue clover"}
    assert found(view) == 3 + 9 + 4


def test_a_block_between_tiles_is_not_closed_where_every_tile_shares_another_trait_with_each_side() -> None:
    view = seen(WIDE, ["red square", "green square", "green circle"])

    assert placed(view) != {(0, 1): "red square", (0, 2): "green square", (0, 3): "green circle"}
    assert found(view) == most(view)


def test_old_tiles_join_the_new_ones_of_a_line() -> None:
    tiles = {
        (0, column): tile for column, tile in ((0, "red star"), (1, "red 8star"), (3, "red star"), (4, "red 8star"))
    }
    view = seen({**tiles, (0, 6): "red star", (0, 7): "red 8star"}, ["red clover", "red diamond"])

    assert placed(view).keys() == {(0, 2), (0, 5)}
    assert found(view) == 2 + 8 + 4


def test_tiles_may_lie_in_one_line_far_apart() -> None:
    tiles = {(0, 0): "red star", (0, 10**6): "blue circle"}
    view = seen(tiles, ["red square", "blue clover"])

    assert found(view) == 2 + 2 + 2 + 4
    assert len({at[0] for at in placed(view)}) == 1


def test_tiles_are_put_down_in_an_order_in_which_each_fits() -> None:
    view = seen({(0, 0): "red star"}, ["red circle", "blue circle", "blue square"])
    row = {
        cell_at((0, 3)): KINDS["blue square"],
        cell_at((0, 2)): KINDS["blue circle"],
        cell_at((0, 1)): KINDS["red circle"],
    }

    draft = place_in_order(draft_of(view), row)

    assert draft is not None
    assert [position_of(cell) for cell, _ in draft.placed] == [(0, 1), (0, 2), (0, 3)]


def test_what_fits_in_no_order_is_not_put_down() -> None:
    view = seen({(0, 0): "red star"}, ["blue circle"])

    assert place_in_order(draft_of(view), {cell_at((0, 1)): KINDS["blue circle"]}) is None


def grown(tiles: int) -> View:
    """A map of many tiles that grew at random, with a hand of six tiles that all fit beside one another."""
    chance = Random(tiles)
    shown = map_of([((0, 0), 0)])
    while len(shown.tiles) < tiles:
        cell = chance.choice(shown.edge)
        kinds = [kind for kind in range(len(NAMES)) if shown.frontier[cell] >> kind & 1]
        shown = shown.with_tiles([(cell, chance.choice(kinds))] if kinds else [])
    return View(0, shown, tuple(KINDS[tile] for tile in REDS), (0, 1), (0, 0), 9)


def test_no_line_brings_more_than_its_bound() -> None:
    view = grown(60)
    geometry = Geometry(view.map, view.kinds[:3], 8, 4)
    lines = geometry.lines()

    for draft in drafts(View(0, view.map, view.kinds[:3], (0, 1), (0, 0), 9)):
        cells = {cell for cell, _ in draft.placed}
        bounds = [line.bound for line in lines if cells <= geometry.open_spots(line).keys()]
        assert draft.score(8, 4) <= max(bounds)
    assert [line.bound for line in lines] == sorted([line.bound for line in lines], reverse=True)


@pytest.mark.parametrize("hand", [REDS, NAMES, NAMES * 3, ["red star"] * 40])
@pytest.mark.parametrize("tiles", [1, 10, 200])
def test_a_search_that_is_cut_short_finds_something_legal(tiles: int, hand: list[str]) -> None:
    view = View(0, grown(tiles).map, tuple(KINDS[tile] for tile in hand), (0, 1), (0, 0), 9)

    assert found(view, enough=search.DEFAULT_TILE_TRIES // 2) is not None


def test_trying_more_tiles_finds_more_points() -> None:
    views = [grown(tiles) for tiles in range(1, 30)]
    none, some_points, most_points = (
        sum(found(view, enough=enough) or 0 for view in views) for enough in (0, 2000, search.DEFAULT_TILE_TRIES)
    )

    assert none == 0
    assert 0 < some_points < most_points


def test_a_search_stops_soon_after_it_has_tried_enough() -> None:
    for tiles in (10, 100, 400):
        view = grown(tiles)
        made = search.Search(Geometry(view.map, view.kinds, 8, 4), search.DEFAULT_TILE_TRIES)
        for line in made.geometry.lines():
            search.Sweep(made, line).run()

        assert made.tried < 2 * search.DEFAULT_TILE_TRIES
