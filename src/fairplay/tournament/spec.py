"""Say all that a tournament is, as a value: who plays what, in which format, and what comes of misbehaviour."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec

from fairplay.core.chance import derive
from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.games import game_with, title
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.protocol.limits import Limits
from fairplay.tournament.courses import Course
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus


class Consequence(Enum):
    """What comes of a fault."""

    GAME = "game"  # out of this match
    TOURNAMENT = "tournament"  # out of all
    FORFEIT = "forfeit"  # out of this match, and without its score
    REPLAY = "replay"  # the match is void, and played again a few times


class Gate(Enum):
    """What comes of a bot that fails the trials before the tournament."""

    WARN = "warn"
    REFUSE = "refuse"
    SKIP = "skip"  # nobody is tried


FormatSettings = RoundRobin | Duplicate | Swiss | KnockOut | Course | Ladder | Versus


class Cup(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament.

    Attributes:
        game: its name.
        players: each with a name of its own, in the order of the file.
        format: who plays whom.
        seed: of all deals; None: one is drawn, and written down.
        guessable: whether the seed was made from a short text.
        parameters: of the game, by name.
        limits: for players outside of this process; None: the usual ones.
        sandbox: of programs: auto, strict or none; None: auto.
        pondering: whether programs may think while others are asked.
        gate: what happens to bots that fail their trial.
        faults: what a fault costs.
        default: what any other fault costs.
        observers: of matches: addresses, py:module:Name.
    """

    game: str
    players: tuple[Entrant, ...]
    format: FormatSettings
    seed: bytes | None = None
    guessable: bool = False
    parameters: dict[str, Any] = {}
    limits: Limits | None = None
    sandbox: str | None = None
    pondering: bool = False
    gate: Gate = Gate.WARN
    faults: dict[Fault, Consequence] = {}
    default: Consequence = Consequence.GAME
    observers: tuple[str, ...] = ()

    def rules(self) -> Game[Any, Any, Any]:
        """The game, with its parameters. Raises BadRequest if there is none."""
        return game_with(self.game, self.parameters)

    def consequence(self, fault: Fault) -> Consequence:
        """What comes of a fault; the courses put whoever misbehaves out of the tournament."""
        if isinstance(self.format, Course):
            return Consequence.TOURNAMENT
        return self.faults.get(fault, self.default)

    def derived(self, label: str) -> bytes:
        """The seed of one thing in the tournament. Only one that is played has any."""
        assert self.seed is not None
        return derive(self.seed, label)

    def match(self, seats: Sequence[Entrant], deal: int, *, shared: bool = False) -> MatchSpec:
        """A match between these, by seat, from a deal; shared: others are played from the same deal."""
        return MatchSpec(
            game=title(self.game).source or self.game,
            entrants=tuple(seats),
            parameters=self.parameters,
            seed=self.derived(f"deal {deal}"),
            guessable=self.guessable,
            sealed=shared,
            limits=self.limits,
            sandbox=self.sandbox,
            pondering=self.pondering,
            observers=self.observers,
        )
