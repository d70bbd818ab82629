"""Test that the examples run, and do what they say."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fairplay import Fault, built_in_strategy
from fairplay.core.chance import seed_from_text
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.players.player_loop import AnyGame
from fairplay.referee.referee import Referee
from tests.cli.command import run_fairplay, run_script

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", ["1", "2", "3"])
@pytest.mark.parametrize("others", [["random"], ["greedy", "lookahead:1"], ["random", "random", "random"]])
def test_the_player_plays_whole_matches_without_being_ejected(seed: str, others: list[str]) -> None:
    done = run_fairplay("play", "fish", f"me={EXAMPLES / 'a_player.py'}", *others, "--seed", seed, "--quiet")

    assert (done.code, done.err) == (0, "")
    assert " is out: " not in done.out
    assert "me" in done.out


@pytest.mark.parametrize("name", ["a_player", "look_ahead", "monte_carlo"])
def test_a_player_is_run_as_its_own_text_says(name: str) -> None:
    found = re.search(r"fairplay (play [^`\n]*)", (EXAMPLES / f"{name}.py").read_text())
    assert found is not None

    done = run_script(*found[1].split(), cwd=EXAMPLES.parent)

    assert (done.code, done.err) == (0, "")
    assert " is out: " not in done.out


def test_the_player_goes_where_the_most_fish_are() -> None:
    player = load("a_player").Player()
    game = Fish(rows=4, columns=4)
    view = game.view(game.deal(2, bytes(32)), 0)

    placed = player.take_turn(view)

    assert view.board[placed.at] == max(view.board.values())


@pytest.mark.parametrize(
    ("name", "game", "other", "lines", "matches"),
    [("look_ahead", Fish(), "greedy", 25, 20), ("monte_carlo", Q(), "dag", 40, 2)],
    ids=["look_ahead", "monte_carlo"],
)
def test_a_bot_of_few_lines_that_looks_ahead_wins(
    name: str, game: AnyGame, other: str, lines: int, matches: int
) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < lines
    wins = 0
    for number in range(matches):
        seed, me = seed_from_text(f"ahead {number}"), number % 2
        server = built_in_strategy(game.name, other, seed)
        table = [load(name).take_turn, server]
        match = Referee().run(game, table if me == 0 else table[::-1], seed=seed)
        assert not match.result.ejected
        wins += me in match.result.ranking[0]
    assert wins > matches / 2


@pytest.mark.parametrize(("name", "game"), [("look_ahead", Fish(rows=5, columns=5)), ("monte_carlo", Q())], ids=str)
def test_lookahead_plays_on_when_all_others_are_out(name: str, game: AnyGame) -> None:
    player = load(name)
    player.WORLDS, player.OPTIONS = 1, 5  # type: ignore[attr-defined]  # of the one that has so many

    match = Referee().run(game, [player.take_turn, lambda view: None], seed=bytes(32))

    assert [(out.seat, out.fault) for out in match.ejected] == [(1, Fault.MALFORMED)]


def test_the_observer_counts_ten_matches_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "examples/an_observer.py"], cwd=EXAMPLES.parent, capture_output=True, text=True, check=True
    )

    counts = {kind: int(count) for kind, count in (line.split() for line in done.stdout.splitlines())}
    assert done.stderr == ""
    assert (counts["Started"], counts["Ended"]) == (10, 10)
    assert counts["Acted"] > 10 * 8
    assert set(counts) == {"Started", "Acted", "Ended"}


def test_a_tournament_of_players_in_a_script_comes_to_standings_and_a_report(tmp_path: Path) -> None:
    command = [sys.executable, "examples/a_tournament.py", str(tmp_path / "cup")]

    done = subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=True)

    *standings, report = done.stdout.splitlines()
    assert done.stderr == ""
    assert [line.split()[1] for line in standings] == ["ann", "greedy", "bob"]
    assert standings[-1].endswith("malformed")
    assert report == f"report: {tmp_path}/cup/report.html" and Path(report.removeprefix("report: ")).is_file()


def test_the_observer_counts_all_events() -> None:
    module = load("an_observer")
    counting, referee = module.Counting(), Referee()
    referee.subscribe(counting)
    table: list[Any] = [module.first_action, lambda view: None]

    referee.run(Fish(rows=3, columns=4), table, seed=bytes(32))

    assert (counting.counts["Started"], counting.counts["Ejected"], counting.counts["Ended"]) == (1, 1, 1)
