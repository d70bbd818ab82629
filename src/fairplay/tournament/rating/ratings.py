"""Rate players by their places: Elo with confidence intervals, ranks, seat effects, probabilities of being best."""

from collections.abc import Callable, Iterable
from itertools import chain
from math import log
from typing import NamedTuple

import msgspec
import numpy as np
from scipy.special import stdtr, stdtrit

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.davidson import (
    CONTRAST_SIGNS,
    PRIOR_LOG_NU,
    Bools,
    Fit,
    Floats,
    Ints,
    Pairs,
    Tables,
    expected_score,
    fit_model,
    group_gradients,
    pairwise_results,
    sum_by_index,
)

ELO_PER_LOGIT = 400 / log(10)
SIGNIFICANCE_LEVEL = 0.05  # of each interval, and of all significant differences together
MIN_GROUPS = 10
MIN_OTHER_GROUPS = 3  # in which a player did not score its most frequent score
POSTERIOR_DRAWS = 10_000
DRAWS_SEED = 12
ROUNDED_DIGITS = 6  # more would depend on the order in which a machine adds
MIN_ERROR_LOGITS = 1e-6  # as two players with the same results have no error between them


class Rating(msgspec.Struct, frozen=True):
    """The rating of a player in Elo, relative to the mean of the players that are not one-sided."""

    name: str
    rating: float
    low: float | None  # None: there is no such bound
    high: float | None
    best_rank: int
    worst_rank: int
    best_probability: float  # of being the best of all
    games: int
    groups: int  # of games that share a deal
    one_sided: str = ""  # "never scored", "never lost", or neither
    too_few: bool = False  # too few games to rely on


class SeatEffect(msgspec.Struct, frozen=True):
    """The advantage of a seat in Elo, relative to the mean of all seats, with its 95 % interval."""

    seat: int
    advantage: float
    low: float
    high: float


class Ratings(msgspec.Struct, frozen=True):
    """The ratings of all players, and what they rest on."""

    players: tuple[Rating, ...] = ()  # best first, and by name
    seats: tuple[SeatEffect, ...] = ()
    tie_parameter: float = round(np.exp(PRIOR_LOG_NU).item(), ROUNDED_DIGITS)  # Davidson's nu
    significant_pairs: tuple[tuple[str, str], ...] = ()  # (better, worse)


class ScoreRecord(NamedTuple):
    """Games and points by player or by seat, as arrays."""

    games: Floats
    points: Floats
    groups: Ints
    few: Bools  # too few groups, or too few with another than the most frequent score


class Covariances(NamedTuple):
    """Estimates of the covariances of some figures."""

    sampled: Floats  # from the differences between groups
    modelled: Floats  # if the model were true
    assumed: Floats  # the part of the prior in that

    def part(self, first: int, count: int) -> "Covariances":
        """The covariances of some of the figures."""
        return Covariances(*(each[first : first + count, first : first + count] for each in self))

    def contrasts(self, contrasts: Floats) -> "Covariances":
        """The covariances of these contrasts of the figures, one per row."""
        return Covariances(*(contrasts @ each @ contrasts.T for each in self))

    def errors(self, few: Bools) -> Floats:
        """The standard errors of all figures."""
        return standard_errors(Covariances(*(np.diag(each) for each in self)), few)

    def errors_between(self, few: Bools) -> Floats:
        """The standard errors of all differences."""
        between = (np.add.outer(np.diag(each), np.diag(each)) - 2 * each for each in self)
        return standard_errors(Covariances(*between), few)


class Estimates(NamedTuple):
    """The estimates of the players, as arrays in the order of their names, in logits."""

    names: list[str]
    pairs: Pairs
    fit: Fit
    spread: Covariances  # of all parameters
    record: ScoreRecord
    never_scored: Bools
    never_lost: Bools
    reference: Bools  # the players whose mean is 0
    strength: Floats
    covariances: Covariances  # of the strengths
    errors: Floats
    errors_between: Floats  # of all pairs


