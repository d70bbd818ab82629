"""The kernels raise on whatever makes no sense, and lose no memory over it."""

import gc
import tracemalloc
from typing import Any

import pytest

from fairplay.core.chance import Lots, seed_from
from fairplay.kernels import kernels, why_not
from tests.kernels import fuzz
from tests.kernels.fuzz import NO, failure_of, hostile, lawful, spoilt, takes_long

pytestmark = pytest.mark.skipif(kernels is None, reason=why_not)
SEED = seed_from("hostile")


def test_whatever_is_handed_over_is_answered_or_refused() -> None:
    assert [failure for failure in hostile(range(300), SEED) if failure] == []


def test_most_of_it_is_refused_and_some_is_not() -> None:
    lots, refused = Lots(SEED), 0
    calls = tuple(lawful(lots).items())
    for name, arguments in calls * 100:
        changed = spoilt(arguments, lots)
        try:
            getattr(kernels, name)(*(arguments if takes_long(name, changed) else changed))
        except NO:
            refused += 1

    assert len(calls) * 50 < refused < len(calls) * 100


def test_every_kernel_is_called_as_it_should_be_too() -> None:
    for name, arguments in lawful(Lots(SEED)).items():
        getattr(kernels, name)(*arguments)

    assert lawful(Lots(SEED)).keys() == {name for name in dir(kernels) if not name.startswith("_")}


def test_another_exception_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def fish_best_move(*_: object) -> None:
            raise SystemError("error return without exception set")

    monkeypatch.setattr(fuzz, "kernels", Broken)

    assert "without exception set" in failure_of("fish_best_move", (1, 2))


def test_no_memory_is_lost() -> None:
    lots = Lots(SEED)
    lawful_calls = tuple(lawful(lots).items())
    calls = lawful_calls * 20 + tuple((name, spoilt(arguments, lots)) for name, arguments in lawful_calls * 300)
    calls = tuple(call for call in calls if not takes_long(*call))
    call_all(calls)  # tables are made when they are first asked for, and kept
    tracemalloc.start()
    try:
        call_all(calls)
        before = tracemalloc.get_traced_memory()[0]
        call_all(calls * 2)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert after - before < len(calls)  # bytes


def call_all(calls: tuple[tuple[str, Any], ...]) -> None:
    for name, arguments in calls:
        failure_of(name, arguments)
    gc.collect()
