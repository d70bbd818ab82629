"""Test that remote players get changes if they ask for them, and that no match waits for that."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.messages import Answered, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.games import make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.address import built_in_strategy
from fairplay.players.listener import Listener, listen_tcp
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.changes import Change
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from tests.players.host_connection import serve_at_host
from tests.players.machine import needs_strict
from tests.players.programs import PLAIN, PYTHON, STRICT, first_card, leaves_no_process, running
from tests.players.scripted_connections import ScriptedConnection, reply_with, run_in_virtual_time
from tests.toy import Toy

TOY = Toy()
MATCH = deal_match(TOY, ["ann", "bob"], bytes(32), match_id="m")
TURN, PASS = TakeTurn(MATCH.view(0)), {"type": "pass"}
PATIENT = Limits(move=30, start_up=30, goodbye=5)


# What a channel does with them.


class Noting(ScriptedConnection):
    """A line that takes what it is offered, or does not, and has good answers to everything."""

    def __init__(self, *answers: Any, takes: bool) -> None:
        super().__init__(*((0.0, reply_with(answer)) for answer in answers))
        self.takes = takes
        self.offered: list[bytes] = []

    def offer(self, text: bytes) -> bool:
        self.offered.append(text)
        return self.takes

    def types(self) -> list[str]:
        """What was sent, in short; of a change, after how many cards."""
        return [said["type"] if "nonce" in said else f"changed {len(said['view']['played'])}" for said in self.sent]


def after(facts: int) -> Change:
    """A change, after so many cards were played."""
    match: AnyMatch = MATCH
    for _ in range(facts):
        seat = match.turn
        assert seat is not None
        match = match.after(Acted(seat, next(TOY.actions(match.view(seat)))))
    return Change(match)


def notify(remote: RemoteChannel, *changes: Change) -> None:
    assert remote.on_change is not None
    for change in changes:
        remote.on_change(change)


@pytest.mark.parametrize(
    ("answer", "wanted_before", "listens"),
    [({"changes": True}, False, True), ({"name": "ann"}, False, False), (None, False, False), (None, True, True)],
    ids=["in its answer to hello", "a name alone", "nothing", "at sign-in"],
)
def test_a_player_that_asks_for_changes_gets_them(answer: Any, wanted_before: bool, listens: bool) -> None:
    line = Noting(answer, PASS, takes=True)
    remote = RemoteChannel(line, TOY, changes=wanted_before)

    async def talk(_: object) -> None:
        await remote.hello()
        assert isinstance(await remote.ask(TURN), Answered)

    run_in_virtual_time(talk)

    assert (remote.on_change is not None) == listens
    assert (line.types(), line.offered) == (["hello", "take_turn"], [])


def test_a_fast_reader_gets_every_change_at_once_and_once() -> None:
    line = Noting(PASS, takes=True)
    remote = RemoteChannel(line, TOY, changes=True)

    async def talk(_: object) -> None:
        notify(remote, after(1), after(2), after(3))
        await remote.ask(TURN)

    run_in_virtual_time(talk)

    views = [msgspec.json.decode(msgspec.json.encode(TOY.pack(after(facts).view))) for facts in (1, 2, 3)]
    said = [{"type": "changed", "match": "m", "view": view} for view in views]
    assert [msgspec.json.decode(text) for text in line.offered] == said
    assert line.types() == ["take_turn"]


def test_a_slow_reader_gets_only_the_newest_change_before_the_next_question() -> None:
    line = Noting(PASS, PASS, PASS, takes=False)
    remote = RemoteChannel(line, TOY, changes=True)

    async def talk(_: object) -> None:
        notify(remote, after(1), after(2), after(3))
        await remote.ask(TURN)
        await remote.ask(TURN)
        notify(remote, after(4))
        line.takes = True
        notify(remote, after(5))
        await remote.ask(TURN)

    run_in_virtual_time(talk)

    assert line.types() == ["changed 3", "take_turn", "take_turn", "take_turn"]


def test_a_change_is_encoded_once_for_all_players(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = Mock(side_effect=wire.encode_changed)
    monkeypatch.setattr(wire, "encode_changed", encode)
    change = after(1)

    for takes in (True, False, True):
        notify(RemoteChannel(Noting(takes=takes), TOY, changes=True), change)

    encode.assert_called_once_with(change)


# Programs.

LISTENER = """
import json, os, sys

