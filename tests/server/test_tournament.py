"""Test tournaments at a server: who signs up, when matches begin, and how long absent players are waited for."""

import asyncio
from collections.abc import Set
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.server.allocation import Allocation
from fairplay.server.logs import LOG, log_fields
from fairplay.server.loop_executor import LoopExecutor
from fairplay.server.server import RETRY_AFTER_S
from fairplay.server.serving import PAUSE_MESSAGE
from fairplay.server.settings import ServerSettings, make_offer
from fairplay.server.sign_in.tokens import make_token
from fairplay.server.tournament import TournamentLobby, host_tournament
from fairplay.tournament.running.worker import Job, encode
from fairplay.tournament.spec_file import SignUpSettings
from tests.nonempty import nonempty
from tests.server.sign_in.test_sign_in import LOOPBACK, Caller, with_settings
from tests.server.test_matchmaking import make_client
from tests.server.test_server import FISH, OpenServer, Visit, fish

FOREVER_S = 3600.0

# Sign-up


async def test_no_client_beyond_the_maximum_or_for_another_game_signs_up_even_before_the_tournament_begins() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=2), None)
    assert lobby.refusal(make_client("eve", "q")) == "q is not played here"
    for client in (make_client("ann", "fish"), make_client("bob")):
        assert lobby.refusal(client) == ""
        lobby.add(client)

    assert lobby.refusal(make_client("cyd")) == "the tournament has begun"
    assert lobby.refusal(make_client("ann")) == ""  # it is back


@pytest.mark.virtual_time
@pytest.mark.parametrize("away", [60.0, 2.0], ids=["too few are left", "another client replaces one that left"])
async def test_the_time_to_sign_up_begins_anew_when(away: float) -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=4, wait=10.0), None)
    ann, bob, cyd = (make_client(name) for name in ("ann", "bob", "cyd"))
    since = asyncio.get_running_loop().time()
    signing_up = asyncio.create_task(lobby.wait_for_players())
    lobby.add(ann)
    lobby.add(bob)
    await asyncio.sleep(5)
    lobby.remove(bob)
    await asyncio.sleep(away)
    assert not signing_up.done()
    lobby.add(cyd)

    assert [one.id for one in await signing_up] == ["ann", "cyd"]
    assert asyncio.get_running_loop().time() - since == pytest.approx(5 + away + 10)


async def test_players_are_in_the_order_of_sign_in_though_one_was_away_for_a_moment() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=2), None)
    ann, bob = make_client("ann"), make_client("bob")
    ann.number, bob.number = 0, 1
    for one in (bob, ann):  # ann came first, and came back
        lobby.add(one)

    assert [one.id for one in await lobby.wait_for_players()] == ["ann", "bob"]


async def test_a_tournament_that_is_interrupted_tells_its_players_when_to_come_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", LOG.name)
    settings = ServerSettings(offers=(make_offer("fish", {}),), directory=str(tmp_path), port=0)
    sign_up = SignUpSettings(min=2, max=2)
    serving = asyncio.create_task(host_tournament(settings, "fish", sign_up, (), lambda entrants, make_runner: None))
    while not (addresses := [log_fields(one)["address"] for one in caplog.records if one.message == "listening"]):
        await asyncio.sleep(0)
    ann = Caller(*await asyncio.open_connection(LOOPBACK, int(addresses[0].rpartition(":")[2])))
    await ann.reply({"name": "ann"})
    await ann.hear()  # the welcome
    serving.cancel()

    assert await ann.hear() == {"type": "suspended", "why": PAUSE_MESSAGE, "retry_after": RETRY_AFTER_S}
    ann.leave()
    await asyncio.wait([serving])


# Absent players


def begin_match(server: OpenServer, **terms: Any) -> "asyncio.Task[Outcome]":
    """A match of a tournament, between ann and bob."""
    entrants = (Entrant("client:ann", "ann"), Entrant("client:bob", "bob"))
    journal = str(server.directory / "matches")
    spec = MatchSpec(game="fish", parameters=FISH, entrants=entrants, journal=journal, **terms)
    return asyncio.create_task(server.server.play(spec))


async def come(server: OpenServer, *names: str) -> list[Visit]:
    return [await server.come(name, token=make_token(server.directory, name), game="fish") for name in names]


async def miss_bob(server: OpenServer) -> None:
    """Play a match for which bob does not come in time, and wait for ever from now on."""
    assert await faults_in(begin_match(server)) == [Fault.GONE]
    server.server.settings = msgspec.structs.replace(server.server.settings, restart_window=FOREVER_S)


async def faults_in(match: "asyncio.Task[Outcome]") -> list[Fault]:
    result = (await match).result
    assert result is not None
    return [one.fault for one in result.ejected]


only_in_tournaments = with_settings(fish(wait=FOREVER_S, max_players=4), restart_window=0.2)


