"""Test a server over real sockets: wait, play, stay for more matches, and watch."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.games import make_game
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.limits import Limits
from fairplay.server import serving
from fairplay.server.lobby import Lobby
from fairplay.server.logs import LOG, log_fields
from fairplay.server.server import GameServer
from fairplay.server.settings import ConnectionLimits, Offer, ServerSettings, make_offer
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.server.sign_in.tokens import make_token
from tests.players.test_listener import run
from tests.server.guest_threads import choose_action, play_undisturbed
from tests.server.sign_in.test_sign_in import LOOPBACK, Caller

AMPLE = Limits(move=60.0, first_move=60.0, start_up=60.0)
FISH = {"rows": 4, "columns": 3}


def fish(**settings: Any) -> Offer:
    return make_offer("fish", FISH, **{"min_players": 2, "max_players": 2, "limits": AMPLE, **settings})


class Visit:
    """A client that can answer all messages at once."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.name = ""
        self.heard: list[dict[str, Any]] = []
        self._rules: Any = None

    async def hear(self) -> dict[str, Any] | None:
        """The next message, to be answered; None: disconnected."""
        message = await self.caller.hear()
        if message is not None:
            self.heard.append(message)
        return message

    def answer(self, message: dict[str, Any]) -> bytes:
        """The reply to a message; empty: none is due."""
        said = None
        match message["type"]:
            case "hello":
                self._rules = make_game(message["game"], message.get("parameters", {}))
            case "take_turn":
                said = choose_action(self._rules, self._rules.unpack(message["view"]))
            case "welcome" | "closing" | "suspended" | "goodbye" | "changed":
                return b""
        return msgspec.json.encode({"nonce": message["nonce"], "answer": said}) + b"\n"

    async def play(self, until: str = "closing", times: int = 1) -> dict[str, Any]:
        """Answer everything until so many messages of this type have come; the last message."""
        while True:
            message = await self.hear()
            assert message is not None, self.heard[-1]
            if message["type"] == until:
                times -= 1
                if not times:
                    return message
            self.caller.say(self.answer(message))

    def count(self, kind: str) -> int:
        """How many messages of this kind came."""
        return sum(message["type"] == kind for message in self.heard)

    @property
    def matches(self) -> list[tuple[str, tuple[str, ...]]]:
        """All matches that began: the id, and the names by seat."""
        return [(one["match"], tuple(one["names"])) for one in self.heard if one["type"] == "start"]


