"""Test matches with clients of the courses over real connections: honest, slow, and bad ones at every call."""

import asyncio
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.harness.hostile import COURSE_MISBEHAVIOURS, CourseMisbehaviour, misbehave
from tests.course.channel.course_matches import (
    COURSE_CALLS,
    LAST_CALLS,
    LIMITS,
    LOOPBACK,
    NAMES,
    SHORT_LIMITS,
    ComeIn,
    ScriptedClient,
    SendReply,
    built_in_strategy,
    honest_client,
    play_in_process,
    play_tournament,
    run_loop_turns,
    run_test,
)

PACE = 0.005  # seconds

every_game = pytest.mark.parametrize("game", DIALECTS)
everywhere = pytest.mark.parametrize(
    ("game", "at"), [(game, at) for game, calls in COURSE_CALLS.items() for at in calls]
)


# Honest clients.


@pytest.mark.parametrize(("game", "matches"), [("fish", 3), ("tsuro", 3), ("q", 1)])
def test_a_connection_is_for_all_matches_which_are_the_same_as_in_this_process(game: str, matches: int) -> None:
    came = run_test(play_tournament(game, [honest_client(game, name) for name in NAMES], matches=matches))

    assert came.facts == play_in_process(game) * matches
    assert came.returned_values == [True] * 3
    assert came.ejected == came.failed == {}


async def byte_by_byte(writer: asyncio.StreamWriter, text: bytes) -> None:
    for at in range(len(text)):
        writer.write(text[at : at + 1])
        await run_loop_turns()


async def prettily(writer: asyncio.StreamWriter, text: bytes) -> None:
    writer.write(text.replace(b",", b" ,\r\n\t").replace(b"[", b"[ ") + b"\n\n\n")


async def trickling(writer: asyncio.StreamWriter, text: bytes) -> None:
    """As the courses' own clients: the newline comes when the next call is there, then many blanks."""
    writer.write(b"\n" + b" " * 5000)
    for at in range(0, len(text), 10):
        await asyncio.sleep(PACE)
        writer.write(text[at : at + 10])


@every_game
@pytest.mark.parametrize("way", [byte_by_byte, prettily, pytest.param(trickling, marks=pytest.mark.alone)])
def test_the_way_in_which_replies_come_makes_no_difference(game: str, way: SendReply) -> None:
    talkers = [ScriptedClient(game, name, way) for name in NAMES]
    came = run_test(play_tournament(game, talkers))

    assert came.facts == play_in_process(game)
    assert came.ejected == came.failed == {}
    assert {method for talker in talkers for method, _ in talker.transcript} == set(COURSE_CALLS[game])


# Bad clients.


def bad(game: str, at: str, deed: CourseMisbehaviour) -> ComeIn:
    async def come(desk: Any) -> bool:
        return await asyncio.to_thread(
            misbehave, LOOPBACK, desk.port, DIALECTS[game], built_in_strategy(game), deed, at, name="bob"
        )

    return come


@everywhere
@pytest.mark.parametrize("deed", COURSE_MISBEHAVIOURS.values(), ids=COURSE_MISBEHAVIOURS)
def test_every_bad_client_is_found_out_at_every_call(game: str, at: str, deed: CourseMisbehaviour) -> None:
    limits = SHORT_LIMITS if deed.fault is Fault.TIMED_OUT else LIMITS
    coming = [honest_client(game, "ann"), bad(game, at, deed), honest_client(game, "carol")]
    came = run_test(play_tournament(game, coming, limits=limits))

    assert came.returned_values[1] is True  # it was called
    if deed.at_next and at == LAST_CALLS[game]:
        assert came.ejected == came.failed == {}  # nobody asks any more
    else:
        ((name, failed),) = {**came.ejected, **came.failed}.items()
        assert name == "bob" and isinstance(failed, Failed)
        assert [came.returned_values[0], came.returned_values[2]] == [True, True]  # they heard the end
        assert failed.fault is deed.fault, failed
        assert failed.evidence.limit is not None
