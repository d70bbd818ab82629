"""Mark each test as quick, long or nightly, and run slow files first, so that no worker is left with one at the end.

`make test` runs the quick ones. `make test-long` runs attacks, repetition, browsers, terminals and programs in other
languages; a change has to pass both. `make test-nightly` runs those that their files mark: repetition at full length.
"""

from pathlib import Path

import pytest

LONG_TESTS = (  # directories and files, the slowest first
    "tests/reliability/",
    "tests/misbehaviour/",
    "tests/examples/test_bots.py",
    "tests/benchmarks/",
    "tests/server/test_hostile_clients.py",
    "tests/running/test_running.py",
    "tests/course/server/test_serving.py",
    "tests/course/channel/test_misbehaviour.py",
    "tests/sandbox/test_visible_files.py",
    "tests/server/test_bad_networks.py",
    "tests/server/test_live_page.py",
    "tests/server/test_restart.py",
    "tests/cli/test_debug.py",
    "tests/cli/test_in_place.py",
    "tests/page/test_in_browser.py",
    "tests/cli/test_serve_tournament.py",
    "tests/cli/test_human.py",
    "tests/server/test_hostile_browsers.py",
    "tests/server/test_many_clients.py",
    "tests/server/test_hidden_tiles.py",
    "tests/server/test_vanishing.py",
    "tests/players/test_late_answers.py",
    "tests/course/harness/test_over_network.py",
    "tests/terminal/test_stepper.py",
    "tests/cli/test_watch_in_place.py",
    "tests/page/test_names.py",
    "tests/page/test_looks.py",
    "tests/journal/test_hostile_index.py",
    "tests/hosting/test_closing.py",
    "tests/site/test_searching.py",
    "tests/site/test_wheel.py",
)
FIRST_TESTS = (  # quick ones that take seconds, the slowest first
    "tests/examples/test_games.py",
    "tests/site/test_tutorials.py",
    "tests/cli/client/test_join_program.py",
    "tests/tournament/running/test_runners.py",
    "tests/players/test_process.py",
    "tests/cli/test_check_bot.py",
    "tests/cli/test_tournament.py",
    "tests/cli/test_programs.py",
    "tests/every_game/test_conformance.py",
    "tests/examples/test_examples.py",
    "tests/sandbox/test_freezer.py",
    "tests/hosting/test_table.py",
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: run by make test")
    config.addinivalue_line("markers", "long: run by make test-long")
    config.addinivalue_line("markers", "nightly: run by make test-nightly")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare each worker from importing the files that -m leaves out."""
    if not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix() + "/" * collection_path.is_dir()
    return is_left_out(name, config.getoption("markexpr")) or None


def is_left_out(name: str, chosen: str) -> bool:
    """Does a file, or a directory whose name ends with a slash, hold none of the tests chosen with -m?"""
    listed = name.startswith(LONG_TESTS)
    if chosen == "long":
        return not listed and not (name.endswith("/") and any(file.startswith(name) for file in LONG_TESTS))
    return listed and chosen == "quick"


def kind_of(item: pytest.Item) -> str:
    """The one of the three runs that a test belongs to."""
    if item.get_closest_marker("nightly") is not None:
        return "nightly"
    return "long" if item.nodeid.startswith(LONG_TESTS) else "quick"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {file: rank for rank, file in enumerate((*LONG_TESTS, *FIRST_TESTS))}
    for item in items:
        item.add_marker(kind_of(item))
    items.sort(
        key=lambda item: next((rank for file, rank in ranks.items() if item.nodeid.startswith(file)), len(ranks))
    )
