"""Check that `import fairplay` and the command load only what every user needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from fairplay.cli.main import SUBCOMMANDS
from fairplay.games import GAMES

HEAVY = {"click", "rich", "asyncio", "hypothesis", "pytest", "sqlite3", "subprocess", "multiprocessing"}
# Of a game: loaded when it is asked for by name.
LATER = {"draw", "terminal", "roster", "strategies", "search", "tree", "examples"}
DRAWING = {"draw", "shapes", "svg", "panel", "letters"}  # of a game, or of render: loaded when there is a picture
SHOWN = """
from fairplay.games import game_info
info = game_info({game!r})
state = next(iter(info.examples.values()))
rules = info.game_for_state(info.rules(), state)
info.{how}(rules.view(state, None), ("Ann", "Bob"))"""
COMMAND = """
import sys
from contextlib import suppress
from fairplay_command import main
sys.argv[1:] = {arguments}
with suppress(SystemExit):
    main()
print()"""
SHOWN_BY_THE_KIT = """
from examples.games.tic_tac_toe import TicTacToe
from fairplay.kit.defaults import default_part
rules = TicTacToe()
default_part(TicTacToe, {how!r})(rules.view(rules.deal(2, bytes(32)), None), ("Ann", "Bob"))"""


def loaded_by(statement: str) -> set[str]:
    """The modules in a new process after one statement; whatever else it prints, they are on the last line."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_fairplay_loads_nothing_heavy_and_no_game() -> None:
    loaded = loaded_by("import fairplay")

    assert "fairplay" in loaded
    assert {module for module in loaded if module.partition(".")[0] in HEAVY} == set()
    assert {module for module in loaded if module.startswith("fairplay.games.")} == set()


def test_importing_the_rules_of_a_game_loads_neither_its_pictures_nor_its_players() -> None:
    loaded = loaded_by("import fairplay.games.fish")

    assert "fairplay.games.fish.game" in loaded
    assert {module for module in loaded if module.removeprefix("fairplay.games.fish.") in LATER} == set()


def drawing(loaded: set[str]) -> set[str]:
    """Those of the modules that only pictures need."""
    return {module for module in loaded if module.startswith("fairplay.") and module.rpartition(".")[2] in DRAWING}


@pytest.mark.parametrize("game", GAMES)
def test_showing_a_match_as_text_loads_no_drawing_code(game: str) -> None:
    loaded = loaded_by(SHOWN.format(game=game, how="text"))

    assert f"fairplay.games.{game}.terminal" in loaded
    assert drawing(loaded) == set()


def test_showing_a_kit_game_as_text_loads_no_drawing_code() -> None:
    loaded = loaded_by(SHOWN_BY_THE_KIT.format(how="text"))

    assert "fairplay.kit.terminal" in loaded
    assert drawing(loaded) == set()


def loaded_by_the_command(*arguments: str) -> set[str]:
    """The modules in a new process after a run of the command."""
    return loaded_by(COMMAND.format(arguments=arguments))


def test_a_list_of_the_verbs_loads_none_of_them() -> None:
    verbs = {f"fairplay.cli.{verb.replace('-', '_')}" for verb in SUBCOMMANDS}

    assert loaded_by_the_command("--help") & {*verbs, "msgspec", *HEAVY} == {"click"}
    assert loaded_by_the_command("games", "--help") & verbs == {"fairplay.cli.games"}


def test_a_match_of_built_in_players_loads_no_code_for_remote_players_terminals_or_journals(tmp_path: Path) -> None:
    match = ("play", "fish", "random", "greedy", "--quiet")
    writing = {"fairplay.journal.append_file", "fairplay.journal.record", "fairplay.hosting.records"}
    loaded = loaded_by_the_command(*match)

    assert loaded & {*HEAVY, "socket", "ssl", "threading"} == {"click", "threading"}
    assert loaded & {"fairplay.sandbox.protections", "fairplay.players.remote", "fairplay.hosting.table"} == set()
    assert loaded & {"fairplay.terminal.live", "fairplay.games.fish.cheats", "fairplay.games.tsuro"} == set()
    assert loaded & {"fairplay.games.registry", "fairplay.kit", "importlib.metadata", *writing} == set()
    assert loaded_by_the_command(*match, "--journal", str(tmp_path)) >= writing


def test_a_match_shown_live_loads_no_drawing_code() -> None:
    loaded = loaded_by_the_command("play", "fish", "random", "greedy")

    assert "fairplay.games.fish.terminal" in loaded
    assert drawing(loaded) == set()


def test_a_new_bot_is_written_at_once(tmp_path: Path) -> None:
    loaded = loaded_by_the_command("new-bot", "fish", str(tmp_path / "bot.py"))

    assert (tmp_path / "bot.py").is_file()
    assert loaded & {*HEAVY, "socket", "fairplay.hosting.table", "fairplay.games.tsuro"} == {"click"}


def test_the_test_of_imports_detects_a_loaded_module() -> None:
    assert {"click", "asyncio"} <= loaded_by("import click, asyncio")
    assert "fairplay.games.fish.draw" in loaded_by("from fairplay.games import game_info; game_info('fish').svg")
    assert {"fairplay.render.svg", "fairplay.games.q.shapes"} <= drawing(loaded_by(SHOWN.format(game="q", how="svg")))
    assert "fairplay.kit.draw" in drawing(loaded_by(SHOWN_BY_THE_KIT.format(how="svg")))
    assert {"asyncio", "fairplay.hosting.table"} <= loaded_by_the_command("check-bot", "--help")
