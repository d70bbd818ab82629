"""Say all that a match needs, and how it came out, as small values that cross processes and machines."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from fairplay.core.chance import SEED_BYTES, is_whole, seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Evidence
from fairplay.games import game_with
from fairplay.journal.requests import Sync, check_id
from fairplay.protocol.limits import Limits
from fairplay.referee.host import distinct, seats_by_age


class Entrant(msgspec.Struct, frozen=True):
    """Who is to sit at a seat: the address of a player, and a label for it."""

    address: str
    name: str = ""  # empty: a guest is called by its own name, and all others by their address
    given: str = ""  # the address as a tournament's file has it, with paths from there; empty: the same

    @property
    def label(self) -> str:
        """What it is called as long as nobody knows better."""
        return self.name or self.address


class MatchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to play a match, here or in another process."""

    game: str
    entrants: tuple[Entrant, ...]  # by seat
    parameters: dict[str, Any] = {}
    id: str = ""  # of the match; empty: one is drawn
    seed: bytes | None = None  # None: one is drawn
    guessable: bool = False  # was the seed made from a short text?
    sealed: bool = False  # is the seed not revealed with the result, but later by whoever runs the match?
    limits: Limits | None = None  # for players elsewhere; None: the usual ones
    sandbox: str | None = None  # of programs: auto, strict or none; None: auto
    pondering: bool = False  # may programs think while others are asked?
    journal: str | None = None  # the folder where it is recorded; None: nowhere
    bot_logs: str | None = None  # the folder where what programs say on stderr is kept; None: nowhere
    hidden: tuple[str, ...] = ()  # what programs may not see, besides the journals
    key: str | None = None  # the file with the key that marks the journal; None: that of whoever runs the match
    sync: Sync = Sync.BATCH
    observers: tuple[str, ...] = ()  # addresses, py:module:Name

    @classmethod
    def of(cls, game: Game[Any, Any, Any], entrants: Sequence[Entrant], **rest: Any) -> Self:
        """The same for a game that is at hand. What exists in this process alone is refused, as it cannot travel."""
        try:
            msgspec.to_builtins(game)  # which no iterator gets through, and some would never end
            same: Game[Any, Any, Any] | None = game_with(game.name, game.parameters())
        except BadRequest as error:
            raise BadRequest(f"this game of {game.name} cannot travel to where it is played: {error}") from None
        except TypeError:
            same = None
        if same != game:
            raise BadRequest(
                f"this game of {game.name} cannot travel to where it is played: "
                "a rule checker or an iterator of your own is known in this process alone; play it with a Referee"
            )
        return cls(game=game.name, entrants=tuple(entrants), parameters=game.parameters(), **rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """What those at the table are called as long as nobody knows better; each is called something else."""
        return tuple(distinct([entrant.label for entrant in self.entrants]))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the players, by seat."""
        return tuple(entrant.address for entrant in self.entrants)

    def rules(self) -> Game[Any, Any, Any]:
        """The game. Raises BadRequest unless the whole spec makes sense."""
        try:  # what was made by hand was not checked when it was made
            msgspec.convert(msgspec.to_builtins(self, builtin_types=(bytes,)), MatchSpec)
        except (msgspec.ValidationError, TypeError) as error:
            raise BadRequest(f"this is no spec of a match: {error}") from None
        game = game_with(self.game, self.parameters)
        seats_by_age(game, len(self.entrants))
        if self.id:
            check_id(self.id)
        if self.seed is not None and len(self.seed) != SEED_BYTES:
            raise BadRequest(f"a seed is {SEED_BYTES} bytes, not {len(self.seed)}")
        return game


class Turns(msgspec.Struct, frozen=True):
    """The turns of a seat in a match, in all of its sittings."""

    count: int = 0
    seconds: float = 0.0  # that they took together
    slowest: float = 0.0  # of one of them


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a match. A player's fault is in the result; if the host failed, there is none."""

    id: str
    names: tuple[str, ...]  # by seat, as people are called
    result: Result | None
    host_fault: str = ""  # why there is no result
    journal: str | None = None  # its file
    evidence: tuple[tuple[Seat, Evidence], ...] = ()  # what is known of players that failed; not for the public
    turns: tuple[Turns, ...] = ()  # by seat
    took: float = 0.0  # seconds


def seed_options(text: str | None) -> dict[str, Any]:
    """What a spec has to say of a seed in words: 64 hex digits are the seed itself, anything else can be guessed."""
    return {} if text is None else {"seed": seed_from(text), "guessable": not is_whole(text)}


def turns_of(took: Mapping[Seat, Sequence[float]], seats: int) -> tuple[Turns, ...]:
    """The turns by seat, from how long each took."""
    each = [took.get(seat, ()) for seat in range(seats)]
    return tuple(Turns(len(turns), sum(turns), max(turns, default=0.0)) for turns in each)
