"""Choose the tables of a round robin, so that all players have equally many games and opponents are mixed evenly."""

from itertools import combinations, islice
from math import comb

from fairplay.core.chance import SeededRandom

Table = tuple[int, ...]


def meeting_tables(players: int, size: int, games: int, lots: SeededRandom) -> list[Table]:
    """The tables of so many games; players are numbers from 0, and each has at most one game more than another.

    At tables of two no pair meets more than once more often than another. A larger table is joined by the player that
    has met its players least often. With 3 to 40 players and up to 10,000 games, no pair met more than four times more
    often than another, and mostly it was two or three.
    """
    names = lots.sample(players, players)
    drawn = round_robin_pairs(players, games) if size == 2 else meeting_groups(players, size, games, lots)
    return [tuple(names[player] for player in table) for table in drawn]


def round_robin_pairs(players: int, games: int) -> list[Table]:
    """The circle method: all pairs once, then again, and an incomplete cycle that is as even as possible."""
    whole, rest = divmod(games, comb(players, 2))
    turn = even_cycle if players % 2 == 0 else odd_cycle
    return turn(players, comb(players, 2)) * whole + turn(players, rest)


def even_cycle(players: int, games: int) -> list[Table]:
    """One player stays, the others rotate: in each round each player has one game."""
    others = players - 1
    rounds = (
        [(others, turn), *(((turn + step) % others, (turn - step) % others) for step in range(1, players // 2))]
        for turn in range(others)
    )
    return list(islice((pair for one in rounds for pair in one), games))


def odd_cycle(players: int, games: int) -> list[Table]:
    """The players stand in a circle: for each distance there is a round in which each of them has two games.

    An incomplete round is the one of neighbours: every second pair of them, twice round, gives each player one game
    before any has two.
    """
    whole, rest = divmod(games, players)
    distances = (*range(2, players // 2 + 1), 1)[:whole]
    complete: list[Table] = [(one, (one + distance) % players) for distance in distances for one in range(players)]
    return complete + [(one * 2 % players, (one * 2 + 1) % players) for one in range(rest)]


def meeting_groups(players: int, size: int, games: int, lots: SeededRandom) -> list[Table]:
    """Each table takes the player that met its players least often, of those that have had the fewest games."""
    never = size * games  # no player has two seats at a table
    met = [[never if one == other else 0 for other in range(players)] for one in range(players)]
    waiting: list[int] = []  # players with one game less than the others, in a random order
    found = []
    for _ in range(games):
        table: list[int] = []
        weights = [0] * players
        for _ in range(size):
            waiting = waiting or lots.sample(players, players)
            player = min(waiting, key=weights.__getitem__)
            waiting.remove(player)
            table.append(player)
            weights = [weight + times for weight, times in zip(weights, met[player], strict=True)]
        for one, other in combinations(table, 2):
            met[one][other] += 1
            met[other][one] += 1
        found.append(tuple(table))
    return found
