"""Test a server over real sockets: wait, play, stay for more matches, watch, and stop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.games import make_game
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.limits import Limits
from fairplay.server import serving
from fairplay.server.lobby import Lobby
from fairplay.server.logs import LOG, log_fields, log_to
from fairplay.server.server import PERSON_TIMEOUT_S, GameServer
from fairplay.server.settings import ConnectionLimits, Offer, ServerSettings, make_offer
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.server.sign_in.tokens import make_token
from fairplay.transport.reconnecting import REPLACED_MESSAGE
from tests.players.test_listener import run
from tests.server.guest_threads import check_undisturbed, choose_action
from tests.server.sign_in.test_sign_in import LOOPBACK, Caller, with_settings

AMPLE = Limits(move=60.0, first_move=60.0, start_up=60.0)
FISH = {"rows": 4, "columns": 3}
ONE_MATCH = ConnectionLimits(matches_per_client=1)
REFUSALS = ("invalid reconnect token", "invalid token for ", "the name ann requires its token")


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

    def answer_last(self) -> None:
        self.caller.say(self.answer(self.heard[-1]))

    async def play(self, until: str = "closing", times: int = 1) -> dict[str, Any]:
        """Answer everything until so many messages of this type have come; the last message."""
        while True:
            message = await self.hear()
            assert message is not None, self.heard[-1]
            if message["type"] == until:
                times -= 1
                if not times:
                    return message
            self.answer_last()

    async def play_to_the_end(self) -> None:
        """Answer everything until the server disconnects."""
        while await self.hear() is not None:
            self.answer_last()

    @property
    def reconnect_token(self) -> str:
        return str(self.heard[0]["reconnect_token"])

    @property
    def matches(self) -> list[tuple[str, tuple[str, ...]]]:
        """All matches that began: the id, and the names by seat."""
        return [(one["match"], tuple(one["names"])) for one in self.heard if one["type"] == "start"]


class OpenServer:
    def __init__(self, server: GameServer, directory: Path, port: int) -> None:
        self.server, self.directory, self.port = server, directory, port
        self.callers: list[Caller] = []
        self.addresses: list[str] = []  # over TCP, and over WebSocket

    async def connect(self, source: str = LOOPBACK) -> Caller:
        """Connect from this address, and send nothing."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port, limit=2**20, local_addr=(source, 0))
        self.callers.append(Caller(reader, writer))
        return self.callers[-1]

    async def call(self, answer: Any, source: str = LOOPBACK) -> Caller:
        caller = await self.connect(source)
        await caller.reply(answer)
        return caller

    async def come(self, name: str, **wishes: Any) -> Visit:
        visit = Visit(await self.call({"name": name, **wishes}))
        welcome = await visit.hear()
        assert welcome is not None
        assert welcome["type"] == "welcome", welcome
        visit.name = welcome["name"]
        await self.until(lambda: self.has(visit.name))
        return visit

    async def come_all(self, *names: str, **wishes: Any) -> list[Visit]:
        return [await self.come(name, **wishes) for name in names]

    async def begin_match(
        self, until: str = "closing", turns: int = 1, tokens: Mapping[str, str] = {}
    ) -> tuple[Visit, Visit, "asyncio.Task[dict[str, Any]]"]:
        """Let ann play with bob until she has had so many turns; a task goes on to answer for bob."""
        ann, bob = [await self.come(name, token=tokens.get(name, "")) for name in ("ann", "bob")]
        playing = asyncio.create_task(bob.play(until))
        await ann.play("take_turn", times=turns)
        return ann, bob, playing

    def has(self, name: str) -> bool:
        return name in self.server.status().players

    async def refusal(self, **wishes: Any) -> str:
        """Connect and be refused; why."""
        return str((await rest_of(await self.call(wishes)))[-1]["why"])

    async def watch(self, room: str = "") -> Caller:
        return await self.call({"purpose": "watch", "room": room})

    @property
    def waiting(self) -> list[str]:
        return [one.name for one in self.server.status().waiting]

    async def until(self, so: Callable[[], Any]) -> None:
        while not so():
            await asyncio.sleep(0.002)

    def journals(self) -> dict[str, Path]:
        return {path.stem: path for path in (self.directory / "matches").glob("*.jsonl")}


