"""Fit Davidson's model (Bradley-Terry with ties) to all pairs at the tables: strengths, seat effects, ties.

Of two players at a table, the first wins with weight exp(d / 2), loses with exp(-d / 2) and ties with nu, where d is
the difference of their strengths and seat effects. The parameters are one vector: players, seats, log nu.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

PRIOR_LOG_NU = -1.0  # the mean of the prior
PRIOR_PRECISIONS = (1 / 4**2, 1 / 10**2, 1 / 3**2)  # of the priors of strengths, seats, log nu
CONVERGENCE_TOLERANCE = 1e-8
MAX_NEWTON_STEPS = 100
MAX_STEP_HALVINGS = 40
CONTRAST_SIGNS = np.array([1.0, -1.0, 1.0, -1.0])  # of first, second, seat of the first, seat of the second


class Tables(NamedTuple):
    """Matches with equally many players, one per row."""

    deals: Ints
    players: Ints  # by seat
    places: Ints  # by seat; only the ejected share the last


class Pairs(NamedTuple):
    """Results of all pairs of players at the tables, sorted, so that the order of matches does not matter."""

    players: int
    seats: int
    groups: int  # of matches from one deal
    group: Ints
    ends: Ints  # the parameters of the first, the second and their seats; a row each
    half_points: Ints  # of the first: 0, 1, 2
    weight: Floats

    @property
    def width(self) -> int:
        """The number of parameters."""
        return self.players + self.seats + 1


class Fit(NamedTuple):
    """The parameters with the greatest posterior density, and its curvature there."""

    estimate: Floats
    information: Floats  # minus the second derivatives, with those of the prior
    prior: Floats  # the part of the prior, which is diagonal


def pairwise_results(tables: Sequence[Tables], players: int) -> Pairs:
    """All pairs at these tables, except pairs of ejected players; players are numbers."""
    seats = max((table.players.shape[1] for table in tables), default=0)
    deals = np.unique(np.concatenate([table.deals for table in tables])) if tables else np.zeros(0, np.int64)
    radices = (players, players, seats, seats, 3, seats + 1)
    codes = [np.zeros(0, np.int64)]
    for table in tables:
        size, group = table.players.shape[1], np.searchsorted(deals, table.deals)
        for a in range(size):
            for b in range(a + 1, size):
                one, other = table.players[:, a], table.players[:, b]
                half_points = 1 + np.sign(table.places[:, b] - table.places[:, a])
                turned = one > other
                row = (
                    np.where(turned, other, one),
                    np.where(turned, one, other),
                    np.where(turned, b, a),
                    np.where(turned, a, b),
                    np.where(turned, 2 - half_points, half_points),
                    np.full(len(one), size),
                )
                code = group.astype(np.int64)
                for radix, digit in zip(radices, row, strict=True):
                    code = code * radix + digit
                codes.append(code[(half_points != 1) | (table.places[:, a] < size)])
    code, count = np.unique(np.concatenate(codes), return_counts=True)
    digits = []
    for radix in reversed(radices):
        code, digit = np.divmod(code, max(radix, 1))
        digits.append(digit)
    size, half_points, seat_of_second, seat_of_first, second, first = digits
    ends = np.stack([first, second, players + seat_of_first, players + seat_of_second])
    return Pairs(players, seats, len(deals), code, ends, half_points, count / np.maximum(size - 1, 1))


def fit_model(pairs: Pairs, trust: float = 1.0) -> Fit:
    """Maximise by Newton's method from the mean of the prior, whose weight is `trust`: 1, or almost 0 without it."""
    width = pairs.width
    prior = trust * np.repeat(PRIOR_PRECISIONS, (pairs.players, pairs.seats, 1))
    middle = np.zeros(width)
    middle[-1] = PRIOR_LOG_NU
    ends, wins, ties = _group_meetings(pairs)
    met = wins[0] + ties + wins[1]
    balance = (wins[0] - wins[1]) / 2
    squares = (ends[:, None] * width + ends[None, :]).ravel()
    signs = np.outer(CONTRAST_SIGNS, CONTRAST_SIGNS)[:, :, None]

    def height(at: Floats) -> float:
        difference = CONTRAST_SIGNS @ at[ends]
        top = np.maximum(np.abs(difference) / 2, at[-1])
        total = np.exp(difference / 2 - top) + np.exp(-difference / 2 - top) + np.exp(at[-1] - top)
        likelihood = balance * difference + ties * at[-1] - met * (np.log(total) + top)
        return float(likelihood.sum() - (prior * (at - middle) ** 2).sum() / 2)

    at = middle
    for _ in range(MAX_NEWTON_STEPS):
        lead, tie = expected_score(CONTRAST_SIGNS @ at[ends], at[-1])
        slope = sum_by_index(ends.ravel(), (CONTRAST_SIGNS[:, None] * (balance - met * lead)).ravel(), width)
        slope[-1] += (ties - met * tie).sum()
        slope -= prior * (at - middle)
        curve = met * ((1 - tie) / 4 - lead * lead)
        information = sum_by_index(squares, (signs * curve).ravel(), width * width).reshape(width, width)
        across = sum_by_index(ends.ravel(), (CONTRAST_SIGNS[:, None] * (-met * lead * tie)).ravel(), width)
        information[-1] += across
        information[:, -1] += across
        information[-1, -1] += (met * tie * (1 - tie)).sum()
        information[np.diag_indices(width)] += prior
        step = np.linalg.solve(information, slope)
        if np.abs(step).max() < CONVERGENCE_TOLERANCE:
            break
        here = height(at)
        for _ in range(MAX_STEP_HALVINGS):
            if height(at + step) >= here:
                break
            step = step / 2
        at = at + step
    return Fit(at, information, prior)


