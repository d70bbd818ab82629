"""Test every bad program and every bad network player, at every moment that makes sense."""

import asyncio
import os
import time
from functools import cache

import msgspec
import pytest

from fairplay.core.messages import Answered
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.sandbox.process_tree import descendants
from fairplay.testing import cheats
from fairplay.testing.hostile import CHEATING_PLAYERS, REMOTE_PLAYERS, Distance, HostilePlayer
from fairplay.testing.hostile_programs import GOOD_REPLY, START, TURN, Question
from tests.misbehaviour import test_local as here
from tests.misbehaviour.remote_players import (
    AMPLE_S,
    CaseOutcome,
    ImmediateChannel,
    MisbehaviourCase,
    cases,
    find_problems,
    play_case,
    play_cases,
    start_connection,
)
from tests.players.host_connection import serve_at_host

PROGRAM, TCP, WEBSOCKET = Distance.PROGRAM, Distance.TCP, Distance.WEBSOCKET
CASES = cases(PROGRAM, TCP, WEBSOCKET)
each_case = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def outcomes(distance: Distance) -> dict[MisbehaviourCase, CaseOutcome]:
    """All matches at this distance, played at once when the first of them is asked for."""
    return asyncio.run(play_cases(case for case in CASES if case.distance is distance))


@each_case
def test_a_bad_player_is_ejected_for_what_it_declares_and_the_honest_play_on(case: MisbehaviourCase) -> None:
    assert find_problems(case, outcomes(case.distance)[case]) == []


@each_case
def test_the_reason_for_a_bad_player_is_one_short_line_and_its_evidence_is_bounded(case: MisbehaviourCase) -> None:
    outcome = outcomes(case.distance)[case]

    assert [failed.why for failed in outcome.failures] == [ejected.why for ejected in outcome.final.ejected]
    for failed in outcome.failures:
        assert 0 < len(failed.why) < 120
        assert failed.why.isprintable()
        assert failed.evidence.limit is not None
        assert failed.evidence.host_delay >= 0.0
        assert len(msgspec.json.encode(failed.evidence)) < 20_000


def test_no_process_of_the_hostile_programs_is_left() -> None:
    outcomes(PROGRAM)

    until = time.monotonic() + 5
    while (left := descendants(os.getpid())) and time.monotonic() < until:
        time.sleep(0.01)

    assert left == set()


def test_each_hostile_player_is_tried_over_every_connection_that_it_declares() -> None:
    tried = {(case.misbehaviour, case.distance) for case in CASES if case.misbehaviour in REMOTE_PLAYERS}

    assert tried == {(bad.name, distance) for bad in REMOTE_PLAYERS.values() for distance in bad.distances}


# Those who have more than one line, or a good program and a bad strategy.


def test_a_nonce_of_another_match_is_malformed_and_harmless_there() -> None:
    stolen: list[bytes] = []

    def give_away(turn: Question) -> None:
        stolen.append(turn.nonce)
        turn.send(GOOD_REPLY)

    def use(turn: Question) -> None:
        while not stolen:
            time.sleep(0.001)
        turn.send(GOOD_REPLY.replace(b"@", stolen[0]))

    async def both() -> list[CaseOutcome]:
        robbed, robber = MisbehaviourCase("hangs up", START, TCP), MisbehaviourCase("hangs up", TURN, TCP)
        return list(await asyncio.gather(play_case(robbed, give_away), play_case(robber, use)))

    victim, thief = asyncio.run(both())

    assert victim.ejected == []
    assert thief.ejected == [(0, "malformed", "turn")]
    assert thief.failures[0].why == "a reply to a question that was never asked"


async def cheated(bad: HostilePlayer, match: AnyMatch, at: int) -> AnyMatch:
    """The match with a cheat at this seat, over a connection that serves its player as the SDK does."""
    game = match.game
    strategy = cheats.cheating_strategy(cheats.CHEATS[game.name][bad.name], here.server(game.name, at))

    def talk(host: str, port: int) -> None:
        serve_at_host(f"{host}:{port}", lambda _: strategy)

    async with start_connection(talk) as line:
        remote = RemoteChannel(line, game, limits=Limits(move=AMPLE_S, start_up=AMPLE_S))
        assert isinstance(await remote.hello(), Answered)
        local = {
            seat: ImmediateChannel(LocalChannel(here.server(game.name, seat), game))
            for seat in range(len(match.names))
            if seat != at
        }
        return await play_async(match, {**local, at: remote})


@pytest.mark.parametrize("name", CHEATING_PLAYERS)
def test_a_cheat_is_ejected_over_a_connection_as_in_this_process(name: str) -> None:
    bad = CHEATING_PLAYERS[name]
    final_here, _, at = here.outcome(bad, bad.only_in)
    match = here.GIVEN.get(name, here.TABLES[bad.only_in])

    final = asyncio.run(cheated(bad, match, at))

    assert here.complaints(bad, final, at) == []
    assert final == final_here


# A meter that cannot fail is no meter.


def test_the_test_of_hostile_players_detects_an_honest_one() -> None:
    case = MisbehaviourCase("hangs up", TURN, TCP)

    outcome = asyncio.run(play_case(case, lambda turn: turn.send(GOOD_REPLY)))

    assert find_problems(case, outcome)


@pytest.mark.parametrize("deed", ["replies with two nonces", "replies with two answers", "replies with two actions"])
def test_the_test_of_hostile_players_detects_a_decoder_that_accepts_duplicate_keys(
    deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "find_strict_json_error", lambda line: None)
    case = MisbehaviourCase(deed, TURN, TCP)

    outcome = asyncio.run(play_case(case))

    assert find_problems(case, outcome)
