"""Run the examples, so that whoever copies them begins with something that works."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fairplay import Referee
from fairplay.games.fish import Fish
from tests.cli.command import fairplay, script

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
    done = fairplay("play", "fish", f"me={EXAMPLES / 'a_player.py'}", *others, "--seed", seed, "--quiet")

    assert (done.code, done.err) == (0, "")
    assert " is out: " not in done.out
    assert "me" in done.out


def test_the_player_is_run_as_its_own_text_says() -> None:
    text = (EXAMPLES / "a_player.py").read_text()
    command = next(line.split() for line in text.splitlines() if line.strip().startswith("fairplay "))

    done = script(*command[1:], cwd=EXAMPLES.parent)

    assert (done.code, done.err) == (0, "")
    assert " is out: " not in done.out


def test_the_player_goes_where_the_most_fish_are() -> None:
    player = load("a_player").Player()
    game = Fish(rows=4, columns=4)
    view = game.view(game.deal(2, bytes(32)), 0)

    placed = player.take_turn(view)

    assert view.state.fish_on(placed.at) == max(view.state.fish_on(position) for position in view.state.grid.positions)


def test_the_observer_counts_ten_matches_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "examples/an_observer.py"], cwd=EXAMPLES.parent, capture_output=True, text=True, check=True
    )

    counts = {kind: int(count) for kind, count in (line.split() for line in done.stdout.splitlines())}
    assert done.stderr == ""
    assert (counts["Started"], counts["Ended"]) == (10, 10)
    assert counts["Acted"] > 10 * 8
    assert set(counts) == {"Started", "Acted", "Ended"}


def test_the_observer_counts_whatever_it_hears() -> None:
    module = load("an_observer")
    counting, referee = module.Counting(), Referee()
    referee.subscribe(counting)
    table: list[Any] = [module.first_action, lambda view: None]

    referee.run(Fish(rows=3, columns=4), table, seed=bytes(32))

    assert (counting.seen["Started"], counting.seen["Ejected"], counting.seen["Ended"]) == (1, 1, 1)
