"""Schedule a knock-out: the first of each table advances, until one is left."""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import Format, Names, Round, RoundResult, entrant_names
from fairplay.tournament.formats.points import total_points
from fairplay.tournament.formats.seating import rotate_seats
from fairplay.tournament.formats.table_sizes import allowed_table_sizes
from fairplay.tournament.settings import KnockOut
from fairplay.tournament.spec import TournamentSpec

Players = tuple[Entrant, ...]
MAX_EXTRA_SETS = 3  # of games between equals; after that, the one higher in the file advances


def knock_out(spec: TournamentSpec, settings: KnockOut) -> Format:
    """Seed by the order of the file: the first players meet as late as possible, and have the byes.

    The first round leaves a power of the table's size where the game allows it, so that later there are no byes. The
    rank is the round reached; if the last players are too few for a game, they share the first rank.
    """
    allowed, deals = allowed_table_sizes(spec), count()
    left = spec.players
    out: list[Names] = []  # the losers of each round
    while len(left) > 1 and (sizes := draw_tables(len(left), settings.table, allowed)):
        byes = left[: len(left) - sum(sizes)]
        groups = spread_over_tables(left[len(byes) :], len(sizes))
        on, there = yield from play_groups(spec, groups, settings.games, allowed, deals)
        out.append(tuple(one.name for one in left if one not in byes + on and one.name in there))
        left = tuple(one for one in left if one in byes + on and one.name in there)
    return (entrant_names(left), *(losers for losers in reversed(out) if losers))


def draw_tables(players: int, size: int, allowed: Collection[int]) -> tuple[int, ...]:
    """The sizes of the tables of a round, others having a bye: as many lose as exceed a power of the size, or nearly.

    >>> draw_tables(5, 2, range(2, 5)), draw_tables(6, 4, range(2, 5))
    ((2,), (3,))
    >>> draw_tables(6, 5, range(3, 6)), draw_tables(2, 3, range(3, 6))
    ((3,), ())
    """
    power = 1
    while power * size < players:
        power *= size
    above = players - power
    tries = [*range(above, players), *range(above - 1, 0, -1)]
    playable = [lost for lost in tries if lost == players - 1 or players - lost >= min(allowed)]
    for lost in playable + tries:
        found = {}
        for tables in range(1, min(lost, players - lost) + 1):
            small, larger = divmod(lost + tables, tables)
            sizes = (small + 1,) * larger + (small,) * (tables - larger)
            if sizes[0] in allowed and small in allowed:
                found[sizes] = (sizes[0] > size, sum(abs(one - size) for one in sizes), tables)
        if found:
            return min(found, key=found.__getitem__)
    return ()


def spread_over_tables(players: Players, tables: int) -> list[Players]:
    """The players at so many tables, to and fro, so that the first are apart and the first meets the last.

    >>> spread_over_tables("abcdef", 3), spread_over_tables("abcdefgh", 3)
    ([('a', 'f'), ('b', 'e'), ('c', 'd')], [('a', 'f', 'g'), ('b', 'e', 'h'), ('c', 'd')])
    """
    groups: list[list[Entrant]] = [[] for _ in range(tables)]
    for place, player in enumerate(players):
        row, column = divmod(place, tables)
        groups[column if row % 2 == 0 else tables - 1 - column].append(player)
    return [tuple(group) for group in groups]


def play_groups(
    tournament: TournamentSpec, groups: Sequence[Players], games: int, allowed: Collection[int], deals: Iterator[int]
) -> Generator[Round, RoundResult, tuple[Players, Names]]:
    """Play these groups, and return the players that advance, and the names of all that may still play.

    Equals play another set among themselves, or with their table if they are too few for a game. From a table whose
    players are all ejected from every match, none advances: a fault earns no more than playing and losing.
    """
    rivals = {group: group for group in groups}  # that may still advance
    there: Names = entrant_names([player for group in groups for player in group])
    failed, ranked = set[str](), set[str]()  # players of matches from which all were ejected, and of others
    for _ in range(1 + MAX_EXTRA_SETS):
        undecided = [(equals, group) for group, equals in rivals.items() if len(equals) > 1]
        at_table = [first_playable_group(choices, allowed, there) for choices in undecided]
        matches = tuple(
            tournament.match_spec(rotate_seats(players, game), next(deals))
            for players in at_table
            if players
            for game in range(games)
        )
        if not matches:
            break
        sent = yield matches
        points = total_points(sent.matches)
        for match in sent.matches:
            (failed if match.unranked else ranked).update(match.names)
        there = entrant_names(sent.players)
        able = [name for name in there if name not in failed - ranked]
        rivals = {group: top_scorers(equals, points, able) for group, equals in rivals.items()}
    return tuple(equals[0] for equals in rivals.values() if equals), there


def first_playable_group(choices: Sequence[Players], allowed: Collection[int], there: Names) -> Players:
    """The first of these groups that is large enough for a game, without the expelled."""
    for players in choices:
        here = tuple(one for one in players if one.name in there)
        if len(here) in allowed:
            return here
    return ()


def top_scorers(players: Players, points: Mapping[str, Fraction], there: Sequence[str]) -> Players:
    """The players with the most points."""
    here = [one for one in players if one.name in there]
    most = max((points.get(one.name, 0) for one in here), default=0)
    return tuple(one for one in here if points.get(one.name, 0) == most)
