"""Players elsewhere hear of changes if they ask for that, and nobody waits for them."""

import asyncio
import socket
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import seed_from
from fairplay.core.events import Acted, Ejected, Event, Fault
from fairplay.core.messages import Answered, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.games import game_with
from fairplay.hosting.table import Here
from fairplay.players.address import house_strategy
from fairplay.players.door import Door, listen_tcp, listen_websocket
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.changes import Change
from fairplay.referee.drivers import play_async
from fairplay.referee.host import dealt
from fairplay.referee.local import Local
from fairplay.referee.referee import AnyMatch
from fairplay.sandbox.level import Level, Sandbox
from fairplay.transport.connection import over_tcp as line_over
from fairplay.transport.framed import MOST_UNREAD
from tests.players.dialled import serve_dialled
from tests.players.lines import Clockwork, Scripted
from tests.players.machine import needs_strict
from tests.players.programs import PYTHON, Beside, holdings, nothing_left
from tests.toy import Toy

TOY = Toy()
MATCH = dealt(TOY, ["ann", "bob"], bytes(32), match_id="m")
WITHOUT_NEWS = dealt(Toy(cards=8, hand=4), ["ann", "bob"], bytes(32), match_id="m")
PATIENT = Limits(move=30, start_up=30, goodbye=5)
PATIENCE = 30.0

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


class Noting(Scripted):
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
    loop = Clockwork()
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


def types(line: Scripted) -> list[str]:
    """What was sent, in short; of a change, after how many cards."""
    return [f"changed {len(said['view']['played'])}" if "nonce" not in said else said["type"] for said in line.sent]


# What a channel does with them.


@pytest.mark.parametrize(
    ("answer", "listens"), [('{"changes":true}', True), ('{"name":"ann"}', False), ("null", False)]
)
def test_who_asks_for_changes_in_its_answer_to_hello_hears_of_them(answer: str, listens: bool) -> None:
    line = Noting(answer, takes=True)
    remote = Remote(line, TOY)

    ran(remote.hello())

    assert (remote.changed is not None) == listens


def test_who_asked_for_them_at_the_door_of_a_house_hears_of_them_too() -> None:
    assert Remote(Noting(takes=True), TOY, changes=True).changed is not None
    assert Remote(Noting(takes=True), TOY).changed is None


def test_who_can_take_them_has_each_at_once_and_once() -> None:
    line = Noting('{"changes":true}', "null", takes=True)
    remote = Remote(line, TOY)

    async def talk() -> None:
        await remote.hello()
        assert remote.changed is not None
        for facts in (1, 2, 3):
            remote.changed(after(facts))
        await remote.ask(TakeTurn(MATCH.view(0)))

    ran(talk())

    assert [msgspec.json.decode(text) for text in line.offered] == [
        {"type": "changed", "match": "m", "view": plain(TOY.pack(after(facts).view))} for facts in (1, 2, 3)
    ]
    assert types(line) == ["hello", "take_turn"]


def test_who_cannot_has_the_newest_before_the_next_question_and_no_other() -> None:
    line = Noting('{"changes":true}', "null", "null", "null", takes=False)
    remote = Remote(line, TOY)

    async def talk() -> None:
        await remote.hello()
        assert remote.changed is not None
        for facts in (1, 2, 3):
            remote.changed(after(facts))
        await remote.ask(TakeTurn(MATCH.view(0)))
        remote._broken = None  # null is no card, which does not matter here
        await remote.ask(TakeTurn(MATCH.view(0)))
        remote._broken = None
        remote.changed(after(4))
        line.takes = True
        remote.changed(after(5))
        await remote.ask(TakeTurn(MATCH.view(0)))

    ran(talk())

    assert types(line) == ["hello", "changed 3", "take_turn", "take_turn", "take_turn"]


def test_a_change_is_written_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Change] = []
    write = wire.changed

    def noted(change: Change) -> bytes:
        written.append(change)
        return write(change)

    monkeypatch.setattr(wire, "changed", noted)
    remotes = [Remote(Noting(takes=takes), TOY, changes=True) for takes in (True, False, True)]
    change = after(1)

    for remote in remotes:
        assert remote.changed is not None
        remote.changed(change)

    assert written == [change]


# Programs.


async def heard_by(
    tmp_path: Path, sandbox: Sandbox, *, changes: bool = True, limits: Limits = PATIENT
) -> tuple[list[str], AnyMatch]:
    """What a program says that it heard, in a match against a player in this process."""
    said: list[bytes] = []
    path = tmp_path / "listener.py"
    path.write_text(LISTENER.replace("CHANGES", str(changes)))
    program = await Program.start([*PYTHON, str(path)], sandbox=sandbox, hear=said.append)
    remote = Remote(program, TOY, match_id="m", limits=limits)
    await remote.hello()
    final = await play_async(WITHOUT_NEWS, [remote, Beside()])
    return b"".join(said).decode().splitlines(), final


def played_with(tmp_path: Path, sandbox: Sandbox, **options: Any) -> tuple[list[str], AnyMatch]:
    before = holdings()
    try:
        return asyncio.run(heard_by(tmp_path, sandbox, **options))
    finally:
        assert nothing_left(before)


PLAIN = Sandbox(Level.NONE)


@pytest.mark.parametrize(
    "sandbox",
    [PLAIN, pytest.param(Sandbox(Level.STRICT, pondering=True), marks=needs_strict)],
    ids=["without a sandbox", "pondering"],
)
def test_a_program_that_is_not_stopped_hears_of_every_change(sandbox: Sandbox, tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, sandbox)

    assert final.result.ejected == ()
    cards = len(final.view(None).played)
    assert [line for line in heard if line.startswith("changed")] == [f"changed {n} m" for n in range(1, cards + 1)]


