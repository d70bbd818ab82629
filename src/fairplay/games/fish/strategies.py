"""Play Fish for the house: at random, greedily, or looking ahead."""

from collections.abc import Sequence
from hashlib import sha256

from fairplay.core.errors import BadRequest
from fairplay.core.roles import HousePlayer, Strategy, house_player
from fairplay.games.fish.actions import Action, Place
from fairplay.games.fish.kernel import best_move
from fairplay.games.fish.state import PLACING, View

Fisher = Strategy[View, Action]

DEPTHS = range(1, 10)  # how many of its own turns a house player may look ahead
USUAL_DEPTH = 2
NOWHERE = Place((0, 0))  # said when there is no free tile left to place a penguin on; the referee ejects for it (§3.5)


def zigzag(view: View) -> Place:
    """The first free tile, row by row."""
    state = view.state
    if not state.free:
        return NOWHERE
    return Place(state.grid.positions[(state.free & -state.free).bit_length() - 1])


def lookahead(depth: int) -> Fisher:
    """Place by zigzag; then the move that brings most fish within so many own turns, if all others conspire."""

    def choose(view: View) -> Action:
        state = view.state
        if state.stage is PLACING:
            return zigzag(view)
        return best_move(state, state.order[0], depth) or NOWHERE

    return choose


def greedy(view: View) -> Action:
    """The tile with most fish, to place a penguin on or to move to; of equal ones the first, row by row."""
    state = view.state
    if state.stage is PLACING:
        return max(state.grid.places(state.free), key=lambda place: state.fish_on(place.at), default=NOWHERE)
    moves = state.grid.moves(state.penguins[state.order[0]], state.free)
    return min(moves, key=lambda move: (-state.fish_on(move.to), move.start, move.to), default=NOWHERE)


def at_random(key: bytes) -> Fisher:
    """Any legal action, each as likely as the others; the same key draws the same in the same position."""

    def choose(view: View) -> Action:
        state = view.state
        options = _options(view)
        if not options:
            return NOWHERE
        free = state.free  # it changes with every action, so it tells the positions of a match apart
        lot = sha256(b"%b%x" % (key, free)).digest()
        return options[int.from_bytes(lot, "big") * len(options) >> 256]

    return choose


def _options(view: View) -> Sequence[Action]:
    """What whoever is on turn can do: strategies are asked only then."""
    state = view.state
    if state.stage is PLACING:
        return list(state.grid.places(state.free))
    return state.grid.moves(state.penguins[state.order[0]], state.free)


def _make_lookahead(parameter: str, key: bytes) -> Fisher:
    depths = {"": USUAL_DEPTH, **{str(depth): depth for depth in DEPTHS}}
    if parameter not in depths:
        raise BadRequest(
            f"lookahead looks {DEPTHS[0]} to {DEPTHS[-1]} turns ahead, as in lookahead:2; not {parameter!r}"
        )
    return lookahead(depths[parameter])


HOUSE: dict[str, HousePlayer] = {
    "random": house_player("random", "any legal action, drawn from the seat's own key", at_random),
    "greedy": house_player("greedy", "the tile with most fish", lambda key: greedy),
    "lookahead": HousePlayer(
        f"most fish within N of its own turns against all others; lookahead:N, {USUAL_DEPTH} if not said",
        _make_lookahead,
    ),
}
