"""Test that the built-in players of Q do what their descriptions say, and that their search finds the most points."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import msgspec
import pytest

from fairplay.games.q import search
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import cell_at, map_of, position_of
from fairplay.games.q.draft import draft_of, drafts
from fairplay.games.q.examples import EXAMPLES
from fairplay.games.q.foresight import most_wins, options, outlook
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import COLOURS, KINDS, NAMES, SHAPES
from fairplay.games.q.playouts import FIRST, SHARED, Outlook, playout_value
from fairplay.games.q.search import best_draft, place_in_order
from fairplay.games.q.strategies import BUILT_IN, RECIPES, best, random_strategy
from fairplay.games.q.view import View
from tests.games.q.positions import random_views
from tests.games.q.test_properties import Spot, Tiles, fits, near
from tests.nonempty import nonempty

GAME = Q()
KEY = bytes(range(32))

FEW = {"foresight": "2"}  # playouts, which take long in Python


def seen(tiles: dict[tuple[int, int], str], hand: list[str], left: int = 0) -> View:
    shown = map_of((at, KINDS[tile]) for at, tile in tiles.items())
    return View(0, shown, tuple(KINDS[tile] for tile in hand), (0, 1), (0, 0), left)


# The two recipes once more, word by word.


def plain_step(tiles: Tiles, hand: list[str], *, tightest: bool) -> tuple[str, Spot] | None:
    places = sorted({place for at in tiles for pair in near(at) for place in pair} - set(tiles))
    for name in sorted(hand, key=KINDS.__getitem__):
        if candidates := [at for at in places if fits(tiles, name, at)]:
            crowds = {at: sum(place in tiles for pair in near(at) for place in pair) for at in candidates}
            return name, min(candidates, key=lambda at: (-crowds[at] if tightest else 0, at))
    return None


def plain_answer(view: View, *, tightest: bool) -> Action:
    tiles: Tiles = {position_of(cell): NAMES[kind] for cell, kind in view.map.tiles.items()}
    hand, placed = [str(tile) for tile in view.hand], list[Placement]()
    while (found := plain_step(tiles, hand, tightest=tightest)) is not None:
        name, at = found
        longer = [*placed, Placement(name, at)]
        if len({one.at[0] for one in longer}) > 1 and len({one.at[1] for one in longer}) > 1:
            break
        placed, tiles = longer, {**tiles, at: name}
        hand.remove(name)
    if placed:
        return Place(tuple(placed))
    return Exchange() if view.left >= len(view.kinds) else Pass()


@pytest.mark.parametrize("name", ["dag", "ldasg"])
def test_the_recipes_agree_with_their_plain_definition(name: str) -> None:
    for view in nonempty(random_views(1, 300)):
        assert RECIPES[name](view) == plain_answer(view, tightest=name == "ldasg"), view


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
@pytest.mark.parametrize("hand", [(), (0,) * 20, tuple(range(36)), tuple(range(36)) * 3])
def test_built_in_players_play_hands_of_any_size(name: str, hand: tuple[int, ...]) -> None:
    for view in random_views(2, 5):
        large = msgspec.structs.replace(view, kinds=hand)
        GAME.check(large, BUILT_IN[name].make(FEW.get(name, ""), KEY)(large))


@pytest.mark.parametrize("name", BUILT_IN)
def test_how_a_map_came_about_makes_no_difference_and_it_stays_as_it_is(name: str) -> None:
    strategy = BUILT_IN[name].make(FEW.get(name, ""), KEY)
    for view in nonempty(random_views(3, 6 if name in FEW else 60)):
        before = dict(view.map.tiles), dict(view.map.frontier), list(view.map.edge)
        same = map_of((position_of(cell), kind) for cell, kind in sorted(view.map.tiles.items(), reverse=True))
        assert strategy(msgspec.structs.replace(view, map=same)) == strategy(view)
        assert (dict(view.map.tiles), dict(view.map.frontier), list(view.map.edge)) == before


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


def test_best_makes_a_q_where_it_can() -> None:
    answer = best(GAME.view(EXAMPLES["almost a q"], 0))

    assert isinstance(answer, Place)
    assert "red diamond" in [one.tile for one in answer.tiles]


BONUSES = [(8, 4), (0, 0), (30, 1), (2, 30)]
REDS = [f"red {shape}" for shape in SHAPES]


def most(view: View, q_bonus: int = 8, finish_bonus: int = 4) -> int | None:
    return max((draft.score(q_bonus, finish_bonus) for draft in drafts(view)), default=None)


def found(view: View, q_bonus: int = 8, finish_bonus: int = 4, enough: int = search.DEFAULT_TILE_TRIES) -> int | None:
    """The points of the placement that the search finds, which has to be legal."""
    draft = best_draft(view, q_bonus, finish_bonus, enough)
    if draft is None:
        return None
    GAME.check(view, draft.action)
    return draft.score(q_bonus, finish_bonus)


@pytest.mark.parametrize(("q_bonus", "finish_bonus"), BONUSES)
def test_the_search_finds_as_much_as_trying_all_placements(q_bonus: int, finish_bonus: int) -> None:
    two_colours = [KINDS[f"{colour} {shape}"] for colour in COLOURS[:2] for shape in SHAPES]  # a Q is never far
    few = random_views(100 + q_bonus, 60, most_held=4, kinds_from=two_colours)
    for view in nonempty(chain(random_views(q_bonus, 120, most_tiles=10, most_held=4), few)):
        assert found(view, q_bonus, finish_bonus) == most(view, q_bonus, finish_bonus), view


def test_nothing_is_found_where_nothing_fits_and_a_whole_hand_makes_a_q_and_finishes() -> None:
    assert best_draft(seen({(0, 0): "red star"}, ["green circle"]), 8, 4) is None
    assert best_draft(seen({(0, 0): "red star"}, []), 8, 4) is None
    assert found(seen({(0, 0): "red star"}, REDS[1:])) == 5 + 6 + 8 + 4


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
    assert place_in_order(draft_of(view), {cell_at((0, 1)): KINDS["blue square"]}) is None  # which fits in no order


def holding(
    hand: Sequence[str],
    scores: tuple[int, ...] = (0, 0),
    left: int = 1000,
    tiles: Sequence[str] = ("red star",),
    order: tuple[int, ...] = (0, 1),
) -> View:
    shown = map_of(((0, column), KINDS[tile]) for column, tile in enumerate(tiles))
    return View(order[0], shown, tuple(KINDS[tile] for tile in hand), order, scores, left)


def choice(view: View, nodes: int = 12) -> Action | None:
    return most_wins(view, 8, 4, nodes, bytes(32))


def test_foresight_ends_the_game_where_that_wins_and_only_there() -> None:
    wins, loses = choice(holding(REDS[1:])), choice(holding(REDS[1:3], scores=(0, 30)))

    assert isinstance(wins, Place)
    assert len(wins.tiles) == 5
    assert not (isinstance(loses, Place) and len(loses.tiles) == 2)
    for size in (0, 9):  # hands that it leaves to other players
        assert choice(holding(("red circle",) * size)) is None


def test_foresight_does_not_pass_or_exchange_where_that_loses() -> None:
    # Of two the second is on turn. Whatever was placed was placed long ago, as far as it knows; the pile is empty, and
    # the other one holds nothing, so that the scores decide soon. One of its tiles fits nowhere.
    view = holding(("red circle", "green square"), scores=(0, 1), left=0, order=(1, 0), tiles=REDS)

    assert isinstance(choice(view), Place)


def test_a_part_of_the_hand_is_an_option_where_all_of_it_can_be_placed() -> None:
    view = holding(("red circle", "red clover", "green diamond"))

    found = [(action, after) for action, after in options(view, 8, 4) if isinstance(action, Place)]

    parts = {tuple(sorted(one.tile for one in action.tiles)) for action, _ in found}
    assert parts == {("red circle",), ("red clover",), ("red circle", "red clover")}
    for action, after in nonempty(found):
        assert len(action.tiles) + len(after.kept) == 3
        assert after.drawn == len(action.tiles)
        assert after.left == 1000 - after.drawn
        assert after.placed
    assert [action for action, _ in options(view, 8, 4)][-2:] == [Exchange(), Pass()]
    few = holding(("green circle", "blue square"), left=1)
    assert [action for action, _ in options(few, 8, 4)] == [Pass()]


@pytest.mark.parametrize(("left", "theirs"), [(0, 6), (1077 - 8, 4), (1077 - 3, 1), (1077, 0), (5000, 0)])
def test_how_much_others_hold_is_what_is_neither_seen_nor_left(left: int, theirs: int) -> None:
    three = holding(("red circle", "red circle"), scores=(0, 0, 0), left=left, order=(1, 2, 0))

    assert outlook(three).theirs == theirs
    assert outlook(three).begins == 2
    assert len(outlook(three).unseen) == 1080 - 3
    assert [outlook(three).unseen.count(KINDS[name]) for name in ("red star", "red circle")] == [29, 28]


def test_a_placement_is_assumed_in_a_round_that_has_begun_unless_there_never_was_one() -> None:
    placed = [
        outlook(holding(("red circle",), tiles=tiles, order=order)).placed
        for order, tiles in (((0, 1), REDS), ((1, 0), REDS), ((1, 0), REDS[:1]))
    ]

    assert placed == [False, True, False]


def test_the_first_place_counts_and_a_shared_one_counts_less() -> None:
    scores = ((1, 0), (1, 1), (0, 1), (2, 2, 1), (2, 1, 3), (0,))

    assert [playout_value(each) for each in scores] == [FIRST, SHARED, 0, SHARED, 0, FIRST]


def test_the_more_playouts_the_more_dice_are_thrown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def counting(*given: object) -> int:
        numbers = given[-2]
        assert isinstance(numbers, range)
        asked.append(len(numbers))
        return 0

    monkeypatch.setattr("fairplay.games.q.foresight.playouts", counting)
    view = holding(("red circle", "green diamond", "blue star", "yellow clover"))
    sums = []
    for nodes in (1, 100, 1000):
        asked.clear()
        choice(view, nodes)
        sums.append(sum(asked))

    assert sums[0] < sums[1] <= 100
    assert 900 < sums[2] <= 1000
    assert max(asked) <= 1000


def test_an_option_that_always_wins_is_taken_whichever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    view = holding(("red circle", "green diamond", "blue star", "yellow clover"))
    for action, wanted in nonempty(options(view, 8, 4)):

        def partial(given: Outlook, q: int, f: int, numbers: range, seed: bytes, wanted: Outlook = wanted) -> int:
            return FIRST * len(numbers) if given == wanted else 0

        monkeypatch.setattr("fairplay.games.q.foresight.playouts", partial)
        assert choice(view, 100) == action
