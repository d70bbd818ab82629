"""Test that the kernels raise on invalid arguments, and leak no memory."""

import gc
import re
import tracemalloc
from typing import Any

import pytest

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.games.tsuro.pieces import EXITS
from fairplay.kernels import kernels, unavailable_reason
from tests.kernels import fuzz
from tests.kernels.fuzz import REFUSALS, find_failure, is_long_call, legal_calls, mutate_arguments, run_hostile_calls

pytestmark = pytest.mark.skipif(kernels is None, reason=unavailable_reason)
SEED = seed_from_text("hostile")


def test_whatever_is_handed_over_is_answered_or_refused() -> None:
    assert [failure for failure in run_hostile_calls(range(300), SEED) if failure] == []


TWO = (1, 2, b"\x09")  # a board of two cells with a fish on each
RED_STAR = ({0: 0}, (-(2**34), -1, 1, 2**34))  # alone on a map of Q
SIXTEEN = (4, bytes([255] * 16))  # a board of Tsuro without tiles


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("fish_best_move", (0, 2, b"", 0, ((),), 1), "no board of 0 x 2"),
        ("fish_best_move", (5, 13, bytes(25), 0, ((),), 1), "no board of 5 x 13"),
        ("fish_best_move", (1, 2, b"", 0, ((),), 1), "three bits a cell"),
        ("fish_best_move", (1, 2, b"\x06", 0, ((),), 1), "6 fish on a tile"),
        ("fish_best_move", (*TWO, 0b100, ((),), 1), "more free cells"),
        ("fish_best_move", (*TWO, 0b1, ((0,),), 1), "free, or has two penguins"),
        ("fish_best_move", (*TWO, 0, ((0,), (0,)), 1), "free, or has two penguins"),
        ("fish_best_move", (*TWO, 0, ((2,),), 1), "2 is not from 0 to 1"),
        ("fish_best_move", (*TWO, 0, ((),) * 5, 1), "up to 4 seats"),
        ("fish_best_move", (*TWO, 0, (), 1), "needs a seat"),
        ("fish_best_move", (*TWO, 0, ((),), 0), "1 to 64 turns"),
        ("fish_best_move", (*TWO, 0, ((),), 65), "1 to 64 turns"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0,), (0, 1), 0, 0, 1, 0), "a score for each seat"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0, -1), (0, 1), 0, 0, 1, 0), "-1 is not from 0"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0, 0), (1, 1), 0, 0, 1, 0), "twice in the order"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0, 0), (0, 2), 0, 0, 1, 0), "2 is not from 0 to 1"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0, 0), (0, 1), 0, 0, 2**20 + 1, 0), "playouts at once"),
        ("fish_playouts", (*TWO, 0, ((), ()), (0, 0), (0, 1), 0, -1, 1, 0), "playouts at once"),
        ("fish_text", (-2, "placing", (0,), 1, *TWO, 0, ((),), (0,), ("red",)), "nothing below 0"),
        ("fish_text", (0, "placing", (0,), -1, *TWO, 0, ((),), (0,), ("red",)), "nothing below 0"),
        ("fish_text", (0, "placing", (4,), 1, *TWO, 0, ((),), (0,), ("red",)), "4 is not from 0 to 3"),
        ("fish_text", (0, "placing", (0,), 1, *TWO, 0, ((),), (), ("red",)), "a score and a colour for each seat"),
        ("fish_text", (0, "placing", (0,), 1, *TWO, 0, ((),), (2**31,), ("red",)), "2147483648 is not from 0"),
        ("fish_text", (0, "placing", (0,), 1, *TWO, 0, ((),), (0,), ()), "a score and a colour for each seat"),
        ("fish_text", (0, "placing", (0,), 1, *TWO, 0, ((),), (0,), ('"',)), "small letters"),
        ("fish_text", (0, "a" * 17, (0,), 1, *TWO, 0, ((),), (0,), ("red",)), "small letters"),
        ("fish_text", (0, b"placing", (0,), 1, *TWO, 0, ((),), (0,), ("red",)), "small letters"),
        ("fish_text", (0, "\ud800", (0,), 1, *TWO, 0, ((),), (0,), ("red",)), "surrogates"),
        ("fish_sampling", (*TWO, 0, ((), ()), (0,), (0, 1), 0, 1, 0), "a score for each seat"),
        ("fish_sampling", (*TWO, 0, ((), ()), (0, 0), (0, 0), 0, 1, 0), "twice in the order"),
        ("fish_sampling", (*TWO, 0, ((), ()), (0, 0), (), 0, 1, 0), "needs a seat"),
        ("fish_sampling", (*TWO, 0, ((), ()), (0, 0), (0, 1), 0, -1, 0), "0 to 50000 playouts"),
        ("fish_sampling", (*TWO, 0, ((), ()), (0, 0), (0, 1), 0, 50_001, 0), "0 to 50000 playouts"),
        ("fish_territory", (*TWO, 0b1, ((0,), ()), (0, 1), 0, 1), "free, or has two penguins"),
        ("fish_territory", (*TWO, 0, ((), ()), (0, 2), 0, 1), "2 is not from 0 to 1"),
        ("fish_territory", (*TWO, 0, ((), ()), (), 0, 1), "needs a seat"),
        ("fish_territory", (*TWO, 0, ((), ()), (0, 1), 0, 0), "1 to 10000000 positions"),
        ("fish_territory", (*TWO, 0, ((), ()), (0, 1), 0, 10**7 + 1), "1 to 10000000 positions"),
        ("tsuro_best_lay", (31, bytes([255] * 961), (), 0, b"\0", EXITS), "up to 30 x 30"),
        ("tsuro_best_lay", (4, bytes(15), (), 0, b"\0", EXITS), "up to 30 x 30"),
        ("tsuro_best_lay", (4, bytes([140] * 16), (), 0, b"\0", EXITS), "140 codes"),
        ("tsuro_best_lay", (*SIXTEEN, (), 0, b"\x8c", EXITS), "140 codes"),
        ("tsuro_best_lay", (*SIXTEEN, (), 0, b"", EXITS), "1 to 8 options"),
        ("tsuro_best_lay", (*SIXTEEN, (), 0, b"\0", EXITS[1:] + b"\x08"), "8 ports"),
        ("tsuro_best_lay", (*SIXTEEN, (0,), 0, b"\0", EXITS), "does not face an empty square"),
        ("tsuro_best_lay", (*SIXTEEN, (128,), 0, b"\0", EXITS), "128 is not from -1 to 127"),
        ("tsuro_best_lay", (*SIXTEEN, (4, -1), 1, b"\0", EXITS), "seat 1 has no avatar"),
        ("q_best_placement", ({0: 36}, (1,), (0,), 8, 4, 9), "no kind 36"),
        ("q_best_placement", ({0: 0}, (1, 1), (0,), 8, 4, 9), "ascending order"),
        ("q_best_placement", ({0: 0}, (0, 1), (0,), 8, 4, 9), "free cells"),
        ("q_best_placement", ({0: 0}, (1,), (0,) * 9, 8, 4, 9), "9 numbers"),
        ("q_best_placement", ({0: 0}, (1,), (0,), -1, 4, 9), "bonuses"),
        ("q_best_placement", ({0: 0}, (1,), (0,), 8, 4, 8001), "from 0 to 8000 tiles"),
        ("q_best_placement", ({0: 0}, (1,), (0,), 8, 4, -1), "from 0 to 8000 tiles"),
        ("q_best_placement", ({2**62: 0}, (1,), (0,), 8, 4, 9), "too far away"),
        ("q_playouts", (*RED_STAR, (0,) * 4, 5, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "up to 8 tiles"),
        ("q_playouts", (*RED_STAR, (0,), -1, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "up to 8 tiles"),
        ("q_playouts", (*RED_STAR, (0,), 2**31 - 1, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "up to 8 tiles"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 9, b"\0", 0, 0, 8, 4, 0, 1, 0), "up to 8 tiles"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), -1, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "up to 8 tiles"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"", 0, 0, 8, 4, 0, 1, 0), "not seen yet"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"\x24", 0, 0, 8, 4, 0, 1, 0), "no kind 36"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"\0", 2, 0, 8, 4, 0, 1, 0), "2 seats begins"),
        ("q_playouts", (*RED_STAR, (0,), 1, (), 9, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "0 seats begins"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, 0, 1025, 0), "1024 playouts"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, -1, 1, 0), "1024 playouts"),
        ("q_playouts", (*RED_STAR, (0,), 1, (0, 0), 9, 6, b"\0", 0, 0, -8, 4, 0, 1, 0), "bonuses"),
        ("q_playouts", ({0: 0}, (0,), (0,), 1, (0, 0), 9, 6, b"\0", 0, 0, 8, 4, 0, 1, 0), "free cells"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (), (0, 1), EXITS, 1, 0), "needs a waiting seat"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (0,), (0,), EXITS, 1, 0), "two tiles"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (0,), (0, 35), EXITS, 1, 0), "35 is not from 0 to 34"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (0,), (0, 1), EXITS, 0, 0), "1 to 1048576 nodes"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (0,), (0, 1), EXITS, 2**20 + 1, 0), "1 to 1048576 nodes"),
        ("tsuro_best_future", (*SIXTEEN, (4,), (0, 1), (0, 1), EXITS, 1, 0), "no seat 1"),
        ("tsuro_best_future", (*SIXTEEN, (4, -1), (1,), (0, 1), EXITS, 1, 0), "seat 1 has no avatar"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(name: str, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(REFUSALS, match=re.escape(says)):
        getattr(kernels, name)(*arguments)


def test_most_of_it_is_refused_and_some_is_not() -> None:
    lots, refused = SeededRandom(SEED), 0
    calls = tuple(legal_calls(lots).items())
    for name, arguments in calls * 100:
        changed = mutate_arguments(arguments, lots)
        try:
            getattr(kernels, name)(*(arguments if is_long_call(name, changed) else changed))
        except REFUSALS:
            refused += 1

    assert len(calls) * 50 < refused < len(calls) * 100


def test_every_kernel_is_called_as_it_should_be_too() -> None:
    for name, arguments in legal_calls(SeededRandom(SEED)).items():
        getattr(kernels, name)(*arguments)

    assert legal_calls(SeededRandom(SEED)).keys() == {name for name in dir(kernels) if not name.startswith("_")}


def test_another_exception_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def fish_best_move(*_: object) -> None:
            raise SystemError("error return without exception set")

    monkeypatch.setattr(fuzz, "kernels", Broken)

    assert "without exception set" in find_failure("fish_best_move", (1, 2))


def test_no_memory_is_lost() -> None:
    lots = SeededRandom(SEED)
    every_legal_call = tuple(legal_calls(lots).items())
    calls = every_legal_call * 20 + tuple(
        (name, mutate_arguments(arguments, lots)) for name, arguments in every_legal_call * 300
    )
    calls = tuple(call for call in calls if not is_long_call(*call))
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
        find_failure(name, arguments)
    gc.collect()
