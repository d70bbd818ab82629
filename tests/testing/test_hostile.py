"""Seat every bad player of the shelf at every game that it is for."""

from typing import Any

import pytest

from fairplay.core.chance import derive, seed_from
from fairplay.core.events import Fault
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.roles import Channel
from fairplay.games import GAMES, title
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.q.examples import EXAMPLES as Q_EXAMPLES
from fairplay.games.q.examples import position
from fairplay.games.tsuro import Tsuro
from fairplay.referee.drivers import play
from fairplay.referee.local import Local
from fairplay.testing.hostile import SHELF, Bad, Hanging
from fairplay.testing.scripted import Scripted

TABLES: dict[str, tuple[Game[Any, Any, Any], int]] = {
    "fish": (Fish(rows=5, columns=5), 3),
    "tsuro": (Tsuro(), 4),
    "q": (Q(), 3),
}
SEATINGS = [(name, game) for name, bad in SHELF.items() for game in TABLES if bad.fits(game)]
GIVEN = {  # a position in which the cheat is possible, where it is not from the start
    "cheats: bad-ask-for-tiles": Q_EXAMPLES["only passing"],
    "cheats: not-a-line": position(
        {(0, 0): "red star"}, [["red circle", "red square"], ["red star"], ["red star"]], ["red star"] * 9
    ),
}


def match_of(name: str, game: str) -> Match[Any, Any, Any]:
    rules, seats = TABLES[game]
    state = GIVEN[name] if name in GIVEN else rules.deal(seats, seed_from("hostile"))
    return Match(rules, state, tuple(f"p{seat}" for seat in range(seats))[: len(getattr(state, "hands", range(seats)))])


def honest(game: str, seat: int) -> Channel:
    rules, _ = TABLES[game]
    return Local(title(game).house["random"].make("", derive(bytes(32), f"seat {seat}")), rules)


def played(bad: Bad, match: Match[Any, Any, Any], at: int) -> Match[Any, Any, Any]:
    game = match.game.name
    strategy = title(game).house["random"].make("", derive(bytes(32), f"seat {at}"))
    seats = range(len(match.names))
    return play(match, [bad.seat(strategy, match.game) if seat == at else honest(game, seat) for seat in seats])


def test_every_game_is_tried() -> None:
    assert set(TABLES) == set(GAMES)


@pytest.mark.parametrize(("name", "game"), SEATINGS)
def test_a_bad_player_is_ejected_for_what_it_declares_and_the_others_play_on(name: str, game: str) -> None:
    bad, match = SHELF[name], match_of(name, game)

    final = played(bad, match, 0)

    out = [(ejected.seat, ejected.fault, ejected.moment) for ejected in final.result.ejected]
    assert (0, bad.fault, bad.moment) in out
    assert all("no legal option" in ejected.why for ejected in final.result.ejected if ejected.seat != 0)
    assert {seat for group in final.result.ranking for seat in group} == set(range(len(match.names))) - {
        seat for seat, _, _ in out
    }


@pytest.mark.parametrize("game", TABLES)
def test_a_table_of_nothing_but_bad_players_comes_to_an_end(game: str) -> None:
    rules, seats = TABLES[game]
    strategy = title(game).house["random"].make("", bytes(32))
    bad = [SHELF["raises in the greeting"], SHELF["answers junk"], SHELF["hangs in the turn"], SHELF["exits"]][:seats]
    match = Match(rules, rules.deal(seats, bytes(32)), tuple(f"p{seat}" for seat in range(seats)))

    final = play(match, [one.seat(strategy, rules) for one in bad])

    assert final.result.ranking == ()
    assert sorted(ejected.seat for ejected in final.result.ejected) == list(range(seats))


def test_who_hangs_on_its_third_call_answers_the_first_two() -> None:
    rules = Q()
    strategy = title("q").house["dag"].make("", bytes(32))
    match = Match(rules, rules.deal(2, bytes(32)), ("ann", "bob"))

    final = play(match, [Hanging(Local(strategy, rules), Moment.TURN, 3), Local(strategy, rules)])

    [ejected] = final.result.ejected
    assert (ejected.seat, ejected.fault, ejected.moment) == (0, Fault.TIMED_OUT, Moment.TURN)
    assert final.state.scores[0] > 0


def test_a_hanging_channel_is_closed_with_the_one_behind_it() -> None:
    behind = Scripted([])

    Hanging(behind, Moment.TURN).close(None)

    assert behind.closed == [None]
