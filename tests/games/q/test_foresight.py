"""Test the player foresight of Q: its options, its playouts, and its choices."""

import pytest
from msgspec.structs import replace

from fairplay.core.chance import Dice
from fairplay.games.q.actions import Action, Exchange, Pass, Place
from fairplay.games.q.board import map_of
from fairplay.games.q.foresight import is_over, most_wins, options, outlook
from fairplay.games.q.pieces import KINDS
from fairplay.games.q.playouts import FIRST, SHARED, Outlook, play_out, playout_value
from fairplay.games.q.view import View
from tests.nonempty import nonempty

KEY = bytes(32)
REDS = ("red star", "red 8star", "red square", "red circle", "red clover", "red diamond")


def seen(
    hand: tuple[str, ...],
    scores: tuple[int, ...] = (0, 0),
    left: int = 1000,
    tiles: tuple[str, ...] = ("red star",),
    order: tuple[int, ...] = (0, 1),
) -> View:
    shown = map_of(((0, column), KINDS[tile]) for column, tile in enumerate(tiles))
    return View(order[0], shown, tuple(KINDS[tile] for tile in hand), order, scores, left)


def choice(view: View, nodes: int = 12) -> Action | None:
    return most_wins(view, 8, 4, nodes, KEY)


def start(**changes: object) -> Outlook:
    """The reds are on the map in a row, the other seat is about to play."""
    now = outlook(seen((), tiles=REDS))
    return replace(now, **{"theirs": 1, "placed": True, **changes})


def test_it_ends_the_game_where_that_wins() -> None:
    action = choice(seen(REDS[1:]))

    assert isinstance(action, Place)
    assert len(action.tiles) == 5


def test_it_does_not_end_a_game_that_it_would_lose() -> None:
    action = choice(seen(REDS[1:3], scores=(0, 30)))

    assert not (isinstance(action, Place) and len(action.tiles) == 2)


def test_it_does_not_pass_or_exchange_where_that_loses() -> None:
    # Of two the second is on turn. Whatever was placed was placed long ago, as far as it knows; the pile is empty, and
    # the other one holds nothing, so that the scores decide soon. One of its tiles fits nowhere.
    view = replace(seen(("red circle", "green square"), scores=(0, 1), left=0, order=(1, 0)), map=start().map)

    action = choice(view)

    assert isinstance(action, Place)


def test_a_part_of_the_hand_is_an_option_where_all_of_it_can_be_placed() -> None:
    view = seen(("red circle", "red clover", "green diamond"))

    found = [(action, after) for action, after in options(view, 8, 4) if isinstance(action, Place)]

    parts = {tuple(sorted(one.tile for one in action.tiles)) for action, _ in found}
    assert parts == {("red circle",), ("red clover",), ("red circle", "red clover")}
    for action, after in nonempty(found):
        assert len(action.tiles) + len(after.kept) == 3
        assert after.drawn == len(action.tiles)
        assert after.left == 1000 - after.drawn
        assert after.placed


def test_the_last_options_are_to_exchange_if_that_may_be_and_to_pass() -> None:
    hand = ("green circle", "blue square")

    assert [action for action, _ in options(seen(hand, left=2), 8, 4)] == [Exchange(), Pass()]
    assert [action for action, _ in options(seen(hand, left=1), 8, 4)] == [Pass()]


def test_only_who_has_no_tile_left_and_gets_none_has_ended_the_game() -> None:
    over = [(action, is_over(after)) for action, after in options(seen(REDS[:2]), 8, 4)]

    assert [isinstance(action, Place) and len(action.tiles) == 2 for action, _ in over] == [yes for _, yes in over]
    assert over[0][1]


def test_what_is_not_seen_is_all_but_the_map_and_the_own_hand() -> None:
    now = outlook(seen(("red circle", "red circle"), left=1080 - 1 - 2 - 6))

    assert len(now.unseen) == 1080 - 3
    assert now.unseen.count(KINDS["red star"]) == 29
    assert now.unseen.count(KINDS["red circle"]) == 28
    assert now.theirs == 6


@pytest.mark.parametrize(("left", "theirs"), [(0, 6), (1077 - 8, 4), (1077 - 3, 1), (1077, 0), (5000, 0)])
def test_how_much_others_hold_is_what_is_neither_seen_nor_left(left: int, theirs: int) -> None:
    three = seen(("red circle", "red circle"), scores=(0, 0, 0), left=left, order=(1, 2, 0))

    assert outlook(three).theirs == theirs
    assert outlook(three).begins == 2


