"""Let equals play equals: each round is paired by the points so far."""

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
    """Tables are of sizes near to the one that is wanted, so that as few as possible have a bye.

    Where points are equal lots are drawn, anew each round: nobody chooses its opponents by its place in the file. Who
    has no match, or one that does not count, has half a point, which is what a table has on average. A bye goes to
    whoever had the fewest, and of those to the last. Who comes later begins with nothing.
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
    """What has come of the rounds so far."""

    def __init__(self) -> None:
        self.points: defaultdict[str, Fraction] = defaultdict(Fraction)
        self.met: Counter[Pair] = Counter()
        self.byes: Counter[str] = Counter()
        self._sat: Counter[tuple[str, int]] = Counter()  # how often somebody had a seat
        self._tables: defaultdict[str, list[Names]] = defaultdict(list)  # at which somebody sat

    def seat_order(self, table: Sequence[str], lots: SeededRandom) -> tuple[str, ...]:
        """Who sits where: all together as seldom as possible where they have often been, and else by lot.

        Who meets whom is not chosen for that, so it is not exact: at tables of one size, somebody has had a seat up to
        three times more often than another, and mostly once or never.
        """
        drawn = list(table)
        lots.shuffle(drawn)
        return min(permutations(drawn), key=lambda order: sum(self._sat[name, seat] for seat, name in enumerate(order)))

    def add(self, byes: Sequence[str], matches: Sequence[CountedMatch]) -> None:
        """A round is over."""
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
        """By points, and then by those of the opponents, as in Buchholz's system; who is still equal shares a rank."""
        key = {name: (-self.points[name], -self._opposition(name)) for name in names}
        return (
            tuple(tuple(rank) for _, rank in groupby(sorted(names, key=key.__getitem__), key.__getitem__))
            or NO_RANKED_PLAYERS
        )

    def _opposition(self, name: str) -> Fraction:
        """The points of those whom somebody met, on average at each table."""
        others = [[self.points[one] for one in table if one != name] for table in self._tables[name]]
        return sum((sum(these, Fraction()) / len(these) for these in others), Fraction())
