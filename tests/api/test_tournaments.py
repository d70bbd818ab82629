"""Test tournaments that are run from Python: from values, from files, and in scripts of every kind."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from tests.api.fish_players import BOT, FISH, Cheat, Last, first

TWO = ["greedy", "random"]


def test_values_come_to_standings_and_a_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"format": fp.RoundRobin(games=10), "directory": tmp_path, "executor": "here"}
    players = {"ann": "greedy", "bob": "random"}

    result = fp.run_tournament(FISH, players, **options)

    assert capfd.readouterr() == ("", "")
    assert result.finished
    assert [
        (row.name, rating.rating > 0) for row, rating in zip(result.standings, result.ratings.players, strict=True)
    ] == [("ann", True), ("bob", False)]
    assert sum(row.points for row in result.standings) == 10
    assert "Tournament of fish" in result.report.read_text(encoding="utf-8")
    assert (tmp_path / "results.json").is_file() and (tmp_path / "results.csv").is_file()
    assert len(fp.verify(*(tmp_path / "matches").glob("*.jsonl"))) == 10
    assert result.spec.seed is not None  # it was drawn, and stays
    assert fp.run_tournament(FISH, players, report=False, **options) == result
    assert repr(result) == f"<TournamentResult of fish: 10 matches, in {str(tmp_path)!r}>"
    result.show()
    assert {"ann", "bob"} <= set(capfd.readouterr().out.split())


def test_functions_and_classes_of_a_module_are_players(tmp_path: Path) -> None:
    players: dict[str, Any] = {"ann": first, "bob": Last, "cyd": Cheat}

    result = fp.run_tournament(
        FISH, players, format=fp.RoundRobin(games=6), directory=tmp_path, executor="here", report=False
    )

    assert {row.name: row.faults for row in result.standings if row.faults} == {"cyd": {"malformed": 4}}


def test_settings_reach_the_tournament(tmp_path: Path) -> None:
    options: dict[str, Any] = {"bot_check": "skip", "penalties": {"illegal": "expel", "default": "forfeit"}}
    options |= {"format": "swiss", "seed": 7, "limits": "2,bank=60", "sandbox": "none"}

    result = fp.run_tournament(
        "fish(rows=4, columns=4)",
        ["greedy", "lookahead:2"],
        directory=tmp_path,
        executor="here",
        report=False,
        **options,
    )

    spec = result.spec
    assert spec.format == fp.Swiss()
    assert spec.limits is not None and spec.limits.bank == 60
    assert (spec.sandbox, spec.bot_check.value, spec.default_penalty.value) == ("none", "skip", "forfeit")
    assert spec.penalty_for(fp.Fault.ILLEGAL).value == "expel"
    assert [player.name for player in spec.players] == ["greedy", "lookahead:2"]


def test_a_file_is_played_into_the_directory_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(
        'game = "fish"\nplayers = [{ player = "greedy" }, { player = "random" }]\n'
        'parameters = { rows = 4, columns = 4 }\nformat = { kind = "round-robin", games = 2 }\n'
    )

    for argument in (file, str(file)):
        result = fp.run_tournament(argument, executor="here", report=False)

        assert result.directory == tmp_path / "cup"
        assert result.finished


def run_script(directory: Path, text: str) -> str:
    """What a script prints on stdout; it has to end well."""
    (directory / "script.py").write_text(f"import fairplay as fp\n{text}")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=directory, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_script_without_a_guard_uses_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(BOT)

    said = run_script(
        tmp_path,
        "print('begin')\n"
        "players = {'ann': 'greedy', 'bob': './my_bot.py'}\n"
        "result = fp.run_tournament('fish(rows=4, columns=4)', players, format=fp.RoundRobin(games=2), directory='cup',"
        " jobs=2, sandbox='none', bot_check='skip', report=False)\n"
        "print(result.finished)\n",
    )

    assert said == "begin\nTrue\n"


REFUSED: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "a wrong name": (FISH, ["gredy", "random"], {}, "fish has no player 'gredy': did you mean 'greedy'?"),
    "too few players": (FISH, ["greedy"], {}, "there are fewer players (1) than seats at a table (2)"),
    "a name given twice": (FISH, ["a=greedy", "a=random"], {}, "the name 'a' is given twice"),
    "a wrong format": (FISH, TWO, {"format": "swis"}, "format.kind: there is no format 'swis': did you mean 'swiss'?"),
    "a wrong fault": (FISH, TWO, {"penalties": {"ilegal": "eject"}}, "a fault must be one of 'illegal', "),
    "a wrong executor": (FISH, TWO, {"executor": "x"}, "--executor x: there is here, pool, dask"),
    "a file that does not exist": ("nowhere.toml", None, {}, "nowhere.toml: cannot be read: "),
}
WRONG: dict[str, tuple[Any, Any, dict[str, Any], str]] = {  # of which a TypeError tells
    "no players": (FISH, None, {}, "run_tournament() takes the players of a game, a list or a dict by name"),
    "no directory": (FISH, TWO, {"directory": None}, "run_tournament() takes directory=, "),
    "a function": (
        FISH,
        {"ann": lambda view: view, "bob": first},
        {},
        "player ann cannot be found by other processes: define ",
    ),
    "players as one text": (FISH, "greedy", {}, "players must be a list, or a dict by name, not 'greedy' "),
    "a format that is a number": (FISH, TWO, {"format": 3}, "format must be RoundRobin("),
    "an unknown setting": (FISH, TWO, {"sed": 7}, "make_tournament() got an "),
    "players beside a file": ("cup.toml", ["greedy"], {}, "players must stand in the tournament"),
    "a seed beside a file": ("cup.toml", None, {"seed": 7}, "seed must stand in the tournament"),
}


@pytest.mark.parametrize("case", REFUSED | WRONG)
def test_a_wrong_argument_is_told_in_one_line_and_leaves_nothing(case: str, tmp_path: Path) -> None:
    tournament, players, options, message = (REFUSED | WRONG)[case]

    with pytest.raises(fp.BadRequest if case in REFUSED else TypeError) as told:
        fp.run_tournament(tournament, players, **{"directory": tmp_path / "cup", **options})

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "cup").exists()


def test_games_and_players_of_a_script_play_in_it(tmp_path: Path) -> None:
    game = Path(__file__).parents[2] / "examples/games/tic_tac_toe.py"

    said = run_script(
        tmp_path,
        f"{game.read_text()}\n"
        "fish = fp.make_game('fish', rows=4, columns=4)\n"
        "def first(view): return next(fish.actions(view))\n"
        "class Last:\n"
        "    def take_turn(self, view): return list(fish.actions(view))[-1]\n"
        "two = {'format': fp.RoundRobin(games=2), 'report': False}\n"
        "for game, players in (fish, {'ann': first, 'bob': Last}), (TicTacToe(), ['lookahead', 'random']):\n"
        "    result = fp.run_tournament(game, players, directory=f'cup of {game.name}', **two)\n"
        "    print(len(result.counted), [row.faults for row in result.standings])\n"
        "try:\n"
        "    fp.run_tournament(TicTacToe(), players, directory='cup2', executor='pool')\n"
        "except fp.BadRequest as error:\n"
        "    print(error)\n",
    )

    refused = "a player or the game is defined in this script, so executor must be 'here', not 'pool'"
    assert said.splitlines() == ["2 [{}, {}]", "2 [{}, {}]", refused]