def rate_players(counted: Iterable[CountedMatch]) -> Ratings:
    """The ratings by these matches; neither their order matters nor that of the players."""
    names, tables = _matches_by_size(counted)
    return to_ratings(estimate(names, pairwise_results(tables, len(names)))) if names else Ratings()


def estimate(names: list[str], pairs: Pairs) -> Estimates:
    """The estimates by these pairs."""
    fit = fit_model(pairs)
    spread = _covariances(pairs, fit)
    record = _score_record(pairs.ends[:2], pairs, pairs.players)
    never_scored = record.points < MIN_ERROR_LOGITS
    never_lost = record.points > record.games - MIN_ERROR_LOGITS
    inside = ~(never_scored | never_lost)
    reference = inside if inside.sum() > 1 else np.ones_like(inside)  # one player alone is no reference
    centred = np.eye(pairs.players) - reference / reference.sum()
    about = spread.part(0, pairs.players).contrasts(centred)
    return Estimates(
        names,
        pairs,
        fit,
        spread,
        record,
        never_scored,
        never_lost,
        reference,
        centred @ fit.estimate[: pairs.players],
        about,
        about.errors(record.few),
        about.errors_between(np.logical_or.outer(record.few, record.few)),
    )


def to_ratings(known: Estimates) -> Ratings:
    """The estimates as ratings in Elo."""
    names, record, strength = known.names, known.record, known.strength
    reach = known.errors * interval_quantile(record.groups - 1)
    p_values = pair_p_values(strength, known.errors_between, record.groups)
    for one in np.flatnonzero(known.never_scored | known.never_lost):
        p_values[one] = p_values[:, one] = np.minimum(p_values[one], _one_sided_p_values(int(one), known))
    better = significant_pairs(strength, p_values)
    best = _best_probabilities(known)
    rows = []
    for at, name in enumerate(names):
        low: float | None = _to_elo(strength[at] - reach[at])
        high: float | None = _to_elo(strength[at] + reach[at])
        # With this expected score, a player seldom scores everything in all groups.
        luck = (SIGNIFICANCE_LEVEL / 2) ** (1 / record.groups[at])
        if known.never_scored[at]:
            low, high = None, _to_elo(max(strength[at], _strength_bound(at, known, 1 - luck)))
        elif known.never_lost[at]:
            low, high = _to_elo(min(strength[at], _strength_bound(at, known, luck))), None
        one_sided = "never scored" if known.never_scored[at] else "never lost" if known.never_lost[at] else ""
        rows.append(
            Rating(
                name,
                _to_elo(strength[at]),
                low,
                high,
                best_rank=1 + int(better[:, at].sum()),
                worst_rank=len(names) - int(better[at].sum()),
                best_probability=float(best[at]),
                games=round(record.games[at]),
                groups=int(record.groups[at]),
                one_sided=one_sided,
                too_few=bool(record.few[at] and (record.groups[at] < MIN_GROUPS or not one_sided)),
            )
        )
    rows.sort(key=lambda row: (-row.rating, row.name))
    rank = {row.name: at for at, row in enumerate(rows)}
    significant = [(names[first], names[second]) for first, second in np.argwhere(better).tolist()]
    return Ratings(
        tuple(rows),
        _seat_effects(known),
        round(float(np.exp(known.fit.estimate[-1])), ROUNDED_DIGITS),
        tuple(sorted(significant, key=lambda pair: (rank[pair[0]], rank[pair[1]]))),
    )


def _matches_by_size(counted: Iterable[CountedMatch]) -> tuple[list[str], list[Tables]]:
    """The names of the players, and the matches by the size of the table, with numbers for names."""
    by_size: dict[int, list[CountedMatch]] = {}
    for one in counted:
        if len(one.places) > 1 and not one.unranked:
            by_size.setdefault(len(one.places), []).append(one)
    names = sorted({name for several in by_size.values() for one in several for name in one.names})
    number = {name: at for at, name in enumerate(names)}
    return names, [
        Tables(
            np.array([one.deal for one in several], np.int64),
            np.array([number[name] for one in several for name in one.names], np.int64).reshape(-1, size),
            np.array(list(chain.from_iterable(one.places for one in several)), np.int64).reshape(-1, size),
        )
        for size, several in sorted(by_size.items())
    ]


