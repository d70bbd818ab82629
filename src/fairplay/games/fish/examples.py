"""Define positions of Fish for tests and pictures, by name."""

from collections.abc import Mapping

from msgspec.structs import replace

from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import Stage, State, state_of

QUICK: Mapping[str, int] = {"rows": 5, "columns": 5}


def game_for_state(game: Fish, state: State) -> Fish:
    """The game on a board as large as the state's."""
    return replace(game, rows=state.grid.rows, columns=state.grid.columns)


EXAMPLES: Mapping[str, State] = {
    # A 5 x 5 board with two fish on each tile, and no penguins.
    "start": Fish(rows=5, columns=5, fish=2).deal(2, bytes(32)),
    # Three players on a board with holes, one penguin each still in hand.
    "placing": state_of(
        [[1, 2, 3, 0], [2, 0, 1, 5], [3, 1, 4, 2], [5, 2, 0, 1]],
        [[(0, 0), (1, 0)], [(0, 2), (3, 3)], [(2, 2), (2, 0)]],
        stage=Stage.PLACING,
        each=3,
    ),
    # Red can move in all six directions, south-east only one step: white is in the way.
    "star": state_of(
        [[1, 2, 3], [2, 3, 1], [1, 4, 2], [3, 1, 5], [2, 2, 2], [1, 3, 2], [4, 0, 1], [2, 2, 2]],
        [[(3, 1)], [(5, 2)]],
        scores=[4, 6],
    ),
    # Holes and white's penguins block red; white can move, so red is skipped.
    "stuck": state_of([[3, 0, 1], [2, 0, 4], [0, 5, 0]], [[(0, 0)], [(1, 0), (1, 2)]], order=[1, 0]),
    # White stands on the only tile next to red: red can move once white is out.
    "freed by an ejection": state_of(
        [[1, 0, 0, 2], [2, 0, 0, 3]], [[(0, 0)], [(1, 0)], [(0, 3)]], scores=[5, 5, 9], each=1
    ),
    # No player can move: the game is over, and two players share the first place.
    "tie": state_of([[1, 0], [0, 0], [0, 0], [0, 1]], [[(0, 0)], [(3, 1)], []], scores=[7, 7, 3]),
    # Eight tiles for nine penguins: the last one cannot be placed.
    "cramped": state_of(
        [[1, 1], [1, 1], [1, 1], [1, 1]],
        [[(0, 0), (1, 1), (3, 0)], [(0, 1), (2, 0), (3, 1)], [(1, 0), (2, 1)]],
        order=[2, 0, 1],
        stage=Stage.PLACING,
        each=3,
    ),
}
