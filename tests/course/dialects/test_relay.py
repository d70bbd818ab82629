"""Test that matches through both ends of a dialect are the same as those without it."""

from itertools import product
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Acted, Ejected, Ended
from fairplay.core.messages import End, Start, TakeTurn, Tell
from fairplay.core.roles import AnyStrategy
from fairplay.games import game_info
from fairplay.games.fish.game import Fish
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
def test_a_match_through_a_dialect_is_the_same_match(label: str, seats: int) -> None:
    for number in range(6):
        match = a_match(label, seats, number)
        table = players(match.game, seats, number)

        straight = match_facts(match, [LocalChannel(player, match.game) for player in table])
        through = match_facts(match, [relay_channel(match.game, "abc", player) for player in table])

        assert through == straight


@pytest.mark.parametrize(("label", "seats"), TABLES)
def test_a_relayed_match_is_the_same_when_players_fail_at_every_call(label: str, seats: int) -> None:
    kicked = 0
    for failing, at in product(range(seats), (0, 1, 2, 3, 5, 8)):
        match = a_match(label, seats, at)
        table = players(match.game, seats, at)
        ends = {failing: at, (failing + 1) % seats: at + 3}

        def seated(way: Any, table: Any = table, ends: Any = ends) -> list[Any]:
            return [
                FailingChannel(way(one), ends[seat]) if seat in ends else way(one) for seat, one in enumerate(table)
            ]

        straight = match_facts(match, seated(lambda one, game=match.game: LocalChannel(one, game)))
        through = match_facts(match, seated(lambda one, game=match.game: relay_channel(game, "abc", one)))

        assert through == straight
        kicked += sum(isinstance(fact, Ejected) for fact in straight)
    assert kicked >= 6 * seats  # there are as many matches


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
    asked = [Asked(client, game) for client in clients]

    match_facts(match, asked)

    for client, heard in nonempty(zip(clients, asked, strict=True)):
        turns = [message.view for message in client.told if isinstance(message, TakeTurn)]
        assert [told(view) for view in nonempty(turns)] == [told(view) for view in heard.views]
        assert isinstance(client.told[0], Start)
        assert [one.news for one in client.told if isinstance(one, Tell)] == heard.news
        assert len([one for one in client.told if isinstance(one, End)]) == (label == "q")
        for view in turns:  # programs get views in JSON
            assert game.unpack(msgspec.json.decode(msgspec.json.encode(game.pack(view)))) == view


class Asked(CallingChannel):
    """A channel that keeps the views and the news."""

    def __init__(self, client: Client, game: AnyGame) -> None:
        super().__init__(game, "abc", client)
        self.views: list[Any] = []
        self.news: list[Any] = []

    def ask(self, message: Any) -> Any:
        if isinstance(message, TakeTurn):
            self.views.append(message.view)
        if isinstance(message, Tell):
            self.news.append(message.news)
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
