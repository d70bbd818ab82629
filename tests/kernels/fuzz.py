"""Call the kernels with invalid arguments: they may answer or raise, and must not crash."""

from collections.abc import Iterator
from typing import Any

from fairplay.core.chance import SeededRandom, derive_seed
from fairplay.games.fish import Fish
from fairplay.games.fish.kernel import packed_fish
from fairplay.games.q import Q
from fairplay.games.q.strategies import random_strategy
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.kernel import TURNED
from fairplay.games.tsuro.pieces import EXITS
from fairplay.kernels import kernels
from tests.kernels.comparing import random_position

CALLS_PER_NUMBER = 40  # by each number
REFUSALS = (TypeError, ValueError, OverflowError)
NUMBERS = (-(2**70), -(2**63), -(2**31), -2, -1, 0, 1, 2, 63, 64, 65, 255, 2**20 + 1, 2**31, 2**34, 2**63, 2**64, 2**70)

# Of kernels that can be asked to take long: which argument says so, and what it says then.
LONG_CALLS = {
    "fish_best_move": (5, range(3, 65)),
    "fish_territory": (7, range(5000, 10**7 + 1)),
    "fish_sampling": (8, range(1000, 50_001)),
    "q_playouts": (13, range(5, 1025)),
    "tsuro_best_future": (6, range(1000, 2**20 + 1)),
}


class RefusingIndex:
    """What can be taken for a number, and says no when it is."""

    def __index__(self) -> int:
        raise ValueError("not me")


KEYS = (*NUMBERS, None, "text", 0.5, True, (), RefusingIndex())


class MutatingIndex:
    """What can be taken for a number, and changes what it came in."""

    def __init__(self, tiles: dict[Any, Any]) -> None:
        self.tiles = tiles

    def __index__(self) -> int:
        self.tiles.update((1000 + number, 0) for number in range(1000))
        return 3


def run_hostile_calls(numbers: range, seed: bytes) -> Iterator[str]:
    """For each number what a kernel did otherwise than it may, or nothing."""
    for number in numbers:
        lots = SeededRandom(derive_seed(seed, f"hostile {number}"))
        calls = tuple(legal_calls(lots).items())
        failure = ""
        for _ in range(CALLS_PER_NUMBER):
            name, arguments = calls[lots.below(len(calls))]
            arguments = mutate_arguments(arguments, lots)
            if not is_long_call(name, arguments):
                failure = failure or find_failure(name, arguments)
        yield failure


def is_long_call(name: str, arguments: tuple[Any, ...]) -> bool:
    """Would it look too many turns ahead, or try too much? That is legal."""
    place, many = LONG_CALLS.get(name, (0, range(0)))
    said = arguments[place] if len(arguments) > place else None
    return isinstance(said, int) and said in many  # whatever else is looked for in a range is held against all of it


def find_failure(name: str, arguments: Any) -> str:
    """Call a kernel; what was wrong about it, or nothing."""
    try:
        getattr(kernels, name)(*arguments)
    except REFUSALS:
        return ""
    except BaseException as error:
        return f"{name}{arguments!r:.2000}: {error!r}"
    return ""


def legal_calls(lots: SeededRandom) -> dict[str, tuple[Any, ...]]:
    state = random_position(
        Fish(rows=1 + lots.below(8), columns=1 + lots.below(8), cramped=True), 2 + lots.below(3), lots, 30
    )
    shape = (state.grid.rows, state.grid.columns, packed_fish(state), state.free, state.penguins)
    tsuro = random_position(Tsuro(size=4 + lots.below(27)), 3, lots, 30, least=3)
    view, table = Tsuro().view(tsuro, tsuro.table.waiting[0]), tsuro.table
    game = Q()
    map_state = game.deal(2, derive_seed(b"", f"{lots.below(2**32)}"))
    for _ in range(lots.below(9)):
        map_state = game.apply(map_state, random_strategy(b"")(game.view(map_state, map_state.order[0])))
    shown = dict(map_state.map.tiles), map_state.map.edge
    codes = TURNED[view.dealt[0]] + TURNED[view.dealt[1]]
    return {
        "fish_best_move": (*shape, 1 + lots.below(2)),
        "fish_playouts": (*shape, state.scores, state.order, 2, lots.below(5), lots.below(5), lots.below(2**64)),
        "fish_text": (0, "playing", state.order, 2, *shape, state.scores, state.colours),
        "fish_sampling": (*shape, state.scores, state.order, lots.below(3), lots.below(50), lots.below(2**64)),
        "fish_territory": (*shape, state.order, lots.below(3), 1 + lots.below(200)),
        "tsuro_best_lay": (table.grid.size, table.board, table.avatars, view.seat, codes, EXITS),
        "tsuro_best_future": (
            *(table.grid.size, table.board, table.avatars, table.waiting, view.dealt, EXITS),
            *(1 + lots.below(50), lots.below(2**64)),
        ),
        "q_best_placement": (*shown, map_state.hands[0], 8, 4, lots.below(8001)),
        "q_playouts": (
            *(*shown, map_state.hands[0][:4], 2, map_state.scores, lots.below(9), 6, bytes(range(36)), lots.below(2)),
            *(True, 8, 4, lots.below(5), lots.below(3), lots.below(2**64)),
        ),
    }


def mutate_arguments(arguments: tuple[Any, ...], lots: SeededRandom) -> tuple[Any, ...]:
    """The same with something else in one place or more, something more, or something less."""
    match lots.below(12):
        case 0:
            return arguments[: lots.below(len(arguments))]
        case 1:
            return (*arguments, random_value(lots))
        case 2:
            return tuple(random_value(lots) for _ in arguments)
    changed = list(arguments)
    for _ in range(1 + lots.below(3)):
        place = lots.below(len(changed))
        changed[place] = mutate_value(changed[place], lots)
    return tuple(changed)


def mutate_value(value: Any, lots: SeededRandom) -> Any:
    if not lots.below(4):
        return random_value(lots)
    match value:
        case int():
            return value + lots.below(5) - 2 if lots.below(2) else NUMBERS[lots.below(len(NUMBERS))]
        case bytes() if value:
            place = lots.below(len(value))
            return value[:place] + bytes(lots.numbers(1 + lots.below(2), 256)) + value[place + lots.below(3) :]
        case tuple() if value:
            place = lots.below(len(value))
            return (*value[:place], mutate_value(value[place], lots), *value[place + lots.below(3) :])
        case dict() if value:
            changed = dict(value)
            key = list(changed)[lots.below(len(changed))]
            changed[KEYS[lots.below(len(KEYS))] if lots.below(2) else key] = mutate_value(changed.pop(key), lots)
            if not lots.below(8):
                changed[0] = MutatingIndex(changed)
            return changed
    return random_value(lots)


def random_value(lots: SeededRandom) -> Any:
    numbers = tuple(NUMBERS[lots.below(len(NUMBERS))] for _ in range(lots.below(70)))
    few = tuple(lots.numbers(lots.below(70), 64))
    choices: tuple[Any, ...] = (
        *(None, True, "text", 0.5, float("nan"), [], {}, (), b"", RefusingIndex(), object),
        *(numbers, few, list(few), set(few)),
        *((few,) * lots.below(6), (numbers, few), bytes(few), bytes(lots.numbers(lots.below(2000), 256))),
        *(numbers[:1], dict.fromkeys(numbers, 7), {number: number for number in few}, (RefusingIndex(),), (few, None)),
    )
    return choices[lots.below(len(choices))]
