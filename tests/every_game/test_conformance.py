"""Test that every game keeps all laws of games, along random matches."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.games import GAMES
from fairplay.games.fish import Fish
from fairplay.games.fish import State as FishState
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.q import Action as QAction
from fairplay.games.q import Exchange, Q
from fairplay.games.q import State as QState
from fairplay.games.q import View as QView
from fairplay.games.tsuro import Action as TsuroAction
from fairplay.games.tsuro import State as TsuroState
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro import View as TsuroView
from fairplay.games.tsuro.examples import EXAMPLES as TSURO_EXAMPLES
from fairplay.testing import laws
from fairplay.testing.conformance import DEFAULT_SEEDS, check_game
from fairplay.testing.playouts import AnyMatch
from tests import toy
from tests.every_game.planted_bugs import BUGS
from tests.games.q import positions as q
from tests.games.tsuro import positions as tsuro
from tests.toy import Toy


def fish_pieces(state: FishState) -> object:
    """Fish on tiles and in scores; penguins on tiles that are there, one on each; who is who."""
    cells = range(len(state.grid.positions))
    standing = [cell for penguins in state.penguins for cell in penguins]
    tiles = [cell for cell in cells if state.fish_at(cell)]
    free = [cell for cell in cells if state.free >> cell & 1]
    total = sum(state.fish_at(cell) for cell in cells) + sum(state.scores)
    return total, sorted(standing + free) == tiles, state.each, state.colours


def seated(state: FishState) -> AnyMatch:
    return Match(Fish(), state, tuple(f"player-{seat}" for seat in range(len(state.scores))))


def with_tiles_to_the_end(state: TsuroState) -> AnyMatch:
    """A match from an example, whose own tiles are for a few turns; what lies there was drawn before."""
    drawn = tuple(tile for tile, _ in tsuro.placed_tiles(state).values())
    return tsuro.match_from(TsuroState(state.table, (*drawn, *state.source * 7), len(drawn)))


def with_few_tiles(seats: int, hand: int, pile: int, seed: bytes) -> AnyMatch:
    """A match of Q in which the tiles are soon used up, with a choice of actions that can be listed."""
    state = Q().deal(seats, seed)
    hands = tuple(tiles[:hand] for tiles in state.hands)
    return q.make_match(msgspec.structs.replace(state, hands=hands, pile=state.pile[:pile]))


FEW_TILES = [with_few_tiles(seats, hand, 9, seed) for seats in Q.seats for hand in (1, 3) for seed in DEFAULT_SEEDS]
Q_POSITIONS = [
    q.make_match(
        q.make_position({(0, 0): "red star"}, ["red circle, blue star", "red star, green circle"], "blue circle")
    ),
    q.make_match(  # not connected, and hands of all sizes
        q.make_position(
            {(0, 0): "red star", (-3, -2): "blue star", (-3, -1): "blue circle", (9, 9): "blue star"},
            ["red circle, blue star, blue star", "red star", "", "purple diamond, green star"],
            "blue circle, green star",
            scores=(3, 0, 8, 1),
        )
    ),
    q.make_match(  # in the middle of a round, with nothing left to draw
        q.make_position({(0, 0): "red star"}, ["red circle", "red square", "blue star"], order=(2, 0, 1), to_act=2)
    ),
    q.make_match(q.make_position({(0, 0): "red star"}, ["", ""], "red star")),
]
UNEVEN: AnyMatch = Match(
    Toy(),
    toy.State(((), (3, 4), (0, 5), ()), (1,), (2,), (), (2, 0, 0, 0), order=(0, 1, 2, 3), ranked=(0, 1, 2, 3)),
    ("ann", "bob", "cyd", "dan"),
)

# For each game what check_game has to know of it, and the sets of parameters that are tried.
KNOWN: Mapping[str, dict[str, Any]] = {
    "fish": {"pieces": fish_pieces, "reshuffle": None},
    "q": {"pieces": q.all_tiles, "reshuffle": q.reshuffle},
    "tsuro": {"pieces": tsuro.all_tiles, "reshuffle": tsuro.reshuffle, "breadth": 800},
    "toy": {"pieces": toy.all_cards, "reshuffle": toy.reshuffle},
}
CASES: Mapping[str, tuple[Game[Any, Any, Any], dict[str, Any]]] = {
    "fish": (Fish(rows=5, columns=5), {}),
    "fish with one fish everywhere": (Fish(rows=4, columns=3, fish=1), {}),
    "fish with holes": (Fish(rows=5, columns=4, holes=6), {}),
    "fish with random holes": (Fish(rows=5, columns=5, holes="random", colours="random"), {}),
    "fish for two on a line": (Fish(rows=1, columns=12, fish=2), {"seats": [2]}),
    "fish on the largest of boards": (Fish(rows=9, columns=9), {"seats": [4], "seeds": DEFAULT_SEEDS[:1], "points": 6}),
    "fish, cramped": (Fish(rows=4, columns=2, fish=1, cramped=True), {}),
    "fish without a tile": (Fish(rows=2, columns=2, holes=4, cramped=True), {}),
    "fish from examples": (Fish(), {"seeds": (), "given": [seated(state) for state in EXAMPLES.values()]}),
    "q": (
        Q(),
        {"seats": [2], "seeds": DEFAULT_SEEDS[:1], "breadth": 3, "points": 2},
    ),  # six tiles can be placed in many ways
    "q with few tiles": (Q(q_bonus=6, finish_bonus=6), {"seeds": (), "given": FEW_TILES, "points": 4}),
    "q from given positions": (Q(), {"seeds": (), "given": Q_POSITIONS}),
    "tsuro": (Tsuro(size=4), {"seeds": DEFAULT_SEEDS[:2], "points": 4}),
    "tsuro with the cycle": (Tsuro(size=4, tiles="cycle"), {"seats": [3, 5], "seeds": DEFAULT_SEEDS[:1], "points": 6}),
    "tsuro with tiles of the caller's": (Tsuro(size=4, tiles=(4, 34, 2, 34, 13) * 11), {"seats": [3], "points": 4}),
    "tsuro on the smallest of boards": (Tsuro(size=3), {"seats": [3, 4], "seeds": DEFAULT_SEEDS[:2], "points": 4}),
    "tsuro on the board of the course": (Tsuro(), {"seats": [5], "seeds": DEFAULT_SEEDS[:1], "points": 3}),
    "tsuro from examples": (
        Tsuro(),
        {"seeds": (), "given": [with_tiles_to_the_end(state) for state in TSURO_EXAMPLES.values()], "points": 2},
    ),
    "toy": (Toy(), {}),
    "toy without a pile": (Toy(cards=15), {"seats": [5]}),
    "toy with long hands": (Toy(cards=30, hand=6), {"seats": [2, 3]}),
    "toy with an empty hand": (Toy(), {"seeds": (), "given": [UNEVEN]}),
    "toy without cards": (Toy(cards=0, hand=0), {"reshuffle": None}),
}


def known(game: Game[Any, Any, Any]) -> dict[str, Any]:
    return KNOWN[game.name]


def test_every_game_has_its_place_in_the_suite() -> None:
    tried = {game.name for game, _ in CASES.values()}

    assert set(GAMES) | {"toy"} == tried == set(KNOWN)


@pytest.mark.parametrize("case", CASES)
def test_the_game_keeps_every_law(case: str) -> None:
    game, of_case = CASES[case]
    check_game(game, **{**known(game), **of_case})


@pytest.mark.parametrize("case", CASES)
def test_a_player_knows_enough_of_the_game_from_what_is_public(case: str) -> None:
    game, _ = CASES[case]
    plain = msgspec.json.decode(msgspec.json.encode(game.public_parameters()))
    state = game.deal(game.seats[1], DEFAULT_SEEDS[0])
    view = game.view(state, 0)

    known = type(game).with_public_parameters(plain)

    assert known.unpack(game.pack(view)) == view
    if game.turn(state) is not None:
        assert list(known.actions(view)) == list(game.actions(view))


@pytest.mark.parametrize("game", [Q(), Toy(), Tsuro(size=4)], ids=["q", "toy", "tsuro"])
def test_a_view_never_depends_on_what_its_seat_may_not_know(game: Game[Any, Any, Any]) -> None:
    seeds = [*DEFAULT_SEEDS, *(bytes([number] * 32) for number in range(20))]
    few: dict[str, Any] = {"breadth": 3} if game.name == "q" else {}

    check_game(game, **known(game), **few, seeds=seeds, laws=[laws.views_hide_what_they_must])


# A meter that cannot fail is no meter.


@pytest.mark.parametrize(("law", "message", "game"), BUGS, ids=[type(game).__name__ for _, _, game in BUGS])
def test_a_planted_bug_turns_its_law_red(law: str, message: str, game: Game[Any, Any, Any]) -> None:
    with pytest.raises(AssertionError) as broken:
        check_game(game, **known(game), turns=200)

    said = str(broken.value)
    assert said.startswith(f"{law}: ")
    assert message in said
    assert re.search(r" \(seed [0-9a-f]{64}, [1-5] seats, after \d+ actions( and \d ejected)?\)$", said)


class Conjuring(Tsuro, frozen=True):
    def apply(self, state: TsuroState, action: TsuroAction) -> TsuroState:
        return super().apply(state, msgspec.structs.replace(action, tile=34))


class Peeking(Tsuro, frozen=True):
    def view(self, state: TsuroState, seat: Seat | None) -> TsuroView:
        view = super().view(state, self.turn(state))
        return msgspec.structs.replace(view, seat=seat)


class Wasteful(Q, frozen=True):
    def apply(self, state: QState, action: QAction) -> QState:
        after = super().apply(state, action)
        return msgspec.structs.replace(after, pile=after.pile[1:]) if isinstance(action, Exchange) else after


class Careless(Q, frozen=True):
    def view(self, state: QState, seat: Seat | None) -> QView:
        return msgspec.structs.replace(super().view(state, seat), left=sum(state.fresh))


@pytest.mark.parametrize(
    ("game", "broken"),
    [
        (Conjuring(size=4), "pieces are kept: the pieces were "),  # a tile that was not dealt
        (Peeking(size=4), "views hide what they must: seat 1 sees what it may not know"),
        (Wasteful(), "pieces are kept: the pieces were "),  # a tile that is gone
        (Careless(), "views hide what they must: seat "),  # a tile that another player drew
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_known_of_tsuro_and_q_turns_their_laws_red(game: Tsuro | Q, broken: str) -> None:
    few: dict[str, Any] = {"breadth": 4} if game.name == "q" else {}

    with pytest.raises(AssertionError, match=broken):
        check_game(game, **{**known(game), **few}, laws=[laws.pieces_are_kept, laws.views_hide_what_they_must])


def test_every_law_has_a_planted_bug() -> None:
    named = {law.__name__.replace("_", " ") for law in laws.LAWS} | {"every match comes to its end"}

    assert {law for law, _, _ in BUGS} == named


def test_a_reshuffle_that_changes_nothing_turns_the_suite_red() -> None:
    with pytest.raises(AssertionError, match="the reshuffle never changed a state"):
        check_game(Toy(), pieces=toy.all_cards, reshuffle=lambda state, seat, lots: state)


def test_a_broken_law_in_a_given_match_is_told_with_its_number() -> None:
    matches = [seated(EXAMPLES["star"]), seated(EXAMPLES["stuck"])]

    with pytest.raises(AssertionError, match=r"pieces are kept: .* \(given match 1, 2 seats, after 1 actions\)"):
        check_game(Fish(), pieces=lambda state: state.scores, reshuffle=None, seeds=(), given=matches)


def test_what_a_law_trips_over_is_told_with_the_law() -> None:
    with pytest.raises(AssertionError, match="pieces are kept: ZeroDivisionError: division by zero"):
        check_game(Toy(), pieces=lambda state: 1 / 0, reshuffle=toy.reshuffle)


def test_a_deal_that_is_refused_ends_the_suite() -> None:
    with pytest.raises(
        AssertionError, match="a match can be dealt: BadRequest: a board of 2 x 2 with 0 holes is too small"
    ) as broken:
        check_game(Fish(rows=2, columns=2), **known(Fish()))

    assert isinstance(broken.value.__cause__, BadRequest)
