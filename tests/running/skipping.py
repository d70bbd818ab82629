"""Define tests that are skipped in every way, which only test_skips.py runs."""

import pytest


@pytest.mark.skipif(True, reason="there is no cake: ask the cook")
@pytest.mark.parametrize("number", range(3))
def test_it_is_marked(number: int) -> None:
    raise AssertionError("it is not run")


def test_it_skips_itself() -> None:
    pytest.skip("there is no tea")


def test_it_is_run() -> None:
    pass
