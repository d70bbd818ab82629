"""Test that remote players get changes if they ask for them, and that no match waits for that."""

import asyncio
import socket
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fault
from fairplay.core.messages import Answered, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.games import make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.address import built_in_strategy
from fairplay.players.listener import Listener, listen_tcp, listen_websocket
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.changes import Change
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.transport.framed import MAX_UNREAD_BYTES
from fairplay.transport.sockets import accept_tcp as line_over
from tests.players.host_connection import serve_at_host
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON, InProcessPlayer, current_holdings, is_cleaned_up
from tests.players.scripted_connections import ScriptedConnection, VirtualTimeLoop
from tests.toy import Toy

TOY = Toy()
MATCH = deal_match(TOY, ["ann", "bob"], bytes(32), match_id="m")
WITHOUT_NEWS = deal_match(Toy(cards=8, hand=4), ["ann", "bob"], bytes(32), match_id="m")
PATIENT = Limits(move=30, start_up=30, goodbye=5)
JOIN_TIMEOUT_S = 30.0

LISTENER = """
import json, os, sys

for text in sys.stdin.buffer:
    line = json.loads(text)
    if line["type"] == "changed":
        print("changed", len(line["view"]["played"]), line["match"], file=sys.stderr, flush=True)
        continue
    answer = None
    if line["type"] == "hello":
        answer = {"changes": CHANGES}
    if line["type"] == "take_turn":
        print("turn", len(line["view"]["played"]), file=sys.stderr, flush=True)
        view = line["view"]
        answer = {"type": "play", "card": view["hand"][0]} if view["hand"] else {"type": "pass"}
    os.write(1, json.dumps({"nonce": line["nonce"], "answer": answer}).encode() + b"\\n")
"""


class Noting(ScriptedConnection):
    """A line that takes what it is offered, or does not, and has good answers to everything."""

    def __init__(self, *answers: str, takes: bool) -> None:
        super().__init__(*((0.0, lambda asked, said=said: self._reply(asked[-1], said)) for said in answers))
        self.takes = takes
        self.offered: list[bytes] = []

    def offer(self, text: bytes) -> bool:
        self.offered.append(text)
        return self.takes

    def _reply(self, question: dict[str, Any], said: str) -> bytes:
        return b'{"nonce":"%b","answer":%b}' % (question["nonce"].encode(), said.encode())


