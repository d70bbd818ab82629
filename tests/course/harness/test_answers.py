"""Test what the harnesses answer: with all cases, our own and those of the courses if at hand, and beyond them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fairplay.cli.main import fairplay
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.course.commands.harness import HARNESSES_BY_GAME
from fairplay.course.harness import fish, q, tsuro
from fairplay.course.harness.cases import Case, read_cases, run_cases
from fairplay.course.harness.q import xbaddies, xgames, xgames_with_observer
from fairplay.games import GAMES
from tools.readme_tables import ROOT

MADE = ROOT / "tests" / "cases"
COURSE = Path(os.environ.get("FAIRPLAY_SHARED") or ROOT.parent / "shared") / "cases" / "course"

ALL = [(game, harness) for game, harnesses in HARNESSES_BY_GAME.items() for harness in harnesses]
OVER_NETWORK = [("q", "xserver-xclients")]  # whose cases of the course are played several at a time elsewhere
OURS = [
    (game, harness, case)
    for game, harness in ALL
    for case in read_cases((MADE / game / f"{harness}.jsonl").read_bytes())
]


def test_every_game_has_harnesses_and_every_harness_has_cases_of_our_own() -> None:
    assert set(HARNESSES_BY_GAME) == set(GAMES)
    assert {(game, harness) for game, harness, _ in OURS} == set(ALL)
    assert {(path.parent.name, path.stem) for path in MADE.rglob("*.jsonl")} == set(ALL)


@pytest.mark.parametrize(("game", "harness", "case"), OURS, ids=[case.id for _, _, case in OURS])
def test_our_own_cases_pass(game: str, harness: str, case: Case) -> None:
    [outcome] = run_cases(HARNESSES_BY_GAME[game][harness], [case])

    assert outcome.passed, outcome


@pytest.mark.skipif(not COURSE.is_dir(), reason="the course's cases are not here: they are third-party data")
@pytest.mark.parametrize(("game", "harness"), [one for one in ALL if one not in OVER_NETWORK])
def test_the_cases_of_the_course_pass(game: str, harness: str) -> None:
    outcomes = list(
        run_cases(HARNESSES_BY_GAME[game][harness], read_cases((COURSE / game / f"{harness}.jsonl").read_bytes()))
    )

    assert outcomes
    assert [outcome for outcome in outcomes if not outcome.passed] == []


# Answers beyond the cases.

HUGE = 10**40

RED: dict[str, Any] = {"color": "red", "score": 0, "places": [[0, 0]]}
WHITE: dict[str, Any] = {"color": "white", "score": 0, "places": [[1, 1]]}
SQUARE = [[1, 1], [1, 1]]
HOLES = [[1, 0, 1], [0, 1, 0]]
CORNER = [[1, 0, 1], [1, 0, 0]]
STUCK_FIRST = {**RED, "places": [[0, 2], [0, 0]]}
STUCK_BOTH = [{**RED, "places": [[0, 2]]}, {**WHITE, "places": [[0, 0]]}]
TWO_RED = {**RED, "places": [[1, 1], [0, 0]]}

LINE = [[[34, 0], "red", "C", 0, 0], [[34, 0], "blue", "E", 2, 0], [[33, 0], "white", "D", 0, 2]]
LAST = [[34, 0], "red", "C", 8, 9]  # beside the last square of all
LEAVE = ["blue", [4, 0]]
LEAVING = [[[34, 0], "red", "C", 0, 0], [[34, 0], "blue", "H", 2, 0], [[33, 0], "white", "D", 0, 2]]


def tile(name: str) -> dict[str, str]:
    colour, shape = name.split()
    return {"color": colour, "shape": shape}


def row_of(*names: str) -> Any:
    """A map of Q with these tiles in a row."""
    return [[0, *([column, tile(name)] for column, name in enumerate(names))]]


def put(name: str, row: int, column: int) -> dict[str, Any]:
    return {"coordinate": {"row": row, "column": column}, "1tile": tile(name)}


def seen(*hand: str, left: int = 0, lying: Any = None) -> Any:
    players = [{"score": 0, "tile*": [tile(name) for name in hand]}, 0]
    return {"map": ONE if lying is None else lying, "players": players, "tile*": left}


ONE = row_of("red star")
FAR = [[HUGE, [-HUGE, tile("red star")]]]
BESIDE_FAR = [(HUGE - 1, -HUGE), (HUGE, -HUGE - 1), (HUGE, -HUGE + 1), (HUGE + 1, -HUGE)]
REDS = row_of("red star", "red 8star", "red square", "red circle", "red clover", "red diamond")
LOOSE = seen("red circle", "blue diamond")  # the first fits, the second never does
STUCK = "green clover", "yellow clover"
TWO_FIT = seen("red circle", "red square")

ANSWERS: dict[str, tuple[Any, list[Any], Any]] = {
    "xstate of no players": (fish.xstate, [{"players": [], "board": HOLES}], False),
    "xstate without penguins": (fish.xstate, [{"players": [{**RED, "places": []}, WHITE], "board": HOLES}], False),
    "xstate without a silly move": (fish.xstate, [{"players": [RED, WHITE], "board": HOLES}], False),
    "xstate takes the first penguin only": (fish.xstate, [{"players": [STUCK_FIRST], "board": CORNER}], False),
    "xstrategy of no players": (fish.xstrategy, [[2, {"players": [], "board": CORNER}]], False),
    "xstrategy without a move": (fish.xstrategy, [[2, {"players": STUCK_BOTH, "board": CORNER}]], False),
    "xstrategy without depth takes the first move of all": (
        fish.xstrategy,
        [[0, {"players": [TWO_RED], "board": [[1, 5], [5, 5]]}]],
        [[0, 0], [1, 0]],
    ),
    "xref sorts by code point and keeps names that are the same": (
        fish.xref,
        [{"row": 2, "column": 4, "players": [["b", 1], ["b", 1], ["B", 1], ["é", 1]], "fish": 3}],
        ["B", "b", "b", "é"],
    ),
    "xref where penguins cannot be placed": (
        fish.xref,
        [{"row": 1, "column": 1, "players": [["a", 1], ["b", 2]], "fish": 1}],
        [],
    ),
    "xtiles without values": (tsuro.xtiles, [], []),
    "xboard ignores a colour that is not there": (tsuro.xboard, [LINE, ["black", [34, 0]]], LINE[0]),
    "xboard: without red there is nothing to say": (tsuro.xboard, [LINE[1:], LEAVE], "red never played"),
    "xrules: a colour without an avatar cheats": (tsuro.xrules, [LINE, [["green", [34, 0]], 34, 33]], "cheating"),
    "xadmin of nobody": (tsuro.xadmin, [[]], {}),
    "xadmin of one": (tsuro.xadmin, [[{"name": "a", "strategy": "first"}]], {"winners": [["a"]]}),
    "xmap in the order of rows and columns however large": (
        q.xmap,
        [FAR, tile("red circle")],
        [{"row": row, "column": column} for row, column in BESIDE_FAR],
    ),
    "xlegal of no tiles": (q.xlegal, [LOOSE, []], False),
    "xlegal far away": (q.xlegal, [LOOSE, [put("red circle", 0, HUGE)]], False),
    "xlegal less far away": (q.xlegal, [LOOSE, [put("red circle", 0, 2**34)]], False),
    "xscore goes by the map": (q.xscore, [row_of("red star", "red circle"), [put("blue clover", 0, 1)]], 1 + 2),
    "xscore knows the first bonus": (q.xscore, [REDS, [put("red star", 0, 0)]], 1 + 6 + 6),
    "xstrategy takes one step": (q.xstrategy, ["dag", TWO_FIT], put("red square", -1, 0)),
    "xstrategy reads its values in either order": (q.xstrategy, [TWO_FIT, "dag"], put("red square", -1, 0)),
    "xstrategy far away": (q.xstrategy, ["dag", seen("red circle", lying=FAR)], put("red circle", HUGE - 1, -HUGE)),
    "xstrategy replaces if it may": (q.xstrategy, ["ldasg", seen(*STUCK, left=2)], "replace"),
    "xstrategy passes if it may not": (q.xstrategy, ["ldasg", seen(*STUCK, left=1)], "pass"),
}


@pytest.mark.parametrize(("harness", "values", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_a_harness_answers(harness: Any, values: list[Any], answer: Any) -> None:
    assert harness(*values) == answer


def test_xscore_takes_any_bonus() -> None:
    assert q.xscore(REDS, [put("red star", 0, 0)], q_bonus=8) == 1 + 6 + 8


def test_a_colour_that_has_left_the_board_lays_no_more_tiles() -> None:
    assert tsuro.xboard([LAST, [[34, 0], "blue", "C", 0, 0]], LEAVE, LEAVE) == LAST


def test_two_avatars_that_leave_the_board_together_do_not_collide() -> None:
    assert tsuro.xboard(LEAVING, ["red", [3, 90]]) == "red died"


def test_the_last_game_of_xadmin_decides() -> None:
    answer = tsuro.xref([f"p{age}" for age in range(5)])

    assert tsuro.xadmin([{"name": f"p{age}", "strategy": "first"} for age in range(5)]) == answer
    assert set(answer) == {"winners", "cheaters"}


def test_the_file_of_a_program_says_its_strategy_and_no_directory_does() -> None:
    assert tsuro.parse_strategy("first-homework/Players/Second-S.rkt") == "second"


def test_names_are_no_keys() -> None:
    told = tsuro.xref(["ann", "bob", "ann", "ann"])

    assert sorted(sum(told["winners"], told["cheaters"])) == ["ann", "ann", "ann", "bob"]


DESCRIPTION = {"row": 5, "column": 5, "players": [["a", 1], ["b", 1]], "fish": 1}
NO_DESCRIPTIONS: list[dict[str, Any]] = [
    *({"players": players} for players in ([["a", 1]], [["a", 1]] * 5, [["a", 10], ["b", 1]], [["a", "1"], ["b", 1]])),
    *({"fish": fish} for fish in (0, 6)),
    *({"row": 0}, {"column": 101}, {"column": 2.5}, {"more": 1}),
]


@pytest.mark.parametrize(
    ("harness", "values", "says"),
    [
        (fish.xboard, [{"position": [0, 2], "board": [[1, 1]]}], r"\[0, 2\] is not on the board"),
        *((fish.xref, [{**DESCRIPTION, **change}], "not a Game-Description of Fish") for change in NO_DESCRIPTIONS),
        *((tsuro.xtiles, [tile], "not a tile with an entrance") for tile in ([35, 0, "A"], [0, 45, "A"], [0, 0, "I"])),
        (tsuro.xboard, [{}], "not a state of Tsuro"),
        (tsuro.xboard, [[[1]]], "not a place of Tsuro"),
        (tsuro.xboard, [[[[34, 0], "red", "A", 0, 0]]], "red does not face an empty square"),
        (tsuro.xboard, [[[[34, 0], 3, 3], [[33, 0], 3, 3]]], r"two tiles lie at \[3, 3\]"),
        (tsuro.xboard, [[*LINE, [[34, 0], "red", "C", 5, 5]]], "red is in two places"),
        (tsuro.xboard, [LINE, ["pink", [34, 0]]], "not an action of Tsuro"),
        (tsuro.xrules, [LINE, [["red", [34, 0]], 34]], "not a turn of Tsuro"),
        *((tsuro.xref, [names], "not a list of three to five names of Tsuro") for names in (["a", "b"], ["a"] * 6)),
        (tsuro.xadmin, [[{"name": "a", "strategy": "fourth"}]], "there is no strategy 'fourth'"),
        (tsuro.xadmin, [[{"name": "\ud800"}]], "not a list of players of Tsuro"),
        (q.xscore, [ONE, [put("red star", 0, 1)]], "on the map already"),
        (q.xscore, [ONE, [put("red star", 0, 0), put("red star", 0, 1)]], "on the map already"),
        *((q.xstrategy, [name, LOOSE], "there is no strategy") for name in ("random", 7, None, ["dag"])),
    ],
)
def test_anything_else_is_refused_in_one_line(harness: Any, values: list[Any], says: str) -> None:
    with pytest.raises(BadRequest, match=says) as refused:
        harness(*values)

    assert "\n" not in str(refused.value)


def test_xtree_refuses_a_move_that_is_none() -> None:
    with pytest.raises(IllegalAction):
        fish.xtree({"state": {"players": [RED, WHITE], "board": SQUARE}, "from": [0, 0], "to": [0, 1]})


# Games of Q, and what is shown of them.

GOOD: tuple[str, ...] = ()


def tiles(*names: str) -> list[dict[str, str]]:
    return [tile(name) for name in names]


STUCK_HAND = tiles("green clover", "yellow clover")  # neither fits beside anything that is placed here
LOOSE_HAND = tiles("red circle", "blue diamond")  # the first fits, the second never does


def state(*hands: list[dict[str, str]], pile: list[dict[str, str]], scores: tuple[int, ...] = (0, 0, 0, 0)) -> Any:
    players = [{"score": score, "tile*": hand} for score, hand in zip(scores, hands, strict=False)]
    return {"map": ONE, "players": players, "tile*": pile}


def acting(*deeds: Any) -> list[list[Any]]:
    """Players a, b and so on that play dag, and what each does besides."""
    return [[name, "dag", *deed] for name, deed in zip("abcd", deeds, strict=False)]


BONUS_DECIDES = state(tiles("red circle"), STUCK_HAND, pile=[], scores=(0, 8))


def test_winners_are_sorted_by_code_point_and_the_misbehaved_come_in_their_order() -> None:
    given = state(STUCK_HAND, STUCK_HAND, STUCK_HAND, STUCK_HAND, pile=[])

    answer = xgames(given, [["b", "dag"], ["Z", "dag"], ["z", "dag", "win"], ["a", "dag", "take-turn"]])

    assert answer == [["Z", "b"], ["a", "z"]]


def test_a_finishing_player_hears_the_result_before_the_following_ones() -> None:
    given = state(STUCK_HAND, tiles("red circle"), STUCK_HAND, pile=[], scores=(50, 41, 50))

    # By 1 + 2 + 6 points b comes up to 50 and ends the game; all three win.
    assert xgames(given, acting(["win"], ["win"], ["win"])) == [[], ["b", "c", "a"]]
    assert xbaddies(given, acting(["win"], ["win"], ["win"])) == [[], ["c", "a", "b"]]


def test_a_cheat_beside_no_tile_is_found_out() -> None:
    given = state(tiles("red circle", "red square", "blue clover"), STUCK_HAND, pile=[])

    assert xbaddies(given, acting(["a cheat", "non-adjacent-coordinate"], GOOD)) == [["b"], ["a"]]


@pytest.mark.parametrize("cheat", ["not-a-line", "bad-ask-for-tiles", "no-fit"])
def test_a_cheat_that_is_impossible_is_not_tried(cheat: str) -> None:
    given = state(tiles("red circle"), STUCK_HAND, pile=tiles("red star"))

    assert xbaddies(given, acting(["a cheat", cheat], GOOD)) == [["a"], []]


def test_the_bonuses_decide() -> None:
    assert xgames(BONUS_DECIDES, acting(GOOD, GOOD)) == [["a"], []]
    assert xbaddies(BONUS_DECIDES, acting(GOOD, GOOD)) == [["b"], []]
    assert xbaddies(BONUS_DECIDES, acting(GOOD, GOOD), finish_bonus=5) == [["a", "b"], []]


ALONE = state(tiles("red circle", "blue diamond", "red square"), pile=tiles("red clover", "green star"))
each_harness = pytest.mark.parametrize("harness", [xgames, xgames_with_observer, xbaddies])


@each_harness
def test_a_single_player_plays_by_the_ordinary_rules_and_wins(harness: Any) -> None:
    # A round in which it is stuck is the last one, whatever its score.
    assert harness(state(STUCK_HAND, pile=[]), [["a", "dag"]]) == [["a"], []]
    assert harness(state(STUCK_HAND, pile=STUCK_HAND, scores=(7,)), [["a", "ldasg"]]) == [["a"], []]
    assert harness(ALONE, [["a", "dag"]]) == [["a"], []]


@each_harness
@pytest.mark.parametrize("method", ["setup", "take-turn", "new-tiles", "win"])
def test_a_single_player_that_misbehaves_leaves_no_winner(harness: Any, method: str) -> None:
    assert harness(ALONE, [["a", "dag", method]]) == [[], ["a"]]
    assert harness(ALONE, [["a", "dag", method, 1]]) == [[], ["a"]]
    assert harness(ALONE, [["a", "dag", method, 9]]) == [["a"], []]


def test_on_the_command_line_q_stays_a_game_for_two_to_four() -> None:
    done = CliRunner().invoke(fairplay, ["play", "q", "dag"])

    assert str(done.exception) == "q is for 2 to 4 players, not for 1"


@pytest.mark.parametrize(
    "second",
    [
        [["b", "best"]],
        [["b", "dag", "sleep"]],
        [["b", "dag", "a cheat", "luck"]],
        [["b", "dag", "setup", 0]],
        [["b", "dag", "setup", "1"]],
        [["b", "dag", "setup", True]],
        [[7, "dag"]],
        [["b"]],
        ["dag"],
        [],
        [["b", "dag"], ["c", "dag"]],
    ],
)
def test_other_actors_are_refused_in_one_line(second: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        xbaddies(state(STUCK_HAND, STUCK_HAND, pile=[]), [["a", "dag"], *second])

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("seats", [0, 5])
def test_one_to_four_play(seats: int) -> None:
    given = state(*[STUCK_HAND] * seats, pile=[], scores=(0,) * seats)

    with pytest.raises(BadRequest, match=r"one to four|not a state"):
        xgames(given, [[f"p{seat}", "dag"] for seat in range(seats)])


# What is shown.


def test_a_single_player_may_finish_and_its_game_is_shown() -> None:
    shown: dict[str, str] = {}

    answer = xgames_with_observer(state(tiles("red circle"), pile=[]), [["a", "dag"]], show=shown.__setitem__)

    final = json.loads(shown[max(name for name in shown if name.endswith(".json"))])
    assert answer == [["a"], []]
    assert final["players"] == [{"name": "a", "score": 1 + 2 + 4, "tile*": []}]


def test_every_state_can_be_shown() -> None:
    files: dict[str, str] = {}
    given = {**state(LOOSE_HAND, STUCK_HAND, pile=STUCK_HAND), "map": [[HUGE, [0, tile("red star")]]]}

    answer = xgames_with_observer(given, [["ann", "dag"], ["bob", "dag", "win"]], show=files.__setitem__)

    assert answer == [["ann"], ["bob"]]
    assert list(files)[:4] == ["0.svg", "0.json", "1.svg", "1.json"]
    assert all(files[name].startswith("<svg") for name in files if name.endswith(".svg"))
    first, second = (json.loads(files[name]) for name in ("0.json", "1.json"))
    assert first["map"] == given["map"]
    assert [player["name"] for player in first["players"]] == ["ann", "bob"]
    assert [player["name"] for player in second["players"]] == ["bob", "ann"]
    assert second["map"] == [[HUGE - 1, [0, tile("red circle")]], [HUGE, [0, tile("red star")]]]


def test_a_shown_state_can_be_played_again() -> None:
    files: dict[str, str] = {}
    players = [["ann", "dag"], ["bob", "ldasg"]]
    answer = xgames_with_observer(state(LOOSE_HAND, STUCK_HAND, pile=STUCK_HAND), players, show=files.__setitem__)

    assert xgames_with_observer(json.loads(files["0.json"]), players) == answer


def run_showing(harness: str, directory: Path | str, *values: Any) -> Any:
    """The result of a command that shows states in a directory."""
    words = ["course", "q", harness, "--show", str(directory)]
    return CliRunner().invoke(fairplay, words, input="".join(map(json.dumps, values)))


def test_the_command_writes_the_states_into_a_directory(tmp_path: Path) -> None:
    directory = tmp_path / "new"

    done = run_showing("xgames-with-observer", directory, state(LOOSE_HAND, STUCK_HAND, pile=[]), acting(GOOD, GOOD))

    assert (done.exit_code, done.output) == (0, '[["a"],[]]\n')
    numbers = sorted(int(path.stem) for path in directory.glob("*.svg"))
    assert numbers == list(range(len(numbers)))
    assert numbers == sorted(int(path.stem) for path in directory.glob("*.json"))


def test_the_command_says_that_a_directory_cannot_be_written_to() -> None:
    given = state(LOOSE_HAND, STUCK_HAND, pile=[]), acting(GOOD, GOOD)

    done = run_showing("xgames-with-observer", "/dev/null/states", *given)

    assert isinstance(done.exception, BadRequest)
    assert str(done.exception).startswith("/dev/null/states cannot be written to: ")


def test_the_command_shows_only_what_can_be_shown(tmp_path: Path) -> None:
    assert isinstance(run_showing("xmap", tmp_path, ONE, tile("red star")).exception, BadRequest)