@needs_strict
def test_a_program_that_is_stopped_hears_of_the_newest_when_it_is_asked(tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, Sandbox(Level.STRICT))

    assert final.result.ejected == ()
    assert heard[0] == "turn 0"
    turns = [int(line.split()[1]) for line in heard if line.startswith("turn")]
    assert len(turns) > 3
    pairs = [(f"changed {cards} m", f"turn {cards}") for cards in turns[1:]]
    assert heard[1:] == [line for pair in pairs for line in pair] + [f"changed {len(final.view(None).played)} m"]


def test_one_that_does_not_ask_for_them_hears_of_none(tmp_path: Path) -> None:
    heard, final = played_with(tmp_path, PLAIN, changes=False)

    assert final.result.ejected == ()
    assert {line.split()[0] for line in heard} == {"turn"}


def test_one_that_reads_no_more_holds_nobody_up_and_takes_no_room() -> None:
    async def offered() -> tuple[int, bool]:
        program = await Program.start([*PYTHON, "-c", "import time; time.sleep(60)"], sandbox=PLAIN)
        try:
            text, taken = b"x" * 4095 + b"\n", 0
            while program.offer(text):
                taken += len(text)
                assert taken < 10**6
            return taken + program._stdin.get_write_buffer_size(), program.offer(b"\n")
        finally:
            await program.hang_up(b"", 0)

    before = holdings()
    taken, again = asyncio.run(offered())
    assert nothing_left(before)

    assert taken <= 65536 + 2 * 4096
    assert not again


def test_one_that_has_ended_is_offered_nothing() -> None:
    async def offered() -> bool:
        program = await Program.start([*PYTHON, "-c", "pass"], sandbox=PLAIN)
        try:
            await program._ended.wait()
            while program.offer(b"\n"):
                await asyncio.sleep(0)  # until the pipe is seen to be broken
            return program.offer(b"\n")
        finally:
            await program.hang_up(b"", 0)

    assert not asyncio.run(offered())


# Connections.


FISH = game_with("fish", {"rows": 4, "columns": 4})
GREEDY = house_strategy("fish", "greedy", bytes(32))


class Listening:
    """A player at the other end that keeps what it hears of."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def take_turn(self, view: Any) -> Any:
        return GREEDY(view)

    def changed(self, view: Any) -> None:
        self.heard.append(view)


def over_tcp(door: Door, player: Any) -> None:
    assert serve_dialled(door.address, lambda _: player) is None


def over_websocket(door: Door, player: Any) -> None:
    assert serve_dialled(f"ws://{door.address}", lambda _: player) is None


async def joined(door: Door, visit: Any, player: Any) -> tuple[list[Event], list[Any], AnyMatch]:
    """The facts, and what spectators see after each, in a match of a player elsewhere against one in this process."""
    facts: list[Event] = []
    views: list[Any] = []

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            facts.append(event)
            views.append(match.view(None))

    coming = threading.Thread(target=visit, args=(door, player))
    coming.start()
    match = dealt(FISH, ["ann", "bob"], seed_from("changes"), match_id="m")
    (guest,) = await door.seat(FISH, match_id="m", limits=PATIENT)
    table: list[AsyncChannel] = [guest.remote, Here(Local(GREEDY, FISH))]
    final = await play_async(match, table, inform=inform)
    await asyncio.to_thread(coming.join, PATIENCE)
    assert not coming.is_alive()
    return facts, views, final


def test_a_guest_hears_of_every_change_and_the_match_is_the_same() -> None:
    player = Listening()

    facts, views, final = asyncio.run(joined(listen_tcp("0"), over_tcp, player))
    plain, _, _ = asyncio.run(joined(listen_tcp("0"), over_tcp, GREEDY))

    assert final.result.ejected == ()
    assert player.heard == views
    assert facts == plain


def test_over_websocket_it_hears_of_some_and_of_the_last() -> None:
    player = Listening()

    _, views, final = asyncio.run(joined(listen_websocket("0"), over_websocket, player))

    assert final.result.ejected == ()
    assert player.heard == [view for view in views if view in player.heard]
    assert player.heard[-1] == views[-1]


def test_what_a_player_elsewhere_raises_ends_it() -> None:
    class Raising(Listening):
        def changed(self, view: Any) -> None:
            raise ValueError("a bad day")

    def visit(door: Door, player: Any) -> None:
        with pytest.raises(ValueError, match="a bad day"):
            over_tcp(door, player)

    _, _, final = asyncio.run(joined(listen_tcp("0"), visit, Raising()))

    assert [out.fault for out in final.result.ejected] == [Fault.GONE]


def test_a_connection_that_reads_no_more_takes_no_room() -> None:
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
            await line.hang_up(b"", 0)
            return held, freed

    held, freed = asyncio.run(offered())

    assert held <= MOST_UNREAD + 4096
    assert freed


def read_all(line: socket.socket, length: int) -> None:
    while length > 0:
        length -= len(line.recv(65536))


def test_it_is_answered_as_before_where_nobody_listens() -> None:
    line = Noting("null", '{"type":"pass"}', takes=False)
    remote = Remote(line, TOY)

    async def talk() -> Any:
        await remote.hello()
        return await remote.ask(TakeTurn(MATCH.view(0)))

    assert isinstance(ran(talk()), Answered)
    assert (types(line), line.offered) == (["hello", "take_turn"], [])
