"""Test every hostile player in every game that it is for."""

from typing import Any

import pytest

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.events import Fault
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.roles import Channel
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.q.examples import EXAMPLES as Q_EXAMPLES
from fairplay.games.q.examples import position
from fairplay.games.tsuro import Tsuro
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.testing.hostile import HOSTILE_PLAYERS, HangingChannel, HostilePlayer

TABLES: dict[str, tuple[Game[Any, Any, Any], int]] = {
    "fish": (Fish(rows=5, columns=5), 3),
    "tsuro": (Tsuro(), 4),
    "q": (Q(), 3),
}
SEATINGS = [(name, game) for name, bad in HOSTILE_PLAYERS.items() for game in TABLES if bad.applies_to(game)]
GIVEN = {  # a position in which the cheat is possible, where it is not from the start
    "cheats: bad-ask-for-tiles": Q_EXAMPLES["only passing"],
    "cheats: not-a-line": position(
        {(0, 0): "red star"}, [["red circle", "red square"], ["red star"], ["red star"]], ["red star"] * 9
    ),
}


def match_of(name: str, game: str) -> Match[Any, Any, Any]:
    rules, seats = TABLES[game]
    state = GIVEN[name] if name in GIVEN else rules.deal(seats, seed_from_text("hostile"))
    return Match(rules, state, tuple(f"p{seat}" for seat in range(seats))[: len(getattr(state, "hands", range(seats)))])


def honest(game: str, seat: int) -> Channel:
    rules, _ = TABLES[game]
    return LocalChannel(game_info(game).built_in["random"].make("", derive_seed(bytes(32), f"seat {seat}")), rules)


def played(bad: HostilePlayer, match: Match[Any, Any, Any], at: int) -> Match[Any, Any, Any]:
    game = match.game.name
    strategy = game_info(game).built_in["random"].make("", derive_seed(bytes(32), f"seat {at}"))
    seats = range(len(match.names))
    return play(match, [bad.make_channel(strategy, match.game) if seat == at else honest(game, seat) for seat in seats])


@pytest.mark.parametrize(("name", "game"), SEATINGS)
def test_a_hostile_player_is_ejected_for_its_declared_fault_and_the_others_play_on(name: str, game: str) -> None:
    bad, match = HOSTILE_PLAYERS[name], match_of(name, game)

    final = played(bad, match, 0)

    out = [(ejected.seat, ejected.fault, ejected.moment) for ejected in final.result.ejected]
    assert (0, bad.fault, bad.moment) in out
    assert all("no legal option" in ejected.why for ejected in final.result.ejected if ejected.seat != 0)
    assert {seat for group in final.result.ranking for seat in group} == set(range(len(match.names))) - {
        seat for seat, _, _ in out
    }


@pytest.mark.parametrize("game", TABLES)
def test_a_match_of_only_hostile_players_ends(game: str) -> None:
    rules, seats = TABLES[game]
    strategy = game_info(game).built_in["random"].make("", bytes(32))
    bad = [
        HOSTILE_PLAYERS["raises at the greeting"],
        HOSTILE_PLAYERS["answers junk"],
        HOSTILE_PLAYERS["hangs at the turn"],
        HOSTILE_PLAYERS["exits"],
    ][:seats]
    match = Match(rules, rules.deal(seats, bytes(32)), tuple(f"p{seat}" for seat in range(seats)))

    final = play(match, [one.make_channel(strategy, rules) for one in bad])

    assert final.result.ranking == ()
    assert sorted(ejected.seat for ejected in final.result.ejected) == list(range(seats))


def test_a_player_that_hangs_on_its_third_call_answers_the_first_two() -> None:
    rules = Q()
    strategy = game_info("q").built_in["dag"].make("", bytes(32))
    match = Match(rules, rules.deal(2, bytes(32)), ("ann", "bob"))

    final = play(match, [HangingChannel(LocalChannel(strategy, rules), Moment.TURN, 3), LocalChannel(strategy, rules)])

    [ejected] = final.result.ejected
    assert (ejected.seat, ejected.fault, ejected.moment) == (0, Fault.TIMED_OUT, Moment.TURN)
    assert final.state.scores[0] > 0
