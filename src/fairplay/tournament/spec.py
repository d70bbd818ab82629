"""Say all that a tournament is, as a value: who plays what, in which format, and what comes of misbehaviour."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec

from fairplay.core.chance import derive_seed
from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.games import game_info, make_game
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.protocol.limits import Limits
from fairplay.tournament.courses import Course
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus


class Penalty(Enum):
    """What comes of a fault."""

    EJECT = "eject"  # out of this match
    EXPEL = "expel"  # out of this match and the tournament
    FORFEIT = "forfeit"  # out of this match, and without its score
    REPLAY = "replay"  # the match is void, and played again a few times


class BotCheckPolicy(Enum):
    """What comes of a bot that fails the trials before the tournament."""

    WARN = "warn"
    REFUSE = "refuse"
    SKIP = "skip"  # nobody is tried


FormatSettings = RoundRobin | Duplicate | Swiss | KnockOut | Course | Ladder | Versus


class TournamentSpec(msgspec.Struct, frozen=True, kw_only=True):
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
        bot_check: what happens to bots that fail their trial.
        penalties: what a fault costs.
        default_penalty: what any other fault costs.
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
    bot_check: BotCheckPolicy = BotCheckPolicy.WARN
    penalties: dict[Fault, Penalty] = {}
    default_penalty: Penalty = Penalty.EJECT
    observers: tuple[str, ...] = ()

    def rules(self) -> Game[Any, Any, Any]:
        """The game, with its parameters. Raises BadRequest if there is none."""
        return make_game(self.game, self.parameters)

    def penalty_for(self, fault: Fault) -> Penalty:
        """What comes of a fault; the courses put whoever misbehaves out of the tournament."""
        if isinstance(self.format, Course):
            return Penalty.EXPEL
        return self.penalties.get(fault, self.default_penalty)

    def derive_seed(self, label: str) -> bytes:
        """The seed of one thing in the tournament. Only one that is played has any."""
        assert self.seed is not None
        return derive_seed(self.seed, label)

    def match_spec(self, seats: Sequence[Entrant], deal: int, *, shared: bool = False) -> MatchSpec:
        """A match between these, by seat, from a deal; shared: others are played from the same deal."""
        return MatchSpec(
            game=game_info(self.game).source or self.game,
            entrants=tuple(seats),
            parameters=self.parameters,
            seed=self.derive_seed(f"deal {deal}"),
            guessable=self.guessable,
            sealed=shared,
            limits=self.limits,
            sandbox=self.sandbox,
            pondering=self.pondering,
            observers=self.observers,
        )