@pytest.mark.parametrize(
    ("order", "tiles", "placed"),
    [((0, 1), REDS, False), ((1, 0), REDS, True), ((1, 0), REDS[:1], False)],
)
def test_all_but_the_first_player_of_a_round_assume_a_placement_unless_there_never_was_one(
    order: tuple[int, ...], tiles: tuple[str, ...], placed: bool
) -> None:
    assert outlook(seen(("red circle",), tiles=tiles, order=order)).placed is placed


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((1, 0), FIRST), ((1, 1), SHARED), ((0, 1), 0), ((2, 2, 1), SHARED), ((2, 1, 3), 0), ((0,), FIRST)],
)
def test_the_first_place_counts_and_a_shared_one_counts_less(scores: tuple[int, ...], expected: int) -> None:
    assert playout_value(scores) == expected


def test_a_round_without_a_placement_ends_a_playout() -> None:
    # The other one begins a round, and would finish with its one tile.
    lead = {"scores": (10, 9), "unseen": bytes([KINDS["red star"]]), "begins": 1}

    assert play_out(start(**lead, placed=False), 8, 4, Dice(KEY, 0)) == FIRST
    assert play_out(start(**lead, placed=True), 8, 4, Dice(KEY, 0)) == 0


def test_placing_the_last_tile_ends_a_playout() -> None:
    # Both can place what they draw; the other one is on turn, and 12 points or more behind it cannot win by that.
    behind = {"unseen": bytes([KINDS["red star"]]), "drawn": 1}
    points = 1 + 7 + 4  # for the tile, for the longer row, for finishing

    assert play_out(start(**behind, scores=(points - 1, 0)), 8, 4, Dice(KEY, 0)) == 0
    assert play_out(start(**behind, scores=(points, 0)), 8, 4, Dice(KEY, 0)) == SHARED
    assert play_out(start(**behind, scores=(points + 1, 0)), 8, 4, Dice(KEY, 0)) == FIRST


def test_who_can_place_nothing_exchanges_as_long_as_there_are_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    thrown = list[int]()

    def first(self: Dice, limit: int) -> int:
        thrown.append(limit)
        return 0

    monkeypatch.setattr(Dice, "below", first)
    stuck = {"unseen": bytes([KINDS["green star"]]), "map": map_of([((0, 0), KINDS["red circle"])]), "kept": (0,)}

    play_out(start(**stuck, left=1), 8, 4, Dice(KEY, 0))
    exchanging = len(thrown)
    thrown.clear()
    play_out(start(**stuck, left=0), 8, 4, Dice(KEY, 0))

    assert exchanging > len(thrown) == 1


def test_the_same_key_and_the_same_view_give_the_same_answer() -> None:
    view = seen(("red circle", "green diamond", "blue star", "yellow clover"))

    assert choice(view) == choice(view)


def test_the_more_playouts_the_more_dice_are_thrown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def counting(*given: object) -> int:
        numbers = given[-2]
        assert isinstance(numbers, range)
        asked.append(len(numbers))
        return 0

    monkeypatch.setattr("fairplay.games.q.foresight.playouts", counting)
    view = seen(("red circle", "green diamond", "blue star", "yellow clover"))
    sums = []
    for nodes in (1, 100, 1000):
        asked.clear()
        choice(view, nodes)
        sums.append(sum(asked))

    assert sums[0] < sums[1] <= 100
    assert 900 < sums[2] <= 1000
    assert max(asked) <= 1000


def test_an_option_that_always_wins_is_taken_whichever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    view = seen(("red circle", "green diamond", "blue star", "yellow clover"))
    for action, wanted in nonempty(options(view, 8, 4)):

        def partial(given: Outlook, q: int, f: int, numbers: range, seed: bytes, wanted: Outlook = wanted) -> int:
            return FIRST * len(numbers) if given == wanted else 0

        monkeypatch.setattr("fairplay.games.q.foresight.playouts", partial)
        assert choice(view, 100) == action


@pytest.mark.parametrize("size", [0, 9])
def test_no_hand_or_too_large_a_hand_is_left_to_others(size: int) -> None:
    assert choice(seen(("red circle",) * size)) is None
