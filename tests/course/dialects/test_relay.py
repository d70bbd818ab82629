"""Test that matches through both ends of a dialect are the same as those without it, and Fish can be followed."""

from itertools import product
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Acted, Ejected, Ended
from fairplay.core.messages import Answer, End, Message, Start, TakeTurn, Tell
from fairplay.core.roles import AnyStrategy, Channel
from fairplay.course.dialects.dialect import Call
from fairplay.course.formats.fish import CourseState, format_state, parse_state
from fairplay.course.formats.plain import read
from fairplay.games import game_info
from fairplay.games.fish.actions import Move
from fairplay.games.fish.game import Fish, check_move
from fairplay.games.fish.state import State, move_penguin
from fairplay.games.fish.strategies import greedy, random_strategy
from fairplay.games.q.actions import Exchange, Pass
from fairplay.games.q.game import Q
from fairplay.games.tsuro.game import Tsuro
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.local_channel import LocalChannel
from fairplay.testing.hostile import AnyGame
from tests.course.dialects.relay import (
    CallingChannel,
    Client,
    FailingChannel,
    any_action,
    begin_match,
    match_facts,
    relay_channel,
)
from tests.nonempty import nonempty

GAMES: dict[str, AnyGame] = {
    "fish": Fish(rows=5, columns=4, holes=2),
    "small fish": Fish(rows=4, columns=3, colours="random"),
    "cramped fish": Fish(rows=2, columns=4, cramped=True),
    "tsuro": Tsuro(),
    "tsuro's cycle": Tsuro(tiles="cycle"),
    "q": Q(),
    "q with few tiles": Q(q_bonus=3, finish_bonus=50),
}
NEVER = 10**6  # so many calls are not made
TABLES = [(label, seats) for label, game in GAMES.items() for seats in game.seats]


def a_match(label: str, seats: int, number: int) -> AnyMatch:
    match = begin_match(GAMES[label], seats, number)
    if match.game.name == "q":  # all tiles would take long
        pile = match.state.pile[: 150 if label == "q" else 1 + 3 * (number % 9)]
        match = msgspec.structs.replace(match, state=msgspec.structs.replace(match.state, pile=pile))
    return match


def players(game: AnyGame, seats: int, number: int) -> list[AnyStrategy]:
    """One of the server after another, and some that do anything at all."""
    server = [
        one.make("", b"%32d" % number) for _, one in sorted(game_info(game.name).built_in.items()) if not one.is_slow
    ]
    shelf = [*server, any_action(game, b"1"), any_action(game, b"2")]
    return [shelf[(number * 3 + seat) % len(shelf)] for seat in range(seats)]


@pytest.mark.parametrize(("label", "seats"), TABLES)
def test_a_relayed_match_is_the_same_whether_players_fail_at_a_call_or_not(label: str, seats: int) -> None:
    kicked = 0
    for number, (failing, at) in enumerate(product(range(seats), (0, 1, 2, 3, 5, 8, NEVER))):
        match = a_match(label, seats, number)
        game, table = match.game, players(match.game, seats, number)
        ends = {failing: at, (failing + 1) % seats: at + 3}

        straight = [LocalChannel(player, game) for player in table]
        through = [relay_channel(game, "abc", player) for player in table]
        facts, relayed = (
            match_facts(match, [FailingChannel(one, ends.get(seat, NEVER)) for seat, one in enumerate(channels)])
            for channels in (straight, through)
        )

        assert relayed == facts
        kicked += sum(isinstance(fact, Ejected) for fact in facts)
    assert kicked >= 6 * seats  # in as many matches somebody fails


def test_exchanges_passes_and_finished_hands_have_come_up() -> None:
    seen, finished = set(), 0
    for number, seats in product(range(12), (2, 3, 4)):
        match = a_match("q with few tiles", seats, number)
        channels = [relay_channel(match.game, "abc", player) for player in players(match.game, seats, number)]
        *_, end = facts = match_facts(match, channels)
        seen |= {type(fact.action) for fact in facts if isinstance(fact, Acted)}
        assert isinstance(end, Ended)
        finished += max(end.result.scores or ()) > 50

    assert {Exchange, Pass} < seen
    assert finished


