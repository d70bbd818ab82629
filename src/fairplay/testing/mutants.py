"""Make actions that a position does not offer: from other positions, and with a detail changed."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, get_args

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Acted
from fairplay.core.game import Game
from fairplay.testing.playouts import Position, Sampling

MAX_ACTIONS_PER_KIND = 400  # of each kind


def foreign_actions(game: Game[Any, Any, Any], positions: Sequence[Position], sampling: Sampling) -> list[Any]:
    """Well-formed actions of this game, most of which are illegal most of the time."""
    known = list(dict.fromkeys(position.fact.action for position in positions if isinstance(position.fact, Acted)))
    for position in positions[:: max(1, len(positions) // 20)]:
        if (seat := position.match.turn) is not None:
            known += islice(game.actions(position.match.view(seat)), sampling.breadth)
    known = list(dict.fromkeys(known))
    sampling.lots.shuffle(known)
    plain = [msgspec.json.decode(msgspec.json.encode(action)) for action in known]
    mutants = [mutate_action(game, plain, sampling.lots) for _ in range(MAX_ACTIONS_PER_KIND if plain else 0)]
    return list(
        dict.fromkeys(
            [
                *fieldless_actions(game),
                *known[:MAX_ACTIONS_PER_KIND],
                *(found for found in mutants if found is not None),
            ]
        )
    )


def fieldless_actions(game: Game[Any, Any, Any]) -> list[Any]:
    """The actions without fields, like passing, which the matches may have missed."""
    structs = [kind for kind in get_args(game.action) if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    return [kind() for kind in structs if not msgspec.structs.fields(kind)]


def mutate_action(game: Game[Any, Any, Any], plain: Sequence[Any], lots: SeededRandom) -> Any:
    """One of the actions with a detail changed; None: it is no action any more."""
    one, other = (plain[lots.below(len(plain))] for _ in range(2))
    try:
        return msgspec.convert(mutate_json(one, other, lots), game.action)
    except msgspec.ValidationError:
        return None


def mutate_json(plain: Any, other: Any, lots: SeededRandom) -> Any:
    """Plain JSON with one detail different, perhaps as it is in the other."""
    match plain:
        case dict() if plain:
            key = list(plain)[lots.below(len(plain))]
            there = other.get(key) if isinstance(other, dict) else other
            return {**plain, key: mutate_json(plain[key], there, lots)}
        case list() if plain:
            index = lots.below(len(plain))
            there = other[index] if isinstance(other, list) and index < len(other) else other
            item = mutate_json(plain[index], there, lots)
            ways = (
                [*plain[:index], item, *plain[index + 1 :]],
                [*plain[:index], *plain[index + 1 :]],
                [*plain, plain[index]],
                plain[::-1],
            )
            return ways[max(0, lots.below(6) - 2)]  # mostly the first, which is more often well-formed
        case bool():
            return not plain
        case int():
            return (plain + 1, plain - 1, -plain - 1, 0, other)[lots.below(5)]
        case _:
            return other
