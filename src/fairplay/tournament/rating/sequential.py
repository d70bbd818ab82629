"""Decide as early as possible whether one player is better than another: a sequential test (SPRT) over deals."""

from collections.abc import Iterable
from math import exp, log

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.tournament.counted_match import CountedMatch

MIN_TEST_DEALS = 20  # before a decision
MIN_DECISIVE_DEALS = 10  # with another score than 1/2: with many ties, the spread is not known earlier
ERROR_FACTOR = 0.8  # the test aims at smaller errors (0.04 for 0.05), as the spread is only estimated
OVERSHOOT_FACTOR = 1.15  # of the observed number of deals over the expected one
MIN_VARIANCE = 1e-12


class SequentialTest(msgspec.Struct, frozen=True):
    """A test whether the first player is better by elo0 or by elo1, with the probabilities of wrong answers."""

    __test__ = False  # not a test of pytest

    elo0: float
    elo1: float
    alpha: float = 0.05  # of accepting elo1 by error
    beta: float = 0.05  # of accepting elo0 by error

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds for errors of 0.8 alpha and 0.8 beta: ±ln(0.96 / 0.04) if both are 0.05."""
        alpha, beta = ERROR_FACTOR * self.alpha, ERROR_FACTOR * self.beta
        return log(beta / (1 - alpha)), log((1 - beta) / alpha)


class SequentialVerdict(msgspec.Struct, frozen=True):
    """The state of a test."""

    llr: float  # the log-likelihood ratio: above 0, elo1 is more likely
    lower_bound: float  # of the ratio: at this one elo0 is accepted
    upper_bound: float  # and at this one elo1
    accepted: str | None  # "elo0" or "elo1"; None: neither so far
    deals: int  # so far
    expected_deals: float | None  # from the first to the last, as far as can be estimated; None: it cannot yet


class RunningTest:
    """A test that gets one deal after the other; a decision is final.

    Raises BadRequest unless elo0 is less than elo1.
    """

    def __init__(self, test: SequentialTest) -> None:
        if not test.elo0 < test.elo1:
            raise BadRequest(f"elo0 has to be less than elo1, but they are {test.elo0:g} and {test.elo1:g}")
        self._test = test
        self._count = self._differing = 0
        self._sum = self._squares = 0.0
        low, high = test.bounds
        self.verdict = SequentialVerdict(0.0, low, high, None, 0, None)

    def add(self, score: float) -> SequentialVerdict:
        """The verdict after another deal, in which the first player scored this."""
        if self.verdict.accepted:
            return self.verdict
        self._count += 1
        self._differing += abs(score - 0.5) > MIN_VARIANCE
        self._sum += score
        self._squares += score * score
        mean = self._sum / self._count
        variance = max(self._squares / self._count - mean * mean, 0.0)
        mu0, mu1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (self._test.elo0, self._test.elo1))
        llr = (
            self._count
            / 2
            * log((variance + (mean - mu0) ** 2 + MIN_VARIANCE) / (variance + (mean - mu1) ** 2 + MIN_VARIANCE))
        )
        low, high = self._test.bounds
        accepted = None
        if self._count >= MIN_TEST_DEALS and self._differing >= MIN_DECISIVE_DEALS:
            accepted = "elo0" if llr <= low else "elo1" if llr >= high else None
        self.verdict = SequentialVerdict(
            llr, low, high, accepted, self._count, self._expected_deals(mean, variance, mu0, mu1)
        )
        return self.verdict

    def _expected_deals(self, mean: float, variance: float, mu0: float, mu1: float) -> float | None:
        """Wald's expected number of deals, if the truth is the mean so far, limited to the range of the hypotheses."""
        if not self._differing:
            return None
        low, high = self._test.bounds
        side = min(max((2 * mean - mu0 - mu1) / (mu1 - mu0), -1.0), 1.0)  # -1 at elo0, 1 at elo1
        if abs(side) < 1e-6:
            drifts = -low * high
        else:
            up = (exp(-side * low) - 1) / (exp(-side * low) - exp(-side * high))
            drifts = 2 * (up * high + (1 - up) * low) / side
        wald = OVERSHOOT_FACTOR * drifts * variance / (mu1 - mu0) ** 2
        return max(wald, float(MIN_TEST_DEALS), MIN_DECISIVE_DEALS * self._count / self._differing)


def sequential_status(test: SequentialTest, scores: Iterable[float]) -> SequentialVerdict:
    """The verdict of a test on deals in their order: the first decision, or the state after all of them."""
    running = RunningTest(test)
    for score in scores:
        if running.add(score).accepted:
            break
    return running.verdict


def group_score(matches: Iterable[CountedMatch], first: str, second: str) -> float | None:
    """The score of the first player against the second in the matches of a deal, from 0 to 1; None: none counts.

    >>> match = CountedMatch(match="1", deal=0, names=("ann", "bob", "cyd"), places=(2, 1, 2))
    >>> group_score([match], "ann", "bob")
    0.125
    """
    scores = []
    for match in matches:
        points = match.points()
        if first in points and second in points:
            scores.append(0.5 + (points[first] - points[second]) / 2)
    return sum(scores) / len(scores) if scores else None