def _covariances(pairs: Pairs, fit: Fit) -> Covariances:
    """The sandwich estimate clustered by deal, the inverse of the information, and the part of the prior."""
    inverse = np.linalg.inv(fit.information).astype(np.float64, copy=False)
    slope = group_gradients(pairs, fit.estimate)
    between = np.einsum("gi,gj->ij", slope, slope)  # not by BLAS, whose sums depend on the number of threads
    sampled = inverse @ between @ inverse * (pairs.groups / max(pairs.groups - 1, 1))
    return Covariances(sampled, inverse, inverse * fit.prior @ inverse)


def standard_errors(variance: Covariances, few: Bools) -> Floats:
    """The sampled errors; at least the modelled ones where games are few or the prior outweighs them."""
    doubtful = few | (variance.assumed > variance.modelled / 2)
    square = np.where(doubtful, np.maximum(variance.sampled, variance.modelled), variance.sampled)
    return np.sqrt(np.maximum(square, MIN_ERROR_LOGITS**2))


def _score_record(ends: Ints, pairs: Pairs, count: int) -> ScoreRecord:
    """Games and points at these ends of the pairs."""
    where = (ends * pairs.groups + pairs.group).ravel()
    won = pairs.weight * pairs.half_points / 2
    games = sum_by_index(where, np.tile(pairs.weight, 2), count * pairs.groups)
    points = sum_by_index(where, np.concatenate([won, pairs.weight - won]), count * pairs.groups)
    there = np.flatnonzero(games)
    player, score = there // pairs.groups, np.rint(points[there] / games[there] / MIN_ERROR_LOGITS).astype(np.int64)
    usual, times = np.unique(player * 2 * round(1 / MIN_ERROR_LOGITS) + score, return_counts=True)
    groups, most = np.bincount(player, minlength=count), np.zeros(count, np.int64)
    np.maximum.at(most, usual // (2 * round(1 / MIN_ERROR_LOGITS)), times)
    games, points = (each.reshape(count, -1).sum(1) for each in (games, points))
    return ScoreRecord(games, points, groups, (groups < MIN_GROUPS) | (groups - most < MIN_OTHER_GROUPS))


def interval_quantile(freedom: Ints) -> Floats:
    """The number of standard errors on either side of an interval."""
    return np.asarray(stdtrit(np.maximum(freedom, 1), 1 - SIGNIFICANCE_LEVEL / 2))


def _expected_scores(at: int, known: Estimates) -> Callable[[Floats], Floats]:
    """The expected score of a player in the same games as a function of its strength, for several strengths at once."""
    pairs, estimate = known.pairs, known.fit.estimate
    mine = (pairs.ends[0] == at) | (pairs.ends[1] == at)
    weight, turn = pairs.weight[mine], np.where(pairs.ends[0, mine] == at, 1.0, -1.0)
    difference = turn * (CONTRAST_SIGNS @ estimate[pairs.ends[:, mine]]) - known.strength[at]

    def scored(strength: Floats) -> Floats:
        lead, _ = expected_score(strength[:, None] + difference, estimate[-1])
        return np.asarray((lead * weight).sum(1) / weight.sum() + 0.5)

    return scored


def _strength_bound(at: int, known: Estimates, score: float) -> float:
    """The strength of a player with this expected score in the same games."""
    scored, low, high = _expected_scores(at, known), known.strength[at] - 60, known.strength[at] + 60
    for _ in range(60):
        middle = (low + high) / 2
        if scored(np.array([middle]))[0] < score:
            low = middle
        else:
            high = middle
    return float(middle)


def pair_p_values(strength: Floats, errors: Floats, groups: Ints) -> Floats:
    """For every pair, the probability of such a difference, or a greater one, between equals."""
    freedom = np.maximum(np.minimum.outer(groups, groups) - 1, 1)
    return np.asarray(2 * stdtr(freedom, -np.abs(np.subtract.outer(strength, strength)) / errors))


def _one_sided_p_values(at: int, known: Estimates) -> Floats:
    """For each other player, the probability that a one-sided player of equal strength scores nothing, or everything.

    Standard errors say little about a player that has only losses. The other is taken to be as near as its interval
    allows, relative to the opponents of the player.
    """
    pairs, record, players = known.pairs, known.record, known.pairs.players
    met = np.zeros(players)
    for mine, its in ((0, 1), (1, 0)):
        met += sum_by_index(pairs.ends[its], np.where(pairs.ends[mine] == at, pairs.weight, 0.0), players)
    others = known.spread.part(0, players).contrasts(np.eye(players) - met / met.sum())
    reach = others.errors(record.few) * interval_quantile(record.groups - 1)
    scored = _expected_scores(at, known)
    seldom = 1 - scored(known.strength - reach) if known.never_scored[at] else scored(known.strength + reach)
    return np.asarray(np.minimum(2 * seldom ** record.groups[at], 1.0))


def significant_pairs(strength: Floats, p_values: Floats) -> Bools:
    """Which players are significantly better than which, by Holm's procedure over all pairs."""
    ones, others = np.triu_indices(len(strength), 1)
    chance = p_values[ones, others]
    better = np.zeros(p_values.shape, bool)
    for rank, pair in enumerate(np.argsort(chance, kind="stable")):
        if chance[pair] > SIGNIFICANCE_LEVEL / (len(chance) - rank):
            break
        one, other = ones[pair], others[pair]
        better[(one, other) if strength[one] > strength[other] else (other, one)] = True
    return better


def _best_probabilities(known: Estimates) -> Floats:
    """The share of draws of a multivariate t in which each is best; doubtful players get the modelled spread on top."""
    strength, about, record = known.strength, known.covariances, known.record
    doubtful = record.few | (np.diag(about.assumed) > np.diag(about.modelled) / 2)
    values, vectors = np.linalg.eigh(about.sampled + about.modelled * np.outer(doubtful, doubtful))
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    freedom = max(int(np.sort(record.groups)[(len(strength) - 1) // 2]) - 1, 1)  # of the player in the middle
    chance = np.random.default_rng(DRAWS_SEED)
    scale = np.sqrt(freedom / chance.chisquare(freedom, POSTERIOR_DRAWS))
    drawn = strength + chance.standard_normal((POSTERIOR_DRAWS, len(strength))) @ root * scale[:, None]
    return np.bincount(drawn.argmax(1), minlength=len(strength)) / POSTERIOR_DRAWS


def _seat_effects(known: Estimates) -> tuple[SeatEffect, ...]:
    """The advantage of each seat."""
    pairs, players, seats = known.pairs, known.pairs.players, known.pairs.seats
    centred = np.eye(seats) - 1 / seats
    advantage = centred @ known.fit.estimate[players : players + seats]
    few = _score_record(pairs.ends[2:] - players, pairs, seats).few
    errors = known.spread.part(players, seats).contrasts(centred).errors(few)
    reach = errors * interval_quantile(np.array(pairs.groups - 1))
    return tuple(
        SeatEffect(
            seat,
            _to_elo(advantage[seat]),
            _to_elo(advantage[seat] - reach[seat]),
            _to_elo(advantage[seat] + reach[seat]),
        )
        for seat in range(seats)
    )


def _to_elo(logits: float) -> float:
    """A strength in Elo, rounded."""
    return round(float(logits) * ELO_PER_LOGIT, ROUNDED_DIGITS) + 0.0  # and not -0.0
