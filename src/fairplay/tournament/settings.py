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
    """Each deal is played in several seat orders, so that its luck is everybody's."""

    deals: Count = 50
    table: Table = 2
    orders: str = "all"  # or balanced: as many as there are seats


class Swiss(Settings, frozen=True, tag="swiss"):
    """Equals play equals: each round pairs by the points so far."""

    rounds: Count = 5
    table: Table = 2


class KnockOut(Settings, frozen=True, tag="knock-out"):
    """Only the first of a table goes on."""

    table: Table = 2
    games: Count = 2  # a table plays so many


class Ladder(Settings, frozen=True, tag="ladder"):
    """Neighbours challenge each other, and whoever is better stands higher afterwards."""

    rounds: Count = 10
    table: Table = 2
    games: Count = 2  # a challenge has so many


class Versus(Settings, frozen=True, tag="versus"):
    """The first against the second until it is clear who is better; the others fill the table."""

    elo0: float = 0.0  # the first is no better than this,
    elo1: float = 50.0  # or at least as good as this
    alpha: Share = 0.05  # how often it may be wrong to say elo1
    beta: Share = 0.05  # and how often to say elo0
    games: Count = 20_000  # at most
    table: Table = 2
