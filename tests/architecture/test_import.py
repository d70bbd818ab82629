"""Keep `import fairplay` quick: it loads nothing that only some users need."""

import subprocess
import sys

HEAVY = {"click", "rich", "asyncio", "hypothesis", "pytest", "sqlite3", "subprocess", "multiprocessing"}
LATER = {"draw", "strategies", "search", "tree", "examples"}  # of a game: loaded when it is asked for by name


def loaded_by(statement: str) -> set[str]:
    """The modules in a new process after one statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_fairplay_loads_nothing_heavy() -> None:
    loaded = loaded_by("import fairplay")

    assert {module for module in loaded if module.partition(".")[0] in HEAVY} == set()


def test_importing_fairplay_loads_no_game() -> None:
    loaded = loaded_by("import fairplay")

    assert "fairplay.referee.referee" in loaded
    assert {module for module in loaded if module.startswith("fairplay.games.")} == set()


def test_importing_the_rules_of_a_game_loads_neither_its_pictures_nor_its_players() -> None:
    loaded = loaded_by("import fairplay.games.fish")

    assert "fairplay.games.fish.game" in loaded
    assert {module for module in loaded if module.removeprefix("fairplay.games.fish.") in LATER} == set()


def test_the_meter_turns_red() -> None:
    assert {"click", "asyncio"} <= loaded_by("import click, asyncio")
    assert "fairplay.games.fish.draw" in loaded_by("from fairplay.games import title; title('fish')")
