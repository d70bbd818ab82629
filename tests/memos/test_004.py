"""Check memo 004, the rooms of Fish, sentence by sentence."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Ejected, Ended, Event, Fault, Moment
from fairplay.core.chance import seed_from_text
from fairplay.core.match import Match
from fairplay.core.messages import Answered, End, Failed, Start, TakeTurn
from fairplay.games.fish import Action, Fish, Place, Stage, State, View
from fairplay.games.fish.draw import svg
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.observers.painter import Painter
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee
from fairplay.server.room import Room, RoomOptions, create_room
from fairplay.server.spectating.patches import apply_patch
from fairplay.testing.scripted import ScriptedChannel, failing_script, strategy_script
from tests.journal_files import newest_journal, read_lines
from tests.memos.story import NAMES, SEED, Story, watch_match
from tests.nonempty import nonempty
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.server.spectators import Spectator

# Everything that the memo leaves to chance is drawn.
GAME = Fish(rows=4, columns=5, fish="random", holes="random", colours="random")
SEEDS = [seed_from_text(str(number)) for number in range(60)]

for_each_count = pytest.mark.parametrize("count", [2, 3, 4])


def first(view: View) -> Action:
    return next(GAME.actions(view))


def tiles(state: State) -> list[int]:
    return [state.fish_on(position) for position in state.grid.positions]


class Seeing:
    """A good player that keeps what it is shown."""

    def __init__(self) -> None:
        self.seen: list[View] = []
        self.result: Any = None

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        self.seen.append(view)

    def take_turn(self, view: View) -> Action:
        self.seen.append(view)
        return first(view)

    def tell(self, news: Any) -> None:
        raise AssertionError("Fish has no news")

    def end(self, result: Any) -> None:
        self.result = result


def run(table: list[Any], **options: Any) -> Story:
    return watch_match(GAME, table, **options)


# What the tournament manager provides.


def test_a_game_has_a_unique_id(tmp_path: Path) -> None:
    for _ in range(10):
        run([first, first], record=Journal(tmp_path).begin)

    assert len({read_lines(path)[0]["match"] for path in tmp_path.iterdir()}) == 10


def test_the_players_are_in_ascending_order_of_their_ages() -> None:
    assert run([first] * 4, ages=[30, 40, 10, 20]).match.names == ("cyd", "dan", "ann", "bob")


def test_players_of_the_same_age_stay_in_the_order_of_the_list() -> None:
    assert run([first] * 3, ages=[20, 10, 10]).match.names == ("bob", "cyd", "ann")


# The initial board.


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 9), (9, 2), (8, 8)])
def test_width_and_height_are_those_that_the_manager_gives(rows: int, columns: int) -> None:
    board = Fish(rows=rows, columns=columns, holes="random").deal(2, SEED).grid

    assert (board.rows, board.columns) == (rows, columns)


@for_each_count
def test_the_number_of_holes_is_random_and_all_penguins_can_be_placed(count: int) -> None:
    penguins = (6 - count) * count

    holes = [tiles(GAME.deal(count, seed)).count(0) for seed in SEEDS]

    assert len(set(holes)) > 5
    assert all(20 - hole >= penguins for hole in holes)


@for_each_count
def test_a_board_with_just_enough_tiles_gets_no_holes(count: int) -> None:
    game = Fish(rows=1, columns=(6 - count) * count, holes="random")

    assert all(0 not in tiles(game.deal(count, seed)) for seed in SEEDS)


@for_each_count
def test_with_any_number_of_holes_all_players_place_all_their_penguins(count: int) -> None:
    for seed in SEEDS:
        story = run([first] * count, seed=seed)
        placed = [event for event in story.events if isinstance(event, Acted) and isinstance(event.action, Place)]
        assert len(placed) == (6 - count) * count
        assert story.match.result.ejected == ()


def test_which_tiles_are_holes_is_random() -> None:
    holes = {cell for seed in SEEDS for cell, fish in enumerate(tiles(GAME.deal(2, seed))) if not fish}

    assert holes == set(range(20))


def test_the_number_of_fish_is_random_on_each_tile_that_is_no_hole() -> None:
    boards = [tiles(GAME.deal(2, seed)) for seed in SEEDS]

    assert {fish for board in boards for fish in board if fish} == {1, 2, 3, 4, 5}
    assert all({board[cell] for board in boards} == {0, 1, 2, 3, 4, 5} for cell in range(20))


@for_each_count
def test_colours_are_assigned_at_random_and_are_unique(count: int) -> None:
    colours = [GAME.deal(count, seed).colours for seed in SEEDS]

    assert all(len(set(assigned)) == len(assigned) == count for assigned in colours)
    assert {assigned[0] for assigned in colours} == {"red", "white", "brown", "black"}


# The initial state.


@for_each_count
def test_the_initial_state_is_in_the_placing_stage_with_the_board_and_scores_of_zero(count: int) -> None:
    story = run([first] * count)

    initial = story.states[0]
    assert initial.stage is Stage.PLACING
    assert initial == GAME.deal(count, SEED)
    assert (initial.scores, initial.penguins) == ((0,) * count, ((),) * count)
    assert initial.order == tuple(range(count))  # the order of the manager's list
    assert story.match.names == NAMES[:count]


# The game.


def test_the_stages_are_placing_then_playing_then_done() -> None:
    stages = [state.stage for state in run([first] * 3).states]

    assert stages[:9] == [Stage.PLACING] * 9  # before each of the placements
    assert stages == sorted(stages, key=list(Stage).index)
    assert set(stages) == set(Stage)


def test_the_initial_state_is_shown_to_players_and_observers() -> None:
    table, initial = [Seeing(), Seeing()], GAME.deal(2, SEED)

    assert run(table).states[0] == initial
    assert [player.seen[0] for player in table] == [View(0, initial), View(1, initial)]


def test_players_see_the_state_as_it_has_changed_whenever_they_are_to_respond() -> None:
    table = [Seeing(), Seeing(), Seeing()]

    story = run(table)

    shown = {seat: iter(player.seen[1:]) for seat, player in enumerate(table)}
    for state, event in nonempty(zip(story.states, story.events[1:-1], strict=False)):
        assert isinstance(event, Acted)
        assert next(shown[event.seat]) == View(event.seat, state)


def test_observers_hear_of_every_change_with_the_state_after_it() -> None:
    story = run([first, first])

    for before, event, after in nonempty(zip(story.states, story.events[1:-1], story.states[1:], strict=False)):
        assert isinstance(event, Acted)
        assert after == GAME.apply(before, event.action) != before
    assert story.states[-1] == story.match.state


def test_an_observer_can_render_every_change() -> None:
    referee, watcher, pictures = Referee(), Story(), dict[str, str]()
    referee.subscribe(watcher)
    referee.subscribe(Painter(pictures.__setitem__, lambda match, before: {"svg": svg(match.view(None), match.names)}))

    referee.run(GAME, [first, first], names=NAMES[:2], seed=SEED)

    changes = len(watcher.events) - 2  # the end changes nothing, and neither does the start
    assert list(pictures) == [f"{number}.svg" for number in range(1 + changes)]
    assert len(set(pictures.values())) == 1 + changes


def test_every_state_can_be_had_again_from_the_log_by_the_id_of_the_game(tmp_path: Path) -> None:
    story = run([first, first], record=Journal(tmp_path).begin)

    recorded = read_journal(tmp_path / f"{story.match.id}.jsonl")
    assert len(recorded.facts) > 10
    assert [recorded.match_after(facts).state for facts in range(len(recorded.facts) + 1)] == story.states[:-1]


def test_the_logger_keeps_every_change_with_a_timestamp(tmp_path: Path) -> None:
    times = iter(range(1000, 2000))

    story = run([first, first], record=Journal(tmp_path, now=lambda: next(times)).begin)

    at = [line["at"] for line in read_lines(newest_journal(tmp_path))]
    assert len(at) == 1 + len(story.events)  # the opening comes before
    assert at[0] == 1000
    assert at == sorted(set(at))


MALFORMED: dict[str, Any] = {
    "nothing": None,
    "text": "move",
    "a number": 7,
    "a list": [0, 0],
    "another type": {"type": "fly", "at": [0, 0]},
    "no type": {"at": [0, 0]},
    "no position": {"type": "place"},
    "half a position": {"type": "place", "at": [0]},
    "words for numbers": {"type": "place", "at": ["0", "0"]},
    "fractions": {"type": "place", "at": [0.5, 0]},
    "too much": {"type": "place", "at": [0, 0], "please": True},
    "no JSON at all": object(),
}


@pytest.mark.parametrize("message", MALFORMED)
def test_any_message_that_does_not_adhere_to_the_format_gets_its_sender_kicked_out(message: str) -> None:
    match = run([first, lambda view: MALFORMED[message], first]).match

    assert [(out.seat, out.fault) for out in match.result.ejected] == [(1, Fault.MALFORMED)]
    assert match.result.ranking
    assert match.turn is None


@pytest.mark.parametrize("call", [1, 2, 5, 6])
def test_a_player_that_does_not_respond_in_time_is_kicked_out(call: int) -> None:
    failing = failing_script(call, Failed(Fault.TIMED_OUT, "no answer within 5 s"), strategy_script(first))
    late, good = ScriptedChannel(failing), ScriptedChannel(strategy_script(first))
    heard: list[Event] = []

    final = play(two_players(), [late, good], on_event=lambda event, match: heard.append(event))

    out = Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer within 5 s")
    assert final.result.ejected == (out,)
    assert heard.count(out) == 1
    assert late.closed == [out]
    assert [type(message) for message in late.heard] == [Start, *[TakeTurn] * call]
    assert isinstance(good.heard[-1], End)


def two_players() -> Match[State, View, Action]:
    return Match(GAME, GAME.deal(2, SEED), ("ann", "bob"))


def test_once_the_game_is_done_nobody_is_asked_for_a_move() -> None:
    channels = [ScriptedChannel(strategy_script(first)) for _ in range(2)]

    play(two_players(), channels)

    asked = [message.view.state.stage for one in channels for message in one.heard if isinstance(message, TakeTurn)]
    assert Stage.DONE not in asked
    assert [type(one.heard[-1]) for one in channels] == [End, End]


def test_valid_input_changes_the_state_and_nothing_else_does() -> None:
    begin, states = two_players(), list[State]()
    invalid = ScriptedChannel([Answered(None), Answered(Place((-1, 0)))])

    play(
        begin,
        [ScriptedChannel(strategy_script(first)), invalid],
        on_event=lambda event, match: states.append(match.state),
    )

    assert states[1] == GAME.apply(begin.state, first(View(0, begin.state)))
    assert states[2] == GAME.eject(states[1], 1, Moment.TURN)


# The end.


@for_each_count
def test_when_there_are_no_more_valid_moves_the_state_is_done_and_observers_see_it_and_players_hear_the_result(
    count: int,
) -> None:
    table = [Seeing() for _ in range(count)]

    story = run(table)

    assert not any(story.match.state.can_move(seat) for seat in range(count))
    assert [state.stage for state in story.states[-2:]] == [Stage.DONE, Stage.DONE]
    assert story.events[-1] == Ended(story.match.result)
    assert [player.result for player in table] == [story.match.result] * count


def test_the_manager_gets_the_last_state_and_the_players_in_the_order_of_the_state() -> None:
    begin = Match(GAME, GAME.deal(3, SEED), NAMES[:3])

    match = play(begin, [LocalChannel(first, GAME) for _ in range(3)])

    sheet, scores = GAME.pack_state(match.state), match.state.scores
    assert (sheet["stage"], match.names) == ("done", NAMES[:3])
    assert [player["score"] for player in sheet["players"]] == list(scores)
    assert match.result.ranking[0] == {seat for seat in range(3) if scores[seat] == max(scores)}


def test_the_id_of_the_game_leads_to_the_last_state_and_the_players(tmp_path: Path) -> None:
    match = run([first] * 3, record=Journal(tmp_path).begin).match

    recorded = read_journal(tmp_path / f"{match.id}.jsonl")
    assert recorded.match_after(None) == match
    assert recorded.opening.names == match.names


# Rooms.


def room_of(count: int = 3, **more: Any) -> Room:
    options = RoomOptions(room_id="room-1", player_ids=NAMES[:count], game=GAME, seed=SEED, **more)
    return create_room("the ice", options)


def client(room: Room, player_id: str) -> Spectator:
    """An AI client that listens to state changes, and answers when they show that it is to place or to move."""

    class Client(Spectator):
        def hear(self, line: bytes) -> None:
            if json.loads(line)["type"] in ("snapshot", "patch"):
                self.offer(line)
                view = GAME.unpack({**self.knows["view"], "seat": room.player_ids.index(player_id)})
                if view.turn == view.seat:
                    room.on_message(player_id, next(GAME.actions(view)))

    made = Client()
    room.on_state_change(made.hear, player_id)
    return made


def test_a_room_has_a_unique_id_the_ids_of_its_players_in_their_order_and_a_board_of_the_given_size() -> None:
    room = room_of()

    assert (room.id, room.name, room.player_ids) == ("room-1", "the ice", ("ann", "bob", "cyd"))
    assert room.match.state == GAME.deal(3, SEED)
    assert (room.match.state.grid.rows, room.match.state.grid.columns) == (4, 5)
    options = RoomOptions(player_ids=NAMES[:4], game=GAME)
    assert len({create_room("another", options).id for _ in range(10)}) == 10


def test_the_room_starts_in_the_placing_stage_or_with_the_state_that_is_set() -> None:
    room, other = room_of(), GAME.deal(3, SEEDS[1])
    assert room.stage == "placing"

    room.set_state(other)

    assert room.match.state == other


class PlayedRoom:
    """A room in which three clients have played a whole game, with an observer and a logger."""

    def __init__(self) -> None:
        self.room, self.observer, self.log = room_of(), Spectator(), list[bytes]()
        self.clients = [client(self.room, player_id) for player_id in self.room.player_ids]
        self.room.hub.add(self.observer)
        self.room.on_state_change(self.log.append)
        self.result = asyncio.run(self.room.play())


@pytest.fixture(scope="module")
def played() -> PlayedRoom:
    return PlayedRoom()


def test_clients_that_listen_to_state_changes_play_a_whole_game_and_the_manager_gets_the_last_state(
    played: PlayedRoom,
) -> None:
    room, result = played.room, played.result

    assert (result.match, result.match.id, result.names) == (room.match, "room-1", ("ann", "bob", "cyd"))
    assert room.match.result.ejected == ()
    assert (room.stage, result.match.state.stage) == ("done", Stage.DONE)
    for one in nonempty(played.clients):
        assert one.lines[0]["view"] == json.loads(json.dumps(GAME.pack(View(None, GAME.deal(3, SEED)))))
        assert [line["seq"] for line in one.lines] == [*range(len(one.lines) - 1), len(one.lines) - 2]


def test_clients_observers_and_the_logger_hear_the_same_changes_with_timestamps_and_the_final_state_once_more(
    played: PlayedRoom,
) -> None:
    lines = played.observer.lines

    assert [one.lines for one in played.clients] == [lines] * 3
    assert [json.loads(line) for line in played.log] == lines
    at = [line["at"] for line in lines]
    assert at == sorted(at) and at[0] > 1e9
    assert [line["type"] for line in lines[-2:]] == ["patch", "snapshot"]
    assert lines[-1]["view"]["stage"] == "done"


def test_a_logger_makes_the_state_after_every_change_from_the_patches_that_are_broadcast(played: PlayedRoom) -> None:
    first, *patches, last = (json.loads(line) for line in played.log)
    for line in patches:
        first = apply_patch(first, line["patch"])

    assert (first["view"], first["turn"]) == (last["view"], last["turn"])
    assert GAME.unpack(first["view"]) == View(None, played.result.match.state)


def answer_turns(room: Room, player_id: str, answer: Callable[[View], Any]) -> None:
    """Answer whenever a player is to take a turn."""

    def hear(line: bytes) -> None:
        said = json.loads(line)
        if said["type"] == "take_turn":
            room.on_message(player_id, answer(GAME.unpack(said["view"])))

    room.on_state_change(hear, player_id)


@pytest.mark.parametrize("message", MALFORMED)
def test_in_a_room_too_a_malformed_message_gets_its_sender_kicked_out(message: str) -> None:
    room = room_of()
    for player_id in room.player_ids:
        answer_turns(room, player_id, first if player_id != "bob" else lambda view: MALFORMED[message])

    result = asyncio.run(room.play())

    assert [(out.seat, out.fault) for out in room.match.result.ejected] == [(1, Fault.MALFORMED)]
    assert result.names == ("ann", "bob", "cyd")


def test_a_player_has_5_seconds_to_respond() -> None:
    room = room_of(2)
    answer_turns(room, "bob", first)

    async def work(loop: VirtualTimeLoop) -> float:
        begun = loop.time()
        await room.play()
        return loop.time() - begun

    assert run_in_virtual_time(work) == pytest.approx(5.0, abs=0.1)
    assert [(out.seat, out.fault) for out in room.match.result.ejected] == [(0, Fault.TIMED_OUT)]
