"""Say all that a match needs, and how it came out, as small values that cross processes and machines."""

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
    """Who is to sit at a seat: the address of a player, and a label for it.

    Attributes:
        address: where the player is: a built-in player's name, a file, `exec:COMMAND`, `py:module:Name`, ...
        name: its label; empty: the name that a client brings, or else the address.
        given: the address as a tournament's file has it; empty: the same.
    """

    address: str
    name: str = ""
    given: str = ""

    @property
    def label(self) -> str:
        """What it is called as long as nobody knows better."""
        return self.name or self.address


class MatchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to play a match, here or in another process.

    Attributes:
        game: its name, or py:module:Name, which is registered where the match is played.
        entrants: the players, by seat.
        parameters: of the game, by name.
        id: of the match; empty: one is drawn.
        seed: of the deal; None: one is drawn.
        guessable: whether the seed was made from a short text.
        sealed: whether the host reveals the seed later than with the result.
        limits: for players outside of this process; None: the usual ones.
        sandbox: of programs: auto, strict or none; None: auto.
        pondering: whether programs may think while others are asked.
        journal: the directory in which the match is recorded; None: it is not.
        bot_logs: the directory for what programs write on stderr; None: it is dropped.
        hidden: paths that programs may not see, besides the journals.
        key: the file with the key for the journal's macs; None: the user's own.
        sync: when lines of the journal are made durable.
        observers: addresses, py:module:Name.
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
        """The same for a game that is at hand. What exists in this process alone is refused, as it cannot travel."""
        if game.name not in GAMES:
            register(type(game))
        try:
            msgspec.to_builtins(game)  # which no iterator gets through, and some would never end
            same: Game[Any, Any, Any] | None = make_game(game.name, game.parameters())
        except BadRequest as error:
            raise BadRequest(f"this game of {game.name} cannot travel to where it is played: {error}") from None
        except TypeError:
            same = None
        if same != game:
            raise BadRequest(
                f"this game of {game.name} cannot travel to where it is played: "
                "a rule checker or an iterator of your own is known in this process alone; play it with a Referee"
            )
        name = game_info(game.name).source or game.name
        return cls(game=name, entrants=tuple(entrants), parameters=game.parameters(), **rest)

    @property
    def labels(self) -> tuple[str, ...]:
        """What those at the table are called as long as nobody knows better; each is called something else."""
        return tuple(distinct_names([entrant.label for entrant in self.entrants]))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the players, by seat."""
        return tuple(entrant.address for entrant in self.entrants)

    def load_game(self) -> Game[Any, Any, Any]:
        """The game. Raises BadRequest unless the whole spec makes sense."""
        try:  # what was made by hand was not checked when it was made
            msgspec.convert(msgspec.to_builtins(self, builtin_types=(bytes,)), MatchSpec)
        except (msgspec.ValidationError, TypeError) as error:
            raise BadRequest(f"this is no spec of a match: {error}") from None
        game = make_game(register(self.game), self.parameters)
        seats_by_age(game, len(self.entrants))
        if self.id:
            check_match_id(self.id)
        if self.seed is not None and len(self.seed) != SEED_BYTES:
            raise BadRequest(f"a seed has {SEED_BYTES} bytes, not {len(self.seed)}")
        return game


class TurnSummary(msgspec.Struct, frozen=True):
    """The turns of a seat in a match, in all of its prepared_matches."""

    count: int = 0
    seconds: float = 0.0  # that they took together
    slowest: float = 0.0  # of one of them


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a match. A player's fault is in the result; if the host failed, there is none.

    Attributes:
        id: of the match.
        names: the players' names, by seat.
        result: None: the host failed.
        host_fault: why there is no result.
        journal: the file of the record; None: there is none.
        evidence: what is known of players that failed; not for the public.
        turns: a summary of the turns, by seat.
        took: seconds.
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
    """What a spec has to say of a seed in words: 64 hex digits are the seed itself, anything else can be guessed."""
    return {} if text is None else {"seed": seed_from_text(text), "guessable": not is_full_seed(text)}


def summarise_turns(took: Mapping[Seat, Sequence[float]], seats: int) -> tuple[TurnSummary, ...]:
    """The turns by seat, from how long each took."""
    each = [took.get(seat, ()) for seat in range(seats)]
    return tuple(TurnSummary(len(turns), sum(turns), max(turns, default=0.0)) for turns in each)
