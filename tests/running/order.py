"""Let the files with the longest tests begin first, so that no worker is left with one of them at the end."""

import pytest

LONGEST = (  # in seconds, with the longest first; all others keep their order behind them
    "tests/reliability/test_meters.py",
    "tests/misbehaviour/test_zoo.py",
    "tests/misbehaviour/test_far.py",
    "tests/tournament/test_runners.py",
    "tests/server/test_course.py",
    "tests/players/test_process.py",
    "tests/cli/test_check_bot.py",
    "tests/players/test_shown.py",
    "tests/cli/test_tournament.py",
    "tests/cli/test_programs.py",
    "tests/cli/test_debug.py",
    "tests/hosting/test_table.py",
    "tests/hosting/test_closing.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {file: rank for rank, file in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.nodeid.partition("::")[0], len(LONGEST)))