async def rest_of(caller: Caller) -> list[dict[str, Any]]:
    """All messages until the server disconnects."""
    found = []
    while (message := await caller.hear()) is not None:
        found.append(message)
    return found


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
            [addresses] = [sign_in.addresses for sign_in in created]
            opened = OpenServer(server, directory, int(addresses[0].rpartition(":")[2]))
            opened.addresses = addresses
            try:
                yield opened
            finally:
                for caller in opened.callers:
                    caller.leave()


# Matchmaking


@with_settings(fish(max_players=3, wait=3600.0))
async def test_a_room_opens_as_soon_as_a_table_is_full_in_the_order_of_sign_in(server: OpenServer) -> None:
    visits = await server.come_all("ann", "bob")
    assert (server.waiting, server.server.rooms) == (["ann", "bob"], {})
    visits.append(await server.come("cyd"))

    await asyncio.gather(*(visit.play() for visit in visits))

    [[(match, names)], *others] = [visit.matches for visit in visits]
    assert names == ("ann", "bob", "cyd")
    assert others == [[(match, names)]] * 2
    check_undisturbed(server.journals()[match])


@with_settings(fish(max_players=4, wait=0.05))
async def test_a_client_that_is_alone_waits_until_another_comes_and_not_for_a_full_table(server: OpenServer) -> None:
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


@with_settings(fish(), make_offer("q", {}, min_players=3, max_players=3, limits=AMPLE))
async def test_clients_play_the_game_that_they_name_or_the_next_one(server: OpenServer) -> None:
    ann, bob = await server.come("ann", game="q"), await server.come("bob", game="fish")
    cyd = await server.come("cyd", game="q")
    assert server.waiting == ["bob", "ann", "cyd"]
    assert await server.refusal(name="flo", game="chess") == "chess is not played here"
    eve = await server.come("eve")  # one is missing in either room
    await server.until(lambda: server.server.rooms)
    [room] = server.server.rooms.values()
    assert (room.match.game.name, room.match.names) == ("fish", ("bob", "eve"))
    dan = await server.come("dan", game="q")

    await asyncio.gather(*(visit.play() for visit in (ann, bob, cyd, dan, eve)))

    assert ann.matches[0][1] == ("ann", "cyd", "dan")


@with_settings(fish(), make_offer("q", {}, min_players=2, max_players=2, limits=AMPLE))
async def test_a_client_that_comes_back_for_another_game_waits_in_one_queue(server: OpenServer) -> None:
    eve = await server.come("eve", game="fish")
    eve = Visit(await server.call({"token": eve.reconnect_token, "game": "q"}))
    await server.until(lambda: [one.game for one in server.server.clients.values()] == ["q"])
    ann, bob = await server.come("ann", game="fish"), await server.come("bob", game="q")

    await asyncio.gather(eve.play(), bob.play())

    assert {names for _, names in eve.matches} == {("eve", "bob")}
    assert "ann" in server.waiting
    assert [message["type"] for message in ann.heard] == ["welcome"]


