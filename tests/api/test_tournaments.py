"""Test tournaments that are run from Python: from values, from files, and in scripts of every kind."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from tests.api.fish_players import BOT, FISH, Cheat, Last, first

ROOT = Path(__file__).parents[2]
TWO_MATCHES = fp.RoundRobin(games=2)


def test_values_come_to_standings_and_a_report(tmp_path: Path) -> None:
    result = fp.run_tournament(
        FISH,
        {"ann": "greedy", "bob": "random"},
        format=fp.RoundRobin(games=10),
        seed=7,
        directory=tmp_path,
        executor="here",
    )

    assert [row.name for row in result.standings] == ["ann", "bob"]
    assert sum(row.points for row in result.standings) == 10
    assert result.report.is_file()
    assert len(fp.verify(*(tmp_path / "matches").glob("*.jsonl"))) == 10


def test_a_result_shows_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"directory": tmp_path, "executor": "here", "report": False}
    result = fp.run_tournament(FISH, {"ann": "greedy", "bob": "random"}, format=TWO_MATCHES, **options)

    result.show()

    shown = capsys.readouterr().out
    assert "ann" in shown and "bob" in shown
    assert repr(result) == f"<TournamentResult of fish: 2 matches, in {str(tmp_path)!r}>"


def test_functions_and_classes_of_a_module_are_players(tmp_path: Path) -> None:
    players: dict[str, Any] = {"ann": first, "bob": Last, "cyd": Cheat}

    result = fp.run_tournament(
        FISH, players, format=fp.RoundRobin(games=6), directory=tmp_path, executor="here", report=False
    )

    assert {row.name: row.faults for row in result.standings if row.faults} == {"cyd": {"malformed": 4}}


def test_settings_reach_the_tournament(tmp_path: Path) -> None:
    result = fp.run_tournament(
        "fish(rows=4, columns=4)",
        ["greedy", "lookahead:2"],
        format="swiss",
        seed=7,
        limits="2,bank=60",
        sandbox="none",
        bot_check="skip",
        penalties={"illegal": "expel", "default": "forfeit"},
        directory=tmp_path,
        executor="here",
        report=False,
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


def test_the_same_call_resumes_a_tournament(tmp_path: Path) -> None:
    class Interrupting:
        def observe(self, event: object) -> None:
            if type(event).__name__ == "MatchEnded":
                raise KeyboardInterrupt

    options: dict[str, Any] = {"format": fp.RoundRobin(games=4), "directory": tmp_path, "executor": "here"}
    with pytest.raises(KeyboardInterrupt):
        fp.run_tournament(FISH, ["greedy", "random"], observers=[Interrupting()], **options)

    result = fp.run_tournament(FISH, ["greedy", "random"], report=False, **options)

    assert (result.finished, len(result.counted)) == (True, 4)


def run_script(directory: Path, text: str) -> str:
    """What a script prints on stdout; it has to end well."""
    script = directory / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=directory, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_script_without_a_guard_uses_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(BOT)

    said = run_script(
        tmp_path,
        "import fairplay as fp\n"
        "print('begin')\n"
        "players = {'ann': 'greedy', 'bob': './my_bot.py'}\n"
        "result = fp.run_tournament('fish(rows=4, columns=4)', players, format=fp.RoundRobin(games=2), directory='cup',"
        " jobs=2, sandbox='none', bot_check='skip', report=False)\n"
        "print(result.finished)\n",
    )

    assert said == "begin\nTrue\n"


def test_players_of_a_script_play_in_it(tmp_path: Path) -> None:
    said = run_script(
        tmp_path,
        "import fairplay as fp\n"
        "fish = fp.make_game('fish', rows=4, columns=4)\n"
        "def first(view): return next(fish.actions(view))\n"
        "class Last:\n"
        "    def take_turn(self, view): return list(fish.actions(view))[-1]\n"
        "result = fp.run_tournament(fish, {'ann': first, 'bob': Last}, format=fp.RoundRobin(games=2), directory='cup',"
        " report=False)\n"
        "print(len(result.counted), [row.faults for row in result.standings])\n",
    )

    assert said == "2 [{}, {}]\n"


WRONG: dict[str, tuple[Any, Any, dict[str, Any], type[Exception], str]] = {
    "no players": (FISH, None, {}, TypeError, "run_tournament() takes the players of a game, a list or a dict by name"),
    "no directory": (FISH, ["greedy", "random"], {"directory": None}, TypeError, "run_tournament() takes directory=, "),
    "a wrong name": (
        FISH,
        ["gredy", "random"],
        {},
        fp.BadRequest,
        "fish has no player 'gredy': did you mean 'greedy'?",
    ),
    "too few players": (FISH, ["greedy"], {}, fp.BadRequest, "there are fewer players (1) than seats at a table (2)"),
    "a name given twice": (FISH, ["a=greedy", "a=random"], {}, fp.BadRequest, "the name 'a' is given twice"),
    "a function without a place": (
        FISH,
        {"ann": lambda view: view, "bob": "greedy"},
        {},
        TypeError,
        "player ann cannot be found by other processes: define ",
    ),
    "players as one text": (FISH, "greedy", {}, TypeError, "players must be a list, or a dict by name, not 'greedy' "),
    "a format that is a number": (FISH, ["greedy", "random"], {"format": 3}, TypeError, "format must be RoundRobin("),
    "a format that does not exist": (
        FISH,
        ["greedy", "random"],
        {"format": "swis"},
        fp.BadRequest,
        "format.kind: there is no format 'swis': did you mean 'swiss'?",
    ),
    "a fault that does not exist": (
        FISH,
        ["greedy", "random"],
        {"penalties": {"ilegal": "eject"}},
        fp.BadRequest,
        "a fault must be one of 'illegal', ",
    ),
    "a setting that does not exist": (FISH, ["greedy", "random"], {"sed": 7}, TypeError, "make_tournament() got an "),
    "an executor that does not exist": (FISH, ["greedy", "random"], {"executor": "x"}, fp.BadRequest, "--executor x: "),
    "players beside a file": ("cup.toml", ["greedy"], {}, TypeError, "players must stand in the tournament"),
    "a seed beside a file": ("cup.toml", None, {"seed": 7}, TypeError, "seed must stand in the tournament"),
    "a file that does not exist": ("nowhere.toml", None, {}, fp.BadRequest, "nowhere.toml: cannot be read: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_told_in_one_line_and_leaves_nothing(case: str, tmp_path: Path) -> None:
    tournament, players, options, kind, message = WRONG[case]

    with pytest.raises(kind) as told:
        fp.run_tournament(tournament, players, **{"directory": tmp_path / "cup", **options})

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "cup").exists()


def test_a_game_of_a_script_is_played_in_it(tmp_path: Path) -> None:
    said = run_script(
        tmp_path,
        f"{(ROOT / 'examples/games/tic_tac_toe.py').read_text()}\n"
        "import fairplay as fp\n"
        "players, two = ['lookahead', 'random'], fp.RoundRobin(games=2)\n"
        "result = fp.run_tournament(TicTacToe(), players, format=two, directory='cup', report=False)\n"
        "print([row.faults for row in result.standings])\n"
        "try:\n"
        "    fp.run_tournament(TicTacToe(), players, directory='cup2', executor='pool')\n"
        "except fp.BadRequest as error:\n"
        "    print(error)\n",
    )

    assert said == (
        "[{}, {}]\na player or the game is defined in this script, so executor must be 'here', not 'pool'\n"
    )
