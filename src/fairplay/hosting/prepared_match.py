"""Describe a match that is ready to be played: its state, players, conditions and record."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from fairplay.core.chance import SEED_BYTES, derive_seed
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.core.roles import NULL_RECORD, Record
from fairplay.games import game_info
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.spec import MatchSpec
from fairplay.players.address import AnyPlayer
from fairplay.players.location import (
    HUMAN,
    LocalAddress,
    Location,
    is_built_in,
    parse_local_address,
    parse_remote_address,
)
from fairplay.protocol.limits import Limits

if TYPE_CHECKING:
    from fairplay.hosting.table import Table
    from fairplay.journal.record import MatchRecord

AnyMatch = Match[Any, Any, Any]
NO_OBJECTS: Mapping[Seat, AnyPlayer] = MappingProxyType({})


class PreparedMatch(NamedTuple):
    """A match that is ready to be played, new or resumed, with the addresses of its players."""

    match: AnyMatch
    labels: tuple[str, ...]  # by seat
    addresses: tuple[str, ...]  # by seat
    conditions: MatchConditions
    begin_record: Callable[[AnyMatch], Record]  # begins the record, once the players were found
    turn_times: Mapping[Seat, Sequence[float]] = {}  # by seat: the times of the turns before
    resumed: bool = False  # was the match begun before? Then all players are greeted again
    open_record: Record = NULL_RECORD  # of a resumed match; it has to be closed on every path
    guessable: bool = False  # was the seed made from a short text?
    facts: int = 0  # in the record already
    bot_logs: str | None = None  # the directory for what programs write on stderr
    player_objects: Mapping[Seat, AnyPlayer] = NO_OBJECTS  # players that exist in this process alone

    @property
    def has_remote_players(self) -> bool:
        """Is any player outside of this process, so that the match needs an event loop?"""
        return any(
            seat not in self.player_objects and parse_remote_address(self.addresses[seat]) is not None
            for seat in self.match.remaining_seats
        )

    @property
    def warning(self) -> str:
        """A warning to the host, in one line; empty: none."""
        seated = [self.addresses[seat] for seat in self.match.remaining_seats if seat not in self.player_objects]
        return seed_warning(self.match.game, seated, guessable=self.guessable)

    def local_players(self) -> dict[Seat, AnyPlayer] | None:
        """The players by seat, if all of them are in this process; otherwise None."""
        if self.has_remote_players:
            return None
        places = locations(self.match, self.addresses, self.player_objects)
        return {seat: place.player for seat, place in places.items() if isinstance(place, LocalAddress)}

    def table(self) -> "Table":
        """Make the table for the match, with open listeners."""
        from fairplay.hosting.table import NO_SANDBOX, Table  # for a quick start: local matches do not need it

        places = locations(self.match, self.addresses, self.player_objects)
        limits, sandbox = self.conditions.limits or Limits(), self.conditions.sandbox or NO_SANDBOX
        return Table(places, limits=limits, sandbox=sandbox, logs=self.bot_logs)


def seed_warning(game: Game[Any, Any, Any], addresses: Iterable[str], *, guessable: bool) -> str:
    """The warning about a seed that external players might guess, in a game with hidden information."""
    if not (guessable and game.hidden and external_players(game.name, addresses)):
        return ""
    return f"this seed can be guessed, so use it only for tests: a player that guesses it knows {game.hidden}"


def external_players(game: str, addresses: Iterable[str]) -> list[str]:
    """The addresses of programs, ports, modules and clients: neither built-in players nor people at this terminal."""
    return [address for address in addresses if address != HUMAN and not is_built_in(address, game)]


def journal_path(spec: MatchSpec) -> Path:
    """The path of the journal for a spec with an id."""
    return Path(spec.journal or ".") / f"{spec.id}.jsonl"


def hidden_paths(spec: MatchSpec) -> list[str]:
    """The paths that programs may not see: journals, bot logs, the key of the spec, and what the spec hides."""
    kept = () if spec.journal is None else (spec.journal, spec.key)
    return [place for place in (*kept, spec.bot_logs, *spec.hidden) if place is not None]


def begin_unrecorded(match: AnyMatch) -> Record:
    """Begin no record."""
    return NULL_RECORD


def as_match_record(record: Record | None) -> "MatchRecord | None":
    """The record if it is a journal's, otherwise None."""
    if record is None or record is NULL_RECORD:
        return None
    from fairplay.journal.record import MatchRecord  # loaded already if there is such a record

    return record if isinstance(record, MatchRecord) else None


def locations(
    match: AnyMatch, addresses: Sequence[str], objects: Mapping[Seat, AnyPlayer] = NO_OBJECTS
) -> dict[Seat, Location]:
    """Where the players are of those seats that were not ejected; some may be objects of this process."""
    seed, option = match.seed or os.urandom(SEED_BYTES), game_info(match.game.name).option
    return {
        seat: LocalAddress(objects[seat])
        if seat in objects
        else parse_remote_address(addresses[seat], option)
        or parse_local_address(addresses[seat], match.game.name, seat_key(seed, seat))
        for seat in sorted(match.remaining_seats)
    }


def seat_key(seed: bytes, seat: Seat) -> bytes:
    """The key of a built-in player at this seat."""
    return derive_seed(seed, f"seat {seat}")