def ran(work: Coroutine[Any, Any, Any]) -> Any:
    """What it comes to, on a loop where time takes no time."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def after(facts: int) -> Change:
    """A change, after so many cards were played."""
    match: AnyMatch = MATCH
    for _ in range(facts):
        seat = match.turn
        assert seat is not None
        match = match.after(Acted(seat, next(TOY.actions(match.view(seat)))))
    return Change(match)


def plain(view: Any) -> Any:
    """As it is on the wire."""
    return msgspec.json.decode(msgspec.json.encode(view))


def types(line: ScriptedConnection) -> list[str]:
    """What was sent, in short; of a change, after how many cards."""
    return [f"changed {len(said['view']['played'])}" if "nonce" not in said else said["type"] for said in line.sent]


# What a channel does with them.


@pytest.mark.parametrize(
    ("answer", "listens"), [('{"changes":true}', True), ('{"name":"ann"}', False), ("null", False)]
)
def test_a_player_that_asks_for_changes_in_its_answer_to_hello_gets_them(answer: str, listens: bool) -> None:
    line = Noting(answer, takes=True)
    remote = RemoteChannel(line, TOY)

    ran(remote.hello())

    assert (remote.on_change is not None) == listens


def test_a_client_that_asked_for_changes_at_sign_in_gets_them() -> None:
    assert RemoteChannel(Noting(takes=True), TOY, changes=True).on_change is not None
    assert RemoteChannel(Noting(takes=True), TOY).on_change is None


def test_a_fast_reader_gets_every_change_at_once_and_once() -> None:
    line = Noting('{"changes":true}', "null", takes=True)
    remote = RemoteChannel(line, TOY)

    async def talk() -> None:
        await remote.hello()
        assert remote.on_change is not None
        for facts in (1, 2, 3):
            remote.on_change(after(facts))
        await remote.ask(TakeTurn(MATCH.view(0)))

    ran(talk())

    assert [msgspec.json.decode(text) for text in line.offered] == [
        {"type": "changed", "match": "m", "view": plain(TOY.pack(after(facts).view))} for facts in (1, 2, 3)
    ]
    assert types(line) == ["hello", "take_turn"]


def test_a_slow_reader_gets_only_the_newest_change_before_the_next_question() -> None:
    line = Noting('{"changes":true}', "null", "null", "null", takes=False)
    remote = RemoteChannel(line, TOY)

    async def talk() -> None:
        await remote.hello()
        assert remote.on_change is not None
        for facts in (1, 2, 3):
            remote.on_change(after(facts))
        await remote.ask(TakeTurn(MATCH.view(0)))
        remote._failed_answer = None  # null is no card, which does not matter here
        await remote.ask(TakeTurn(MATCH.view(0)))
        remote._failed_answer = None
        remote.on_change(after(4))
        line.takes = True
        remote.on_change(after(5))
        await remote.ask(TakeTurn(MATCH.view(0)))

    ran(talk())

    assert types(line) == ["hello", "changed 3", "take_turn", "take_turn", "take_turn"]


def test_a_change_is_encoded_once_for_all_players(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Change] = []
    write = wire.encode_changed

    def noted(change: Change) -> bytes:
        written.append(change)
        return write(change)

    monkeypatch.setattr(wire, "encode_changed", noted)
    remotes = [RemoteChannel(Noting(takes=takes), TOY, changes=True) for takes in (True, False, True)]
    change = after(1)

    for remote in remotes:
        assert remote.on_change is not None
        remote.on_change(change)

    assert written == [change]


# Programs.


async def heard_by(
    tmp_path: Path, sandbox: SandboxPolicy, *, changes: bool = True, limits: Limits = PATIENT
) -> tuple[list[str], AnyMatch]:
    """What a program says that it heard, in a match against a player in this process."""
    said: list[bytes] = []
    path = tmp_path / "listener.py"
    path.write_text(LISTENER.replace("CHANGES", str(changes)))
    program = await ProgramConnection.start([*PYTHON, str(path)], sandbox=sandbox, on_stderr=said.append)
    remote = RemoteChannel(program, TOY, match_id="m", limits=limits)
    await remote.hello()
    final = await play_async(WITHOUT_NEWS, [remote, InProcessPlayer()])
    return b"".join(said).decode().splitlines(), final


def played_with(tmp_path: Path, sandbox: SandboxPolicy, **options: Any) -> tuple[list[str], AnyMatch]:
    before = current_holdings()
    try:
        return asyncio.run(heard_by(tmp_path, sandbox, **options))
    finally:
        assert is_cleaned_up(before)


PLAIN = SandboxPolicy(SandboxLevel.NONE)


@pytest.mark.parametrize(
    "sandbox",
    [PLAIN, pytest.param(SandboxPolicy(SandboxLevel.STRICT, pondering=True), marks=needs_strict)],
    ids=["without a sandbox", "pondering"],
)
def test_a_program_that_is_not_stopped_gets_every_change(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, sandbox)

    assert final.result.ejected == ()
    cards = len(final.view(None).played)
    assert [line for line in heard if line.startswith("changed")] == [f"changed {n} m" for n in range(1, cards + 1)]


@needs_strict
def test_a_stopped_program_gets_the_newest_change_when_it_is_asked(tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, SandboxPolicy(SandboxLevel.STRICT))

    assert final.result.ejected == ()
    assert heard[0] == "turn 0"
    turns = [int(line.split()[1]) for line in heard if line.startswith("turn")]
    assert len(turns) > 3
    pairs = [(f"changed {cards} m", f"turn {cards}") for cards in turns[1:]]
    assert heard[1:] == [line for pair in pairs for line in pair] + [f"changed {len(final.view(None).played)} m"]


def test_a_program_that_does_not_ask_for_changes_gets_none(tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, PLAIN, changes=False)

    assert final.result.ejected == ()
    assert {line.split()[0] for line in heard} == {"turn"}


def test_a_program_that_stops_reading_changes_delays_no_match_and_fills_no_buffer() -> None:
    async def offered() -> tuple[int, bool]:
        program = await ProgramConnection.start([*PYTHON, "-c", "import time; time.sleep(60)"], sandbox=PLAIN)
        try:
            text, taken = b"x" * 4095 + b"\n", 0
            while program.offer(text):
                taken += len(text)
                assert taken < 10**6
            return taken + program._stdin.get_write_buffer_size(), program.offer(b"\n")
        finally:
            await program.close(b"", 0)

    before = current_holdings()
    taken, again = asyncio.run(offered())
    assert is_cleaned_up(before)

    assert taken <= 65536 + 2 * 4096
    assert not again


def test_a_program_that_has_ended_is_offered_no_change() -> None:
    async def offered() -> bool:
        program = await ProgramConnection.start([*PYTHON, "-c", "pass"], sandbox=PLAIN)
        try:
            await program._ended.wait()
            while program.offer(b"\n"):
                await asyncio.sleep(0)  # until the pipe is seen to be broken
            return program.offer(b"\n")
        finally:
            await program.close(b"", 0)

    assert not asyncio.run(offered())


# Connections.


FISH = make_game("fish", {"rows": 4, "columns": 4})
GREEDY = built_in_strategy("fish", "greedy", bytes(32))


class Listening:
    """A player at the other end that keeps what it hears of."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def take_turn(self, view: Any) -> Any:
        return GREEDY(view)

    def changed(self, view: Any) -> None:
        self.heard.append(view)


