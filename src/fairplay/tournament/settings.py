"""Say what each format has to be told."""

from typing import Annotated

import msgspec
from msgspec import Meta

Table = Annotated[int, Meta(ge=2, le=5)]  # players at a table
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Share = Annotated[float, Meta(gt=0, lt=0.5)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What a format has to be told."""


class RoundRobin(Settings, frozen=True, tag="round-robin"):
    """Everybody against everybody, as evenly as so many matches allow.

    Attributes:
        games: the number of matches in all.
        table: the number of players in a match.
    """

    games: Count = 100
    table: Table = 2


class Duplicate(Settings, frozen=True, tag="duplicate"):
    """Each deal is played in several seat orders, so that no player has its luck alone.

    Attributes:
        deals: the number of deals.
        table: the number of players in a match.
        orders: all seat orders of a deal, or `balanced`: as many as there are seats.
    """

    deals: Count = 50
    table: Table = 2
    orders: str = "all"


class Swiss(Settings, frozen=True, tag="swiss"):
    """Equals play equals: each round pairs by the points so far.

    Attributes:
        rounds: the number of rounds.
        table: the number of players in a match.
    """

    rounds: Count = 5
    table: Table = 2


class KnockOut(Settings, frozen=True, tag="knock-out"):
    """Only the first of a table goes on.

    Attributes:
        table: the number of players in a match.
        games: the number of matches at a table.
    """

    table: Table = 2
    games: Count = 2


class Ladder(Settings, frozen=True, tag="ladder"):
    """Neighbours challenge each other, and the better one stands higher afterwards.

    Attributes:
        rounds: the number of rounds.
        table: the number of players in a match.
        games: the number of matches in a challenge.
    """

    rounds: Count = 10
    table: Table = 2
    games: Count = 2


class Versus(Settings, frozen=True, tag="versus"):
    """The first against the second until it is clear which is better; the others fill the table.

    Attributes:
        elo0: the first is no better than this,
        elo1: or at least as good as this.
        alpha: how often it may be wrong to say elo1.
        beta: how often it may be wrong to say elo0.
        games: the number of matches at most.
        table: the number of players in a match.
    """

    elo0: float = 0.0
    elo1: float = 50.0
    alpha: Share = 0.05
    beta: Share = 0.05
    games: Count = 20_000
    table: Table = 2
