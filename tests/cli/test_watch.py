"""Test `fairplay watch`: a match at a server is shown as lines or as JSON."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from fairplay.cli import watch as watch_module
from fairplay.cli.client import server_session
from fairplay.cli.watch import CUT_OFF_MESSAGE, draw_in_place, escape_line
from fairplay.core.errors import BadRequest
from fairplay.games import GAMES
from fairplay.journal.replay import read_journal
from fairplay.observers.reporter import describe_event, format_standings
from fairplay.protocol import wire
from fairplay.server.spectating.follower import IDLE_LINE, Follower, SpectatedMatch
from fairplay.server.spectating.hub import Hub
from tests.cli.command import CommandResult, refusal_line, run_fairplay, run_script
from tests.cli.test_join import Script
from tests.server.small_servers import RunningServer, run_small_server
from tests.server.spectators import Spectator, play_match_events

HELLO = wire.encode(wire.Hello(match="", turn=0, nonce="1-a", limit=5.0, protocol=wire.PROTOCOL_VERSION)) + b"\n"
PLACE = {"type": "place", "at": [0, 0]}
NO_LINE = "not a line of a room: ValueError"
LIES: dict[str, tuple[dict[str, Any], str]] = {
    "a patch that does not fit": (
        {"type": "patch", "seq": 1, "patch": [{"op": "replace", "path": "/view/\x1b[2J\n", "value": 1}]},
        r"the patch does not fit: cannot replace '/view/\x1b[2J\n'",
    ),
    "an event that was missed": ({"type": "patch", "seq": 2, "patch": []}, "expected event 1 after 0, not 2"),
    "an action of nobody": ({"seq": 1, "event": {"type": "acted", "seat": 99, "action": PLACE}}, NO_LINE),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


def followed(server: RunningServer, room: str, *options: str, named: bool = True) -> CommandResult:
    """What somebody sees who comes now and stays to the end."""
    hub = server.server.hubs[room]
    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(run_script, "watch", server.listener, *((room,) if named else ()), *options)
        while not hub.watchers and not watching.done():
            server.play_turns(room, 0)
        server.play_to_end(room)
        return watching.result(60)


@pytest.mark.parametrize("game", GAMES)
def test_lines_tell_a_match_from_where_one_comes_in(server: RunningServer, game: str) -> None:
    room = server.open_room(game, fails=1)
    server.play_turns(room, 1)

    done = followed(server, room)

    recorded = read_journal(server.server.journal(room) or "")
    assert recorded.closing is not None
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("at the table: ann, bob, cyd; 1 moves so far\n")
    for fact in recorded.facts:
        assert f"\n{describe_event(fact, recorded.names)[0]}\n" in done.out
    assert done.out.endswith("\n".join(format_standings(recorded.closing.result, recorded.names)) + "\n")


def test_programs_get_the_lines_of_the_server(server: RunningServer) -> None:
    room = server.open_room("fish")

    done = followed(server, room, "--json")

    told = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [it["type"] for it in (told[0], told[1], told[-2], told[-1])] == ["snapshot", "patch", "patch", "snapshot"]
    assert [it["seq"] for it in told[:-1]] == list(range(len(told) - 1))
    assert told[-1]["event"]["type"] == "ended"


def test_without_a_room_the_server_chooses(server: RunningServer) -> None:
    for room in tuple(server.server.hubs):
        server.play_to_end(room)
    room = server.open_room("fish")

    done = followed(server, room, named=False)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"match: {room}\n")


def test_a_room_that_is_not_there_is_said_in_one_line(server: RunningServer) -> None:
    assert "no room nowhere" in refusal_line(run_fairplay("watch", server.listener, "nowhere"))
    assert "there is no room" in refusal_line(run_fairplay("watch", server.listener, "x" * 100))


def test_names_move_no_terminal(server: RunningServer) -> None:
    room = server.open_room("fish", ("\x1b[2Jann", "bob\r\n"))

    server.play_turns(room, 1)
    done = followed(server, room, "--lines")

    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\r" not in done.out


def hostile_server(told: dict[str, Any]) -> Script:
    """A server that shows the start of a match, and then tells this of it."""
    hub = Hub("1", "fish-1")
    hub.observe(*play_match_events("fish", 2)[0])
    snapshot = json.loads(hub.snapshot())
    return Script(
        HELLO, *(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in (snapshot, snapshot | told))
    )


@pytest.mark.parametrize("options", [["--lines"], ["--json"]], ids=" ".join)
@pytest.mark.parametrize(("lie", "why"), LIES.values(), ids=LIES)
def test_watch_refuses_invalid_arguments_in_one_line(lie: dict[str, Any], why: str, options: list[str]) -> None:
    with hostile_server(lie) as lying:
        done = run_fairplay("watch", lying.address, *options)

    assert done.code == 2
    assert done.err == f"fairplay: {why}\n"


def test_a_match_that_is_over_when_a_spectator_comes_is_shown_once() -> None:
    hub = Hub("1", "fish-1")

    async def play() -> None:
        for event, match in play_match_events("fish", 2):
            hub.observe(event, match)

    asyncio.run(play())

    with Script(HELLO, hub.snapshot()) as server:
        done = run_fairplay("watch", server.address)

    assert (done.code, done.err) == (0, "")
    assert "at the table" not in done.out
    assert done.out.count("1. ") == 1


def test_the_lines_for_programs_are_ascii_whatever_the_server_says() -> None:
    names = ["A\x9b31mred\u202e", "b\U0001f41f"]

    with hostile_server({"names": names}) as lying:
        done = run_fairplay("watch", lying.address, "--json")

    assert done.out.isascii()
    assert json.loads(done.out.splitlines()[1])["names"] == names


def test_a_line_that_is_too_deep_is_refused() -> None:
    with pytest.raises(BadRequest, match="not a line of a room"):
        escape_line(b"[" * 100_000 + b"]" * 100_000)


def test_watch_has_an_exit_code_for_a_server_that_disconnects_before_the_end() -> None:
    with Script(HELLO, IDLE_LINE + b"\n") as server:
        done = run_fairplay("watch", server.address, "--json")

    assert (done.code, done.err) == (2, f"fairplay: {CUT_OFF_MESSAGE}\n")
    assert len(done.out.splitlines()) == 1


def test_a_match_in_which_nothing_happens_for_long_is_watched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_session, "ANSWER_TIMEOUT_S", 1.0)
    with Script(HELLO, IDLE_LINE + b"\n", pause=2.0) as server:
        done = run_fairplay("watch", server.address)

    assert done.err.endswith("fairplay: " + f"{server.address}: {CUT_OFF_MESSAGE}\n")


@pytest.mark.parametrize("step", [1.0, -1.0], ids=["a clock", "a clock that is set back"])
def test_a_turn_took_as_long_as_the_event_before_it_is_ago(step: float, monkeypatch: pytest.MonkeyPatch) -> None:
    follower, spectator, times = Follower(), Spectator(), []

    @contextmanager
    def off_screen(
        _: object, match: SpectatedMatch, took: Callable[[], Mapping[int, Sequence[float]]]
    ) -> Iterator[Any]:
        yield SimpleNamespace(observe=lambda *_: times.append(sum(map(sum, took().values()))))

    monkeypatch.setattr(watch_module, "show_live", off_screen)
    clock = count(1000.0, step)

    async def work() -> None:
        hub = Hub("r1", "the ice", now=lambda: next(clock))
        hub.add(spectator)
        for event, match in play_match_events("fish", 2)[:6]:
            hub.observe(event, match)
            await hub.wait_until_sent()

    asyncio.run(work())
    told = [told for line in spectator.lines if (told := follower.read_line(json.dumps(line).encode())) is not None]

    assert not draw_in_place(told[0], told[1:])
    assert times == [max(0.0, step) * number for number in range(6)]
