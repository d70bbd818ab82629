"""Schedule a Swiss tournament: each round pairs players with similar points."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, count, groupby, permutations

from fairplay.core.chance import SeededRandom
from fairplay.tournament.counted_match import NO_RANKED_PLAYERS, CountedMatch, Format, Names, Ranking, entrant_names
from fairplay.tournament.formats.pairing import Pair, pair_by_standing
from fairplay.tournament.formats.points import HALF, exact_points
from fairplay.tournament.formats.table_sizes import allowed_table_sizes, choose_table_sizes
from fairplay.tournament.settings import Swiss
from fairplay.tournament.spec import TournamentSpec


def swiss(spec: TournamentSpec, settings: Swiss) -> Format:
    """Tables have sizes near the requested one, so that as few players as possible have a bye.

    Equal points are ordered by lot, again in each round, so that the order of the file decides nothing. A player
    without a match, or with one that does not count, gets half a point, the average at a table. A bye goes to the
    player with the fewest byes, and of those to the last. Later players begin with nothing.
    """
    allowed, deals, score = allowed_table_sizes(spec), count(), SwissScores()
    players = spec.players
    for turn in range(settings.rounds):
        lots = SeededRandom(spec.derive_seed(f"swiss {turn}"))
        order = list(entrant_names(players))
        lots.shuffle(order)
        order.sort(key=lambda name: -score.points[name])
        sizes = choose_table_sizes(len(order), settings.table, allowed)
        if not sizes:
            break
        last_first = sorted(order, key=lambda name: (score.byes[name], -order.index(name)))
        byes = last_first[: len(order) - sum(sizes)]
        tables = pair_by_standing([name for name in order if name not in byes], sizes, score.met)
        entrants = {entrant.name: entrant for entrant in players}
        sent = yield tuple(
            spec.match_spec([entrants[name] for name in score.seat_order(table, lots)], next(deals)) for table in tables
        )
        score.add(byes, sent.matches)
        players = sent.players
    return score.ranking(entrant_names(players))


class SwissScores:
    """The points, meetings, byes and seats of the rounds so far."""

    def __init__(self) -> None:
        self.points: defaultdict[str, Fraction] = defaultdict(Fraction)
        self.met: Counter[Pair] = Counter()
        self.byes: Counter[str] = Counter()
        self._sat: Counter[tuple[str, int]] = Counter()  # how often a player had a seat
        self._tables: defaultdict[str, list[Names]] = defaultdict(list)  # of each player

    def seat_order(self, table: Sequence[str], lots: SeededRandom) -> tuple[str, ...]:
        """The order of seats in which the players have had their seats least often; by lot if several are equal.

        The pairing ignores seats, so they are not exactly even: at tables of one size, a player has had a seat up to
        three times more often than another, and mostly once or never.
        """
        drawn = list(table)
        lots.shuffle(drawn)
        return min(permutations(drawn), key=lambda order: sum(self._sat[name, seat] for seat, name in enumerate(order)))

    def add(self, byes: Sequence[str], matches: Sequence[CountedMatch]) -> None:
        """Count the matches and byes of a round."""
        self.byes.update(byes)
        idle = [*byes, *(name for match in matches if not match.places for name in match.names)]
        for name in idle:
            self.points[name] += HALF
        for match in matches:
            for name, share in exact_points(match).items():
                self.points[name] += share
                self._tables[name].append(match.names)
            if match.places:
                self._sat.update((name, seat) for seat, name in enumerate(match.names))
                self.met.update(frozenset(pair) for pair in combinations(match.names, 2))

    def ranking(self, names: Sequence[str]) -> Ranking:
        """By points, and then by those of the opponents, as in Buchholz's system; equal players share a rank."""
        key = {name: (-self.points[name], -self._opposition(name)) for name in names}
        return (
            tuple(tuple(rank) for _, rank in groupby(sorted(names, key=key.__getitem__), key.__getitem__))
            or NO_RANKED_PLAYERS
        )

    def _opposition(self, name: str) -> Fraction:
        """The average points of the opponents of a player, summed over its tables."""
        others = [[self.points[one] for one in table if one != name] for table in self._tables[name]]
        return sum((sum(these, Fraction()) / len(these) for these in others), Fraction())
