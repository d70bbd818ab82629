"""Tell who is better from places: ratings in Elo with honest intervals, ranks, seats, the probability of being best."""

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

ELO_PER_LOGIT = 400 / log(10)  # of one logit
SIGNIFICANCE_LEVEL = 0.05  # of intervals, and of all that is told apart taken together
MIN_GROUPS = 10
MIN_OTHER_GROUPS = 3  # groups in which a player did not score what it scores most often
POSTERIOR_DRAWS = 10_000
DRAWS_SEED = 12
ROUNDED_DIGITS = 6  # of what is told; more would depend on how the machine adds
MIN_ERROR_LOGITS = 1e-6  # in logits: two who always do the same have no error between them


class Rating(msgspec.Struct, frozen=True):
    """What is known of a player; in Elo, and relative to the mean of those who are not one-sided."""

    name: str
    rating: float
    low: float | None  # None: there is no such bound
    high: float | None
    best_rank: int
    worst_rank: int
    best_probability: float  # of being the best of all
    games: int
    groups: int  # of games that share a deal
    one_sided: str = ""  # or "never scored", or "never lost"
    too_few: bool = False  # games, to make much of it


class SeatEffect(msgspec.Struct, frozen=True):
    """What a seat is worth, in Elo, relative to the mean of all seats."""

    seat: int
    advantage: float
    low: float
    high: float


class Ratings(msgspec.Struct, frozen=True):
    """What is known of all who played."""

    players: tuple[Rating, ...] = ()  # best first, and by name
    seats: tuple[SeatEffect, ...] = ()
    tie_parameter: float = round(np.exp(PRIOR_LOG_NU).item(), ROUNDED_DIGITS)  # Davidson's nu
    significant_pairs: tuple[tuple[str, str], ...] = ()  # (better, worse), where that is beyond doubt


class ScoreRecord(NamedTuple):
    """What was scored, by player or by seat; an array each."""

    games: Floats
    points: Floats
    groups: Ints
    few: Bools  # are the groups too few, or those in which it scored something else than usual?


class Covariances(NamedTuple):
    """How far some figures may be off, as covariances."""

    sampled: Floats  # as the groups differ from one another
    modelled: Floats  # as they would if the model were true
    assumed: Floats  # the prior's part in that

    def part(self, first: int, count: int) -> "Covariances":
        """The same for some of the figures."""
        return Covariances(*(each[first : first + count, first : first + count] for each in self))

    def contrasts(self, contrasts: Floats) -> "Covariances":
        """The same for figures that are made of these, one a row."""
        return Covariances(*(contrasts @ each @ contrasts.T for each in self))

    def errors(self, few: Bools) -> Floats:
        """The standard errors of all figures."""
        return standard_errors(Covariances(*(np.diag(each) for each in self)), few)

    def errors_between(self, few: Bools) -> Floats:
        """The standard errors of all differences."""
        between = (np.add.outer(np.diag(each), np.diag(each)) - 2 * each for each in self)
        return standard_errors(Covariances(*between), few)


class Estimates(NamedTuple):
    """What is known of the players, as arrays by name, in logits."""

    names: list[str]
    pairs: Pairs
    fit: Fit
    spread: Covariances  # of all parameters
    record: ScoreRecord
    never_scored: Bools
    never_lost: Bools
    reference: Bools  # whose mean is 0
    strength: Floats
    covariances: Covariances  # of the strengths
    errors: Floats
    errors_between: Floats  # of all pairs


def rate_players(counted: Iterable[CountedMatch]) -> Ratings:
    """What these matches say about the players; neither their order matters nor that of the players."""
    names, tables = _matches_by_size(counted)
    return to_ratings(estimate(names, pairwise_results(tables, len(names)))) if names else Ratings()


def estimate(names: list[str], pairs: Pairs) -> Estimates:
    """What is known of players who met in these pairs."""
    fit = fit_model(pairs)
    spread = _covariances(pairs, fit)
    record = _score_record(pairs.ends[:2], pairs, pairs.players)
    never_scored = record.points < MIN_ERROR_LOGITS
    never_lost = record.points > record.games - MIN_ERROR_LOGITS
    inside = ~(never_scored | never_lost)
    reference = inside if inside.sum() > 1 else np.ones_like(inside)  # relative to itself nobody is anything
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
    """The same in words and in Elo."""
    names, record, strength = known.names, known.record, known.strength
    reach = known.errors * interval_quantile(record.groups - 1)
    doubt = pair_p_values(strength, known.errors_between, record.groups)
    for one in np.flatnonzero(known.never_scored | known.never_lost):
        doubt[one] = doubt[:, one] = np.minimum(doubt[one], _one_sided_p_values(int(one), known))
    better = significant_pairs(strength, doubt)
    best = _best_probabilities(known)
    rows = []
    for at, name in enumerate(names):
        low: float | None = _to_elo(strength[at] - reach[at])
        high: float | None = _to_elo(strength[at] + reach[at])
        luck = (SIGNIFICANCE_LEVEL / 2) ** (
            1 / record.groups[at]
        )  # with this expected score, one seldom scores all in all groups
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
    apart = [(names[first], names[second]) for first, second in np.argwhere(better).tolist()]
    return Ratings(
        tuple(rows),
        _seat_effects(known),
        round(float(np.exp(known.fit.estimate[-1])), ROUNDED_DIGITS),
        tuple(sorted(apart, key=lambda pair: (rank[pair[0]], rank[pair[1]]))),
    )


