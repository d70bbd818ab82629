"""Define the spec and the outcome of a match as small values that can be sent to other processes and machines."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from fairplay.core.chance import SEED_BYTES, is_full_seed, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Evidence
from fairplay.games import GAMES, game_info, make_game, register
from fairplay.journal.options import Durability, check_match_id
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import distinct_names, seats_by_age


class Entrant(msgspec.Struct, frozen=True):
    """A player for a seat: its address, and a label.

    Attributes:
        address: where the player is: a built-in player's name, a file, `exec:COMMAND`, `py:module:Name`, ...
        name: its label; empty: the name that a client brings, or else the address.
        given: the address as written in a tournament's file; empty: the same.
    """

    address: str
    name: str = ""
    given: str = ""

    @property
    def label(self) -> str:
        """The name of the player until it gives a better one."""
        return self.name or self.address


class MatchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to play a match, here or in another process.

    Attributes:
        game: the name of the game, or py:module:Name.
        entrants: the players, by seat.
        parameters: the parameters of the game, by name.
        id: the id of the match; empty: a random one.
        seed: the seed of the deal; None: a random one.
        guessable: whether the seed was made from a short text.
        sealed: whether the host reveals the seed later than with the result.
        limits: the time limits of players outside of this process; None: the defaults.
        sandbox: the sandbox of programs: auto, strict or none; None: auto.
        pondering: whether programs may compute while other players are asked.
        journal: the directory in which the match is recorded; None: no record.
        bot_logs: the directory for what programs write on stderr; None: it is discarded.
        hidden: paths that programs may not see, besides the journals.
        key: the file with the key for the journal's macs; None: the user's own.
        sync: when lines of the journal are made durable.
        observers: their addresses py:module:Name.
    """

    game: str
    entrants: tuple[Entrant, ...]
    parameters: dict[str, Any] = {}
    id: str = ""
    seed: bytes | None = None
    guessable: bool = False
    sealed: bool = False
    limits: Limits | None = None
    sandbox: str | None = None
    pondering: bool = False
    journal: str | None = None
    bot_logs: str | None = None
    hidden: tuple[str, ...] = ()
    key: str | None = None
    sync: Durability = Durability.BATCH
    observers: tuple[str, ...] = ()

    @classmethod
    def from_game(cls, game: Game[Any, Any, Any], entrants: Sequence[Entrant], **rest: Any) -> Self:
        """The spec for a game object. Raises BadRequest if the game exists in this process only."""
        if game.name not in GAMES:
            register(type(game))
        try:
            msgspec.to_builtins(game)  # refuses iterators, which might be endless
            same: Game[Any, Any, Any] | None = make_game(game.name, game.parameters())
        except BadRequest as error:
            raise BadRequest(f"this game of {game.name} cannot be sent to another process: {error}") from None
        except TypeError:
            same = None
        if same != game:
            raise BadRequest(
                f"this game of {game.name} cannot be sent to another process: "
                "it holds a function or an iterator of this process; play it with a Referee"
            )
        name = game_info(game.name).source or game.name
        return cls(game=name, entrants=tuple(entrants), parameters=game.parameters(), **rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """The distinct names of the players until they give better ones."""
        return tuple(distinct_names([entrant.label for entrant in self.entrants]))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the players, by seat."""
        return tuple(entrant.address for entrant in self.entrants)

    def load_game(self) -> Game[Any, Any, Any]:
        """The game of the spec. Raises BadRequest unless the whole spec is valid."""
        try:  # constructors do not check types
            msgspec.convert(msgspec.to_builtins(self, builtin_types=(bytes,)), MatchSpec)
        except (msgspec.ValidationError, TypeError) as error:
            raise BadRequest(f"invalid spec of a match: {error}") from None
        game = make_game(register(self.game), self.parameters)
        seats_by_age(game, len(self.entrants))
        if self.id:
            check_match_id(self.id)
        if self.seed is not None and len(self.seed) != SEED_BYTES:
            raise BadRequest(f"a seed has {SEED_BYTES} bytes, not {len(self.seed)}")
        return game


class TurnSummary(msgspec.Struct, frozen=True):
    """A summary of the turns of a seat, also before a resumption."""

    count: int = 0
    seconds: float = 0.0  # of all turns
    slowest: float = 0.0  # seconds of the slowest turn


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a match. Faults of players are in the result; after a host fault there is no result.

    Attributes:
        id: the id of the match.
        names: the players' names, by seat.
        result: None: the host failed.
        host_fault: why there is no result.
        journal: the file of the record; None: there is none.
        evidence: details about players that failed, by seat; not public.
        turns: a summary of the turns, by seat.
        took: the duration in seconds.
    """

    id: str
    names: tuple[str, ...]
    result: Result | None
    host_fault: str = ""
    journal: str | None = None
    evidence: tuple[tuple[Seat, Evidence], ...] = ()
    turns: tuple[TurnSummary, ...] = ()
    took: float = 0.0


def seed_options(text: str | None) -> dict[str, Any]:
    """The fields of a spec for a seed as text: 64 hex digits are the seed itself, any other text can be guessed."""
    return {} if text is None else {"seed": seed_from_text(text), "guessable": not is_full_seed(text)}


def summarise_turns(times: Mapping[Seat, Sequence[float]], seats: int) -> tuple[TurnSummary, ...]:
    """Summarise the turns by seat, from their times."""
    by_seat = [times.get(seat, ()) for seat in range(seats)]
    return tuple(TurnSummary(len(turns), sum(turns), max(turns, default=0.0)) for turns in by_seat)
