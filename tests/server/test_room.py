"""Test matches in rooms, by function calls and at tables, with the usual verdicts."""

import asyncio
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadRequest, Fault, Limits
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish, Place
from fairplay.games.fish.state import state_of
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.hosting.match_result import MatchResult
from fairplay.hosting.run import new_match
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.wire import MAX_LINE_BYTES
from fairplay.server.room import Room, RoomOptions, create_room
from tests.nonempty import nonempty
from tests.server.spectators import Spectator

GAME = Fish(rows=4, columns=4, fish=1)
IDS = ("ann", "bob")
Say = Callable[[dict[str, Any], Any], Any]  # makes a message from a question and the first legal action


def new_room(game: Any = GAME, **rest: Any) -> Room:
    options: dict[str, Any] = {"game": game, "player_ids": IDS, "room_id": "r1", "seed": bytes(32), **rest}
    return create_room("a room", RoomOptions(**options))


def answering(room: Room, player_id: str, say: Say = lambda asked, action: action) -> list[dict[str, Any]]:
    """Let a player answer each of its turns at once; all its messages."""
    heard: list[dict[str, Any]] = []
    game = room.match.game

    def hear(line: bytes) -> None:
        message = json.loads(line)
        heard.append(message)
        if message["type"] == "take_turn":
            action = next(iter(game.actions(game.unpack(message["view"]))))
            room.on_message(player_id, say(message, action))

    room.on_state_change(hear, player_id)
    return heard


def play(room: Room, players: Iterable[str] = ()) -> MatchResult:
    """Play a match, in which these players answer all turns."""
    for player_id in players:
        answering(room, player_id)
    return asyncio.run(room.play())


def ejections(room: Room) -> list[tuple[str, Fault, str]]:
    return [(room.player_ids[one.seat], one.fault, one.why) for one in room.match.result.ejected]


def faults(room: Room) -> list[tuple[str, Fault]]:
    return [(player, fault) for player, fault, _ in ejections(room)]


def kinds(heard: list[dict[str, Any]]) -> list[str]:
    """The types of all messages but those about changes."""
    return [line["type"] for line in heard if line["type"] not in ("snapshot", "patch")]


# Messages


@pytest.mark.parametrize("game", GAMES)
def test_any_game_is_played_by_messages(game: str) -> None:
    rules = game_info(game).rules(**game_info(game).quick)
    ids = (*IDS, "cyd")
    room = new_room(rules, player_ids=ids)
    heard, spectator = [answering(room, one) for one in ids], Spectator()
    room.hub.add(spectator)

    result = play(room)

    assert (result.match, result.names) == (room.match, ids)
    assert (room.stage, ejections(room)) == ("done", [])
    assert spectator.knows["event"]["type"] == "ended"
    remaining, count = rules.order(result.match.state), len(spectator.lines)
    for seat, lines in nonempty(enumerate(heard)):
        public = [line for line in lines if line["type"] in ("snapshot", "patch")]
        assert public == spectator.lines[: count if seat in remaining else len(public)]  # less if it was eliminated
        assert (kinds(lines).count("start"), kinds(lines).count("end")) == (1, 1)
    assert [line["seq"] for line in spectator.lines] == [*range(count - 1), count - 2]