@only_in_tournaments
async def test_a_player_that_is_absent_is_waited_for_in_one_match_and_not_in_the_next(server: OpenServer) -> None:
    [ann] = await come(server, "ann")
    playing = asyncio.create_task(ann.play(times=3))
    await miss_bob(server)

    assert await faults_in(begin_match(server)) == [Fault.GONE]

    playing.cancel()


@only_in_tournaments
async def test_a_player_that_came_back_and_left_again_is_waited_for_again(server: OpenServer) -> None:
    [ann] = await come(server, "ann")
    playing = asyncio.create_task(ann.play(times=3))
    await miss_bob(server)
    token = make_token(server.directory, "bob")
    bob = await server.come("bob", token=token)
    bob.caller.leave()
    await server.until(lambda: not server.has("bob"))

    match = begin_match(server)
    await server.until(lambda: server.server.rooms)
    await (await server.come("bob", token=token)).play()

    assert await faults_in(match) == []
    playing.cancel()


@only_in_tournaments
async def test_a_player_does_not_wait_for_another_match_while_it_plays_in_a_tournament(server: OpenServer) -> None:
    ann, bob = await come(server, "ann", "bob")
    match = begin_match(server)
    playing = asyncio.create_task(bob.play())

    await ann.play("take_turn")

    assert server.waiting == []
    ann.answer_last()
    await asyncio.gather(ann.play(), playing, match)


@only_in_tournaments
@pytest.mark.parametrize("sealed", [False, True])
async def test_a_finished_match_has_a_replay_unless_its_deal_is_sealed(sealed: bool, server: OpenServer) -> None:
    ann, bob = await come(server, "ann", "bob")
    await asyncio.gather(ann.play(), bob.play(), begin_match(server, sealed=sealed))

    [over] = server.server.finished
    assert (over.recorded, server.server.journal(over.match) is not None) == (not sealed, not sealed)


# Matches start as soon as all of their players are free


class Matches:
    """Matches that last until `end` is called."""

    def __init__(self) -> None:
        self.allocation = Allocation()
        self.playing: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def begin(self, *tables: str) -> None:
        for players in tables:
            self._ends[players] = asyncio.Event()
            self.tasks[players] = asyncio.create_task(self._play(players, frozenset(players)))
        await asyncio.sleep(0)

    async def end(self, players: str) -> None:
        self._ends[players].set()
        await self.tasks[players]
        await asyncio.sleep(0)

    async def _play(self, players: str, ids: Set[str]) -> None:
        async with self.allocation.reserve(ids):
            self.playing.append(players)
            try:
                await self._ends[players].wait()
            finally:
                self.playing.remove(players)


@pytest.mark.parametrize(
    ("tables", "ends"),
    [
        (["ab", "ac", "cd", "bd"], {"": ["ab", "cd"], "ab": ["cd"], "cd": ["ac", "bd"], "ac": ["bd"], "bd": []}),
        (["ab", "ac", "ad"], {"": ["ab"], "ab": ["ac"], "ac": ["ad"], "ad": []}),
    ],
    ids=["and delays no other match", "and another match waits for it again"],
)
async def test_a_player_plays_one_match_at_a_time(tables: list[str], ends: dict[str, list[str]]) -> None:
    matches = Matches()
    await matches.begin(*tables)
    for ended, playing in nonempty(ends.items()):
        if ended:
            await matches.end(ended)
        assert matches.playing == playing


@pytest.mark.parametrize("granted", [False, True])
async def test_a_cancelled_match_frees_its_players(granted: bool) -> None:
    matches = Matches()
    await matches.begin("ab", "bc")
    if granted:  # it is cancelled in the moment in which it may begin
        ending = asyncio.create_task(matches.end("ab"))
        while matches.playing:
            await asyncio.sleep(0)
    matches.tasks["bc"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await matches.tasks["bc"]
    await (ending if granted else matches.end("ab"))

    await matches.begin("abc")
    assert matches.playing == ["abc"]
    await matches.end("abc")


async def test_a_failed_match_frees_its_players() -> None:
    allocation = Allocation()
    with pytest.raises(OSError, match="no room"):
        async with allocation.reserve({"a", "b"}):
            raise OSError("no room")

    async with asyncio.timeout(5), allocation.reserve({"a", "b"}):
        pass


# A tournament that is cancelled

JOB = encode(Job((MatchSpec(game="fish", entrants=(Entrant("greedy"), Entrant("random"))),)))


async def test_a_cancelled_manager_has_ended_when_its_caller_goes_on_and_no_match_begins_later() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def play(spec: MatchSpec) -> Outcome:
        begun.set()
        try:
            return await asyncio.Future()
        finally:
            for _ in range(2):  # a moment longer
                await asyncio.sleep(0)
            ended.set()

    executor = LoopExecutor(asyncio.get_running_loop(), play)
    executor.submit(print, JOB)
    await begun.wait()
    await executor.stop()
    assert ended.is_set()

    begun.clear()
    executor.submit(print, JOB)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not begun.is_set()
