"""Play Q with numbered tiles at a house, well and badly, and find no hidden one in logs, nor in what others hear."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import Lots
from fairplay.core.events import Event
from fairplay.core.match import Match
from fairplay.games.q import Q, State, pieces
from fairplay.games.q import game as rules_of_q
from fairplay.protocol.limits import Limits
from fairplay.protocol.wire import encode
from fairplay.server.logs import logging_to, tell
from fairplay.server.metrics import Counts
from fairplay.server.settings import Strangers, offer
from fairplay.server.sign_in.tokens import make_token
from tests.misbehaviour.shelf import TRICKS, Honest
from tests.misbehaviour.taint import SERIAL, named, number_the_tiles, numbered
from tests.players.test_door import run
from tests.server.sign_in.test_reception import Caller
from tests.server.test_house import Open, Visit, opened
from tests.some import some

TILES = 40  # in the pile, so that a match is soon over
LIMITS = Limits(move=60.0, first_move=60.0, start_up=60.0, goodbye=1.0)
TOLD = ("open", "signed up", "back", "left", "room opened", "match over", "refused", "sent away", "stopping")


class Short(Q, frozen=True):
    """Q with fewer tiles."""

    def deal(self, seats: int, seed: bytes) -> State:
        state = super().deal(seats, seed)
        return msgspec.structs.replace(state, pile=state.pile[:TILES])


class Noting(Counts):
    """An observer that notes which tiles everybody may know of after each event, and all that is secret."""

    def __init__(self, *, careless: bool) -> None:
        super().__init__()
        self.public: dict[str, list[set[str]]] = {}  # by match
        self.own: dict[tuple[str, int], set[str]] = {}  # by match and seat: what it has ever held
        self.seeds: set[str] = set()
        self._careless = careless

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        super().observe(event, match)
        self.public.setdefault(match.id, []).append(named(match.state.map.tiles.values()))
        for seat, hand in enumerate(match.state.hands):
            self.own.setdefault((match.id, seat), set()).update(named(hand))
        assert match.seed is not None
        self.seeds.add(match.seed.hex())
        if self._careless:
            tell("a turn", state=match.state.hands, tiles=[pieces.NAMES[kind] for kind in match.state.pile[:1]])


class Player(Visit):
    """Somebody who plays Q; on its first turn it may do something else."""

    def __init__(self, house: Open, caller: Caller, number: int, way: str) -> None:
        super().__init__(caller)
        self.way = way
        self._house = house
        self.pass_ = ""  # with which it comes back
        self._turns = 1  # until then
        self._honest = Honest(Lots(bytes([number])))

    def answer(self, message: dict[str, Any]) -> bytes:
        if message["type"] != "take_turn":
            return super().answer(message)
        nonce, [seat] = message["nonce"], {one["seat"] for one in self.heard if one["type"] == "start"}
        view = self._house.house.rooms[message["match"]].match.view(seat)  # numbers are not in the schema of messages
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
        said = TRICKS[self.way](view, frozenset(), Lots(b"x"))
        return encode({"nonce": nonce, "answer": self._rules.pack(view) if said is view else said}) + b"\n"

    async def play_to_the_end(self) -> None:
        """Answer everything, until they hang up for good."""
        while True:
            while (message := await self.hear()) is not None:
                if said := self.answer(message):
                    self.caller.say(said)
            if self.way != "comes back" or self._turns:
                return
            self._turns = -1
            self.caller = await self._house.call({"token": self.pass_})


WAYS = (
    "",
    "comes back",
    "speaks of its hand",
    "floods with its hand",
    "shows its hand to another question",
    "leaves",
    *TRICKS,
)


class Evening:
    """What came out of a house while all of them played there."""

    def __init__(self, noted: Noting) -> None:
        self.noted = noted
        self.logged: list[str] = []
        self.players: list[Player] = []
        self.watched: list[dict[str, Any]] = []
        self.pages: list[str] = []
        self.secrets: set[str] = set()

    @property
    def port(self) -> int:
        """Where the house is shown; 0: it has not said so."""
        said = [line for line in self.logged if line.startswith("{") and "to be seen" in line]
        return int(msgspec.json.decode(said[0])["address"].rpartition(":")[2]) if said else 0

    def leaks(self) -> Iterator[str]:
        """Whatever came out that should not have."""
        for line in some(self.logged):
            yield from (f"{tile} in {line}" for tile in SERIAL.findall(line))
            yield from (f"a secret in {line}" for secret in self.secrets | self.noted.seeds if secret in line)
        for page in some(self.pages):
            yield from (f"{tile} on {page}" for tile in SERIAL.findall(page))
        for told in some(self.watched):
            known = self.noted.public[told["room"]][told["seq"]]
            yield from (f"{tile} in {told}" for tile in SERIAL.findall(str(told)) if tile not in known)
        for player in some(self.players):
            for match, seat, said in player_lines(player):
                known = self.noted.own[match, seat] | self.noted.public[match][-1]
                yield from (f"{tile} to {seat}: {said}" for tile in SERIAL.findall(said) if tile not in known)


def player_lines(player: Player) -> Iterator[tuple[str, int, str]]:
    """All that somebody was told in a match, with its seat there."""
    seats = {message["match"]: message["seat"] for message in player.heard if message["type"] == "start"}
    for message in player.heard:
        if message.get("match") in seats:
            yield message["match"], seats[message["match"]], str(message)


async def watch(house: Open, evening: Evening, room: str) -> None:
    """Look on to the end."""
    caller = await house.watch(room)
    while (message := await caller.hear()) is not None:
        if "seq" in message:
            evening.watched.append(message)


async def look(port: int, evening: Evening) -> None:
    """Ask for what everybody may see, over and over."""
    while True:
        for path in ("/status", "/metrics"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                evening.pages.append((await reader.read()).decode())
            finally:
                writer.transport.abort()
        await asyncio.sleep(0.01)


async def spend(folder: Path, evening: Evening, ways: Sequence[str]) -> None:
    """Open a house, and let everybody play there at once: each who is bad with one who is not."""
    terms: Any = {"window": 3.0, "web": 0, "strangers": Strangers(matches=1)}
    token = make_token(folder, "ann")
    async with opened(folder, offer("q", {}, least=2, most=2, limits=LIMITS), **terms) as house:
        house.house.counts = evening.noted
        evening.secrets |= {token, Path(folder, "key").read_bytes().hex()}
        await house.until(lambda: evening.port)
        beside = [asyncio.create_task(look(evening.port, evening)), asyncio.create_task(watch(house, evening, ""))]
        await house.refusal(name="ann", token="0" * 32)
        await house.refusal(name="bob", game="chess")
        ann = await house.come("ann", token=token)
        ann.caller.leave()
        for number, way in enumerate(ways):
            for name, does in ((f"bad-{number}", way), (f"good-{number}", "")):
                player = Player(house, await house.call({"name": name}), len(evening.players), does)
                evening.players.append(player)
                player.pass_ = str((await player.hear() or {})["token"])
                evening.secrets.add(player.pass_)
        await house.until(lambda: len(house.house.rooms) == len(ways))
        watching = [watch(house, evening, room) for room in house.house.rooms]
        await asyncio.gather(*watching, *(player.play_to_the_end() for player in evening.players))
        for task in beside:
            task.cancel()
        await asyncio.wait(beside)


def spent(folder: Path, patch: pytest.MonkeyPatch, ways: Sequence[str], *, careless: bool = False) -> Evening:
    """An evening at a house where the tiles of Q have numbers."""
    number_the_tiles(patch.setattr)
    patch.setattr(rules_of_q, "Q", type(numbered(Short)))
    evening = Evening(Noting(careless=careless))
    with ExitStack() as logs:
        for as_json in (True, False):
            logs.enter_context(logging_to(evening.logged.append, as_json=as_json))
        run(spend(folder, evening, ways))
    return evening


def test_no_hidden_tile_and_no_secret_is_logged_shown_or_told_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evening = spent(tmp_path, monkeypatch, WAYS)

    assert list(evening.leaks()) == []
    for event in TOLD:
        told = [line for line in evening.logged if event in line]
        assert {line.startswith("{") for line in told} == {True, False}, event
    assert evening.noted.matches == len(WAYS)
    assert {fault.value for fault in evening.noted.ejections} == {"gone", "malformed", "flood", "illegal"}
    assert any(SERIAL.search(str(told)) for told in evening.watched)  # those on the map are seen


def test_the_meter_turns_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evening = spent(tmp_path, monkeypatch, WAYS[:1], careless=True)

    assert list(evening.leaks()) != []
