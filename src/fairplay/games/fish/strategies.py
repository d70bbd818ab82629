"""Define the built-in players of Fish: random, greedy, lookahead, sampler and territory."""

from collections.abc import Sequence
from hashlib import sha256

from fairplay.core.chance import derive_seed
from fairplay.core.roles import BuiltInPlayer, Strategy, built_in_player, built_in_player_with_number
from fairplay.games.fish.actions import Action, Place
from fairplay.games.fish.kernel import MAX_CELLS, best_move, sampling_step, territory_step
from fairplay.games.fish.state import PLACING, State
from fairplay.games.fish.steps import action_of
from fairplay.games.fish.view import View

Fisher = Strategy[View, Action]

DEPTHS = range(1, 10)  # how many of its own turns a built-in player may look ahead
DEFAULT_DEPTH = 2
PLAYOUTS = range(1, 50_001)  # how many a sampler may make in a turn
DEFAULT_PLAYOUTS = 1000
POSITIONS = range(1, 10_000_001)  # how many may be weighed in a turn for territory
DEFAULT_POSITIONS = 50_000
NOWHERE = Place((0, 0))  # the answer if no free tile is left to place a penguin on; the referee ejects for it (§3.5)


def zigzag(view: View) -> Place:
    """The first free tile, row by row."""
    state = view.state
    if not state.free:
        return NOWHERE
    return Place(state.grid.positions[(state.free & -state.free).bit_length() - 1])


def lookahead(depth: int) -> Fisher:
    """Place by zigzag; then the move that brings the most fish in so many own turns if all others play against it."""

    def choose(view: View) -> Action:
        state = view.state
        if state.stage is PLACING:
            return zigzag(view)
        return best_move(state, state.order[0], depth) or NOWHERE

    return choose


def greedy(view: View) -> Action:
    """The tile with the most fish, to place a penguin on or to move to; of equal ones the first, row by row."""
    state = view.state
    if state.stage is PLACING:
        return max(state.grid.places(state.free), key=lambda place: state.fish_on(place.at), default=NOWHERE)
    moves = state.grid.moves(state.penguins[state.order[0]], state.free)
    return min(moves, key=lambda move: (-state.fish_on(move.to), move.start, move.to), default=NOWHERE)


def sampler(playouts: int, key: bytes) -> Fisher:
    """Place and move where random playouts go best."""

    def choose(view: View) -> Action:
        state = view.state
        step = sampling_step(state, scaled_effort(playouts, state), derive_seed(key, f"{state.free:x}"))
        return action_of(state.grid, step) if step else NOWHERE

    return choose


def territory(positions: int) -> Fisher:
    """Place and move to be nearest to the most fish, if all others play against it."""

    def choose(view: View) -> Action:
        state = view.state
        step = territory_step(state, scaled_effort(positions, state) or 1)
        return action_of(state.grid, step) if step else NOWHERE

    return choose


def scaled_effort(effort: int, state: State) -> int:
    """So much effort, or less on a board that no kernel supports, where each part of it takes much longer."""
    cells = len(state.grid.near)
    return effort if cells <= MAX_CELLS else effort * MAX_CELLS**2 // (8 * cells**2)


def random_strategy(key: bytes) -> Fisher:
    """Any legal action, each as likely as the others; the same key draws the same in the same position."""

    def choose(view: View) -> Action:
        state = view.state
        free = state.free  # it changes with every action, so it is different in each position of a match
        options: Sequence[Action]
        if state.stage is PLACING:
            options = list(state.grid.places(free))
        else:
            options = state.grid.moves(state.penguins[state.order[0]], free)
        if not options:
            return NOWHERE
        lot = sha256(b"%b%x" % (key, free)).digest()
        return options[int.from_bytes(lot, "big") * len(options) >> 256]

    return choose


BUILT_IN: dict[str, BuiltInPlayer] = {
    "random": built_in_player("random", "any legal action, drawn from the seat's own key", random_strategy),
    "greedy": built_in_player("greedy", "the tile with the most fish", lambda key: greedy),
    "lookahead": built_in_player_with_number(
        "lookahead",
        "the most fish in N of its own turns against all others",
        "looks {} turns ahead",
        DEPTHS,
        DEFAULT_DEPTH,
        lambda depth, key: lookahead(depth),
    ),
    "sampler": built_in_player_with_number(
        "sampler",
        "the step with the best results in N random playouts",
        "makes {} playouts",
        PLAYOUTS,
        DEFAULT_PLAYOUTS,
        sampler,
        is_slow=True,
    ),
    "territory": built_in_player_with_number(
        "territory",
        "nearest to the most fish, after evaluating N positions",
        "evaluates {} positions",
        POSITIONS,
        DEFAULT_POSITIONS,
        lambda nodes, key: territory(nodes),
        is_slow=True,
    ),
}
LADDER = ("random", "greedy", "sampler", "territory:1000", "territory")  # the weakest first
