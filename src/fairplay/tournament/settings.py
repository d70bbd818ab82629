"""Define the settings of each format."""

from typing import Annotated

import msgspec
from msgspec import Meta

Table = Annotated[int, Meta(ge=2, le=5)]  # players at a table
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Share = Annotated[float, Meta(gt=0, lt=0.5)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """The settings of a format."""


class RoundRobin(Settings, frozen=True, tag="round-robin"):
    """Each player against each other, as evenly as so many matches allow.

    Attributes:
        games: the number of matches in all.
        table: the number of players in a match.
    """

    games: Count = 100
    table: Table = 2


class Duplicate(Settings, frozen=True, tag="duplicate"):
    """Each deal is played in several seat orders, so that all players share its luck.

    Attributes:
        deals: the number of deals.
        table: the number of players in a match.
        orders: all seat orders of a deal, or `balanced`: as many as there are seats.
    """

    deals: Count = 50
    table: Table = 2
    orders: str = "all"


class Swiss(Settings, frozen=True, tag="swiss"):
    """Each round pairs players with similar points.

    Attributes:
        rounds: the number of rounds.
        table: the number of players in a match.
    """

    rounds: Count = 5
    table: Table = 2


class KnockOut(Settings, frozen=True, tag="knock-out"):
    """Only the first of a table advances.

    Attributes:
        table: the number of players in a match.
        games: the number of matches at a table.
    """

    table: Table = 2
    games: Count = 2


class Ladder(Settings, frozen=True, tag="ladder"):
    """Neighbours challenge each other, and the better one moves up.

    Attributes:
        rounds: the number of rounds.
        table: the number of players in a match.
        games: the number of matches in a challenge.
    """

    rounds: Count = 10
    table: Table = 2
    games: Count = 2


class Versus(Settings, frozen=True, tag="versus"):
    """The first against the second until a test decides which is better; the others fill the table.

    Attributes:
        elo0: the hypothesis that the first is better by no more than this.
        elo1: the hypothesis that it is better by at least this.
        alpha: the probability of accepting elo1 by error.
        beta: the probability of accepting elo0 by error.
        games: the maximal number of matches.
        table: the number of players in a match.
    """

    elo0: float = 0.0
    elo1: float = 50.0
    alpha: Share = 0.05
    beta: Share = 0.05
    games: Count = 20_000
    table: Table = 2
