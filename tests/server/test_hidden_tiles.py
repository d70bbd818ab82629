"""Test that no hidden tile of Q is in the logs and pages of a server, or in messages to other players."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Event
from fairplay.core.match import Match
from fairplay.games.q import Q, State, pieces
from fairplay.games.q import game as rules_of_q
from fairplay.protocol.limits import Limits
from fairplay.protocol.wire import encode
from fairplay.server.browser.rendering import BoardJob
from fairplay.server.browser.viewers import describe_position
from fairplay.server.logs import log_event, log_to
from fairplay.server.metrics import ServerCounts
from fairplay.server.settings import make_offer
from fairplay.server.sign_in.tokens import make_token
from fairplay.server.spectating.hub import NumberedEvent
from tests.misbehaviour.q_players import TRICKS, HonestPlayer
from tests.misbehaviour.test_hidden_information import NUMBERED_TILE, number_the_tiles, numbered, tile_names
from tests.nonempty import nonempty
from tests.server.sign_in.test_sign_in import Caller
from tests.server.test_server import ONE_MATCH, OpenServer, Visit, open_server

TILES = 40  # in the pile, so that a match is soon over
LIMITS = Limits(move=60.0, first_move=60.0, start_up=60.0, goodbye=1.0)
EVENTS = (
    *("listening", "signed in", "reconnected", "left", "room opened"),
    *("match ended", "refused", "disconnected", "stopping"),
)
WAYS = (  # what clients do at their first turn
    "",
    *("comes back", "speaks of its hand", "floods with its hand", "shows its hand to another question", "leaves"),
    *TRICKS,
)


class Short(Q, frozen=True):
    def deal(self, seats: int, seed: bytes) -> State:
        state = super().deal(seats, seed)
        return msgspec.structs.replace(state, pile=state.pile[:TILES])


class RecordingCounts(ServerCounts):
    """An observer that records the public tiles after each event, and all secrets."""

    def __init__(self, *, careless: bool) -> None:
        super().__init__()
        self.public: dict[str, list[set[str]]] = {}  # by match
        self.own: dict[tuple[str, int], set[str]] = {}  # by match and seat: what it has ever held
        self.boards: list[tuple[str, set[str]]] = []  # for browsers, with the public tiles
        self.seeds: set[str] = set()
        self._careless = careless

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        super().observe(event, match)
        public = tile_names(match.state.map.tiles.values())
        self.public.setdefault(match.id, []).append(public)
        view = match.game.pack(match.view(0 if self._careless else None))
        position = describe_position(NumberedEvent(0, 1.0, event, match), ())
        board = BoardJob("q", match.game.public_parameters(), match.names, view)
        self.boards += [(encode(position).decode(), public), (encode(board).decode(), public)]
        for seat, hand in enumerate(match.state.hands):
            self.own.setdefault((match.id, seat), set()).update(tile_names(hand))
        assert match.seed is not None
        self.seeds.add(match.seed.hex())
        if self._careless:
            log_event("a turn", state=match.state.hands, tiles=[pieces.NAMES[kind] for kind in match.state.pile[:1]])


class Player(Visit):
    """A client that plays Q; on its first turn it may do something else."""

    def __init__(self, server: OpenServer, caller: Caller, number: int, way: str) -> None:
        super().__init__(caller)
        self.way = way
        self._server = server
        self._turns = 1  # until then
        self._honest = HonestPlayer(SeededRandom(bytes([number])))

    def answer(self, message: dict[str, Any]) -> bytes:
        if message["type"] != "take_turn":
            return super().answer(message)
        nonce, [seat] = message["nonce"], {one["seat"] for one in self.heard if one["type"] == "start"}
        view = self._server.server.rooms[message["match"]].match.view(seat)  # numbers are not in the schema of messages
        hand = [pieces.NAMES[kind] for kind in view.kinds]
        self._turns -= 1
        if self._turns or not self.way:
            return encode({"nonce": nonce, "answer": self._honest.choose(view)}) + b"\n"
        match self.way:
            case "speaks of its hand":
                return f"I have {hand}\n".encode()
            case "floods with its hand":
                return str(hand * 1000).encode() + b"\n"
            case "shows its hand to another question":
                return encode({"nonce": str(hand), "answer": None}) + b"\n"
            case "leaves" | "comes back":
                self.caller.leave()
                return b""
        said = TRICKS[self.way](view, frozenset(), SeededRandom(b"x"))
        return encode({"nonce": nonce, "answer": self._rules.pack(view) if said is view else said}) + b"\n"

    async def play_to_the_end(self) -> None:
        """Answer everything, until the server disconnects for good."""
        await super().play_to_the_end()
        if self.way == "comes back" and not self._turns:
            self.caller = await self._server.call({"token": self.reconnect_token})
            await super().play_to_the_end()


class ServerOutput:
    """All that a server logged, showed and sent while its clients played."""

    def __init__(self, noted: RecordingCounts) -> None:
        self.noted = noted
        self.logged: list[str] = []
        self.players: list[Player] = []
        self.watched: list[dict[str, Any]] = []
        self.pages: list[str] = []
        self.secrets: set[str] = set()

    @property
    def port(self) -> int:
        """The port of the web pages; 0: not known yet."""
        said = [line for line in self.logged if line.startswith("{") and "serving web pages" in line]
        return int(msgspec.json.decode(said[0])["address"].rpartition(":")[2]) if said else 0

    def leaks(self) -> Iterator[str]:
        for line in nonempty(self.logged):
            yield from (f"a secret in {line}" for secret in self.secrets | self.noted.seeds if secret in line)
        for text in (*nonempty(self.logged), *nonempty(self.pages)):
            yield from (f"{tile} in {text}" for tile in NUMBERED_TILE.findall(text))
        for board, public in nonempty(self.noted.boards):
            yield from (f"{tile} on {board}" for tile in NUMBERED_TILE.findall(board) if tile not in public)
        for told in nonempty(self.watched):
            known = self.noted.public[told["room"]][told["seq"]]
            yield from (f"{tile} in {told}" for tile in NUMBERED_TILE.findall(str(told)) if tile not in known)
        for player in nonempty(self.players):
            seats = {message["match"]: message["seat"] for message in player.heard if message["type"] == "start"}
            for message in player.heard:
                if (match := message.get("match", "")) in seats:
                    known = self.noted.own[match, seats[match]] | self.noted.public[match][-1]
                    tiles = NUMBERED_TILE.findall(str(message))
                    yield from (f"{tile} to {player.name}: {message}" for tile in tiles if tile not in known)


async def watch(server: OpenServer, output: ServerOutput, room: str) -> None:
    caller = await server.watch(room)
    while (message := await caller.hear()) is not None:
        if "seq" in message:
            output.watched.append(message)


async def request_pages(port: int, output: ServerOutput) -> None:
    while True:
        for path in ("/status", "/metrics"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                output.pages.append((await reader.read()).decode())
            finally:
                writer.transport.abort()
        await asyncio.sleep(0.01)


async def play_all(directory: Path, output: ServerOutput, ways: Sequence[str]) -> None:
    """Open a server, and let all play there at once: each bad client with a good one."""
    offer, token = make_offer("q", {}, min_players=2, max_players=2, limits=LIMITS), make_token(directory, "ann")
    async with open_server(directory, offer, reconnect_window=3.0, web=0, connection_limits=ONE_MATCH) as server:
        server.server.counts = output.noted
        output.secrets |= {token, Path(directory, "key").read_bytes().hex()}
        await server.until(lambda: output.port)
        asking = asyncio.create_task(request_pages(output.port, output))
        roaming = asyncio.create_task(watch(server, output, ""))
        await server.refusal(name="ann", token="0" * 32)
        await server.refusal(name="bob", game="chess")
        ann = await server.come("ann", token=token)
        ann.caller.leave()
        for number, way in enumerate(ways):
            for name, does in ((f"bad-{number}", way), (f"good-{number}", "")):
                player = Player(server, await server.call({"name": name}), len(output.players), does)
                output.players.append(player)
                await player.hear()
                output.secrets.add(player.reconnect_token)
        await server.until(lambda: len(server.server.rooms) == len(ways))
        watching = [watch(server, output, room) for room in server.server.rooms]
        await asyncio.gather(*watching, *(player.play_to_the_end() for player in output.players))
        for task in (asking, roaming):
            task.cancel()
        await asyncio.wait([asking, roaming])


async def output_of(
    directory: Path, patch: pytest.MonkeyPatch, ways: Sequence[str], *, careless: bool = False
) -> ServerOutput:
    """The output of a server where the tiles of Q have numbers."""
    number_the_tiles(patch.setattr)
    patch.setattr(rules_of_q, "Q", type(numbered(Short)))
    output = ServerOutput(RecordingCounts(careless=careless))
    with ExitStack() as logs:
        for as_json in (True, False):
            logs.enter_context(log_to(output.logged.append, as_json=as_json))
        await play_all(directory, output, ways)
    return output


async def test_no_hidden_tile_and_no_secret_is_logged_shown_or_sent_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = await output_of(tmp_path, monkeypatch, WAYS)

    assert list(output.leaks()) == []
    for event in EVENTS:
        told = [line for line in output.logged if event in line]
        assert {line.startswith("{") for line in told} == {True, False}, event
    assert output.noted.matches == len(WAYS)
    assert {fault.value for fault in output.noted.ejections} == {"gone", "malformed", "flood", "illegal"}
    assert any(NUMBERED_TILE.search(str(told)) for told in output.watched)  # those on the map are seen


async def test_a_leak_of_hidden_tiles_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = await output_of(tmp_path, monkeypatch, WAYS[:1], careless=True)

    leaks = list(output.leaks())
    for kind in (" in ", " on "):  # logs, and boards
        assert any(kind in leak for leak in leaks)