def _matches_by_size(counted: Iterable[CountedMatch]) -> tuple[list[str], list[Tables]]:
    """Who played, by name, and the matches by size of the table, with numbers for names."""
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
    """The cluster sandwich by deal group, beside the inverse of the information."""
    inverse = np.linalg.inv(fit.information).astype(np.float64, copy=False)
    slope = group_gradients(pairs, fit.estimate)
    between = np.einsum("gi,gj->ij", slope, slope)  # not by BLAS, whose sums depend on the number of threads
    seen = inverse @ between @ inverse * (pairs.groups / max(pairs.groups - 1, 1))
    return Covariances(seen, inverse, inverse * fit.prior @ inverse)


def standard_errors(variance: Covariances, few: Bools) -> Floats:
    """What is seen, unless there is too little to be seen, or the prior says more than the games."""
    doubtful = few | (variance.assumed > variance.modelled / 2)
    square = np.where(doubtful, np.maximum(variance.sampled, variance.modelled), variance.sampled)
    return np.sqrt(np.maximum(square, MIN_ERROR_LOGITS**2))


def _score_record(ends: Ints, pairs: Pairs, count: int) -> ScoreRecord:
    """What was scored at these ends of the pairs."""
    where = (ends * pairs.groups + pairs.group).ravel()
    won = pairs.weight * pairs.half_points / 2
    games = sum_by_index(where, np.tile(pairs.weight, 2), count * pairs.groups)
    points = sum_by_index(where, np.concatenate([won, pairs.weight - won]), count * pairs.groups)
    there = np.flatnonzero(games)
    who, score = there // pairs.groups, np.rint(points[there] / games[there] / MIN_ERROR_LOGITS).astype(np.int64)
    usual, times = np.unique(who * 2 * round(1 / MIN_ERROR_LOGITS) + score, return_counts=True)
    groups, most = np.bincount(who, minlength=count), np.zeros(count, np.int64)
    np.maximum.at(most, usual // (2 * round(1 / MIN_ERROR_LOGITS)), times)
    games, points = (each.reshape(count, -1).sum(1) for each in (games, points))
    return ScoreRecord(games, points, groups, (groups < MIN_GROUPS) | (groups - most < MIN_OTHER_GROUPS))


def interval_quantile(freedom: Ints) -> Floats:
    """How many standard errors an interval reaches to either side."""
    return np.asarray(stdtrit(np.maximum(freedom, 1), 1 - SIGNIFICANCE_LEVEL / 2))


def _expected_scores(at: int, known: Estimates) -> Callable[[Floats], Floats]:
    """What a player would be expected to score in the same games, if it were so strong; several are asked at once."""
    pairs, estimate = known.pairs, known.fit.estimate
    mine = (pairs.ends[0] == at) | (pairs.ends[1] == at)
    weight, turn = pairs.weight[mine], np.where(pairs.ends[0, mine] == at, 1.0, -1.0)
    apart = turn * (CONTRAST_SIGNS @ estimate[pairs.ends[:, mine]]) - known.strength[at]

    def scored(strength: Floats) -> Floats:
        lead, _ = expected_score(strength[:, None] + apart, estimate[-1])
        return np.asarray((lead * weight).sum(1) / weight.sum() + 0.5)

    return scored


def _strength_bound(at: int, known: Estimates, score: float) -> float:
    """How strong a player would be whose expected score in the same games is this."""
    scored, low, high = _expected_scores(at, known), known.strength[at] - 60, known.strength[at] + 60
    for _ in range(60):
        middle = (low + high) / 2
        if scored(np.array([middle]))[0] < score:
            low = middle
        else:
            high = middle
    return float(middle)


def pair_p_values(strength: Floats, errors: Floats, groups: Ints) -> Floats:
    """For every pair: how often such a difference, or a greater one, comes about by chance."""
    freedom = np.maximum(np.minimum.outer(groups, groups) - 1, 1)
    return np.asarray(2 * stdtr(freedom, -np.abs(np.subtract.outer(strength, strength)) / errors))


def _one_sided_p_values(at: int, known: Estimates) -> Floats:
    """For each other: how often a one-sided player scores nothing, or everything, if it is really just as strong.

    Errors say little about somebody of whom nothing but losses has been seen. The other is taken to be as near as its
    interval allows, relative to those against whom the player has played.
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


def significant_pairs(strength: Floats, doubts: Floats) -> Bools:
    """Who is better than whom beyond doubt, by Holm's procedure over all pairs."""
    ones, others = np.triu_indices(len(strength), 1)
    chance = doubts[ones, others]
    better = np.zeros(doubts.shape, bool)
    for rank, pair in enumerate(np.argsort(chance, kind="stable")):
        if chance[pair] > SIGNIFICANCE_LEVEL / (len(chance) - rank):
            break
        one, other = ones[pair], others[pair]
        better[(one, other) if strength[one] > strength[other] else (other, one)] = True
    return better


def _best_probabilities(known: Estimates) -> Floats:
    """How often each is best in draws of a multivariate t; who is in doubt has the model's spread on top."""
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
    """What the seats are worth."""
    pairs, players, seats = known.pairs, known.pairs.players, known.pairs.seats
    centred = np.eye(seats) - 1 / seats
    worth = centred @ known.fit.estimate[players : players + seats]
    few = _score_record(pairs.ends[2:] - players, pairs, seats).few
    errors = known.spread.part(players, seats).contrasts(centred).errors(few)
    reach = errors * interval_quantile(np.array(pairs.groups - 1))
    return tuple(
        SeatEffect(seat, _to_elo(worth[seat]), _to_elo(worth[seat] - reach[seat]), _to_elo(worth[seat] + reach[seat]))
        for seat in range(seats)
    )


def _to_elo(logits: float) -> float:
    """A strength as it is told."""
    return round(float(logits) * ELO_PER_LOGIT, ROUNDED_DIGITS) + 0.0  # and not -0.0
