"""Seat every bad program, and everybody who is bad over a connection, at every moment at which it makes sense."""

import asyncio
import os
import time
from functools import cache

import msgspec
import pytest

from fairplay.core.messages import Answered
from fairplay.players.remote import Remote
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.local import Local
from fairplay.referee.referee import AnyMatch
from fairplay.sandbox.process_tree import descendants
from fairplay.testing import cheats
from fairplay.testing.hostile import CHEATS, FAR, Bad, Distance
from fairplay.testing.hostile_programs import GOOD, START, TURN, Turn
from tests.misbehaviour import test_here as here
from tests.misbehaviour.far import AMPLE, Case, Near, Outcome, cases, complaints, connection, played, played_at_once
from tests.players.dialled import serve_dialled

PROGRAM, TCP, WEBSOCKET = Distance.PROGRAM, Distance.TCP, Distance.WEBSOCKET
CASES = cases(PROGRAM, TCP, WEBSOCKET)
each_case = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def outcomes(distance: Distance) -> dict[Case, Outcome]:
    """All matches at this distance, played at once when the first of them is asked for."""
    return asyncio.run(played_at_once(case for case in CASES if case.distance is distance))


@each_case
def test_a_bad_player_is_ejected_for_what_it_declares_and_the_honest_play_on(case: Case) -> None:
    assert complaints(case, outcomes(case.distance)[case]) == []


@each_case
def test_what_is_said_of_it_is_one_short_line_and_what_is_kept_is_bounded(case: Case) -> None:
    outcome = outcomes(case.distance)[case]

    assert [failed.why for failed in outcome.failures] == [ejected.why for ejected in outcome.final.ejected]
    for failed in outcome.failures:
        assert 0 < len(failed.why) < 120
        assert failed.why.isprintable()
        assert failed.evidence.limit is not None
        assert failed.evidence.credited >= 0.0
        assert len(msgspec.json.encode(failed.evidence)) < 20_000


def test_nobody_is_left_of_all_these_programs() -> None:
    outcomes(PROGRAM)

    until = time.monotonic() + 5
    while (left := descendants(os.getpid())) and time.monotonic() < until:
        time.sleep(0.01)

    assert left == set()


def test_every_kind_is_tried_at_every_distance_that_it_declares() -> None:
    tried = {(case.deed, case.distance) for case in CASES if case.deed in FAR}

    assert tried == {(bad.name, distance) for bad in FAR.values() for distance in bad.distances}


# Those who have more than one line, or a good program and a bad strategy.


def test_a_nonce_of_another_match_is_no_good_and_hurts_nobody_there() -> None:
    stolen: list[bytes] = []

    def give_away(turn: Turn) -> None:
        stolen.append(turn.nonce)
        turn.say(GOOD)

    def use(turn: Turn) -> None:
        while not stolen:
            time.sleep(0.001)
        turn.say(GOOD.replace(b"@", stolen[0]))

    async def both() -> list[Outcome]:
        robbed, robber = Case("hangs up", START, TCP), Case("hangs up", TURN, TCP)
        return list(await asyncio.gather(played(robbed, give_away), played(robber, use)))

    victim, thief = asyncio.run(both())

    assert victim.ejected == []
    assert thief.ejected == [(0, "malformed", "turn")]
    assert thief.failures[0].why == "a reply to a question that was never asked"


async def cheated(bad: Bad, match: AnyMatch, at: int) -> AnyMatch:
    """The match with a cheat at this seat, at the far end of a connection; it serves its player as ours do."""
    game = match.game
    strategy = cheats.cheater(cheats.CHEATS[game.name][bad.name], here.house(game.name, at))

    def talk(host: str, port: int) -> None:
        serve_dialled(f"{host}:{port}", lambda _: strategy)

    async with connection(talk) as line:
        remote = Remote(line, game, limits=Limits(move=AMPLE, start_up=AMPLE))
        assert isinstance(await remote.hello(), Answered)
        near = {seat: Near(Local(here.house(game.name, seat), game)) for seat in range(len(match.names)) if seat != at}
        return await play_async(match, {**near, at: remote})


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_ejected_over_a_connection_as_in_this_process(name: str) -> None:
    bad = CHEATS[name]
    final_here, _, at = here.outcome(bad, bad.only_in)
    match = here.GIVEN.get(name, here.TABLES[bad.only_in])

    final = asyncio.run(cheated(bad, match, at))

    assert here.complaints(bad, final, at) == []
    assert final == final_here


# A meter that cannot fail is no meter.


def test_a_bad_player_that_is_honest_turns_the_meter_red() -> None:
    case = Case("hangs up", TURN, TCP)

    outcome = asyncio.run(played(case, lambda turn: turn.say(GOOD)))

    assert complaints(case, outcome)


@pytest.mark.parametrize("deed", ["replies with two nonces", "replies with two answers", "replies with two actions"])
def test_so_does_a_decoder_that_lets_keys_pass_twice(deed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "oddity", lambda line: None)
    case = Case(deed, TURN, TCP)

    outcome = asyncio.run(played(case))

    assert complaints(case, outcome)
