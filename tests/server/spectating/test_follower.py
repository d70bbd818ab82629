"""Test that spectators can follow matches from every event on, and refuse bad lines."""

from typing import Any

import msgspec
import pytest

from fairplay import BadRequest
from fairplay.core.events import Ended
from fairplay.games import GAMES
from fairplay.server.spectating.follower import Follower
from fairplay.server.spectating.hub import Hub
from tests.nonempty import nonempty
from tests.server.spectators import MatchEvents, Spectator, play_match_events


async def follow(events: MatchEvents) -> list[Spectator]:
    """Spectators of a match, one from every event on."""
    hub, spectators = Hub("r1", "the ice"), list[Spectator]()
    for event, match in events:
        hub.observe(event, match)
        await hub.wait_until_sent()
        spectators.append(Spectator())
        hub.add(spectators[-1])
    return spectators


@pytest.mark.virtual_time
@pytest.mark.parametrize("game", GAMES)
async def test_a_follower_that_joins_late_knows_the_same_as_one_from_the_start(game: str) -> None:
    events = play_match_events(game)
    last = len(events) - 1

    for joined, spectator in nonempty(enumerate(await follow(events))):
        follower = Follower()
        told = [it for it in map(follower.read_line, spectator.texts) if it is not None]
        assert [watched.number for _, watched in told] == list(range(joined, last + 1))
        for event, watched in told:
            was, match = events[watched.number]
            assert event == was
            assert watched.view(None) == match.view(None)
            assert (watched.turn, watched.names, watched.id) == (match.turn, match.names, match.id)
            assert watched.game.name == game
        assert isinstance(told[-1][0], Ended)


BAD = [
    *(b"", b"null", b"[]", b"{}", b"\xff\xfe"),
    *(b'{"type":"snapshot"}', b'{"type":"patch","seq":1,"patch":[]}', b'{"type":"goodbye"}'),
    b'{"type":"snapshot","x":' + b"[" * 100_000,
]


@pytest.mark.parametrize("line", BAD, ids=lambda line: repr(line[:30]))
def test_a_line_that_is_not_of_a_room_is_refused(line: bytes) -> None:
    with pytest.raises(BadRequest):
        Follower().read_line(line)


@pytest.mark.virtual_time
async def test_inconsistent_lines_of_a_server_are_refused() -> None:
    [first, second, *_] = (await follow(play_match_events("fish")))[0].texts
    snapshot, patch = (msgspec.json.decode(line) for line in (first, second))
    acted = {"type": "acted", "seat": 0, "action": patch["event"]["action"]}
    ejected = {"seat": 0, "fault": "illegal", "moment": "turn", "clause": None, "why": ""}
    ended: dict[str, Any] = {
        "type": "ended",
        "ranking": [],
        "ejected": [],
        **dict.fromkeys(("scores", "seed", "receipt")),
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
        {**snapshot, "event": {**acted, "action": {"type": "fly"}}},
        {**snapshot, "event": {**ended, "ranking": [["nobody"]]}},
        {**snapshot, "event": {**acted, "seat": 3}},
        {**snapshot, "event": {**acted, "seat": 0.0}},
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
        {key: value for key, value in patch.items() if key != "patch"},
    ]
    for lie in nonempty(lies):
        follower = Follower()
        follower.read_line(first)
        with pytest.raises(BadRequest):
            follower.read_line(msgspec.json.encode({**lie, "seq": lie["seq"] or 1}))