@pytest.mark.parametrize("label", ["fish", "small fish", "tsuro", "q"])
def test_a_relayed_player_gets_the_same_messages(label: str) -> None:
    """Views that are the same but for what the course does not tell, in the same order."""
    match = a_match(label, 3, 1)
    game = match.game
    clients = [Client(game, "abc", player) for player in players(game, 3, 1)]
    channels = [RecordingChannel(game, "abc", client) for client in clients]

    match_facts(match, channels)

    for client, channel in nonempty(zip(clients, channels, strict=True)):
        turns = [message.view for message in client.told if isinstance(message, TakeTurn)]
        asked = [message.view for message in channel.asked if isinstance(message, TakeTurn)]
        assert [told(view) for view in nonempty(turns)] == [told(view) for view in asked]
        assert isinstance(client.told[0], Start)
        news = [[one for one in messages if isinstance(one, Tell)] for messages in (client.told, channel.asked)]
        assert news[0] == news[1]
        assert sum(isinstance(one, End) for one in client.told) == (label == "q")
        for view in turns:  # programs get views in JSON
            assert game.unpack(msgspec.json.decode(msgspec.json.encode(game.pack(view)))) == view


class RecordingChannel(CallingChannel):
    """A channel that keeps all messages."""

    def __init__(self, game: AnyGame, name: str, client: Client) -> None:
        super().__init__(game, name, client)
        self.asked: list[Message] = []

    def ask(self, message: Message) -> Answer:
        self.asked.append(message)
        return super().ask(message)


def told(view: Any) -> Any:
    """What a course tells of a view; who sits where is told by colours, in Q not at all."""
    if hasattr(view, "state"):
        state = view.state
        named = sorted(zip(state.colours, state.penguins, state.scores, strict=True))
        return named, [state.colours[seat] for seat in state.order], state.rows(), state.stage, state.each
    if hasattr(view, "table"):
        table = msgspec.structs.replace(view.table, starts=(), fell=())
        return view.seat, view.dealt, table, view.table.alive
    return view.map, view.kinds, view.points, view.left, view.done


# Clients of Fish that follow a game by the moves in their calls.

BOARDS = [
    Fish(rows=4, columns=4),
    Fish(rows=5, columns=5, holes=6),
    Fish(rows=3, columns=6, fish=1),
    Fish(rows=7, columns=6),
]


class TreeClient(Client):
    """A client that keeps the state of the game by itself, wherever it is told how it came about."""

    def __init__(self, game: Fish, number: int) -> None:
        super().__init__(game, "abc", greedy if number % 3 == 0 else random_strategy(b"%32d" % number))
        self._mine: State | None = None  # as it has to be after our last move
        self.heard: list[list[Any]] = []  # the lists of moves, call by call

    def __call__(self, call: Call) -> Any:
        if call.method != "take-turn":
            return super().__call__(call)
        plain, moves = call.arguments
        state = parse_state(read(plain, CourseState, "a state"))
        if moves:
            assert self._mine is not None
            assert same(following(self._mine, moves), plain)
        self.heard.append(moves)
        reply = super().__call__(call)
        self._mine = following(state, [reply])
        return reply


def following(state: State, moves: list[Any]) -> State:
    """The state after moves of one player after the other; nobody is skipped unless somebody says so."""
    for start, to in moves:
        move = Move(tuple(start), tuple(to))
        check_move(state, state.order[0], move)
        cells = (row * state.grid.columns + column for row, column in (move.start, move.to))
        state = move_penguin(state, *cells)
    return state


def same(state: State, plain: Any) -> bool:
    """Is it this state? The order of a player's penguins does not matter."""
    mine = format_state(state)
    for player in (*mine["players"], *plain["players"]):
        player["places"].sort()
    return bool(mine == plain)


@pytest.mark.parametrize(("game", "seats"), list(product(BOARDS, (2, 3, 4))))
def test_own_move_and_the_moves_of_others_lead_from_one_state_to_the_next(game: Fish, seats: int) -> None:
    told = silent = 0
    for number in range(40):
        clients = [TreeClient(game, number + seat) for seat in range(seats)]
        channels: list[Channel] = [CallingChannel(game, "abc", client) for client in clients]
        if number % 2:
            channels[number // 2 % seats] = FailingChannel(channels[number // 2 % seats], 5 + number % 5)

        match_facts(begin_match(game, seats, number), channels)

        for client in nonempty(clients):
            told += sum(map(bool, client.heard))
            silent += sum(not moves for moves in client.heard[1:])
            assert not any(client.heard[:1])  # before its first move, a client has no state that it could follow
    assert told > 40
    assert silent > 10
