"""Test matches with clients of the courses over real connections: honest, slow, and bad ones at every call."""

import asyncio
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from fairplay.core.events import Acted, Event, Fault
from fairplay.core.messages import Failed
from fairplay.course.channel.values import Scanner
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.harness.hostile import COURSE_MISBEHAVIOURS, CourseMisbehaviour, misbehave
from tests.course.channel.course_matches import (
    COURSE_CALLS,
    GAMES,
    LAST_CALLS,
    LIMITS,
    LOOPBACK,
    NAMES,
    SHORT_LIMITS,
    ComeIn,
    CourseMatchResult,
    ScriptedClient,
    SendReply,
    built_in_strategy,
    honest_client,
    play_in_process,
    play_tournament,
    run_loop_turns,
    run_test,
)
from tests.nonempty import nonempty

PIECE = 16  # bytes
PACE = 0.005  # seconds

every_game = pytest.mark.parametrize("game", DIALECTS)
everywhere = pytest.mark.parametrize(
    ("game", "at"), [(game, at) for game, calls in COURSE_CALLS.items() for at in calls]
)


def actions(facts: list[Event]) -> list[Event]:
    return [fact for fact in facts if isinstance(fact, Acted)]


# Honest clients.


@every_game
def test_a_match_is_the_same_as_in_this_process(game: str) -> None:
    came = run_test(play_tournament(game, [honest_client(game, name) for name in NAMES]))

    assert came.facts == play_in_process(game)
    assert came.returned_values == [True] * 3
    assert came.ejected == came.failed == {}


@pytest.mark.parametrize("game", [game for game in DIALECTS if DIALECTS[game].closing is not None])
def test_a_connection_is_for_all_matches_of_a_tournament(game: str) -> None:
    came = run_test(play_tournament(game, [honest_client(game, name) for name in NAMES], matches=3))

    assert came.facts == play_in_process(game) * 3
    assert came.returned_values == [True] * 3


async def in_pieces(first: int, writer: asyncio.StreamWriter, text: bytes) -> None:
    """Cut after so many bytes, and then again and again."""
    for start, end in pairwise([0, *range(first, len(text), PIECE), len(text)]):
        writer.write(text[start:end])
        await run_loop_turns()
    writer.write(b"\n")


async def byte_by_byte(writer: asyncio.StreamWriter, text: bytes) -> None:
    for at in range(len(text)):
        writer.write(text[at : at + 1])
        await run_loop_turns()


class Trickle:
    """The courses' own clients at their own pace: the newline comes when the next call is there, then many blanks."""

    def __init__(self) -> None:
        self.late = 0  # newlines

    async def __call__(self, writer: asyncio.StreamWriter, text: bytes) -> None:
        if self.late:
            writer.write(b"\n")
            await asyncio.sleep(PACE)
        self.late += 1
        writer.write(b" " * 5000)
        for at in range(0, len(text), 10):
            await asyncio.sleep(PACE)
            writer.write(text[at : at + 10])


async def prettily(writer: asyncio.StreamWriter, text: bytes) -> None:
    writer.write(text.replace(b",", b" ,\r\n\t").replace(b"[", b"[ ") + b"\n\n\n")


@every_game
@pytest.mark.parametrize("way", [byte_by_byte, prettily])
def test_the_way_in_which_replies_come_makes_no_difference(game: str, way: SendReply) -> None:
    talker = ScriptedClient(game, "bob", way)
    came = run_test(play_tournament(game, [honest_client(game, "ann"), talker, honest_client(game, "carol")]))

    assert came.facts == play_in_process(game)
    assert came.ejected == came.failed == {}
    assert {method for method, _ in talker.transcript} == set(COURSE_CALLS[game])


@every_game
@pytest.mark.alone
def test_clients_that_trickle_like_those_of_the_courses_can_play(game: str) -> None:
    ways = [Trickle() for _ in NAMES]
    came = run_test(
        play_tournament(game, [ScriptedClient(game, name, way) for name, way in zip(NAMES, ways, strict=True)])
    )

    assert came.facts == play_in_process(game)
    assert came.ejected == came.failed == {}
    assert min(way.late for way in ways) > len(COURSE_CALLS[game])


@every_game
def test_replies_may_be_cut_at_every_byte(game: str) -> None:
    names = NAMES[: max(2, GAMES[game].seats.start)]
    expected, sent = play_in_process(game, names), set[bytes]()
    for first in range(1, PIECE + 1):
        talker = ScriptedClient(game, names[0], partial(in_pieces, first))
        came = run_test(play_tournament(game, [talker, *(honest_client(game, name) for name in names[1:])]))
        assert came.facts == expected and came.failed == {}, first
        sent.add(b"\n".join(reply for _, reply in nonempty(talker.transcript)))

    (whole,) = sent
    for cut in nonempty(range(len(whole))):
        scanner = Scanner()
        assert scanner.feed(whole[:cut]) + scanner.feed(whole[cut:]) == whole.split(b"\n"), cut


# Bad clients.


def bad(game: str, at: str, deed: CourseMisbehaviour) -> ComeIn:
    async def come(desk: Any) -> bool:
        return await asyncio.to_thread(
            misbehave, LOOPBACK, desk.port, DIALECTS[game], built_in_strategy(game), deed, at, name="bob"
        )

    return come


def found_out(came: CourseMatchResult) -> Failed:
    """How the bad one failed; nobody else did, and all others heard the end."""
    answers = {**came.ejected, **came.failed}
    assert list(answers) == ["bob"]
    assert [came.returned_values[0], came.returned_values[2]] == [True, True], came.returned_values
    answer = answers["bob"]
    assert isinstance(answer, Failed)
    return answer


@everywhere
@pytest.mark.parametrize("deed", COURSE_MISBEHAVIOURS.values(), ids=COURSE_MISBEHAVIOURS)
def test_every_bad_client_is_found_out_at_every_call(game: str, at: str, deed: CourseMisbehaviour) -> None:
    limits = SHORT_LIMITS if deed.fault is Fault.TIMED_OUT else LIMITS
    came = run_test(
        play_tournament(
            game, [honest_client(game, "ann"), bad(game, at, deed), honest_client(game, "carol")], limits=limits
        )
    )

    assert came.returned_values[1] is True  # it was called
    if deed.at_next and at == LAST_CALLS[game]:
        assert came.ejected == came.failed == {}  # nobody asks any more
    else:
        failed = found_out(came)
        assert failed.fault is deed.fault, failed
        assert failed.evidence.limit is not None
