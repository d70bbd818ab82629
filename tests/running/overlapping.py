"""Define tests that log their begin and end, which only test_alone.py runs."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

NOTES_VARIABLE = "FAIRPLAY_NOTES"  # the variable that names the file


@pytest.fixture(autouse=True)
def note_times(request: pytest.FixtureRequest) -> Iterator[None]:
    since = time.monotonic()
    yield
    with Path(os.environ[NOTES_VARIABLE]).open("a") as file:
        file.write(f"{request.node.originalname} {since} {time.monotonic()}\n")


@pytest.mark.parametrize("number", range(12))
def test_with_others(number: int) -> None:
    time.sleep(0.05)


@pytest.mark.alone
@pytest.mark.parametrize("number", range(12))
def test_alone(number: int) -> None:
    time.sleep(0.05)


@pytest.mark.parametrize("number", range(12))
def test_with_others_again(number: int) -> None:
    time.sleep(0.05)
