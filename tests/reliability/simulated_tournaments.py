"""Simulate tournaments with known strengths: luck of deals and seats, uneven players, ties, ejections."""

import math
from collections.abc import Callable, Iterable
from itertools import permutations

import msgspec
import numpy as np

from fairplay.core.chance import derive_seed
from fairplay.tournament.rating.davidson import Floats, Ints, Tables, fit_model, pairwise_results
from tests.reliability.readings import MAX_SHOWN_FAILURES, Measure, Reading

ALLOWED_STANDARD_ERRORS = 3.0  # that fewer runs are allowed for, beyond those of a full size
MIN_TRUTH_GROUPS = 40_000  # deal groups, and as many times those of a run:
TRUTH_GROUPS_FACTOR = 200
PRIOR_TRUST = 1e-7  # trust in the prior
EJECTED_STRENGTH = -1e6  # is how well one plays
HOPELESS_STRENGTH = -1e3
GUMBEL_SPREAD = 1.28  # of a Gumbel variable, and of a Gaussian one to be like it


class Scenario(msgspec.Struct, frozen=True):
    """A tournament that can be held any number of times; strengths are in logits, more or less."""

    name: str
    strengths: tuple[float, ...]
    table: int
    deals: int  # each is played at one table
    duplicate: bool = False  # in all seat orders, or only in one
    seats: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    luck: float = 0.0  # how much a deal favours one seat or another
    liking: float = 0.0  # and one player or another, wherever it sits
    wildness: tuple[float, ...] = ()  # how much each player varies; all the same if there is nothing
    gaussian: bool = False
    grain: float = 0.0  # ties: what differs by less may look the same
    ejections: float = 0.0  # how often each is ejected

    @property
    def equal(self) -> bool:
        return len(set(self.strengths)) == 1

    def simulate(self, chance: np.random.Generator, deals: int) -> Tables:
        """The results of so many deals; all players play the same number, or almost."""
        players, table = len(self.strengths), self.table
        rounds = -(-deals * table // players)
        order = chance.permuted(np.tile(np.arange(players), (rounds, 1)), axis=1).ravel()
        seated = order[: deals * table].reshape(deals, table)
        luck, liking = (much * chance.standard_normal((deals, table)) for much in (self.luck, self.liking))
        orders = list(permutations(range(table))) if self.duplicate else [tuple(range(table))]
        return Tables(
            np.tile(np.arange(deals), len(orders)),
            np.concatenate([seated[:, order] for order in orders]),
            np.concatenate([self._places(seated[:, order], luck + liking[:, order], chance) for order in orders]),
        )

    def _places(self, seated: Ints, luck: Floats, chance: np.random.Generator) -> Ints:
        """How these finish, each in its seat."""
        normal = GUMBEL_SPREAD * chance.standard_normal(seated.shape)
        noise = normal if self.gaussian else chance.gumbel(size=seated.shape)
        if self.wildness:
            noise *= np.array(self.wildness)[seated]
        shown = np.array(self.strengths)[seated] + np.array(self.seats[: self.table]) + luck + noise
        if self.grain:
            shown = np.floor(shown / self.grain)
        if self.ejections:
            shown[chance.random(seated.shape) < self.ejections] = EJECTED_STRENGTH
        better: Ints = (shown[:, None, :] > shown[:, :, None]).sum(2)
        return np.where(shown == EJECTED_STRENGTH, self.table, 1 + better)

    def true_strengths(self, chance: np.random.Generator) -> tuple[Floats, Floats]:
        """What very many deals say of the players and of the seats, without a prior."""
        deals = max(MIN_TRUTH_GROUPS, TRUTH_GROUPS_FACTOR * self.deals)
        players = len(self.strengths)
        estimate = fit_model(pairwise_results([self.simulate(chance, deals)], players), PRIOR_TRUST).estimate
        return estimate[:players], estimate[players:-1]


def measure_scenarios(
    scenarios: tuple[Scenario, ...], find_deviations: Callable[[Scenario, list[int], bytes], Iterable[str]]
) -> Measure:
    """A number is a run of the scenario that is its remainder; what is demanded is demanded of all runs together."""

    def measure(numbers: range, seed: bytes) -> Reading:
        failures: list[str] = []
        for at, scenario in enumerate(scenarios):
            if runs := [number for number in numbers if number % len(scenarios) == at]:
                failures += [f"{scenario.name}: {failure}" for failure in find_deviations(scenario, runs, seed)]
        return Reading(len(numbers), len(failures), tuple(failures[:MAX_SHOWN_FAILURES]))

    return measure


def allowance(share: float, runs: int, full: int) -> float:
    """How far a share may be off because there are fewer runs than at full size."""
    return ALLOWED_STANDARD_ERRORS * max(math.sqrt(1 / runs) - math.sqrt(1 / full), 0) * math.sqrt(share * (1 - share))


def random_generator(seed: bytes, name: str) -> np.random.Generator:
    """What is drawn under a name, whatever else is drawn."""
    return np.random.default_rng(int.from_bytes(derive_seed(seed, name)))


UNEQUAL = (-0.8, -0.4, 0.0, 0.2, 0.5, 0.8)
SCENARIOS = (
    Scenario("six in pairs", UNEQUAL, 2, 120, seats=(0.2, -0.2), grain=0.3),
    Scenario(
        "duplicate in pairs",
        UNEQUAL,
        2,
        120,
        duplicate=True,
        luck=1.5,
        seats=(0.3, -0.3),
        wildness=(0.5, 0.7, 1.0, 1.0, 1.3, 1.6),
        gaussian=True,
        grain=0.5,
    ),
    Scenario(
        "twelve at fours",
        tuple(0.2 * number - 1.1 for number in range(12)),
        4,
        300,
        seats=(0.4, 0.1, -0.1, -0.4),
        ejections=0.05,
        grain=0.2,
    ),
    Scenario(
        "duplicate at threes",
        (-0.6, -0.3, 0.0, 0.0, 0.3, 0.6),
        3,
        100,
        duplicate=True,
        luck=1.0,
        liking=5.0,
        seats=(0.3, 0.0, -0.3),
        ejections=0.03,
    ),
    Scenario("one hopeless", (HOPELESS_STRENGTH, -0.4, 0.0, 0.1, 0.3, 0.6), 2, 180, seats=(0.2, -0.2), grain=0.3),
    Scenario("equals in pairs", (0.0,) * 6, 2, 90, seats=(0.3, -0.3), grain=0.3),
    Scenario("equals in duplicate", (0.0,) * 6, 2, 60, duplicate=True, luck=1.5, gaussian=True, grain=0.5),
    Scenario("equals at fours", (0.0,) * 12, 4, 120, seats=(0.4, 0.1, -0.1, -0.4), ejections=0.05),
)