async def test_a_client_that_comes_back_to_its_seat_keeps_it_whatever_game_it_names(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match()
    asked = ann.heard[-1]

    ann.caller = await server.call({"token": ann.reconnect_token, "game": "chess"})
    assert await ann.play("take_turn") == asked
    ann.answer_last()
    last = await ann.play("suspended")
    await playing

    assert (last["why"], last["retry_after"]) == ("chess is not played here", 0.0)
    [path] = server.journals().values()
    assert not verify(read_journal(path)).ejected


# Clients that stay, or leave


@with_settings(connection_limits=ConnectionLimits(matches_per_client=2))
async def test_players_stay_from_match_to_match_until_the_last_that_is_allowed(server: OpenServer) -> None:
    visits = await server.come_all("ann", "bob")

    last = await asyncio.gather(*(visit.play("suspended") for visit in visits))

    assert {one["why"] for one in last} == {"you have played 2 matches, the most that this server allows"}
    assert [await visit.hear() for visit in visits] == [None, None]
    assert server.server.rooms == {}
    played = [[match for match, _ in visit.matches] for visit in visits]
    newest_first = [one.match for one in server.server.status().finished]
    assert played == [newest_first[::-1]] * 2
    assert len(set(newest_first)) == 2
    for path in server.journals().values():
        assert not verify(read_journal(path)).ejected


async def test_a_player_whose_connection_is_lost_is_not_listed_as_connected(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match()

    ann.caller.leave()
    await server.until(lambda: not all(one.connection.is_connected for one in server.server.clients.values()))

    assert server.server.status().players == ("bob",)
    playing.cancel()


@pytest.mark.parametrize("broken", ["key", "directory"])
async def test_clients_are_disconnected_when_nothing_can_be_recorded_and_may_come_again(
    broken: str, server: OpenServer
) -> None:
    key, matches = server.directory / "key", server.directory / "matches"
    if broken == "key":
        key.chmod(0o644)  # so that others may know it
    else:
        matches.touch()  # not a directory
    asked = ["hello"] if broken == "directory" else []
    visits = [Visit(await server.call({"name": name})) for name in ("ann", "bob")]
    await asyncio.gather(*(visit.play_to_the_end() for visit in visits))
    assert [[one["type"] for one in visit.heard] for visit in visits] == [["welcome", *asked, "suspended"]] * 2
    key.chmod(0o600)
    if matches.is_file():
        matches.unlink()
    await asyncio.gather(*(visit.play() for visit in await server.come_all("ann", "bob")))


async def test_clients_that_leave_the_queue_in_any_way_are_not_seated(server: OpenServer) -> None:
    ann = await server.come("ann")
    leaves = await server.call({"purpose": "leave", "token": ann.reconnect_token})
    assert [await ann.hear(), await leaves.hear()] == [None, None]
    assert (server.waiting, server.server.clients) == ([], {})
    eve = await server.come("eve")
    eve.caller.leave()
    await server.until(lambda: server.waiting == [])
    flo = await server.come("flo")
    again = await server.call({"token": flo.reconnect_token})
    again.writer.write_eof()
    await rest_of(again)  # the server disconnects, too

    bob, cyd = await server.come_all("bob", "cyd")
    await asyncio.gather(bob.play(), cyd.play())

    assert bob.matches[0][1] == ("bob", "cyd")
    assert {client.name for client in server.server.clients.values()} == {"bob", "cyd"}


@with_settings(reconnect_window=3600.0)
async def test_a_client_that_says_that_it_leaves_is_out_of_its_match_at_once(server: OpenServer) -> None:
    ann, bob, playing = await server.begin_match()
    ann.caller.leave()

    for wrong in ({}, {"token": f"{bob.reconnect_token[:-1]}."}):
        await rest_of(await server.call({"purpose": "leave", **wrong}))
        assert server.server.rooms
    leaves = await server.call({"purpose": "leave", "token": ann.reconnect_token})
    await playing

    assert await leaves.hear() is None
    match = verify(read_journal(server.journals()[bob.matches[0][0]]))
    [ejected] = match.ejected
    assert (ejected.fault.value, ejected.moment.value, ejected.why) == ("gone", "turn", "left")
    assert match.result.ranking == (frozenset({1}),)
    assert [client.name for client in server.server.clients.values()] == ["bob"]


async def test_a_player_that_left_a_match_and_plays_another_one_waits_for_no_third_when_the_first_is_over(
    tmp_path: Path,
) -> None:
    token = make_token(tmp_path, "bob")
    async with open_server(tmp_path, fish()) as server:
        ann, _, playing = await server.begin_match("end", tokens={"bob": token})
        playing.cancel()
        await server.call({"purpose": "leave", "name": "bob", "token": token})
        await server.until(lambda: not server.has("bob"))
        again, cyd = await server.come("bob", token=token), await server.come("cyd")
        playing = asyncio.create_task(cyd.play())
        await again.play("take_turn")

        ann.answer_last()
        await ann.play()
        await server.until(lambda: server.server.finished)

        assert server.waiting == ["ann"]
        playing.cancel()


async def test_a_client_that_leaves_right_after_a_match_is_not_in_the_next_one(server: OpenServer) -> None:
    ann, bob, cyd = await server.come_all("ann", "bob", "cyd")
    await asyncio.gather(ann.play(), bob.play())
    await cyd.play("hello")  # from a room for cyd and the first of the two

    for visit in (ann, bob):
        visit.caller.leave()
    cyd.answer_last()
    dan = await server.come("dan")
    await asyncio.gather(cyd.play(), dan.play())

    assert [names for _, names in cyd.matches[:1]] == [("cyd", "dan")]
    assert len(server.journals()) == 2
    assert {client.name for client in server.server.clients.values()} == {"cyd", "dan"}


@pytest.mark.parametrize("stays", [False, True])
async def test_a_client_that_fails_at_hello_is_ejected_or_at_least_disconnected(
    stays: bool, server: OpenServer
) -> None:
    ann, bob = await server.come_all("ann", "bob")
    for visit in (ann, bob):
        await visit.hear()

    bob.caller.say(b"rubbish\n")

    if stays:  # so that the match begins
        ann.answer_last()
        end = await ann.play("end")
        assert [one["fault"] for one in end["result"]["ejected"]] == ["malformed"]
    else:
        ann.caller.leave()
        assert await bob.hear() is None
        assert not server.has("bob")


@with_settings(fish(limits=Limits(move=0.25, bank=0.4, start_up=60.0)))
async def test_a_client_that_stalls_in_every_turn_runs_out_of_its_bank(server: OpenServer) -> None:
    honest = asyncio.create_task((await server.come("ann")).play())
    eve = await server.come("eve")
    while (message := await eve.hear()) is not None:
        if message["type"] == "take_turn":
            await asyncio.sleep(0.15)
        eve.answer_last()
    await honest

    [path] = server.journals().values()
    [out] = verify(read_journal(path)).ejected
    assert (out.seat, out.fault) == (1, Fault.TIMED_OUT)
    assert "the bank of 0.4 s for all turns is used up" in out.why


@pytest.mark.parametrize(
    ("limits", "person", "program"),
    [
        (Limits(move=0.5, start_up=60.0), PERSON_TIMEOUT_S, 0.5),
        (Limits(move=0.5, people=7.0, start_up=60.0), 7.0, 0.5),
        (Limits(move=0.5, people=0.5, start_up=60.0), 0.5, 0.5),
        (Limits(move=2 * PERSON_TIMEOUT_S, start_up=60.0), 2 * PERSON_TIMEOUT_S, 2 * PERSON_TIMEOUT_S),
    ],
    ids=["more by default", "as the limits say", "the same if they say so", "never less"],
)
async def test_people_have_time_of_their_own(limits: Limits, person: float, program: float, tmp_path: Path) -> None:
    async with open_server(tmp_path, fish(limits=limits)) as server:
        visits = [await server.come("ann", person=True), await server.come("bot")]
        await asyncio.gather(*(visit.play() for visit in visits))

    times = [{one["limit"] for one in visit.heard if one["type"] == "take_turn"} for visit in visits]
    assert times == [{person}, {program}]


# Thieves


async def replay_messages(server: OpenServer, said: list[bytes]) -> None:
    """Send all recorded messages, at once and one by one, and be refused."""
    for pieces in ([b"".join(said)], said):
        refused = server.server.counts.refused["malformed"]
        thief = await server.connect()
        for piece in pieces:
            thief.say(piece)
            await asyncio.sleep(0)
        types = [message["type"] for message in await rest_of(thief)]
        assert types == ["hello", "goodbye"][: len(types)]  # too many messages may reset the connection before
        assert server.server.counts.refused["malformed"] == refused + 1
        thief.leave()


async def hear_question_again(caller: Caller, before: Visit) -> None:
    """Wait for the open question over another connection, and go on with that."""
    while (message := await caller.hear() or {})["type"] != "take_turn":
        pass
    assert message == before.heard[-1]
    before.caller = caller


async def test_a_seat_is_taken_over_with_its_token_alone_connected_or_not(tmp_path: Path) -> None:
    logged, token = list[str](), make_token(tmp_path, "ann")
    offers = fish(), make_offer("tsuro", {}, min_players=5, max_players=5, wait=3600.0, limits=AMPLE)
    with log_to(logged.append, as_json=True):
        async with open_server(tmp_path, *offers, connection_limits=ONE_MATCH) as server:
            ann, bob, playing = await server.begin_match("suspended", tokens={"ann": token})
            said = ann.caller.said
            await replay_messages(server, said)
            id, _, _ = bob.reconnect_token.partition(".")
            assert id in server.server.clients
            eve = await server.come("eve", game="tsuro")
            _, _, mac = eve.reconnect_token.partition(".")
            refused: list[dict[str, str]] = [{"name": "ann"}, {"name": "Ann", "token": token}]
            for guess in ("ann", token[:-1], token.upper(), f"{token} ", bob.reconnect_token):
                refused.append({"name": "ann", "token": guess})
            refused += [{"name": "bob", "token": token}, {"token": token}]
            for guess in (id, f"{id}.", f"{id}.{mac}", f"{id}.{'0' * 32}", bob.reconnect_token[:-1]):
                refused.append({"token": guess})
            seats = {one.name: one.connection for one in server.server.clients.values()}
            for lost in (False, True):
                if lost:
                    ann.caller.leave()
                    await server.until(lambda: not seats["ann"].is_connected)
                for wishes in refused:
                    assert (await server.refusal(**wishes)).startswith(REFUSALS), wishes
                double = await server.come("bob", game="tsuro")
                assert double.name.startswith("bob-")
                assert (seats["ann"].is_connected, seats["bob"].is_connected) == (not lost, True)
            owner = {"name": "ann", "token": token}
            await hear_question_again(first := await server.call(owner, "127.0.0.2"), ann)
            await hear_question_again(await server.call(owner), ann)
            assert [message["why"] for message in await rest_of(first)] == [REPLACED_MESSAGE]
            ann.answer_last()
            await asyncio.gather(ann.play("suspended"), playing)
            await replay_messages(server, said)

    [path] = server.journals().values()
    check_undisturbed(path)
    wrong = [line for line in logged if '"reason":"invalid_token"' in line]
    assert len(wrong) == 2 * 12
    assert all('"address":"127.0.0.1:' in line for line in wrong)
    back = [line for line in logged if '"event":"reconnected","name":"ann"' in line]
    assert ["127.0.0.2:" in line for line in back] == [True, False]


# Spectators, status and pages


@with_settings(connection_limits=ONE_MATCH)
async def test_spectators_see_a_room_by_name_or_id_to_its_end_and_are_disconnected(server: OpenServer) -> None:
    visits = await server.come_all("ann", "bob")
    await server.until(lambda: server.server.rooms)
    [room] = server.server.rooms.values()
    watching = [await server.watch(wanted) for wanted in (room.id, room.name, "fish-77")]

    await asyncio.gather(*(visit.play() for visit in visits))

    for caller in watching[:2]:
        first, *rest = await rest_of(caller)
        assert (first["type"], first["room"], first["seq"]) == ("snapshot", room.id, 0)
        last = len(read_journal(server.journals()[room.id]).facts) + 1  # that it is over
        assert [message["seq"] for message in rest] == [*range(1, last + 1), last]
        assert [message["type"] for message in rest] == [*["patch"] * last, "snapshot"]
    assert [one["why"] for one in await rest_of(watching[2])] == ["no room 'fish-77': see fairplay status"]


async def rooms_seen(spectator: Caller, number: int) -> list[str]:
    """The first so many rooms of which a roaming spectator gets a snapshot."""
    seen = dict[str, None]()
    while len(seen) < number:
        message = await spectator.hear()
        assert message is not None
        if message["type"] == "snapshot":
            seen[message["room"]] = None
    return list(seen)


async def test_a_roaming_spectator_goes_on_to_the_next_room(server: OpenServer) -> None:
    roaming = await server.watch()
    assert await roaming.hear() == {"type": "idle"}
    visits = await server.come_all("ann", "bob")

    playing = asyncio.gather(*(visit.play(times=2) for visit in visits))
    seen = await rooms_seen(roaming, 2)
    await playing

    assert seen == [match for match, _ in visits[0].matches[:2]]


@with_settings(connection_limits=ONE_MATCH)
async def test_a_roaming_spectator_goes_on_to_a_room_that_was_there_before(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match()
    cyd, dan = await server.come_all("cyd", "dan")
    await server.until(lambda: len(server.server.rooms) == 2)
    roaming = await server.watch()
    await asyncio.gather(cyd.play(), dan.play())

    assert await rooms_seen(roaming, 2) == [cyd.matches[0][0], ann.matches[0][0]]
    ann.answer_last()
    await asyncio.gather(ann.play(), playing)


async def test_the_status_is_cached_for_a_moment(server: OpenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for seconds in (3600.0, 3600.0, 0.0):
        monkeypatch.setattr("fairplay.server.server.STATUS_LINE_CACHE_S", seconds)
        found.append(await (await server.call({"purpose": "status"})).hear() or {})

    first, second, later = found
    assert first == second
    assert later["uptime_s"] > first["uptime_s"]


async def test_names_and_limits_of_web_pages_are_set_by_the_settings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", LOG.name)
    limits, answers = ConnectionLimits(viewers_per_address=1), list[bytes]()
    async with open_server(tmp_path, fish(), web=0, web_names=("board.example",), connection_limits=limits) as server:
        [address] = [log_fields(one)["address"] for one in caplog.records if one.message == "serving web pages"]
        await server.come_all("ann", "bob")
        await server.until(lambda: server.server.rooms)
        [room] = server.server.rooms
        browsers = [await asyncio.open_connection(LOOPBACK, int(address.rpartition(":")[2])) for _ in range(2)]
        for reader, writer in browsers:
            writer.write(f"GET /rooms/{room}/live HTTP/1.1\r\nHost: board.example\r\n\r\n".encode())
            answers.append((await reader.readline()).split()[1])
        for _, writer in browsers:
            writer.close()

    assert answers == [b"200", b"503"]


def test_a_new_directory_stays_with_what_is_in_it_when_a_server_cannot_open(tmp_path: Path) -> None:
    directory = tmp_path / "server"

    with pytest.raises(BadRequest), serving.lock_directory(str(directory)):
        (directory / "tokens").touch()
        raise BadRequest("the port is taken")

    assert (directory / "tokens").exists()


# The end


@asynccontextmanager
async def stopping(server: OpenServer) -> AsyncIterator[None]:
    """Stop a server, which waits for open answers without a limit; at the end it has stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairplay.server.server.STOP_GRACE_S", 3600.0)
        stops = asyncio.create_task(server.server.stop("a pause", 5.0))
        await asyncio.sleep(0)
        yield
        await stops


async def test_a_server_stops_as_soon_as_the_open_question_is_answered(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match("suspended")
    async with stopping(server):
        ann.answer_last()

    assert [(await ann.play("suspended"))["why"], (await playing)["why"]] == ["a pause"] * 2
    [path] = server.journals().values()
    assert len(read_journal(path).facts) == 1


async def test_a_stopping_server_does_not_wait_for_a_client_whose_connection_is_lost(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match("suspended")
    async with stopping(server):
        ann.caller.leave()

    assert (await playing)["why"] == "a pause"
    [path] = server.journals().values()
    assert not read_journal(path).facts  # it is asked again after the restart


async def test_no_room_opens_while_a_server_stops(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match("suspended")
    async with stopping(server):
        others = await server.come_all("cyd", "dee")
        assert len(server.server.rooms) == 1
        ann.answer_last()

    assert [(await one.play("suspended"))["why"] for one in (ann, *others)] == ["a pause"] * 3
    assert (await playing)["why"] == "a pause"
    assert len(server.journals()) == 1


async def test_a_room_that_opens_while_a_server_stops_asks_nothing_after_hello(server: OpenServer) -> None:
    ann, _, playing = await server.begin_match("suspended")
    cyd = await server.come("cyd")
    async with stopping(server):
        server.server.open_room(fish(fill="greedy"), list(server.server.lobby))
        await cyd.play("hello")
        cyd.answer_last()
        ann.answer_last()

        assert (await cyd.hear() or {})["type"] == "suspended"

    assert (await playing)["why"] == "a pause"


async def interrupt_match(directory: Path, offer: Offer, tokens: Mapping[str, str] = {}) -> tuple[Visit, Visit]:
    """Let ann and bob begin a match at a server that stops before the second turn of ann."""
    async with open_server(directory, offer) as server:
        ann, bob, playing = await server.begin_match(turns=2, tokens=tokens)
        playing.cancel()
    return ann, bob


async def test_a_match_is_resumed_without_a_player_that_came_back_and_left_at_hello(tmp_path: Path) -> None:
    tokens = [one.reconnect_token for one in await interrupt_match(tmp_path, fish())]
    async with open_server(tmp_path, fish(), restart_window=3600.0) as server:
        server.server.resume_matches()
        ann, bob = [Visit(await server.call({"token": token})) for token in tokens]
        await ann.play("hello")
        await server.call({"purpose": "leave", "token": tokens[0]})
        end = await bob.play("end")

    assert [one["fault"] for one in end["result"]["ejected"]] == ["gone"]


async def test_players_of_a_resumed_match_get_no_first_turn_limit_again(tmp_path: Path) -> None:
    offer = fish(limits=Limits(move=60.0, first_move=90.0, start_up=60.0))
    before = await interrupt_match(tmp_path, offer)
    async with open_server(tmp_path, offer) as server:
        server.server.resume_matches()
        after = [Visit(await server.call({"token": one.reconnect_token})) for one in before]
        await asyncio.gather(*(visit.play() for visit in after))

    first, *later = [
        one["limit"] for visit in (before[0], after[0]) for one in visit.heard if one["type"] == "take_turn"
    ]
    assert (first, set(later)) == (90.0, {60.0})


async def test_players_of_two_interrupted_matches_resume_both(tmp_path: Path) -> None:
    tokens = {name: make_token(tmp_path, name) for name in ("ann", "bob")}
    for _ in range(2):  # the first match is not resumed meanwhile
        await interrupt_match(tmp_path, fish(), tokens)
    async with open_server(tmp_path, fish(), restart_window=3600.0) as server:
        interrupted = set(server.journals())
        server.server.resume_matches()
        back = [await server.come(name, token=token) for name, token in tokens.items()]
        await asyncio.gather(*(visit.play(times=2) for visit in back))
        await server.until(lambda: len(server.server.finished) >= 2)

    assert len(interrupted) == 2
    assert {one.match for one in server.server.finished} == interrupted