for text in sys.stdin.buffer:
    line = json.loads(text)
    if line["type"] == "changed":
        print("changed", len(line["view"]["played"]), line["match"], file=sys.stderr, flush=True)
        continue
    answer = None
    if line["type"] == "hello":
        answer = {"changes": True}
    if line["type"] == "take_turn":
        print("turn", len(line["view"]["played"]), file=sys.stderr, flush=True)
        view = line["view"]
        answer = {"type": "play", "card": view["hand"][0]} if view["hand"] else {"type": "pass"}
    os.write(1, json.dumps({"nonce": line["nonce"], "answer": answer}).encode() + b"\\n")
"""


async def heard_by_program(tmp_path: Path, sandbox: SandboxPolicy) -> tuple[list[str], int]:
    """What a program says that it heard, in a match against a player in this process; and how many cards it had."""
    said: list[bytes] = []
    path = tmp_path / "listener.py"
    path.write_text(LISTENER)
    async with running([*PYTHON, str(path)], sandbox, on_stderr=said.append) as program:
        remote = RemoteChannel(program, TOY, match_id="m", limits=PATIENT)
        await remote.hello()
        without_news = deal_match(Toy(cards=8, hand=4), ["ann", "bob"], bytes(32), match_id="m")
        final = await play_async(without_news, [remote, AsyncLocalChannel(LocalChannel(first_card, TOY))])
    assert final.result.ejected == ()
    return b"".join(said).decode().splitlines(), len(final.view(None).played)


PONDERING = SandboxPolicy(SandboxLevel.STRICT, pondering=True)


@pytest.mark.parametrize(
    "sandbox", [PLAIN, pytest.param(PONDERING, marks=needs_strict)], ids=["without a sandbox", "pondering"]
)
@leaves_no_process
async def test_a_program_that_is_not_stopped_gets_every_change(sandbox: SandboxPolicy, tmp_path: Path) -> None:
    heard, cards = await heard_by_program(tmp_path, sandbox)

    assert [line for line in heard if line.startswith("changed")] == [f"changed {n} m" for n in range(1, cards + 1)]


@needs_strict
@leaves_no_process
async def test_a_stopped_program_gets_the_newest_change_when_it_is_asked(tmp_path: Path) -> None:
    heard, cards = await heard_by_program(tmp_path, STRICT)

    turns = [int(line.split()[1]) for line in heard if line.startswith("turn")]
    assert turns[0] == 0
    assert len(turns) > 3
    pairs = [(f"changed {turn} m", f"turn {turn}") for turn in turns[1:]]
    assert heard == ["turn 0", *(line for pair in pairs for line in pair), f"changed {cards} m"]


@leaves_no_process
async def test_a_program_that_stops_reading_changes_delays_no_match_and_fills_no_buffer() -> None:
    async with running([*PYTHON, "-c", "import time; time.sleep(60)"]) as program:
        text, taken = b"x" * 4095 + b"\n", 0
        while program.offer(text):
            taken += len(text)
            assert taken < 10**6
        assert taken + program._stdin.get_write_buffer_size() <= 65536 + 2 * 4096
        assert not program.offer(b"\n")


@leaves_no_process
async def test_a_program_that_has_ended_is_offered_no_change() -> None:
    async with running([*PYTHON, "-c", "pass"]) as program:
        await program._ended.wait()
        while program.offer(b"\n"):
            await asyncio.sleep(0)  # until the pipe is seen to be broken
        assert not program.offer(b"\n")


# Connections.

FISH = make_game("fish", {"rows": 4, "columns": 4})
GREEDY = built_in_strategy("fish", "greedy", bytes(32))


class Listening:
    """A player at the other end that keeps what it hears of."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.take_turn = GREEDY

    def changed(self, view: Any) -> None:
        self.heard.append(view)


async def play_at(listener: Listener, player: Any) -> tuple[list[Event], list[Any]]:
    """The facts, and what spectators see after each, in a match of a remote player against one in this process."""
    facts: list[Event] = []
    views: list[Any] = []

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            facts.append(event)
            views.append(match.view(None))

    coming = asyncio.create_task(asyncio.to_thread(serve_at_host, listener.address, lambda _: player))
    match = deal_match(FISH, ["ann", "bob"], seed_from_text("changes"), match_id="m")
    (guest,) = await listener.accept_players(FISH, match_id="m", limits=PATIENT)
    table: list[AsyncChannel] = [guest.channel, AsyncLocalChannel(LocalChannel(GREEDY, FISH))]
    final = await play_async(match, table, on_event=inform)
    assert final.result.ejected == ()
    assert await coming is None
    return facts, views


def test_a_player_over_tcp_gets_every_change_and_the_match_is_the_same() -> None:
    player = Listening()

    facts, views = asyncio.run(play_at(listen_tcp("0"), player))
    without_changes, _ = asyncio.run(play_at(listen_tcp("0"), GREEDY))

    assert player.heard == views
    assert facts == without_changes