def expected_score(difference: Floats, log_nu: float) -> tuple[Floats, Floats]:
    """For these differences of strength: half of the excess of wins over losses, and the share of ties."""
    top = np.maximum(np.abs(difference) / 2, log_nu)
    win, lose, tie = np.exp(difference / 2 - top), np.exp(-difference / 2 - top), np.exp(log_nu - top)
    total = win + lose + tie
    return (win - lose) / (2 * total), tie / total


def group_gradients(pairs: Pairs, estimate: Floats) -> Floats:
    """The gradient of each group's likelihood at the estimate, one row per group."""
    lead, tie = expected_score(CONTRAST_SIGNS @ estimate[pairs.ends], estimate[-1])
    residual = pairs.weight * ((pairs.half_points - 1) / 2 - lead)
    where = (pairs.group * pairs.width + pairs.ends).ravel()
    found = sum_by_index(where, (CONTRAST_SIGNS[:, None] * residual).ravel(), pairs.groups * pairs.width)
    found = found.reshape(pairs.groups, pairs.width)
    tied = pairs.weight * ((pairs.half_points == 1) - tie)
    found[:, -1] = sum_by_index(pairs.group, tied, pairs.groups)
    return found


def sum_by_index(indices: Ints, values: Floats, length: int) -> Floats:
    """Sum values by their indices, in order."""
    return np.bincount(indices, values, length).astype(np.float64, copy=False)


def _group_meetings(pairs: Pairs) -> tuple[Ints, Floats, Floats]:
    """Results of the same pairs in the same seats, added up: their ends, the wins of each, and the ties."""
    code = np.zeros(len(pairs.group), np.int64)
    for end in pairs.ends:
        code = code * pairs.width + end
    _, sample, back = np.unique(code, return_index=True, return_inverse=True)
    lost, ties, won = (
        sum_by_index(back, np.where(pairs.half_points == half_points, pairs.weight, 0.0), len(sample))
        for half_points in range(3)
    )
    return pairs.ends[:, sample], np.stack([won, lost]), ties
