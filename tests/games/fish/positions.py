"""Make random positions of Fish that are small enough for an exhaustive search."""

from collections.abc import Iterator
from random import Random

from fairplay.games.fish.state import Stage, State, state_of


def small_positions(seed: int, count: int, most_free: int) -> Iterator[State]:
    """Random positions with holes, 1 to 4 players and 1 to 3 penguins each, in which some player can move."""
    chance = Random(seed)
    while count:
        rows, columns = chance.randint(2, 6), chance.randint(1, 4)
        spots = [(row, column) for row in range(rows) for column in range(columns)]
        players, each = chance.randint(1, 4), chance.randint(1, 3)
        if len(spots) <= players * each:
            continue
        chance.shuffle(spots)
        penguins = [spots[seat * each : seat * each + each] for seat in range(players)]
        fish = chance.choice([(0, 1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (0, 2, 2, 2)])
        board = [[chance.choice(fish) for _ in range(columns)] for _ in range(rows)]
        for row, column in (place for places in penguins for place in places):
            board[row][column] = board[row][column] or 1
        order = chance.sample(range(players), players)
        state = state_of(board, penguins, scores=[chance.randint(0, 9) for _ in penguins], order=order)
        if state.stage is Stage.PLAYING and state.free.bit_count() <= most_free:
            count -= 1
            yield state
