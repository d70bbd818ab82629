"""Build positions of Q for its tests, tile by tile."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.games.q import Action, Place, Placement, Q, State, View
from fairplay.games.q.board import cell_at, map_of, position_of
from fairplay.games.q.pieces import KINDS, NAMES, NONE

QGAME = Q()
PLAYERS = ("ann", "bob", "cyd", "dan")
Laid = dict[tuple[int, int], str]


def parse_tiles(names: str) -> tuple[int, ...]:
    return tuple(KINDS[name.strip()] for name in names.split(",") if name.strip())


def tile_names(kinds: Iterable[int]) -> list[str]:
    return [NAMES[kind] for kind in kinds]


def tile_row(start: tuple[int, int], names: str) -> Laid:
    """Tiles side by side, to the right from a place; a dash is a gap."""
    words = [name.strip() for name in names.split(",")]
    return {(start[0], start[1] + step): name for step, name in enumerate(words) if name != "-"}


def tile_column(start: tuple[int, int], names: str) -> Laid:
    """Tiles one below the other, downwards from a place; a dash is a gap."""
    return {
        (start[0] + down, start[1] + right): name for (down, right), name in transpose(tile_row((0, 0), names)).items()
    }


def transpose(laid: Laid) -> Laid:
    return {(right, down): name for (down, right), name in laid.items()}


def make_position(
    lying: Laid,
    hands: Sequence[str],
    pile: str | Sequence[int] = "",
    **more: Any,
) -> State:
    """A position at the beginning of a round, unless more is said."""
    seats = len(hands)
    state = State(
        map=map_of((at, KINDS[name]) for at, name in lying.items()),
        hands=tuple(parse_tiles(hand) for hand in hands),
        scores=(0,) * seats,
        pile=parse_tiles(pile) if isinstance(pile, str) else tuple(pile),
        order=tuple(range(seats)),
        to_act=seats,
    )
    return msgspec.structs.replace(state, **more)


def random_views(
    seed: int, count: int, *, most_tiles: int = 14, most_held: int = 6, kinds_from: Sequence[int] = range(NONE)
) -> Iterator[View]:
    """Maps that grew at random, some with stray tiles, of few kinds so that much fits, and hands of the same kinds."""
    chance = Random(seed)
    for _ in range(count):
        kinds = chance.sample(kinds_from, chance.randint(3, 12))
        shown = map_of([((0, 0), kinds[0])])
        for _ in range(chance.randrange(most_tiles)):
            options = [(cell, kind) for cell in shown.edge for kind in kinds if shown.frontier[cell] >> kind & 1]
            if options and chance.random() < 0.9:
                shown = shown.with_tiles([chance.choice(options)])
            else:
                away = cell_at((chance.randint(-5, 5), chance.randint(-5, 5)))
                shown = shown.with_tiles([(away, chance.choice(kinds))] if away not in shown.tiles else [])
        hand = tuple(chance.choice(kinds) for _ in range(chance.randint(0, most_held)))
        yield View(0, shown, hand, (0, 1), (0, 0), chance.randint(0, 8))


def make_placement(laid: Mapping[tuple[int, int], str]) -> Place:
    return Place(tuple(Placement(name, at) for at, name in laid.items()))


def play_actions(state: State, *actions: Action, game: Q = QGAME) -> State:
    for action in actions:
        game.check(game.view(state, game.turn(state)), action)
        state = game.apply(state, action)
    return state


def placed_tiles(state: State) -> Laid:
    return {position_of(cell): NAMES[kind] for cell, kind in state.map.tiles.items()}


def make_match(state: State, game: Q = QGAME) -> Match[Any, Any, Any]:
    return Match(game, state, PLAYERS[: len(state.hands)])


def all_tiles(state: State) -> list[int]:
    """All tiles, wherever they are; no action and no ejection changes them."""
    in_hands = (kind for hand in state.hands for kind in hand)
    return sorted([*state.map.tiles.values(), *in_hands, *state.pile, *state.lost])


def reshuffle(state: State, seat: Seat | None, lots: SeededRandom) -> State:
    """The others' hands and the pile mixed with one another; a seat's own hand stays what it is."""
    hidden = [kind for other, hand in enumerate(state.hands) if other != seat for kind in hand]
    hidden += [*state.pile, *state.lost]
    lots.shuffle(hidden)
    rest = iter(hidden)
    hands = tuple(hand if other == seat else tuple(next(rest) for _ in hand) for other, hand in enumerate(state.hands))
    pile, lost = (tuple(next(rest) for _ in heap) for heap in (state.pile, state.lost))
    fresh = hands[state.order[-1]][: len(state.fresh)] if state.order else ()  # the first of who acted last
    return msgspec.structs.replace(state, hands=hands, pile=pile, lost=lost, fresh=fresh)
