"""Test the harnesses of Q beyond the cases of the course."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fairplay.cli.main import fairplay
from fairplay.core.errors import BadRequest
from fairplay.course.harness.q import xbaddies, xgames, xgames_with_observer, xlegal, xmap, xscore, xstrategy

HUGE = 10**40


def tile(name: str) -> dict[str, str]:
    colour, shape = name.split()
    return {"color": colour, "shape": shape}


def tiles(*names: str) -> list[dict[str, str]]:
    return [tile(name) for name in names]


def placement(name: str, row: int, column: int) -> dict[str, Any]:
    return {"coordinate": {"row": row, "column": column}, "1tile": tile(name)}


ONE = [[0, [0, tile("red star")]]]
STUCK = tiles("green clover", "yellow clover")  # neither fits beside anything that is placed here
LOOSE = tiles("red circle", "blue diamond")  # the first fits, the second never does


def state(*hands: list[dict[str, str]], pile: list[dict[str, str]], scores: tuple[int, ...] = (0, 0, 0, 0)) -> Any:
    players = [{"score": score, "tile*": hand} for score, hand in zip(scores, hands, strict=False)]
    return {"map": ONE, "players": players, "tile*": pile}


def view(hand: list[dict[str, str]], left: int = 0) -> Any:
    return {"map": ONE, "players": [{"score": 0, "tile*": hand}, 0], "tile*": left}


def test_xmap_answers_in_the_order_of_rows_and_columns_however_large_they_are() -> None:
    places = xmap([[HUGE, [-HUGE, tile("red star")]]], tile("red circle"))

    assert [(place["row"] - HUGE, place["column"] + HUGE) for place in places] == [(-1, 0), (0, -1), (0, 1), (1, 0)]


def test_xlegal_is_false_for_no_tiles_at_all() -> None:
    assert xlegal(view(STUCK), []) is False


def test_xlegal_is_false_far_away() -> None:
    assert xlegal(view(LOOSE), [placement("red circle", 0, HUGE)]) is False
    assert xlegal(view(LOOSE), [placement("red circle", 0, 2**34)]) is False


def test_xlegal_answers_the_extended_map() -> None:
    assert xlegal(view(LOOSE), [placement("red circle", 0, -1)]) == [
        [0, [-1, tile("red circle")], [0, tile("red star")]]
    ]


def test_xscore_goes_by_the_map_where_a_placement_names_another_tile() -> None:
    assert xscore([[0, [0, tile("red star")], [1, tile("red circle")]]], [placement("blue clover", 0, 1)]) == 1 + 2


def test_xscore_knows_the_first_bonus_and_any_other() -> None:
    shapes = ("star", "8star", "square", "circle", "clover", "diamond")
    row = [[0, *([column, tile(f"red {shape}")] for column, shape in enumerate(shapes))]]

    assert xscore(row, [placement("red star", 0, 0)]) == 1 + 6 + 6
    assert xscore(row, [placement("red star", 0, 0)], q_bonus=8) == 1 + 6 + 8


def test_xscore_refuses_a_placement_that_is_not_on_the_map() -> None:
    with pytest.raises(BadRequest, match="on the map already"):
        xscore(ONE, [placement("red star", 0, 1)])


def test_xscore_refuses_placements_of_which_only_some_are_on_the_map() -> None:
    with pytest.raises(BadRequest, match="on the map already"):
        xscore(ONE, [placement("red star", 0, 0), placement("red star", 0, 1)])


def test_xstrategy_reads_its_values_in_either_order_and_takes_one_step() -> None:
    seen = view(tiles("red circle", "red square"))

    assert xstrategy("dag", seen) == xstrategy(seen, "dag") == placement("red square", -1, 0)


def test_xstrategy_answers_with_the_coordinates_of_a_map_far_away() -> None:
    seen = {**view(tiles("red circle")), "map": [[HUGE, [-HUGE, tile("red star")]]]}

    assert xstrategy("dag", seen) == placement("red circle", HUGE - 1, -HUGE)


@pytest.mark.parametrize(("left", "expected"), [(2, "replace"), (1, "pass")])
def test_xstrategy_replaces_if_it_may_and_passes_if_not(left: int, expected: str) -> None:
    assert xstrategy("ldasg", view(STUCK, left)) == expected


@pytest.mark.parametrize("name", ["random", 7, None, ["dag"]])
def test_xstrategy_refuses_strategies_that_the_course_has_not(name: Any) -> None:
    with pytest.raises(BadRequest):
        xstrategy(name, view(STUCK))


def test_winners_are_sorted_by_code_point_and_the_misbehaved_come_in_their_order() -> None:
    given = state(STUCK, STUCK, STUCK, STUCK, pile=[])

    assert xgames(given, [["b", "dag"], ["Z", "dag"], ["z", "dag", "win"], ["a", "dag", "take-turn"]]) == [
        ["Z", "b"],
        ["a", "z"],
    ]


def test_players_are_set_up_in_turn_order_before_the_first_move() -> None:
    given = state(STUCK, STUCK, STUCK, pile=[])

    assert xgames(given, [["a", "dag", "take-turn"], ["b", "dag", "setup"], ["c", "dag", "setup"]]) == [
        [],
        ["b", "c", "a"],
    ]


def test_winners_hear_the_result_first_in_turn_order() -> None:
    given = state(STUCK, STUCK, STUCK, pile=[], scores=(5, 0, 5))

    # Nobody places, so after one round a would be next.
    assert xgames(given, [["b", "dag", "win"], ["c", "dag", "win"], ["a", "dag", "win"]]) == [[], ["b", "a", "c"]]


def test_a_finishing_player_hears_the_result_before_the_following_ones() -> None:
    given = state(STUCK, tiles("red circle"), STUCK, pile=[], scores=(50, 41, 50))
    raising = [["a", "dag", "win"], ["b", "dag", "win"], ["c", "dag", "win"]]

    # By 1 + 2 + 6 points b comes up to 50 and ends the game; all three win.
    assert xgames(given, raising) == [[], ["b", "c", "a"]]
    assert xbaddies(given, raising) == [[], ["c", "a", "b"]]


def test_new_tiles_of_the_last_exchange_come_before_the_end() -> None:
    given = state(STUCK, STUCK, pile=STUCK)

    assert xgames(given, [["a", "dag"], ["b", "dag", "new-tiles"]]) == [["a"], ["b"]]


def test_a_placement_stays_when_its_player_fails_on_new_tiles() -> None:
    given = state(LOOSE, tiles("blue circle", "orange diamond"), pile=[])

    # Only beside the red circle can the blue one be placed.
    assert xgames(given, [["a", "dag", "new-tiles"], ["b", "dag"]]) == [["b"], ["a"]]


def test_a_player_loops_on_the_call_that_is_said() -> None:
    given = state(tiles("red circle", "blue diamond", "red square"), STUCK, pile=[])

    assert xbaddies(given, [["a", "dag", "take-turn", 1], ["b", "dag"]]) == [["b"], ["a"]]
    assert xbaddies(given, [["a", "dag", "take-turn", 2], ["b", "dag"]]) == [["b"], ["a"]]
    assert xbaddies(given, [["a", "dag", "take-turn", 3], ["b", "dag"]]) == [["a"], []]
    assert xbaddies(given, [["a", "dag", "setup", 2], ["b", "dag"]]) == [["a"], []]


@pytest.mark.parametrize(
    "cheat", ["non-adjacent-coordinate", "tile-not-owned", "not-a-line", "bad-ask-for-tiles", "no-fit"]
)
def test_each_cheat_is_found_out(cheat: str) -> None:
    given = state(tiles("red circle", "red square", "blue clover"), STUCK, pile=[])

    assert xbaddies(given, [["a", "dag", "a cheat", cheat], ["b", "dag"]]) == [["b"], ["a"]]


def test_a_cheat_that_is_impossible_is_not_tried() -> None:
    given = state(tiles("red circle"), STUCK, pile=tiles("red star"))

    for cheat in ("not-a-line", "bad-ask-for-tiles", "no-fit"):
        assert xbaddies(given, [["a", "dag", "a cheat", cheat], ["b", "dag"]]) == [["a"], []]


def test_the_bonuses_decide() -> None:
    given = state(tiles("red circle"), STUCK, pile=[], scores=(0, 8))

    assert xgames(given, [["a", "dag"], ["b", "dag"]]) == [["a"], []]
    assert xbaddies(given, [["a", "dag"], ["b", "dag"]]) == [["b"], []]
    assert xbaddies(given, [["a", "dag"], ["b", "dag"]], finish_bonus=5) == [["a", "b"], []]


ALONE = state(tiles("red circle", "blue diamond", "red square"), pile=tiles("red clover", "green star"))
GAMES = [xgames, xgames_with_observer, xbaddies]


@pytest.mark.parametrize("harness", GAMES)
def test_a_single_player_plays_by_the_ordinary_rules_and_wins(harness: Any) -> None:
    # A round in which it is stuck is the last one, whatever its score.
    assert harness(state(STUCK, pile=[]), [["a", "dag"]]) == [["a"], []]
    assert harness(state(STUCK, pile=STUCK, scores=(7,)), [["a", "ldasg"]]) == [["a"], []]
    assert harness(ALONE, [["a", "dag"]]) == [["a"], []]


@pytest.mark.parametrize("harness", GAMES)
@pytest.mark.parametrize("method", ["setup", "take-turn", "new-tiles", "win"])
def test_a_single_player_that_misbehaves_leaves_no_winner(harness: Any, method: str) -> None:
    assert harness(ALONE, [["a", "dag", method]]) == [[], ["a"]]
    assert harness(ALONE, [["a", "dag", method, 1]]) == [[], ["a"]]
    assert harness(ALONE, [["a", "dag", method, 9]]) == [["a"], []]


def test_a_single_player_may_finish_and_its_game_is_shown() -> None:
    shown: dict[str, str] = {}

    answer = xgames_with_observer(state(tiles("red circle"), pile=[]), [["a", "dag"]], show=shown.__setitem__)

    final = json.loads(shown[max(name for name in shown if name.endswith(".json"))])
    assert answer == [["a"], []]
    assert final["players"] == [{"name": "a", "score": 1 + 2 + 4, "tile*": []}]


def test_on_the_command_line_q_stays_a_game_for_two_to_four() -> None:
    done = CliRunner().invoke(fairplay, ["play", "q", "dag"])

    assert str(done.exception) == "q is for 2 to 4 players, not for 1"


@pytest.mark.parametrize(
    "actors",
    [
        [["a", "dag"]],
        [["a", "dag"]] * 3,
        [["a", "dag"], ["b", "best"]],
        [["a", "dag"], ["b", "dag", "sleep"]],
        [["a", "dag"], ["b", "dag", "a cheat", "luck"]],
        [["a", "dag"], ["b", "dag", "setup", 0]],
        [["a", "dag"], ["b", "dag", "setup", "1"]],
        [["a", "dag"], ["b", "dag", "setup", True]],
        [["a", "dag"], [7, "dag"]],
        [["a", "dag"], ["b"]],
        "dag",
    ],
)
def test_other_actors_are_refused(actors: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        xbaddies(state(STUCK, STUCK, pile=[]), actors)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("seats", [0, 5])
def test_one_to_four_play(seats: int) -> None:
    given = state(*[STUCK] * seats, pile=[], scores=(0,) * seats)

    with pytest.raises(BadRequest, match=r"one to four|not a state"):
        xgames(given, [[f"p{seat}", "dag"] for seat in range(seats)])


def test_every_state_can_be_shown() -> None:
    files: dict[str, str] = {}
    given = state(LOOSE, STUCK, pile=STUCK)
    given["map"] = [[HUGE, [0, tile("red star")]]]

    answer = xgames_with_observer(
        given, [["ann", "dag"], ["bob", "dag", "win"]], show=lambda name, text: files.update({name: text})
    )

    assert answer == [["ann"], ["bob"]]
    assert list(files)[:4] == ["0.svg", "0.json", "1.svg", "1.json"]
    assert all(files[name].startswith("<svg") for name in files if name.endswith(".svg"))
    states = [json.loads(text) for name, text in files.items() if name.endswith(".json")]
    assert states[0]["map"] == given["map"]
    assert [player["name"] for player in states[0]["players"]] == ["ann", "bob"]
    assert [player["name"] for player in states[1]["players"]] == ["bob", "ann"]
    assert states[1]["map"] == [[HUGE - 1, [0, tile("red circle")]], [HUGE, [0, tile("red star")]]]


def test_a_shown_state_can_be_played_again() -> None:
    files: dict[str, str] = {}
    actors = [["ann", "dag"], ["bob", "ldasg"]]
    first = xgames_with_observer(
        state(LOOSE, STUCK, pile=STUCK), actors, show=lambda name, text: files.update({name: text})
    )

    assert xgames_with_observer(json.loads(files["0.json"]), actors) == first


def test_the_command_writes_the_states_into_a_directory(tmp_path: Path) -> None:
    given = json.dumps(state(LOOSE, STUCK, pile=[])) + json.dumps([["ann", "dag"], ["bob", "dag"]])

    answered = CliRunner().invoke(
        fairplay, ["course", "q", "xgames-with-observer", "--show", str(tmp_path / "new")], input=given
    )

    assert (answered.exit_code, answered.output) == (0, '[["ann"],[]]\n')
    numbers = sorted(int(path.stem) for path in (tmp_path / "new").glob("*.svg"))
    assert numbers == list(range(len(numbers)))
    assert numbers == sorted(int(path.stem) for path in (tmp_path / "new").glob("*.json"))


def test_the_command_says_that_a_directory_cannot_be_written_to() -> None:
    given = json.dumps(state(LOOSE, STUCK, pile=[])) + json.dumps([["ann", "dag"], ["bob", "dag"]])

    answered = CliRunner().invoke(
        fairplay, ["course", "q", "xgames-with-observer", "--show", "/dev/null/states"], input=given
    )

    assert isinstance(answered.exception, BadRequest)
    assert str(answered.exception).startswith("/dev/null/states cannot be written to: ")


def test_the_command_shows_only_what_can_be_shown(tmp_path: Path) -> None:
    given = json.dumps(ONE) + json.dumps(tile("red star"))

    answered = CliRunner().invoke(fairplay, ["course", "q", "xmap", "--show", str(tmp_path)], input=given)

    assert isinstance(answered.exception, BadRequest)