def test_a_room_takes_bytes_plain_data_actions_and_replies() -> None:
    room = new_room()
    ways: list[Say] = [
        lambda asked, action: action,
        lambda asked, action: {"type": "place", "at": list(action.at)} if isinstance(action, Place) else action,
        lambda asked, action: {"nonce": asked["nonce"], "answer": action},
        lambda asked, action: (
            b' {"type": "place", "at": [%d, %d]}\n' % action.at if isinstance(action, Place) else action
        ),
    ]
    answering(room, "ann", lambda asked, action: ways[asked["turn"] % 4](asked, action))

    play(room, ["bob"])

    assert ejections(room) == []


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
TOO_LONG = b'"' + b"x" * MAX_LINE_BYTES + b'"'
BAD: dict[str, Any] = {
    "not JSON": b"place",
    "two values": b"null null",
    "another nonce beside": b'{"type":"place","at":[0,0]},"nonce":"1-0"',
    "a key twice": b'{"type":"place","at":[0,0],"at":[0,1]}',
    "no action": {"type": "fly"},
    "nothing": None,
    "not plain data": object(),
    "data without an end": ENDLESS,
    "not whole": {"type": "place", "at": [0.5, 0]},
    "no action in a reply": {"nonce": "", "answer": {"type": "fly"}},
    "too long": TOO_LONG,
    "nested too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("message", BAD)
def test_a_player_that_sends_a_malformed_message_is_ejected(message: str) -> None:
    room = new_room()
    heard = answering(room, "bob", lambda asked, action: BAD[message])

    play(room, ["ann"])

    assert faults(room) == [("bob", Fault.FLOOD if "too" in message else Fault.MALFORMED)]
    assert kinds(heard)[-1] == "goodbye"


@pytest.mark.parametrize("message", [one for one in BAD if one != "nothing"])
def test_a_player_that_sends_a_malformed_message_is_ejected_at_its_next_question(message: str) -> None:
    room = new_room()

    def shout(asked: dict[str, Any], action: Any) -> Any:
        if asked["turn"] == 2:
            assert not room.on_message("bob", BAD[message])
        return action

    answering(room, "ann", shout)
    heard = answering(room, "bob")

    play(room)

    assert faults(room) == [("bob", Fault.FLOOD if "too" in message else Fault.MALFORMED)]
    assert [line["turn"] for line in heard if line["type"] == "take_turn"] == [1, 2]


def test_the_first_of_several_malformed_messages_counts() -> None:
    room = new_room()
    for message in (TOO_LONG, b"{"):
        room.on_message("bob", message)

    play(room, IDS)

    assert faults(room) == [("bob", Fault.FLOOD)]


@pytest.mark.virtual_time
@pytest.mark.parametrize(("limits", "seconds"), [({}, 5.0), ({"limits": Limits(move=0.5)}, 0.5)], ids=["usual", "set"])
async def test_a_player_that_does_not_answer_in_time_is_ejected_and_a_late_answer_discarded(
    limits: dict[str, Limits], seconds: float
) -> None:
    room = new_room(**limits)
    answering(room, "bob")
    begun = asyncio.get_running_loop().time()

    await room.play()

    assert asyncio.get_running_loop().time() - begun == pytest.approx(seconds, abs=0.1)
    assert ejections(room) == [("ann", Fault.TIMED_OUT, f"no answer within {seconds:g} s")]
    assert not room.on_message("ann", {"type": "place", "at": [0, 0]})


def test_answers_out_of_turn_and_to_old_questions_are_discarded() -> None:
    room = new_room()
    asked_before: list[dict[str, Any]] = []
    taken: list[bool] = []

    def insist(asked: dict[str, Any], action: Any) -> Any:
        for old in asked_before:  # answers to the questions before
            taken.append(room.on_message("ann", {"nonce": old["nonce"], "answer": {"type": "place", "at": [0, 0]}}))
        taken.append(room.on_message("bob", {"type": "place", "at": [0, 0]}))  # bob has no open question
        taken.append(room.on_message("ann", {"nonce": "9-0", "answer": None}))  # no such question
        asked_before.append(asked)
        return action

    answering(room, "ann", insist)

    play(room, ["bob"])

    assert len(asked_before) > 4
    assert not any(taken)
    assert ejections(room) == []


def test_only_the_first_of_several_answers_counts() -> None:
    room = new_room()
    first: list[bool] = []

    def twice(asked: dict[str, Any], action: Any) -> Any:
        first.append(room.on_message("ann", action))
        return action

    answering(room, "ann", twice)

    play(room, ["bob"])

    assert first and all(first)
    assert ejections(room) == []


def test_a_player_whose_function_raises_crashes_and_its_error_is_not_public() -> None:
    room = new_room()

    def hear(line: bytes) -> None:
        if json.loads(line)["type"] == "take_turn":
            raise ValueError("a secret")

    room.on_state_change(hear, "ann")

    play(room, ["bob"])

    assert ejections(room) == [("ann", Fault.CRASHED, "raised ValueError")]


def test_a_player_that_raises_at_the_last_message_gets_no_other() -> None:
    room = new_room()

    def hear(line: bytes) -> None:
        match json.loads(line)["type"]:
            case "take_turn":
                room.on_message("ann", b"rubbish")
            case "goodbye":
                raise ValueError("a secret")

    room.on_state_change(hear, "ann")

    play(room, ["bob"])

    assert faults(room) == [("ann", Fault.MALFORMED)]
    assert room._mailboxes["ann"].deliver is None


def test_an_eliminated_player_hears_of_no_more_changes_but_of_the_end() -> None:
    room = new_room(Tsuro(size=3), player_ids=(*IDS, "cyd"))
    heard = {player_id: answering(room, player_id) for player_id in room.player_ids}
    final = play(room).match.state

    first = min(range(3), key=lambda seat: final.table.survived_to(seat))
    lines = heard[room.player_ids[first]]

    assert 0 < sum(line["type"] == "patch" for line in lines) < max(map(len, heard.values()))
    assert lines[-1]["type"] == "end"


def test_all_watchers_have_got_the_end_when_a_match_was_played() -> None:
    room, heard = new_room(), [b""] * 2000
    for player_id in IDS:
        answering(room, player_id)
    for number in range(len(heard)):
        room.on_state_change(lambda line, number=number: heard.__setitem__(number, line))  # type: ignore[misc]

    async def play() -> int:
        await room.play()
        return sum(b'"ended"' in line for line in heard)

    assert asyncio.run(play()) == len(heard)


# Kicks


def test_a_player_with_an_open_question_is_kicked_at_once_and_hears_of_no_more_changes() -> None:
    room = new_room()
    kicked = answering(room, "ann", lambda asked, action: room.kick("ann"))
    stays = answering(room, "bob")

    play(room)

    assert ejections(room) == [("ann", Fault.GONE, "kicked from the room")]
    assert [line["type"] for line in kicked if line["type"] != "snapshot"] == ["start", "take_turn", "goodbye"]
    assert any(line["type"] == "patch" for line in stays)


@pytest.mark.virtual_time
async def test_a_player_that_is_kicked_while_it_thinks_leaves_before_its_time_is_up() -> None:
    room = new_room()
    answering(room, "bob")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    loop.call_later(1.0, room.kick, "ann")

    await room.play()

    assert loop.time() - begun == pytest.approx(1.0, abs=0.1)
    assert ejections(room) == [("ann", Fault.GONE, "kicked from the room")]


def test_a_player_without_an_open_question_is_kicked_at_its_next_one() -> None:
    room = new_room()

    def kick_once(asked: dict[str, Any], action: Any) -> Any:
        if not ejections(room):
            room.kick("ann")
        return action

    answering(room, "bob", kick_once)

    play(room, ["ann"])

    assert ejections(room) == [("ann", Fault.GONE, "kicked from the room")]


# Rooms


@pytest.mark.parametrize(("seed", "drawn"), [(bytes(32), False), (None, True)], ids=["chosen", "drawn"])
def test_the_journal_of_a_room_is_verified_and_tells_how_its_seed_was_chosen(
    seed: bytes | None, drawn: bool, tmp_path: Path
) -> None:
    room = new_room(seed=seed, journal=str(tmp_path))

    play(room, IDS)

    recorded = read_journal(tmp_path / "r1.jsonl")
    assert verify(recorded) == room.match
    assert (recorded.opening.players, recorded.opening.random_seed) == (("client:ann", "client:bob"), drawn)
    assert room.outcome().journal == str(tmp_path / "r1.jsonl")


def test_a_state_that_was_set_is_played_and_recorded(tmp_path: Path) -> None:
    room = new_room(Fish(rows=2, columns=3, cramped=True), journal=str(tmp_path))
    state = state_of([[1, 1, 1], [1, 1, 1]], [[(0, 0)], [(1, 2)]])
    room.set_state(state)
    heard = answering(room, "ann")
    assert room.stage == "playing"

    result = play(room, ["bob"])

    snapshot = next(line for line in heard if line["type"] == "snapshot")
    assert snapshot["view"]["board"] == [[1, 1, 1], [1, 1, 1]]
    assert sum(result.match.state.scores) > 0
    assert verify(read_journal(tmp_path / "r1.jsonl")).state == result.match.state
    with pytest.raises(BadRequest, match="cannot set the state of room r1: its match has begun"):
        room.set_state(state)


def test_bad_calls_of_a_room_are_refused() -> None:
    room = new_room()
    for wrong, why in (
        (lambda: room.set_state(GAME.deal(3, bytes(32))), "cannot set the state of room r1: it is not for 2 players"),
        (lambda: room.set_state(Fish(rows=5, columns=4).deal(2, bytes(32))), "or of a board of another size"),
        (lambda: room.set_state(Q().deal(2, bytes(32))), "cannot set the state of room r1: it is of another game"),
        (lambda: room.kick("eve"), "no player 'eve' is connected by function calls to room r1"),
        (lambda: new_room(), "there is a room r1 already: choose another room_id, or none"),
        (lambda: room.on_message("eve", {}), "no player 'eve' is connected by function calls to room r1"),
        (lambda: room.outcome(), "the match in room r1 has not begun"),
        (lambda: new_room(player_ids=("ann", "ann")), "player ids must be unique: ann, ann"),
        (lambda: new_room(player_ids=("ann",)), "fish is for 2 to 4 players, not for 1"),
        (lambda: new_room(room_id="../x"), "is not a match id"),
    ):
        with pytest.raises(BadRequest, match=why):
            wrong()


def test_a_match_is_played_once_and_then_its_players_cannot_be_kicked_and_its_id_is_free() -> None:
    room = new_room()
    play(room, IDS)

    with pytest.raises(BadRequest, match="has begun already"):
        asyncio.run(room.play())
    with pytest.raises(BadRequest, match="ann is out of the match in room r1 already"):
        room.kick("ann")
    assert new_room().id == room.id


def test_the_id_of_a_cancelled_room_is_free() -> None:
    first = new_room()

    async def cancel() -> None:
        playing = asyncio.create_task(first.play())
        await asyncio.sleep(0)
        playing.cancel()
        await asyncio.wait([playing])

    asyncio.run(cancel())

    assert new_room().id == first.id


def test_a_room_plays_a_match_at_any_table() -> None:
    entrants = (Entrant("greedy"), Entrant("random"))
    prepared = new_match(MatchSpec(game="fish", parameters={"rows": 4, "columns": 4}, entrants=entrants, id="r2"))
    room, spectator = Room("the server", prepared, IDS), Spectator()
    room.hub.add(spectator)

    result = play(room)

    assert (result.match.id, room.player_ids) == ("r2", IDS)
    assert spectator.knows["names"] == ["greedy", "random"]
    assert spectator.knows["event"]["type"] == "ended"
    assert room.outcome().result is not None
    resumed = Room("a room", prepared._replace(resumed=True), IDS)
    with pytest.raises(BadRequest, match=r"cannot set the state of room .*: its match has begun"):
        resumed.set_state(prepared.match.state)
