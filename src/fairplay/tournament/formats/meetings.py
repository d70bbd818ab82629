"""Choose who meets whom, so that everybody plays as often as everybody else, and against everybody."""

from itertools import combinations, islice
from math import comb

from fairplay.core.chance import SeededRandom

Table = tuple[int, ...]


def meeting_tables(players: int, size: int, games: int, lots: SeededRandom) -> list[Table]:
    """The tables of so many games, of players who are numbers from 0; each has at most one game more than another.

    At tables of two no pair meets more than once more often than another. At larger ones, whoever met those at a table
    least often joins them. With 3 to 40 players and up to 10,000 games, no pair met more than four times more often
    than another, and mostly it was two or three.
    """
    names = lots.sample(players, players)
    drawn = round_robin_pairs(players, games) if size == 2 else meeting_groups(players, size, games, lots)
    return [tuple(names[player] for player in table) for table in drawn]


def round_robin_pairs(players: int, games: int) -> list[Table]:
    """The circle method: all pairs once, and so on; what is left over in the end is as even as can be."""
    whole, rest = divmod(games, comb(players, 2))
    turn = even_cycle if players % 2 == 0 else odd_cycle
    return turn(players, comb(players, 2)) * whole + turn(players, rest)


def even_cycle(players: int, games: int) -> list[Table]:
    """One stays, the others go round: in each round everybody has one game."""
    others = players - 1
    rounds = (
        [(others, turn), *(((turn + step) % others, (turn - step) % others) for step in range(1, players // 2))]
        for turn in range(others)
    )
    return list(islice((pair for one in rounds for pair in one), games))


def odd_cycle(players: int, games: int) -> list[Table]:
    """All stand in a circle: for each distance a round in which everybody has two games.

    If the last of them is not played to its end it is that of the neighbours. Every second pair of them, twice round,
    gives everybody one game before anybody has two.
    """
    whole, rest = divmod(games, players)
    distances = (*range(2, players // 2 + 1), 1)[:whole]
    far: list[Table] = [(one, (one + distance) % players) for distance in distances for one in range(players)]
    return far + [(one * 2 % players, (one * 2 + 1) % players) for one in range(rest)]


def meeting_groups(players: int, size: int, games: int, lots: SeededRandom) -> list[Table]:
    """Each table takes whoever met those at it least often, of those who have had the fewest games."""
    never = size * games  # nobody sits at a table twice
    met = [[never if one == other else 0 for other in range(players)] for one in range(players)]
    waiting: list[int] = []  # who has had a game less than the others, in an order drawn anew each time
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
