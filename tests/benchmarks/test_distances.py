"""Test the measurement of turns of the courses: the first of a match, and late ones with large views."""

import asyncio

import pytest

from benchmarks.distances import BENCHMARKS, PLAYERS, measure, recorded_turns
from fairplay.games import make_game
from fairplay.protocol import wire


@pytest.mark.parametrize("name", PLAYERS)
def test_late_turns_show_more_than_the_first(name: str) -> None:
    game = make_game(name, {})
    turns = recorded_turns(game)
    sizes = [len(wire.encode(game.pack(turn.message.view))) for turn in turns]

    assert len(turns) >= 20
    assert min(sizes[len(sizes) // 2 :]) > sizes[0]


@pytest.mark.parametrize("late", ["", ".late"])
@pytest.mark.parametrize("name", PLAYERS)
def test_every_turn_is_answered_at_both_ends(name: str, late: str) -> None:
    figure = asyncio.run(measure(BENCHMARKS[f"course.turn.{name}{late}"], 1))  # asserts that there are answers

    assert 0 < figure.ours < 1 and 0 < figure.bare < 1