class OpenServer:
    """An open server and its callers."""

    def __init__(self, server: GameServer, directory: Path, port: int) -> None:
        self.server, self.directory, self.port = server, directory, port
        self.callers: list[Caller] = []

    async def connect(self) -> Caller:
        """Connect, and send nothing."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port, limit=2**20)
        caller = Caller(reader, writer)
        self.callers.append(caller)
        return caller

    async def call(self, answer: Any) -> Caller:
        """Connect, and answer hello."""
        caller = await self.connect()
        await caller.reply(answer)
        return caller

    async def come(self, name: str, **wishes: Any) -> Visit:
        """Sign in to play."""
        visit = Visit(await self.call({"name": name, **wishes}))
        welcome = await visit.hear()
        assert welcome is not None
        assert welcome["type"] == "welcome", welcome
        visit.name = welcome["name"]
        await self.until(lambda: self.has(visit.name))
        return visit

    def has(self, name: str) -> bool:
        """Is a player of this name connected?"""
        return name in self.server.status().players

    async def refusal(self, **wishes: Any) -> str:
        """Connect and be refused; why."""
        caller = await self.call(wishes)
        last = None
        while (message := await caller.hear()) is not None:
            last = message
        assert last is not None
        return str(last["why"])

    async def watch(self, room: str = "") -> Caller:
        """Connect a spectator."""
        return await self.call({"purpose": "watch", **({"room": room} if room else {})})

    @property
    def waiting(self) -> list[str]:
        return [one.name for one in self.server.status().waiting]

    async def until(self, so: Callable[[], Any]) -> None:
        """Wait until this is so."""
        while not so():
            await asyncio.sleep(0.002)

    def journals(self) -> dict[str, Path]:
        """The journals of all matches, by id."""
        return {path.stem: path for path in (self.directory / "matches").glob("*.jsonl")}


@asynccontextmanager
async def open_server(directory: Path, *offers: Offer, **options: Any) -> AsyncIterator[OpenServer]:
    """A server with these offers; afterwards it is closed, and all callers leave."""
    created: list[SignIn] = []

    class RecordedSignIn(SignIn):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            created.append(self)

    settings = ServerSettings(offers=offers, directory=str(directory), port=0, **options)
    server = GameServer(settings)
    server.lobby = Lobby(settings.offers, server.open_room, server.attendance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "SignIn", RecordedSignIn)
        async with serving.open_listeners(server):
            opened_server = OpenServer(server, directory, int(created[0].addresses[0].rpartition(":")[2]))
            try:
                yield opened_server
            finally:
                for caller in opened_server.callers:
                    caller.leave()


def server_test(
    *offers: Offer, **options: Any
) -> Callable[[Callable[[OpenServer], Awaitable[None]]], Callable[[Path], None]]:
    """Run a test in a server with these offers."""

    def decorate(scenario: Callable[[OpenServer], Awaitable[None]]) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            async def run_scenario() -> None:
                async with open_server(tmp_path, *offers, **options) as server:
                    await scenario(server)

            run(run_scenario())

        return test

    return decorate


# Matchmaking


@server_test(fish(max_players=3, wait=3600.0))
async def test_a_room_opens_as_soon_as_a_table_is_full_in_the_order_of_sign_in(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob")]
    assert (server.waiting, server.server.rooms) == (["ann", "bob"], {})
    visits.append(await server.come("cyd"))

    await asyncio.gather(*(visit.play() for visit in visits))

    [[(match, names)], *others] = [visit.matches for visit in visits]
    assert names == ("ann", "bob", "cyd")
    assert others == [[(match, names)]] * 2
    recorded = read_journal(server.journals()[match])
    final = verify(recorded)
    assert (final.result, list(recorded.facts)) == play_undisturbed(recorded)


@server_test(fish(max_players=4, wait=0.2))
async def test_a_room_opens_for_fewer_players_when_the_time_is_up(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob", "cyd")]

    await asyncio.gather(*(visit.play() for visit in visits))

    assert {visit.matches[0][1] for visit in visits} == {("ann", "bob", "cyd")}


@server_test(fish(wait=0.05))
async def test_a_client_that_is_alone_waits_until_another_comes(server: OpenServer) -> None:
    ann = await server.come("ann")
    await asyncio.sleep(0.2)
    assert (server.waiting, server.server.rooms) == (["ann"], {})

    bob = await server.come("bob")
    await asyncio.gather(ann.play(), bob.play())

    assert ann.matches[0][1] == ("ann", "bob")


def test_a_built_in_player_takes_the_seat_that_stays_free(tmp_path: Path) -> None:
    async def once(directory: Path) -> None:
        async with open_server(directory, fish(wait=0.05, fill="greedy")) as server:
            ann = await server.come("ann")
            await ann.play()
            [end] = [message for message in ann.heard if message["type"] == "end"]
            assert [name for name in ann.matches[0][1] if name != "ann"] == ["greedy"]
            assert end["result"]["ejected"] == []

    asyncio.run(once(tmp_path / "first"))  # which starts the pool of processes that later servers share
    run(once(tmp_path / "second"))


@server_test(fish(), make_offer("q", {}, min_players=3, max_players=3, limits=AMPLE))
async def test_clients_play_the_game_that_they_name_or_the_next_one(server: OpenServer) -> None:
    ann, bob = await server.come("ann", game="q"), await server.come("bob", game="fish")
    cyd = await server.come("cyd", game="q")
    assert server.waiting == ["bob", "ann", "cyd"]
    eve = await server.come("eve")  # one is missing in either room
    await server.until(lambda: server.server.rooms)
    [room] = server.server.rooms.values()
    assert (room.match.game.name, room.match.names) == ("fish", ("bob", "eve"))
    dan = await server.come("dan", game="q")

    await asyncio.gather(*(visit.play() for visit in (ann, bob, cyd, dan, eve)))

    assert ann.matches[0][1] == ("ann", "cyd", "dan")


@server_test(fish(), make_offer("q", {}, min_players=2, max_players=2, limits=AMPLE))
async def test_a_client_that_comes_back_for_another_game_waits_in_one_queue(server: OpenServer) -> None:
    eve = await server.come("eve", game="fish")
    eve = Visit(await server.call({"token": eve.heard[0]["reconnect_token"], "game": "q"}))
    await server.until(lambda: eve_wants(server) == "q")
    ann, bob = await server.come("ann", game="fish"), await server.come("bob", game="q")

    await asyncio.gather(eve.play(), bob.play())

    assert {names for _, names in eve.matches} == {("eve", "bob")}
    assert "ann" in server.waiting
    assert ann.count("hello") == 0


def eve_wants(server: OpenServer) -> str:
    """The game that eve wants to play."""
    [wanted] = [one.game for one in server.server.clients.values() if one.name == "eve"]
    return wanted


@server_test(fish())
async def test_a_client_that_comes_back_to_its_seat_keeps_it_whatever_game_it_names(server: OpenServer) -> None:
    ann, bob = await server.come("ann"), await server.come("bob")
    playing = asyncio.create_task(bob.play())
    asked = await ann.play("take_turn")

    ann.caller = await server.call({"token": ann.heard[0]["reconnect_token"], "game": "chess"})
    await ann.play("take_turn")
    assert ann.heard[-1] == asked
    ann.caller.say(ann.answer(asked))
    last = await ann.play("suspended")
    await playing

    assert (last["why"], last["retry_after"]) == ("chess is not played here", 0.0)
    [path] = server.journals().values()
    assert not verify(read_journal(path)).ejected


@server_test(fish())
async def test_a_client_that_names_a_game_that_is_not_offered_is_refused(server: OpenServer) -> None:
    assert await server.refusal(name="ann", game="chess") == "chess is not played here"
    assert server.waiting == []


# Clients that stay


@server_test(fish())
async def test_players_stay_from_match_to_match(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob")]

    await asyncio.gather(*(visit.play(times=3) for visit in visits))

    played = [match for match, _ in visits[0].matches[:3]]
    assert len(set(played)) == 3
    assert [match for match, _ in visits[1].matches[:3]] == played
    for match in played:
        assert not verify(read_journal(server.journals()[match])).ejected


@server_test(fish(), connection_limits=ConnectionLimits(matches_per_client=2))
async def test_a_status_tells_the_newest_match_first(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob")]

    await asyncio.gather(*(visit.play("suspended") for visit in visits))

    finished = [one.match for one in server.server.status().finished]
    assert finished == [match for match, _ in reversed(visits[0].matches)]
    assert len(finished) == 2


@server_test(fish())
async def test_a_player_whose_connection_is_lost_is_not_listed_as_connected(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    playing = asyncio.create_task(bob.play())
    await ann.play("take_turn")

    ann.caller.leave()
    await server.until(lambda: not all(one.connection.is_connected for one in server.server.clients.values()))

    assert server.server.status().players == ("bob",)
    playing.cancel()


@server_test(fish(), connection_limits=ConnectionLimits(matches_per_client=2))
async def test_a_client_is_disconnected_after_its_last_allowed_match(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob")]

    last = await asyncio.gather(*(visit.play("suspended") for visit in visits))

    assert {one["why"] for one in last} == {"you have played 2 matches, the most that this server allows"}
    assert [len(visit.matches) for visit in visits] == [2, 2]
    assert [await visit.hear() for visit in visits] == [None, None]
    assert server.server.rooms == {}


@pytest.mark.parametrize("broken", ["key", "directory"])
def test_clients_are_disconnected_when_nothing_can_be_recorded_and_may_come_again(broken: str, tmp_path: Path) -> None:
    async def break_records(server: OpenServer) -> None:
        key, matches = tmp_path / "key", tmp_path / "matches"
        if broken == "key":
            key.chmod(0o644)  # so that others may know it
        else:
            matches.touch()  # not a directory
        callers = [await server.call({"name": name}) for name in ("ann", "bob")]
        asked = ["hello"] if broken == "directory" else []
        assert await asyncio.gather(*map(acknowledged, callers)) == [["welcome", *asked, "suspended"]] * 2
        key.chmod(0o600)
        if matches.is_file():
            matches.unlink()
        await asyncio.gather(*(visit.play() for visit in [await server.come(name) for name in ("ann", "bob")]))

    server_test(fish())(break_records)(tmp_path)


@server_test(fish(), connection_limits=ConnectionLimits(idle_timeout=0.2))
async def test_a_client_that_waits_too_long_is_disconnected(server: OpenServer) -> None:
    ann = await server.come("ann")

    last = await ann.play("suspended")

    assert last["why"] == "no match began for you within 0.2 s"
    await server.until(lambda: server.waiting == [])
    assert server.server.clients == {}


@server_test(fish())
async def test_a_client_that_leaves_the_queue_is_not_seated(server: OpenServer) -> None:
    ann = await server.come("ann")
    ann.caller.leave()
    await server.until(lambda: server.waiting == [])

    bob, cyd = await server.come("bob"), await server.come("cyd")
    await asyncio.gather(bob.play(), cyd.play())

    assert bob.matches[0][1] == ("bob", "cyd")


@server_test(fish(), reconnect_window=3600.0)
async def test_a_client_that_says_that_it_leaves_is_out_of_its_match_at_once(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    hears = asyncio.create_task(bob.play())
    await ann.play("take_turn")
    ann.caller.leave()

    for wrong in ({}, {"token": bob.heard[0]["reconnect_token"][:-1] + "."}):
        [*_] = [message async for message in the_rest(await server.call({"purpose": "leave", **wrong}))]
        assert server.server.rooms
    leaves = await server.call({"purpose": "leave", "token": ann.heard[0]["reconnect_token"]})
    await hears

    assert await leaves.hear() is None
    [ejected] = verify(read_journal(server.journals()[bob.matches[0][0]])).ejected
    assert (ejected.fault.value, ejected.moment.value, ejected.why) == ("gone", "turn", "left")
    assert [client.name for client in server.server.clients.values()] == ["bob"]


@server_test(fish())
async def test_a_waiting_client_that_says_that_it_leaves_waits_no_more(server: OpenServer) -> None:
    ann = await server.come("ann")

    leaves = await server.call({"purpose": "leave", "token": ann.heard[0]["reconnect_token"]})

    assert [await ann.hear(), await leaves.hear()] == [None, None]
    assert (server.waiting, server.server.clients) == ([], {})


@server_test(fish())
async def test_a_client_that_comes_back_and_leaves_at_once_is_gone(server: OpenServer) -> None:
    ann = await server.come("ann")
    again = await server.call({"token": ann.heard[0]["reconnect_token"]})
    again.writer.write_eof()
    while await again.hear() is not None:  # the server disconnects, too
        pass

    bob, cyd = await server.come("bob"), await server.come("cyd")
    await asyncio.gather(bob.play(), cyd.play())

    assert bob.matches[0][1] == ("bob", "cyd")
    assert {client.name for client in server.server.clients.values()} == {"bob", "cyd"}


def test_a_player_that_left_a_match_and_plays_another_one_waits_for_no_third_when_the_first_is_over(
    tmp_path: Path,
) -> None:
    token = make_token(tmp_path, "ann")

    async def waiting() -> list[str]:
        async with open_server(tmp_path, fish()) as server:
            ann, bob = await server.come("ann", token=token), await server.come("bob")
            playing = asyncio.create_task(ann.play("end"))
            await bob.play("take_turn")
            playing.cancel()
            await server.call({"purpose": "leave", "name": "ann", "token": token})
            await server.until(lambda: not server.has("ann"))
            again, cyd = await server.come("ann", token=token), await server.come("cyd")
            playing = asyncio.create_task(cyd.play())
            await again.play("take_turn")

            bob.caller.say(bob.answer(bob.heard[-1]))
            await bob.play()
            await server.until(lambda: server.server.finished)
            waiting = server.waiting
            playing.cancel()
            return waiting

    assert run(waiting()) == ["bob"]


@server_test(fish())
async def test_a_client_that_leaves_right_after_a_match_is_not_in_the_next_one(server: OpenServer) -> None:
    ann, bob, cyd = [await server.come(name) for name in ("ann", "bob", "cyd")]
    await asyncio.gather(ann.play(), bob.play())
    hello = await cyd.play("hello")  # from a room for cyd and the first of the two

    for visit in (ann, bob):
        visit.caller.leave()
    cyd.caller.say(cyd.answer(hello))
    dan = await server.come("dan")
    await asyncio.gather(cyd.play(), dan.play())

    assert [names for _, names in cyd.matches[:1]] == [("cyd", "dan")]
    assert len(server.journals()) == 2
    assert {client.name for client in server.server.clients.values()} == {"cyd", "dan"}


# Spectators


@server_test(fish(), connection_limits=ConnectionLimits(matches_per_client=1))
async def test_spectators_see_a_room_by_name_or_id_to_its_end_and_are_disconnected(server: OpenServer) -> None:
    visits = [await server.come(name) for name in ("ann", "bob")]
    await server.until(lambda: server.server.rooms)
    [room] = server.server.rooms.values()
    watching = [await server.watch(wanted) for wanted in (room.id, room.name)]

    await asyncio.gather(*(visit.play() for visit in visits))

    for caller in watching:
        first, *rest = [message async for message in the_rest(caller)]
        assert (first["type"], first["room"], first["seq"]) == ("snapshot", room.id, 0)
        last = len(read_journal(server.journals()[room.id]).facts) + 1  # that it is over
        assert [message["seq"] for message in rest] == [*range(1, last + 1), last]
        assert [message["type"] for message in rest] == [*["patch"] * last, "snapshot"]


async def the_rest(caller: Caller) -> AsyncIterator[dict[str, Any]]:
    """All messages until the server disconnects."""
    while (message := await caller.hear()) is not None:
        yield message


async def acknowledged(caller: Caller) -> list[str]:
    """Acknowledge all messages; their types."""
    found = []
    async for message in the_rest(caller):
        if "nonce" in message:
            caller.say(msgspec.json.encode({"nonce": message["nonce"], "answer": None}) + b"\n")
        found.append(message["type"])
    return found


@server_test(fish())
async def test_a_spectator_of_a_missing_room_is_told_so(server: OpenServer) -> None:
    caller = await server.watch("fish-77")

    assert [message["why"] async for message in the_rest(caller)] == ["no room 'fish-77': see fairplay status"]


@server_test(fish())
async def test_a_roaming_spectator_goes_on_to_the_next_room(server: OpenServer) -> None:
    roaming = await server.watch()
    assert await roaming.hear() == {"type": "idle"}
    visits = [await server.come(name) for name in ("ann", "bob")]

    playing = asyncio.gather(*(visit.play(times=2) for visit in visits))
    seen = list[str]()
    while len(seen) < 2:
        message = await roaming.hear()
        assert message is not None
        if message["type"] == "snapshot" and message["room"] not in seen:
            seen.append(message["room"])
    await playing

    assert seen == [match for match, _ in visits[0].matches[:2]]


@server_test(fish(), connection_limits=ConnectionLimits(matches_per_client=1))
async def test_a_roaming_spectator_goes_on_to_a_room_that_was_there_before(server: OpenServer) -> None:
    ann, bob, cyd, dan = [await server.come(name) for name in ("ann", "bob", "cyd", "dan")]
    others = asyncio.gather(bob.play())
    await ann.play("take_turn")
    roaming = await server.watch()
    await asyncio.gather(cyd.play(), dan.play())

    seen = dict[str, None]()
    while len(seen) < 2:
        message = await roaming.hear()
        assert message is not None
        seen[message["room"]] = None

    assert list(seen) == [cyd.matches[0][0], ann.matches[0][0]]
    ann.caller.say(ann.answer(ann.heard[-1]))
    await asyncio.gather(ann.play(), others)


# Status


@server_test(fish())
async def test_the_status_is_cached_for_a_moment(server: OpenServer) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STATUS_LINE_CACHE_S", 3600.0)
        first, second = [await (await server.call({"purpose": "status"})).hear() for _ in range(2)]
        patch.setattr("fairplay.server.server.STATUS_LINE_CACHE_S", 0.0)
        later = await (await server.call({"purpose": "status"})).hear()

    assert first is not None and later is not None
    assert first == second
    assert later["uptime_s"] > first["uptime_s"]


def test_browser_viewers_from_one_address_are_limited_by_the_settings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", LOG.name)

    async def statuses() -> list[bytes]:
        async with open_server(
            tmp_path, fish(), web=0, connection_limits=ConnectionLimits(viewers_per_address=1)
        ) as server:
            [address] = [log_fields(one)["address"] for one in caplog.records if one.message == "serving web pages"]
            for name in ("ann", "bob"):
                await server.come(name)
            await server.until(lambda: server.server.rooms)
            [room] = server.server.rooms
            browsers = [await asyncio.open_connection(LOOPBACK, int(address.rpartition(":")[2])) for _ in range(2)]
            lines = []
            for reader, writer in browsers:
                writer.write(f"GET /rooms/{room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                lines.append(await reader.readline())
            for _, writer in browsers:
                writer.close()
            return lines

    assert [line.split()[1] for line in run(statuses())] == [b"200", b"503"]


def test_a_server_answers_browsers_by_the_names_in_its_settings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", LOG.name)

    async def status() -> bytes:
        async with open_server(tmp_path, fish(), web=0, web_names=("board.example",)):
            [address] = [log_fields(one)["address"] for one in caplog.records if one.message == "serving web pages"]
            reader, writer = await asyncio.open_connection(LOOPBACK, int(address.rpartition(":")[2]))
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: board.example\r\n\r\n")
            line = await reader.readline()
            writer.close()
            return line

    assert run(status()).split()[1] == b"200"


# Settings


@server_test(fish(), reconnect_window=7.0)
async def test_a_seat_is_reserved_as_long_as_the_settings_say(server: OpenServer) -> None:
    ann = await server.come("ann")

    assert ann.heard[0]["reconnect_window"] == 7.0


@server_test(fish(), connection_limits=ConnectionLimits(hello_timeout=7.0))
async def test_the_hello_timeout_is_set_by_the_settings(server: OpenServer) -> None:
    caller = await server.connect()

    assert ((await caller.hear()) or {})["limit"] == 7.0


@pytest.mark.parametrize(
    "limits",
    [ConnectionLimits(connections_per_address=1), ConnectionLimits(connections=1)],
    ids=["per address", "in all"],
)
def test_connections_are_limited_by_the_settings(limits: ConnectionLimits, tmp_path: Path) -> None:
    async def heard() -> list[Any]:
        async with open_server(tmp_path, fish(), connection_limits=limits) as server:
            return [await (await server.connect()).hear() for _ in range(2)]

    first, second = run(heard())

    assert (first["type"], second) == ("hello", None)


def test_a_new_directory_stays_with_what_is_in_it_when_a_server_cannot_open(tmp_path: Path) -> None:
    directory = tmp_path / "server"

    with pytest.raises(BadRequest), serving.lock_directory(str(directory)):
        (directory / "tokens").touch()
        raise BadRequest("the port is taken")

    assert (directory / "tokens").exists()


# The end


@server_test(fish())
async def test_a_server_stops_as_soon_as_the_open_question_is_answered(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    hears = asyncio.create_task(bob.play("suspended"))
    await ann.play("take_turn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STOP_GRACE_S", 3600.0)

        stops = asyncio.create_task(server.server.stop("a pause", 5.0))
        await asyncio.sleep(0)
        ann.caller.say(ann.answer(ann.heard[-1]))
        await stops

    assert [(await ann.play("suspended"))["why"], (await hears)["why"]] == ["a pause"] * 2
    [path] = server.journals().values()
    assert len(read_journal(path).facts) == 1


@server_test(fish())
async def test_a_stopping_server_does_not_wait_for_a_client_whose_connection_is_lost(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    hears = asyncio.create_task(bob.play("suspended"))
    await ann.play("take_turn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STOP_GRACE_S", 3600.0)

        stops = asyncio.create_task(server.server.stop("a pause", 5.0))
        await asyncio.sleep(0)
        ann.caller.leave()
        await stops

    assert (await hears)["why"] == "a pause"
    [path] = server.journals().values()
    assert not read_journal(path).facts  # it is asked again after the restart


@server_test(fish())
async def test_no_room_opens_while_a_server_stops(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    hears = asyncio.create_task(bob.play("suspended"))
    await ann.play("take_turn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STOP_GRACE_S", 3600.0)

        stops = asyncio.create_task(server.server.stop("a pause", 5.0))
        await asyncio.sleep(0)
        others = [await server.come(name) for name in ("cyd", "dee")]
        rooms = len(server.server.rooms)
        ann.caller.say(ann.answer(ann.heard[-1]))
        await stops

    assert rooms == 1
    assert [(await one.play("suspended"))["why"] for one in (ann, *others)] == ["a pause"] * 3
    assert (await hears)["why"] == "a pause"
    assert len(server.journals()) == 1


@server_test(fish())
async def test_a_room_that_opens_while_a_server_stops_asks_nothing_after_hello(server: OpenServer) -> None:
    ann, bob = [await server.come(name) for name in ("ann", "bob")]
    hears = asyncio.create_task(bob.play("suspended"))
    await ann.play("take_turn")
    cyd = await server.come("cyd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STOP_GRACE_S", 3600.0)

        stops = asyncio.create_task(server.server.stop("a pause", 5.0))
        await asyncio.sleep(0)
        server.server.open_room(fish(fill="greedy"), list(server.server.lobby))
        cyd.caller.say(cyd.answer(await cyd.play("hello")))
        ann.caller.say(ann.answer(ann.heard[-1]))

        assert ((await cyd.hear()) or {})["type"] == "suspended"
        await stops

    assert (await hears)["why"] == "a pause"


def test_a_match_is_resumed_without_a_player_that_came_back_and_left_at_hello(tmp_path: Path) -> None:
    async def resumed() -> dict[str, Any]:
        async with open_server(tmp_path, fish()) as server:
            ann, bob = [await server.come(name) for name in ("ann", "bob")]
            playing = asyncio.create_task(bob.play())
            await ann.play("take_turn", times=2)
            playing.cancel()
        async with open_server(tmp_path, fish(), restart_window=3600.0) as server:
            server.server.resume_matches()
            tokens = [one.heard[0]["reconnect_token"] for one in (ann, bob)]
            back = [Visit(await server.call({"token": token})) for token in tokens]
            await back[0].play("hello")
            await server.call({"purpose": "leave", "token": tokens[0]})
            return await back[1].play("end")

    end = run(resumed())

    assert [one["fault"] for one in end["result"]["ejected"]] == ["gone"]


def test_players_of_a_resumed_match_get_no_first_turn_limit_again(tmp_path: Path) -> None:
    played = fish(limits=Limits(move=60.0, first_move=90.0, start_up=60.0))

    async def limits_before_and_after() -> tuple[list[float], list[float]]:
        async with open_server(tmp_path, played) as server:
            ann, bob = [await server.come(name) for name in ("ann", "bob")]
            playing = asyncio.create_task(bob.play())
            await ann.play("take_turn", times=2)
            playing.cancel()
        async with open_server(tmp_path, played) as server:
            server.server.resume_matches()
            back = [Visit(await server.call({"token": one.heard[0]["reconnect_token"]})) for one in (ann, bob)]
            playing = asyncio.create_task(back[1].play())
            await back[0].play()
            await playing
        before, after = [
            [one["limit"] for one in them if one["type"] == "take_turn"] for them in (ann.heard, back[0].heard)
        ]
        return before, after

    before, after = run(limits_before_and_after())

    assert before == [90.0, 60.0]
    assert set(after) == {60.0}


def test_players_of_two_interrupted_matches_resume_both(tmp_path: Path) -> None:
    tokens = {name: make_token(tmp_path, name) for name in ("ann", "bob")}

    async def interrupted_and_finished() -> tuple[set[str], set[str]]:
        for _ in range(2):  # the first match is not resumed meanwhile
            async with open_server(tmp_path, fish()) as server:
                ann, bob = [await server.come(name, token=token) for name, token in tokens.items()]
                playing = asyncio.create_task(bob.play())
                await ann.play("take_turn", times=2)
                playing.cancel()
        interrupted = set(server.journals())
        async with open_server(tmp_path, fish(), restart_window=3600.0) as server:
            server.server.resume_matches()
            back = [await server.come(name, token=token) for name, token in tokens.items()]
            await asyncio.gather(*(visit.play(times=2) for visit in back))
            await server.until(lambda: len(server.server.finished) >= 2)
            return interrupted, {one.match for one in server.server.finished}

    interrupted, finished = run(interrupted_and_finished())

    assert len(interrupted) == 2
    assert finished == interrupted
