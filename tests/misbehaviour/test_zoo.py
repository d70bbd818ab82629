"""Seat every beast of the zoo beside honest players, and find that it hurt nobody and left nothing."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.events import Ejected, Event, Fault
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import Parting, Unrecorded
from fairplay.players.limits import Limits
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.players.sandbox import MEGABYTE, Level, Sandbox
from fairplay.referee.drivers import play_async
from fairplay.referee.host import dealt
from tests.misbehaviour.zoo import OUT, ZOO, Beast
from tests.players.machine import needs_strict
from tests.players.programs import Beside, Namespaces, gained, holdings, nothing_left, script, soon
from tests.toy import Toy

LONG = Limits(move=30, start_up=30, goodbye=0.05)  # whoever is to crash has time for it, on a busy machine too
SHORT = Limits(move=30, start_up=30, first_move=0.8, goodbye=0.05)  # for the turn on which it misbehaves
NAMES = ("honest program", "beast", "honest neighbour")
BEAST = 1  # its seat
SMALL = Sandbox(Level.STRICT, memory=128 * MEGABYTE, space=8 * MEGABYTE)
HARMLESS = (
    "opens connections",
    "reads journals, passwords and other players",
    "writes beside itself and elsewhere",
    "looks for secrets in its surroundings",
)

pytestmark = needs_strict


class Outside:
    """What there is for a beast to reach: listeners, files, and a secret."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        def listening(family: int, kind: int, address: Any) -> socket.socket:
            found = stack.enter_context(socket.socket(family, kind))
            found.bind(address)
            found.setblocking(False)
            if kind == socket.SOCK_STREAM:
                found.listen()
            return found

        abstract = f"fairplay-{os.getpid()}"
        self.tcp = listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.udp = listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.abstract = listening(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}")
        self.path = listening(socket.AF_UNIX, socket.SOCK_STREAM, str(directory / "socket"))
        for name in ("den", "journal", "other", "writable"):
            (directory / name).mkdir()
            (directory / name).chmod(0o777)  # nothing but the sandbox protects it
        (directory / "journal" / "match.jsonl").write_text("the seed")
        (directory / "other" / "player.py").write_text("the plan")
        self.directory = directory
        self.told = {
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "abstract": abstract,
            "socket": str(directory / "socket"),
            "referee": os.getpid(),
            "parent": os.getppid(),
            "group": os.getpgid(0),
            "journal": str(directory / "journal"),
            "other": str(directory / "other"),
            "writable": str(directory / "writable"),
            "home": str(Path.home()),
            "host": os.uname().nodename,
        }

    def reached(self) -> list[str]:
        """Who heard something."""
        return [name for name in ("tcp", "udp", "abstract", "path") if heard(getattr(self, name))]

    def files(self) -> dict[str, str]:
        """Everything that there is."""
        return {str(path): path.read_text() for path in self.directory.rglob("*") if path.is_file()}


def heard(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(1)
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    monkeypatch.setenv("FAIRPLAY_SECRET", "the seed")
    with ExitStack() as stack:
        yield Outside(tmp_path, stack)


class Stand:
    """A player in this process that fails on its first turn, as somebody else did."""

    def __init__(self, failure: Failed) -> None:
        self._failure = failure

    async def ask(self, message: Message) -> Answer:
        return self._failure if isinstance(message, TakeTurn) else Answered(None)

    async def close(self, parting: Parting) -> None:
        pass


class Seen(Unrecorded):
    """What was announced, and with which answer the beast was put out."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.failure: Failed | None = None

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self.events.append(event)
        if isinstance(event, Ejected) and isinstance(answer, Failed):
            self.failure = answer
        return False


async def play_with(
    beast: Beast, outside: Outside, seen: Seen, sandbox: Sandbox = SMALL
) -> tuple[Match[Any, Any, Any], Namespaces]:
    """A match with a beast in the middle, and the namespaces that it was in."""
    game, den = Toy(), outside.directory / "den"
    told = json.dumps(outside.told)
    honest = await Program.start(
        script(outside.directory / "writable", name="honest.py"), sandbox=Sandbox(Level.STRICT)
    )
    wild = await Program.start([*script(den, beast.body), told], sandbox=sandbox)
    limits = SHORT if beast.fault is Fault.TIMED_OUT else LONG
    table = [Remote(honest, game, limits=LONG), Remote(wild, game, limits=limits)]
    assert all(isinstance(answer, Answered) for answer in await asyncio.gather(*(remote.hello() for remote in table)))
    spaces = Namespaces(wild)
    assert spaces.survivors()
    return await play_async(dealt(game, NAMES, bytes(32), match_id="zoo"), [*table, Beside()], seen), spaces


def test_there_are_enough_beasts() -> None:
    assert len(ZOO) >= 15
    assert {beast.fault for beast in ZOO} >= {Fault.TIMED_OUT, Fault.CRASHED, Fault.FLOOD, Fault.MALFORMED}


@pytest.mark.parametrize("beast", ZOO, ids=lambda beast: beast.name)
def test_a_beast_is_ejected_and_leaves_no_trace(beast: Beast, outside: Outside) -> None:
    seen, expected, before = Seen(), Seen(), holdings()
    match, spaces = asyncio.run(play_with(beast, outside, seen))

    assert soon(lambda: not spaces.survivors()), "somebody survived"
    spaces.let_go()
    assert nothing_left(before), gained(before)
    assert seen.failure is not None
    assert seen.failure.fault is beast.fault, seen.failure
    assert f"exit code {OUT}" not in seen.failure.why, seen.failure.evidence
    assert beast.code is None or seen.failure.why == f"the program ended with exit code {beast.code}", seen.failure
    assert beast.says in seen.failure.evidence
    assert outside.reached() == []
    assert {Path(path).name for path in outside.files()} == {"bot.py", "honest.py", "match.jsonl", "player.py"}

    alike = dealt(Toy(), NAMES, bytes(32), match_id="zoo")
    same = asyncio.run(play_async(alike, [Beside(), Stand(seen.failure), Beside()], expected))
    assert (match.state, match.result, seen.events) == (same.state, same.result, expected.events)
    assert [ejected.seat for ejected in match.result.ejected] == [BEAST]


@pytest.mark.parametrize("name", HARMLESS)
def test_without_a_sandbox_a_beast_gets_out(name: str, outside: Outside) -> None:
    """The meter turns red: of those that do no harm, all find what they look for."""
    (beast,), seen = [beast for beast in ZOO if beast.name == name], Seen()

    _, spaces = asyncio.run(play_with(beast, outside, seen, Sandbox(Level.NONE)))

    spaces.let_go()
    assert seen.failure is not None
    assert seen.failure.why == f"the program ended with exit code {OUT}"
