"""Follow a match at a house from the command line: by lines, and as JSON."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairplay.cli import watch as watch_module
from fairplay.cli.client import visiting
from fairplay.cli.watch import CUT_OFF, in_ascii, in_place
from fairplay.core.errors import BadRequest
from fairplay.games import GAMES
from fairplay.journal.replay import read
from fairplay.observers.reporter import in_words, standings
from fairplay.protocol import wire
from fairplay.server.spectating.following import QUIET, Follower, Watched
from fairplay.server.spectating.hub import Hub
from tests.cli.command import Done, fairplay, refusal, script
from tests.cli.test_join import Script
from tests.server.houses import Running, running
from tests.server.watchers import Spectator, story

HELLO = wire.encode(wire.Hello(match="", turn=0, nonce="1-a", limit=5.0, protocol=1)) + b"\n"
PLACE = {"type": "place", "at": [0, 0]}
NO_LINE = "no line of a room: ValueError"
LIES: dict[str, tuple[dict[str, Any], str]] = {
    "a patch that does not fit": (
        {"type": "patch", "seq": 1, "patch": [{"op": "replace", "path": "/view/\x1b[2J\n", "value": 1}]},
        r"the patch does not fit: cannot replace '/view/\x1b[2J\n'",
    ),
    "a patch to a number": (
        {"type": "patch", "seq": 1, "patch": [{"op": "add", "path": "/seq/x", "value": 1}]},
        "the patch does not fit: cannot add '/seq/x'",
    ),
    "an operation that no server sends": (
        {"type": "patch", "seq": 1, "patch": [{"op": "move", "from": "/turn", "path": "/seq"}]},
        "this is no JSON Patch: Invalid enum value 'move' - at `$[0].op`",
    ),
    "a patch of everything": (
        {"type": "patch", "seq": 1, "patch": [{"op": "replace", "path": "", "value": None}]},
        "the patch does not fit: it leaves no snapshot",
    ),
    "a patch of an event that was missed": (
        {"type": "patch", "seq": 2, "patch": []},
        "after event 0 comes 1, and not 2",
    ),
    "an action of nobody": ({"seq": 1, "event": {"type": "acted", "seat": 99, "action": PLACE}}, NO_LINE),
    "scores of others": (
        {
            "seq": 1,
            "event": {"type": "ended", "ranking": [], "ejected": [], "scores": [1], "seed": None, "receipt": None},
        },
        NO_LINE,
    ),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as it:
        yield it


def followed(house: Running, room: str, *options: str) -> Done:
    """What somebody sees who comes now and stays to the end."""
    hub = house.house.hubs[room]
    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door, room, *options)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.to_the_end(room)
        return watching.result(60)


@pytest.mark.parametrize("game", GAMES)
def test_lines_tell_a_match_from_where_one_comes_in(house: Running, game: str) -> None:
    room = house.open(game, fails=1)
    house.turns(room, 1)

    done = followed(house, room)

    recorded = read(house.house.journal(room) or "")
    assert recorded.closing is not None
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("at the table: ann, bob, cyd; 1 moves so far\n")
    for fact in recorded.facts:
        assert f"\n{in_words(fact, recorded.names)[0]}\n" in done.out
    assert done.out.endswith("\n".join(standings(recorded.closing.result, recorded.names)) + "\n")


def test_programs_get_the_lines_of_the_house(house: Running) -> None:
    room = house.open("fish")

    done = followed(house, room, "--json")

    told = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [it["type"] for it in (told[0], told[1], told[-2], told[-1])] == ["snapshot", "patch", "patch", "snapshot"]
    assert [it["seq"] for it in told[:-1]] == list(range(len(told) - 1))
    assert told[-1]["event"]["type"] == "ended"


def test_without_a_room_the_house_chooses(house: Running) -> None:
    for room in tuple(house.house.hubs):
        house.to_the_end(room)
    room = house.open("fish")
    hub = house.house.hubs[room]

    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.to_the_end(room)
        done = watching.result(60)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"match: {room}\n")


def test_a_room_that_is_not_there_is_said_in_one_line(house: Running) -> None:
    assert "there is no room nowhere" in refusal(fairplay("watch", house.door, "nowhere"))
    assert "there is no room" in refusal(fairplay("watch", house.door, "x" * 100))


def test_it_is_said_if_the_house_hangs_up_before_the_end(house: Running) -> None:
    room = house.open("fish")
    hub = house.house.hubs[room]

    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door, room)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.do(house.house.hang_up)
        done = watching.result(60)

    assert done.code == 2
    assert "the house hung up before the end of the match" in done.err


def test_names_move_no_terminal(house: Running) -> None:
    room = house.open("fish", ("\x1b[2Jann", "bob\r\n"))

    house.turns(room, 1)
    done = followed(house, room, "--lines")

    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\r" not in done.out


def hostile_house(told: dict[str, Any]) -> Script:
    """A house that shows the start of a match, and then tells this of it."""
    hub = Hub("1", "fish-1")
    hub.observe(*story("fish", 2)[0])
    snapshot = json.loads(hub.snapshot())
    return Script(
        HELLO, *(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in (snapshot, snapshot | told))
    )


@pytest.mark.parametrize("options", [["--lines"], ["--json"]], ids=" ".join)
@pytest.mark.parametrize(("lie", "why"), LIES.values(), ids=LIES)
def test_what_makes_no_sense_is_said_in_one_line(lie: dict[str, Any], why: str, options: list[str]) -> None:
    with hostile_house(lie) as lying:
        done = fairplay("watch", lying.address, *options)

    assert done.code == 2
    assert done.err == f"fairplay: {why}\n"


def test_a_match_that_is_over_when_a_spectator_comes_is_shown_once() -> None:
    hub = Hub("1", "fish-1")

    async def play() -> None:
        for event, match in story("fish", 2):
            hub.observe(event, match)

    asyncio.run(play())

    with Script(HELLO, hub.snapshot()) as server:
        done = fairplay("watch", server.address)

    assert (done.code, done.err) == (0, "")
    assert "at the table" not in done.out
    assert done.out.count("1. ") == 1


def test_the_lines_for_programs_are_ascii_whatever_the_house_says() -> None:
    names = ["A\x9b31mred\u202e", "b\U0001f41f"]

    with hostile_house({"names": names}) as lying:
        done = fairplay("watch", lying.address, "--json")

    assert done.out.isascii()
    assert json.loads(done.out.splitlines()[1])["names"] == names


def test_a_line_that_is_too_deep_is_refused() -> None:
    with pytest.raises(BadRequest, match="no line of a room"):
        in_ascii(b"[" * 100_000 + b"]" * 100_000)


def test_programs_are_told_by_the_exit_code_that_a_house_hung_up_before_the_end() -> None:
    with Script(HELLO, QUIET + b"\n") as server:
        done = fairplay("watch", server.address, "--json")

    assert (done.code, done.err) == (2, f"fairplay: {CUT_OFF}\n")
    assert len(done.out.splitlines()) == 1


def test_a_match_in_which_nothing_happens_for_long_is_watched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "ANSWER_TIMEOUT_S", 1.0)
    with Script(HELLO, QUIET + b"\n", pause=2.0) as server:
        done = fairplay("watch", server.address)

    assert done.err.endswith("fairplay: " + f"{server.address}: {CUT_OFF}\n")


@pytest.mark.parametrize("step", [1.0, -1.0], ids=["a clock", "a clock that is set back"])
def test_a_turn_took_as_long_as_the_event_before_it_is_ago(step: float, monkeypatch: pytest.MonkeyPatch) -> None:
    follower, spectator, times = Follower(), Spectator(), []

    @contextmanager
    def off_screen(_: object, match: Watched, took: Callable[[], Mapping[int, Sequence[float]]]) -> Iterator[Any]:
        yield SimpleNamespace(observe=lambda *_: times.append(sum(map(sum, took().values()))))

    monkeypatch.setattr(watch_module, "live", off_screen)
    clock = count(1000.0, step)

    async def work() -> None:
        hub = Hub("r1", "the ice", now=lambda: next(clock))
        hub.add(spectator)
        for event, match in story("fish", 2)[:6]:
            hub.observe(event, match)
            await hub.caught_up()

    asyncio.run(work())
    told = [told for line in spectator.lines if (told := follower.hear(json.dumps(line).encode())) is not None]

    assert not in_place(told[0], told[1:])
    assert times == [max(0.0, step) * number for number in range(6)]


def test_a_room_whose_name_is_no_text_is_refused() -> None:
    done = fairplay("watch", "127.0.0.1:1", "\udcff", "--wait", "0.01")

    assert refusal(done) == "'\\udcff' is no text in UTF-8"


def test_a_file_without_certificates_is_refused_before_a_house_is_called(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("junk")

    done = fairplay("watch", "tls://127.0.0.1:1", "--ca", str(tmp_path / "ca.pem"), "--wait", "0.01")

    assert refusal(done).startswith(f"{tmp_path / 'ca.pem'} has no certificates: ")


def test_help_names_the_room(house: Running) -> None:
    assert "fairplay status" in fairplay("watch", "--help").out
