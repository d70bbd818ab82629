"""Test that spectators can follow matches from every event on, and refuse bad lines."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay import BadRequest
from fairplay.core.events import Ended, Event
from fairplay.core.match import Match
from fairplay.games import GAMES
from fairplay.server.spectating.follower import Follower, SpectatedMatch
from fairplay.server.spectating.hub import Hub
from tests.journal.journals import AnyMatch
from tests.nonempty import nonempty
from tests.server.small_servers import SmallServer

Told = tuple[Event, SpectatedMatch]


class RecordingWatcher:
    """A watcher that records all lines."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def offer(self, text: bytes) -> bool:
        self.lines.append(text)
        return True


class JoiningObserver:
    """An observer that adds a watcher after every event, and records all events."""

    def __init__(self, hub: Hub) -> None:
        self.events: list[tuple[Event, AnyMatch]] = []
        self.watchers: list[RecordingWatcher] = []
        self._hub = hub

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self.events.append((event, match))
        self.watchers.append(RecordingWatcher())
        self._hub.add(self.watchers[-1])


def follow(directory: Path, game: str) -> JoiningObserver:
    """Play a match with an ejection, with watchers from every event on."""

    async def play() -> JoiningObserver:
        server = SmallServer(directory)
        room = server.open_room(game, fails=1)
        hub = server.hubs[room]
        joining = JoiningObserver(hub)
        server.more.append(joining)
        await server.play_to_end(room)
        await hub.wait_until_sent()
        return joining

    return asyncio.run(play())


@pytest.mark.parametrize("game", GAMES)
def test_a_follower_that_joins_late_knows_the_same_as_one_from_the_start(tmp_path: Path, game: str) -> None:
    joining = follow(tmp_path, game)
    last = len(joining.events) - 1

    for joined, watcher in nonempty(enumerate(joining.watchers)):
        follower = Follower()
        events = [it for it in map(follower.read_line, watcher.lines) if it is not None]
        assert [watched.number for _, watched in events] == list(range(events[0][1].number, last + 1))
        assert events[0][1].number in (joined, last)
        for event, watched in events:
            was, match = joining.events[watched.number]
            assert event == was
            assert watched.view(None) == match.view(None)
            assert (watched.turn, watched.names, watched.id) == (match.turn, match.names, match.id)
            assert watched.game.name == game
        assert isinstance(events[-1][0], Ended)


BAD: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b'{"type":"snapshot"}',
    b'{"type":"patch","seq":1,"patch":[]}',
    b'{"type":"goodbye"}',
    b"\xff\xfe",
    b'{"type":"snapshot","x":' + b"[" * 100_000,
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_line_that_is_not_of_a_room_is_refused(number: int) -> None:
    with pytest.raises(BadRequest):
        Follower().read_line(BAD[number])


def test_inconsistent_lines_of_a_server_are_refused(tmp_path: Path) -> None:
    [first, second, *_] = follow(tmp_path, "fish").watchers[0].lines
    snapshot, patch = (msgspec.json.decode(line) for line in (first, second))
    ejected = {"seat": 0, "fault": "illegal", "moment": "turn", "clause": None, "why": ""}
    ended: dict[str, Any] = {
        "type": "ended",
        "ranking": [],
        "ejected": [],
        "scores": None,
        "seed": None,
        "receipt": None,
    }
    follower = Follower()
    follower.read_line(first)
    assert follower.read_line(msgspec.json.encode({**snapshot, "event": {**ended, "ejected": [ejected]}, "seq": 1}))
    lies: list[dict[str, Any]] = [
        {**snapshot, "view": {"board": "none"}},
        {**snapshot, "game": "../../etc"},
        {**snapshot, "names": 7},
        {**snapshot, "parameters": {"rows": -1}},
        {**snapshot, "event": {"type": "acted"}},
        {**snapshot, "event": {"type": "acted", "seat": 0, "action": {"type": "fly"}}},
        {**snapshot, "event": {"type": "ended", "ranking": [["nobody"]], "ejected": [], "scores": None}},
        {**snapshot, "event": {"type": "acted", "seat": 3, "action": patch["event"]["action"]}},
        {**snapshot, "event": {"type": "acted", "seat": 0.0, "action": patch["event"]["action"]}},
        {**snapshot, "event": {**ended, "ejected": [{**ejected, "seat": -1}]}},
        {**snapshot, "event": {**ended, "scores": [1]}},
        {**patch, "seq": 7},
        {**patch, "patch": [{"op": "replace", "path": "/nowhere/3", "value": 1}]},
        {**patch, "patch": [{"op": "replace", "path": "/view/board/99", "value": 1}]},
        {**patch, "patch": [{"op": "add", "path": "/seq/x", "value": 1}]},
        {**patch, "patch": [{"op": "replace", "path": "", "value": 5}]},
        {**patch, "patch": [{"op": "replace", "path": "", "value": {}}]},
        {**patch, "patch": [{"op": "remove", "path": "/view"}]},
        {**patch, "patch": [{"op": "move", "path": "/turn", "from": "/seq"}]},
        {**patch, "patch": [{"op": "replace", "path": "/turn", "value": "ann"}]},
        {**patch, "patch": 3},
        {**patch, "patch": [7]},
        {key: value for key, value in patch.items() if key != "patch"},
    ]

    for lie in nonempty(lies):
        follower = Follower()
        follower.read_line(first)
        with pytest.raises(BadRequest):
            follower.read_line(msgspec.json.encode({**lie, "seq": lie["seq"] or 1}))
