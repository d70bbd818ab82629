"""Define a tournament as a value: its game, players, format, limits and penalties."""

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
    """What a fault costs a player."""

    EJECT = "eject"  # out of this match
    EXPEL = "expel"  # out of this match and the tournament
    FORFEIT = "forfeit"  # out of this match, and without its score
    REPLAY = "replay"  # the match is void, and played again a few times


class BotCheckPolicy(Enum):
    """What happens to a bot that fails its check before the tournament."""

    WARN = "warn"
    REFUSE = "refuse"
    SKIP = "skip"  # no bot is checked


FormatSettings = RoundRobin | Duplicate | Swiss | KnockOut | Course | Ladder | Versus


class TournamentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament.

    Attributes:
        game: its name.
        players: with distinct names, in the order of the file.
        format: which matches are played.
        seed: of all deals; None: one is drawn at random, and stored in the log.
        guessable: whether the seed was made from a short text.
        parameters: of the game, by name.
        limits: for players outside of this process; None: the defaults.
        sandbox: of programs: auto, strict or none; None: auto.
        pondering: whether programs may think while others are asked.
        bot_check: what happens to bots that fail their check.
        penalties: by fault.
        default_penalty: for all other faults.
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
        """The penalty for a fault; in the formats of the courses, every fault expels the player."""
        if isinstance(self.format, Course):
            return Penalty.EXPEL
        return self.penalties.get(fault, self.default_penalty)

    def derive_seed(self, label: str) -> bytes:
        """The seed of one part of the tournament, which must have a seed."""
        assert self.seed is not None
        return derive_seed(self.seed, label)

    def match_spec(self, seats: Sequence[Entrant], deal: int, *, shared: bool = False) -> MatchSpec:
        """A match between these players, by seat, from a deal; `shared`: other matches have the same deal."""
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
