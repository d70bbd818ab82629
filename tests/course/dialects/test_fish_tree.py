"""Test that clients of Fish can follow a game by the moves in their calls."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.roles import Channel
from fairplay.course.dialects.dialect import Call
from fairplay.course.formats.fish import CourseState, format_state, parse_state
from fairplay.course.formats.plain import read
from fairplay.games.fish.actions import Move
from fairplay.games.fish.game import Fish, check_move
from fairplay.games.fish.state import PLAYING, State, move_penguin
from fairplay.games.fish.strategies import greedy, random_strategy
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from tests.course.dialects.relay import CallingChannel, Client, FailingChannel, begin_match
from tests.nonempty import nonempty

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


def expected(facts: list[tuple[Any, State]]) -> Iterator[tuple[int, list[Any]]]:
    """Whose turn it was, and what it has to hear, from what really happened; each fact with the state before it."""
    last: dict[int, int] = {}  # seat: where its last move is
    for number, (fact, before) in enumerate(facts):
        if before.stage is not PLAYING:
            continue
        since = facts[last[fact.seat] : number] if fact.seat in last else []
        plain = (
            since
            and all(isinstance(one, Acted) for one, _ in since)
            and not any(
                skips(one.action, state, after) for (one, state), (_, after) in pairwise([*since, (fact, before)])
            )
        )
        yield fact.seat, [[list(one.action.start), list(one.action.to)] for one, _ in since[1:]] if plain else []
        last[fact.seat] = number


def skips(move: Move, before: State, after: State) -> bool:
    """Was somebody passed over after this move?"""
    return after.order[0] != following(before, [(move.start, move.to)]).order[0]


@pytest.mark.parametrize(("game", "seats"), list(product(BOARDS, (2, 3, 4))))
def test_own_move_and_the_moves_of_others_lead_from_one_state_to_the_next(game: Fish, seats: int) -> None:
    told = silent = 0
    for number in range(40):
        match = begin_match(game, seats, number)
        clients = [TreeClient(game, number + seat) for seat in range(seats)]
        channels: list[Channel] = [CallingChannel(game, "abc", client) for client in clients]
        if number % 2:
            channels[number // 2 % seats] = FailingChannel(channels[number // 2 % seats], 5 + number % 5)
        facts: list[tuple[Any, State]] = []
        states = [match.state]

        def keep(event: Event, after: AnyMatch, facts: Any = facts, states: Any = states) -> None:
            if isinstance(event, (Acted, Ejected)):
                facts.append((event, states[-1]))
            states.append(after.state)

        play(match, channels, on_event=keep)

        due: list[list[Any]] = [[] for _ in clients]
        for seat, moves in expected(facts):
            due[seat].append(moves)
        for client, lists in nonempty(zip(clients, due, strict=True)):
            # One that has failed was called once less than it was asked.
            assert client.heard == lists[: len(client.heard)]
            assert len(lists) - len(client.heard) in (0, 1)
            told += sum(map(bool, client.heard))
            silent += sum(not moves for moves in client.heard[1:])
    assert told > 40
    assert silent > 10
