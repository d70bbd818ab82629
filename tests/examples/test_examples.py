"""Test that the examples run, and do what they say."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import Fault, built_in_strategy
from fairplay.core.chance import seed_from_text
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.hosting.run import run
from fairplay.players.location import is_built_in
from fairplay.players.player_loop import AnyGame
from fairplay.referee.referee import Referee
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.spec_file import read_tournament
from tests.cli.command import run_fairplay, run_script
from tests.nonempty import nonempty

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("seed", "others"), [("1", ["random"]), ("2", ["greedy", "lookahead:1"]), ("3", ["random", "random", "random"])]
)
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
        table = [load(name).take_turn, built_in_strategy(game.name, other, seed)]
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


def run_alone(script: str, *arguments: str) -> list[str]:
    """The lines that an example prints as a script."""
    command = [sys.executable, f"examples/{script}", *arguments]
    done = subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_observer_counts_ten_matches_as_a_script() -> None:
    counts = {kind: int(count) for kind, count in map(str.split, run_alone("an_observer.py"))}

    assert (counts["Started"], counts["Ended"]) == (10, 10)
    assert counts["Acted"] > 10 * 8
    assert set(counts) == {"Started", "Acted", "Ended"}


def test_a_tournament_of_players_in_a_script_comes_to_standings_and_a_report(tmp_path: Path) -> None:
    *standings, report = run_alone("a_tournament.py", str(tmp_path / "cup"))

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


@pytest.mark.parametrize(("script", "known"), [("verify_deal.py", "hashlib"), ("bots/fish_plain.py", "json")])
def test_a_script_needs_nothing_but_the_standard_library(script: str, known: str) -> None:
    nodes = list(ast.walk(ast.parse((EXAMPLES / script).read_text())))

    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}

    assert known in imported
    assert {module.partition(".")[0] for module in imported} <= sys.stdlib_module_names


# The tournaments.

TOURNAMENTS = EXAMPLES / "cups"
FAULTS = {
    "fish": {"crasher": "crashed (turn)", "sleeper": "timed_out (turn)"},
    "tsuro": {"parrot": "malformed (turn)", "flood": "flood (turn)"},
    "q": {"leaver": "crashed (news)", "mumbler": "malformed (end)"},
}


def tournament_of(game: str) -> TournamentSpec:
    return replace(read_tournament(TOURNAMENTS / f"{game}.toml"), seed=bytes(32))


def test_there_is_a_tournament_for_every_game_listed_here() -> None:
    games = [file.stem for file in TOURNAMENTS.glob("*.toml")]

    assert {game: tournament_of(game).game for game in games} == {game: game for game in FAULTS}


@pytest.mark.parametrize("game", FAULTS)
def test_who_misbehaves_is_ejected_for_what_the_file_says(game: str) -> None:
    tournament = tournament_of(game)
    server = [one for one in tournament.players if is_built_in(one.address, game)][1:]
    bad = [one for one in tournament.players if not is_built_in(one.address, game)]

    for one in nonempty(bad):
        outcome = run(tournament.match_spec([*server, one][-tournament.rules().seats[0] :], 0))

        assert outcome.result is not None
        ejected = {outcome.names[out.seat]: f"{out.fault.value} ({out.moment.value})" for out in outcome.result.ejected}
        assert ejected[one.name] == FAULTS[game][one.name]
    assert [one.name for one in bad] == list(FAULTS[game])
