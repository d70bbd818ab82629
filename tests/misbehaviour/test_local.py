"""Test every bad local player in every game, at every moment that makes sense."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.events import Fault
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.roles import Channel
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Pass, Q
from fairplay.games.q.examples import EXAMPLES as Q_EXAMPLES
from fairplay.games.q.examples import position
from fairplay.games.tsuro import Tsuro
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import MAX_EVIDENCE_CHARS, LocalChannel
from fairplay.referee.referee import Referee
from fairplay.testing import hostile_answers
from fairplay.testing.hostile import (
    ALL_PLAYERS,
    HOSTILE_PLAYERS,
    MESSAGE_TYPES,
    ODD_PLAYERS,
    HostilePlayer,
    MisbehavingPlayer,
    raise_error,
)
from tests.games.tsuro import positions as tsuro


def named(seats: int) -> tuple[str, ...]:
    return tuple(f"p{seat}" for seat in range(seats))


def dealt(game: Game[Any, Any, Any], seats: int) -> AnyMatch:
    return Match(game, game.deal(seats, seed_from_text("bad")), named(seats))


Q_MATCH = dealt(Q(), 3)
TABLES: dict[str, AnyMatch] = {
    "fish": dealt(Fish(rows=5, columns=4), 3),
    "tsuro": dealt(Tsuro(size=6), 4),
    "q": replace(Q_MATCH, state=replace(Q_MATCH.state, pile=Q_MATCH.state.pile[:24])),  # which is short
}
# Where a cheat is possible, for those that seldom are.
LOOP = tsuro.make_position(
    {(0, 0): tsuro.UTURN, (5, 5): tsuro.STRAIGHT, (8, 8): tsuro.STRAIGHT},
    [(5, 5, "A"), (8, 8, "A"), (0, 0, "F")],
    (tsuro.UTURN, tsuro.STRAIGHT, *range(35), *range(35)),
    waiting=[2, 0, 1],
)
GIVEN: dict[str, AnyMatch] = {
    "sends an avatar into a loop": tsuro.match_from(LOOP),
    "cheats: bad-ask-for-tiles": Match(Q(), Q_EXAMPLES["only passing"], named(len(Q_EXAMPLES["only passing"].hands))),
    "cheats: not-a-line": Match(
        Q(), position({(0, 0): "red star"}, [["red circle", "red square"]] * 2, ["red star"] * 9), named(2)
    ),
}
SEATINGS = [
    (bad.with_moment(moment), game)
    for bad in {**HOSTILE_PLAYERS, **ODD_PLAYERS}.values()
    for moment in bad.moments
    for game in GAMES
    if bad.with_moment(moment).applies_to(game)
]


def server(game: str, seat: int, name: str = "random") -> Any:
    return game_info(game).built_in[name].make("", derive_seed(bytes(32), f"seat {seat}"))


class Counted:
    def __init__(self, channel: Channel) -> None:
        self.told: list[tuple[Message, Answer]] = []
        self.closed = 0
        self._channel = channel

    def ask(self, message: Message) -> Answer:
        assert not self.closed, "asked after the line was cut"
        answer = self._channel.ask(message)
        self.told.append((message, answer))
        return answer

    def close(self, ejected: Any) -> None:
        self.closed += 1
        self._channel.close(ejected)


@cache
def outcome(bad: HostilePlayer, game: str) -> tuple[AnyMatch, list[Counted], int]:
    """The match with the player at the last seat, or at the first one if it has to move first."""
    match = GIVEN.get(bad.name, TABLES[game])
    at = 0 if bad.name in GIVEN and bad.only_in == "q" else len(match.names) - 1
    players, honest = [server(game, seat) for seat in range(len(match.names))], LocalChannel
    make: list[Any] = [bad.make_channel if seat == at else honest for seat in range(len(players))]
    table = [Counted(channel(player, match.game)) for channel, player in zip(make, players, strict=True)]
    return play(match, table), table, at


@pytest.mark.parametrize(
    ("bad", "game"), SEATINGS, ids=[f"{bad.name}, {bad.moment.value} of {game}" for bad, game in SEATINGS]
)
def test_a_bad_player_is_ejected_as_it_declares_with_short_evidence_and_the_honest_play_on(
    bad: HostilePlayer, game: str
) -> None:
    final, table, at = outcome(bad, game)

    out = {ejected.seat: ejected for ejected in final.ejected}
    own = out.pop(at)
    assert (own.fault, own.moment, own.clause) == (bad.fault, bad.moment, bad.clause)
    assert all("no legal option" in ejected.why for ejected in out.values())  # the honest
    assert final.turn is None
    assert sorted([at, *out, *(seat for group in final.result.ranking for seat in group)]) == [*range(len(table))]
    assert all(channel.closed == 1 for channel in table)

    message, answer = table[at].told[-1]
    assert isinstance(message, MESSAGE_TYPES[bad.moment])
    evidence = answer.evidence.detail if isinstance(answer, Failed) else ""
    assert 0 < len(own.why) < 200
    assert own.why.isprintable()
    assert len(evidence) < MAX_EVIDENCE_CHARS + 300
    msgspec.json.encode([own.why, evidence, answer.value if isinstance(answer, Answered) else None])


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_that_an_action_can_break_is_broken(game: str) -> None:
    clauses = {
        "fish": {"3.2", "3.3", "3.4", "4.1", "4.2", "4.3", "4.5"},
        "tsuro": {"3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "4.3", "4.4"},
        "q": {"3.1", "3.2", "3.3", "3.4", "3.5", "3.6"},
    }
    assert {bad.clause for bad in ALL_PLAYERS.values() if bad.only_in == game and bad.clause} == clauses[game]


# What is no fault, and what is not ours to judge.


@pytest.mark.parametrize("moment", Moment)
def test_a_keyboard_interrupt_passes_through_a_hostile_player(moment: Moment) -> None:
    player = MisbehavingPlayer(server("q", 0), moment, raise_error(KeyboardInterrupt))

    with pytest.raises(KeyboardInterrupt):
        play(TABLES["q"], [LocalChannel(player, Q()), *(LocalChannel(server("q", seat), Q()) for seat in (1, 2))])


class Noisy(dict[str, Any]):
    """A JSON object whose methods must not be called."""

    __getitem__ = items = keys = values = get = __iter__ = __len__ = __contains__ = hostile_answers.fail_if_called


def test_no_method_of_an_answer_is_called() -> None:
    game = Fish(rows=4, columns=4)

    def noisy(view: Any) -> Any:
        return Noisy(msgspec.to_builtins(next(game.actions(view))))

    final = Referee().run(game, [noisy, lambda view: next(game.actions(view))], seed=bytes(32))

    assert final.result.ejected == ()


def clear_the_map(view: Any) -> Any:
    view.map.tiles.clear()
    view.map.frontier.clear()
    view.map.edge.clear()
    return Pass()


def swap_the_tiles(view: Any) -> Any:
    for cell in view.map.tiles:
        view.map.tiles[cell] = view.kinds[0]
    return Pass()


@pytest.mark.parametrize("scribble", [clear_the_map, swap_the_tiles])
def test_changes_of_a_players_map_do_not_reach_other_players(scribble: Callable[[Any], Any]) -> None:
    def run(first: Any) -> AnyMatch:
        return Referee().run(Q(), [first, server("q", 1, "dag")], seed=bytes(32))

    scribbled, crashed = run(scribble), run(lambda view: 1 / 0)
    assert [out.fault for out in scribbled.ejected] == [Fault.CRASHED]
    assert (scribbled.state, scribbled.result.ranking) == (crashed.state, crashed.result.ranking)
