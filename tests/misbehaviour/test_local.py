"""Test every bad local player in every game, at every moment that makes sense."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest

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
    REMOTE_PLAYERS,
    HostilePlayer,
    MisbehavingPlayer,
    make_misbehaving,
    raise_error,
)
from tests.games.tsuro import positions as tsuro


def few_tiles(seats: int, seed: str) -> AnyMatch:
    """A short match of Q."""
    state = Q().deal(seats, seed_from_text(seed))
    return Match(Q(), msgspec.structs.replace(state, pile=state.pile[:24]), named(seats))


def named(seats: int) -> tuple[str, ...]:
    return tuple(f"p{seat}" for seat in range(seats))


def dealt(game: Game[Any, Any, Any], seats: int, seed: str) -> AnyMatch:
    return Match(game, game.deal(seats, seed_from_text(seed)), named(seats))


TABLES: dict[str, AnyMatch] = {
    "fish": dealt(Fish(rows=5, columns=4), 3, "bad"),
    "tsuro": dealt(Tsuro(size=6), 4, "bad"),
    "q": few_tiles(3, "bad"),
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
    """A channel that keeps what it was asked and what it answered."""

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


def seated(bad: HostilePlayer, match: AnyMatch, at: int) -> tuple[AnyMatch, list[Counted]]:
    """The match with this one at a seat, and honest players at all others."""
    game = match.game
    seats = range(len(match.names))
    table = [
        Counted(
            bad.make_channel(server(game.name, seat), game)
            if seat == at
            else LocalChannel(server(game.name, seat), game)
        )
        for seat in seats
    ]
    return play(match, table), table


@cache
def outcome(bad: HostilePlayer, game: str) -> tuple[AnyMatch, list[Counted], int]:
    """The match with the player at the last seat, or at the first one if it has to move first."""
    match = GIVEN.get(bad.name, TABLES[game])
    at = 0 if bad.name in GIVEN and bad.only_in == "q" else len(match.names) - 1
    return (*seated(bad, match, at), at)


def complaints(bad: HostilePlayer, final: AnyMatch, at: int) -> list[str]:
    """Whatever is not as it was declared."""
    seats = set(range(len(final.names)))
    out = {ejected.seat: ejected for ejected in final.ejected}
    ranked = [seat for group in final.result.ranking for seat in group]
    wrong = []
    if at not in out:
        wrong.append(f"{bad.name} got away with it")
    elif (out[at].fault, out[at].moment) != (bad.fault, bad.moment):
        wrong.append(f"{bad.name} was ejected for {out[at].fault} at {out[at].moment}")
    elif out[at].clause != bad.clause:
        wrong.append(f"{bad.name} broke rule {out[at].clause}, not {bad.clause}")
    wrong += [
        f"seat {seat} was ejected, though it is honest: {ejected.why}"
        for seat, ejected in out.items()
        if seat != at and "no legal option" not in ejected.why
    ]
    if final.turn is not None or sorted([*ranked, *out]) != sorted(seats):
        wrong.append(f"the match did not come to its end: {final.result}")
    return wrong


each_seating = pytest.mark.parametrize(
    ("bad", "game"), SEATINGS, ids=[f"{bad.name}, {bad.moment.value} of {game}" for bad, game in SEATINGS]
)


@each_seating
def test_a_bad_player_is_ejected_for_what_it_declares_and_the_honest_play_on(bad: HostilePlayer, game: str) -> None:
    final, table, last = outcome(bad, game)

    assert complaints(bad, final, last) == []
    assert isinstance(table[last].told[-1][0], MESSAGE_TYPES[bad.moment])
    assert all(channel.closed == 1 for channel in table)


@each_seating
def test_the_evidence_of_a_bad_player_is_short_and_encodable(bad: HostilePlayer, game: str) -> None:
    final, table, last = outcome(bad, game)

    [why] = [ejected.why for ejected in final.ejected if ejected.seat == last]
    answer = table[last].told[-1][1]
    evidence = answer.evidence.detail if isinstance(answer, Failed) else ""
    assert 0 < len(why) < 200
    assert why.isprintable()
    assert len(evidence) < MAX_EVIDENCE_CHARS + 300
    msgspec.json.encode([why, evidence])
    if isinstance(answer, Answered):
        msgspec.json.encode(answer.value)


def test_there_are_enough_hostile_players() -> None:
    assert len(ALL_PLAYERS) == len(HOSTILE_PLAYERS) + len(ODD_PLAYERS) + len(REMOTE_PLAYERS) >= 40
    assert all(name == bad.name and bad.about and bad.moments and bad.distances for name, bad in ALL_PLAYERS.items())
    assert all("\n" not in bad.about for bad in ALL_PLAYERS.values())


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_that_an_action_can_break_is_broken(game: str) -> None:
    broken = {bad.clause for bad in ALL_PLAYERS.values() if bad.only_in == game and bad.clause}

    assert (
        broken
        == {
            "fish": {"3.2", "3.3", "3.4", "4.1", "4.2", "4.3", "4.5"},
            "tsuro": {"3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "4.3", "4.4"},
            "q": {"3.1", "3.2", "3.3", "3.4", "3.5", "3.6"},
        }[game]
    )


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


def crash(view: Any) -> Any:
    raise RuntimeError


def swap_the_tiles(view: Any) -> Any:
    for cell in view.map.tiles:
        view.map.tiles[cell] = view.kinds[0]
    return Pass()


@pytest.mark.parametrize("scribble", [clear_the_map, swap_the_tiles])
def test_changes_of_a_players_map_do_not_reach_other_players(scribble: Callable[[Any], Any]) -> None:
    def run(first: Callable[[Any], Any]) -> AnyMatch:
        return Referee().run(Q(), [first, server("q", 1, "dag")], seed=bytes(32))

    scribbled, crashed = run(scribble), run(crash)
    assert [out.fault for out in scribbled.ejected] == [Fault.CRASHED]
    assert (scribbled.state, scribbled.result.ranking) == (crashed.state, crashed.result.ranking)


# A meter that cannot fail is no meter.


def test_the_test_of_hostile_players_detects_an_honest_one() -> None:
    honest = HostilePlayer(
        name="nice",
        about="plays well",
        fault=Fault.CRASHED,
        moments=(Moment.TURN,),
        make=lambda strategy, game, moment: LocalChannel(strategy, game),
    )

    final, _ = seated(honest, TABLES["fish"], 2)

    assert complaints(honest, final, 2) == ["nice got away with it"]


def test_the_test_of_hostile_players_detects_a_wrong_declaration() -> None:
    wrong_fault = make_misbehaving("wrong", "raises", Fault.MALFORMED, raise_error(ValueError), Moment.TURN)
    cheat = msgspec.structs.replace(HOSTILE_PLAYERS["moves too soon"], clause="4.1")

    assert complaints(wrong_fault, seated(wrong_fault, TABLES["fish"], 2)[0], 2)
    assert complaints(
        HOSTILE_PLAYERS["exits"].with_moment(Moment.END), seated(HOSTILE_PLAYERS["exits"], TABLES["q"], 2)[0], 2
    )
    assert complaints(cheat, seated(cheat, TABLES["fish"], 2)[0], 2) == ["moves too soon broke rule 3.4, not 4.1"]


class Unjust(Fish, frozen=True):
    def check(self, view: Any, action: Any) -> None:
        super().check(view, action)
        if view.seat == 0 and view.state.scores[1]:
            super().check(msgspec.structs.replace(view, seat=1), action)


def test_the_test_of_hostile_players_detects_a_referee_that_ejects_the_honest() -> None:
    bad = HOSTILE_PLAYERS["raises at the end"]

    final, _ = seated(bad, dealt(Unjust(rows=5, columns=4), 3, "bad"), 2)

    assert any("though it is honest" in wrong for wrong in complaints(bad, final, 2))
