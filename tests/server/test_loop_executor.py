"""Test how a cancelled manager and its matches end in the event loop of a server."""

import asyncio

from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.server.loop_executor import LoopExecutor
from fairplay.tournament.running.worker import Job, encode

SPEC = MatchSpec(game="fish", entrants=(Entrant("greedy"), Entrant("random")))
JOB = encode(Job((SPEC,)))


class Matches:
    """Matches that last until they are cancelled, and a moment longer."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = 0

    async def play(self, spec: MatchSpec) -> Outcome:
        self.begun.set()
        try:
            return await asyncio.Future()
        finally:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.ended += 1


def test_a_cancelled_manager_has_ended_when_its_caller_goes_on() -> None:
    async def ended() -> int:
        matches = Matches()
        executor = LoopExecutor(asyncio.get_running_loop(), matches.play)
        executor.submit(print, JOB)
        await matches.begun.wait()
        await executor.stop()
        return matches.ended

    assert asyncio.run(ended()) == 1


def test_a_match_that_is_submitted_after_the_stop_does_not_begin() -> None:
    async def begun() -> bool:
        matches = Matches()
        executor = LoopExecutor(asyncio.get_running_loop(), matches.play)
        await executor.stop()
        executor.submit(print, JOB)
        for _ in range(10):
            await asyncio.sleep(0)
        return matches.begun.is_set()

    assert not asyncio.run(begun())