def over_tcp(listener: Listener, player: Any) -> None:
    assert serve_at_host(listener.address, lambda _: player) is None


def over_websocket(listener: Listener, player: Any) -> None:
    assert serve_at_host(f"ws://{listener.address}", lambda _: player) is None


async def joined(listener: Listener, visit: Any, player: Any) -> tuple[list[Event], list[Any], AnyMatch]:
    """The facts, and what spectators see after each, in a match of a remote player against one in this process."""
    facts: list[Event] = []
    views: list[Any] = []

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            facts.append(event)
            views.append(match.view(None))

    coming = threading.Thread(target=visit, args=(listener, player))
    coming.start()
    match = deal_match(FISH, ["ann", "bob"], seed_from_text("changes"), match_id="m")
    (guest,) = await listener.accept_players(FISH, match_id="m", limits=PATIENT)
    table: list[AsyncChannel] = [guest.channel, AsyncLocalChannel(LocalChannel(GREEDY, FISH))]
    final = await play_async(match, table, on_event=inform)
    await asyncio.to_thread(coming.join, JOIN_TIMEOUT_S)
    assert not coming.is_alive()
    return facts, views, final


def test_a_player_over_tcp_gets_every_change_and_the_match_is_the_same() -> None:
    player = Listening()

    facts, views, final = asyncio.run(joined(listen_tcp("0"), over_tcp, player))
    plain, _, _ = asyncio.run(joined(listen_tcp("0"), over_tcp, GREEDY))

    assert final.result.ejected == ()
    assert player.heard == views
    assert facts == plain


def test_a_player_over_websocket_gets_some_changes_and_the_last() -> None:
    player = Listening()

    _, views, final = asyncio.run(joined(listen_websocket("0"), over_websocket, player))

    assert final.result.ejected == ()
    assert player.heard == [view for view in views if view in player.heard]
    assert player.heard[-1] == views[-1]


def test_an_exception_of_a_remote_player_at_a_change_ends_its_loop() -> None:
    class Raising(Listening):
        def changed(self, view: Any) -> None:
            raise ValueError("a bad day")

    def visit(listener: Listener, player: Any) -> None:
        with pytest.raises(ValueError, match="a bad day"):
            over_tcp(listener, player)

    _, _, final = asyncio.run(joined(listen_tcp("0"), visit, Raising()))

    assert [out.fault for out in final.result.ejected] == [Fault.GONE]


def test_a_connection_that_stops_reading_changes_fills_no_buffer() -> None:
    async def offered() -> tuple[int, bool]:
        ours, theirs = socket.socketpair()
        line = await line_over(ours)
        with theirs:
            text, taken = b"x" * 4095 + b"\n", 0
            while line.offer(text):
                taken += len(text)
                assert taken < 10**8
            assert not line.offer(b"\n")
            held = line._transport.get_write_buffer_size()
            await asyncio.to_thread(read_all, theirs, taken)
            while line._transport.get_write_buffer_size():
                await asyncio.sleep(0)
            freed = line.offer(b"\n")
            await line.close(b"", 0)
            return held, freed

    held, freed = asyncio.run(offered())

    assert held <= MAX_UNREAD_BYTES + 4096
    assert freed


def read_all(line: socket.socket, length: int) -> None:
    while length > 0:
        length -= len(line.recv(65536))


def test_players_without_changes_are_asked_as_before() -> None:
    line = Noting("null", '{"type":"pass"}', takes=False)
    remote = RemoteChannel(line, TOY)

    async def talk() -> Any:
        await remote.hello()
        return await remote.ask(TakeTurn(MATCH.view(0)))

    assert isinstance(ran(talk()), Answered)
    assert (types(line), line.offered) == (["hello", "take_turn"], [])
