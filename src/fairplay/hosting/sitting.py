"""Describe a match that is ready to be played: from where it stands, with its players, on its terms."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairplay.core.chance import SEED_BYTES, derive
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.core.roles import UNRECORDED, Record
from fairplay.games import title
from fairplay.hosting.spec import MatchSpec
from fairplay.hosting.terms import Terms
from fairplay.players.address import AnyPlayer
from fairplay.players.location import HUMAN, Location, Near, far, near, of_the_house
from fairplay.protocol.limits import Limits

if TYPE_CHECKING:
    from fairplay.hosting.table import Table
    from fairplay.journal.record import MatchRecord

AnyMatch = Match[Any, Any, Any]


class Sitting(NamedTuple):
    """A match that is about to be played from where it stands, with the players who are to sit down to it."""

    match: AnyMatch
    labels: tuple[str, ...]  # by seat
    addresses: tuple[str, ...]  # by seat
    terms: Terms
    begin: Callable[[AnyMatch], Record]  # begins its record, once it is clear that the players can be found
    took: Mapping[Seat, Sequence[float]] = {}  # by seat: how long each of its turns took before
    resumed: bool = False  # was the match begun before? Then everybody is greeted again
    held: Record = UNRECORDED  # is open already, and has to be closed on every path
    guessable: bool = False  # was the seed made from a short text?
    facts: int = 0  # that are on record already
    bot_logs: str | None = None  # the folder where what programs say on stderr is kept

    @property
    def caution(self) -> str:
        """What whoever runs it should know before, in one line; empty: nothing."""
        seated = [self.addresses[seat] for seat in self.match.seated]
        return caution(self.match.game, seated, guessable=self.guessable)

    def near(self) -> dict[Seat, AnyPlayer] | None:
        """The players by seat, if all of them are in this process and nobody has to be waited for."""
        if any(far(self.addresses[seat]) is not None for seat in self.match.seated):
            return None
        places = locations(self.match, self.addresses)
        return {seat: place.player for seat, place in places.items() if isinstance(place, Near)}

    def table(self) -> "Table":
        """The table for it, with its doors open."""
        from fairplay.hosting.table import OPEN, Table  # where all players are in this process, nobody needs it

        places = locations(self.match, self.addresses)
        limits, sandbox = self.terms.limits or Limits(), self.terms.sandbox or OPEN
        return Table(places, limits=limits, sandbox=sandbox, logs=self.bot_logs)


def caution(game: Game[Any, Any, Any], addresses: Iterable[str], *, guessable: bool) -> str:
    """What to say to whoever chose a seed that players of strangers may guess, where there is something to hide."""
    if not (guessable and game.hidden and external_players(game.name, addresses)):
        return ""
    return f"a seed that can be guessed is for trying things out: a player that finds it knows {game.hidden}"


def external_players(game: str, addresses: Iterable[str]) -> list[str]:
    """The addresses of programs, ports, modules and clients: neither built-in players nor people at this terminal."""
    return [address for address in addresses if address != HUMAN and not of_the_house(address, game)]


def path_of(spec: MatchSpec) -> Path:
    """Where the match of a spec with an id is recorded."""
    return Path(spec.journal or ".") / f"{spec.id}.jsonl"


def to_hide(spec: MatchSpec) -> list[str]:
    """What the programs of a spec may not see: journals, logs, the key if it has one of its own, and what it names."""
    kept = () if spec.journal is None else (spec.journal, spec.key)
    return [place for place in (*kept, spec.bot_logs, *spec.hidden) if place is not None]


def unrecorded(match: AnyMatch) -> Record:
    """Nobody keeps a record."""
    return UNRECORDED


def in_journal(record: Record | None) -> "MatchRecord | None":
    """The record, if it is kept in a journal."""
    if record is None or record is UNRECORDED:
        return None
    from fairplay.journal.record import MatchRecord  # whoever keeps one has loaded this

    return record if isinstance(record, MatchRecord) else None


def locations(match: AnyMatch, addresses: Sequence[str]) -> dict[Seat, Location]:
    """Where the players are of those seats that were not ejected."""
    seed, option = match.seed or os.urandom(SEED_BYTES), title(match.game.name).option
    return {
        seat: far(addresses[seat], option) or near(addresses[seat], match.game.name, seat_key(seed, seat))
        for seat in sorted(match.seated)
    }


def seat_key(seed: bytes, seat: Seat) -> bytes:
    """What a house player at this seat draws its lots from."""
    return derive(seed, f"seat {seat}")
