"""Define the events of a tournament, and notify its observers."""

import logging
from collections.abc import Sequence
from typing import Protocol

import msgspec

from fairplay.core.events import Ejected
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch, Names, Ranking

log = logging.getLogger("fairplay")


class BotChecksBegan(msgspec.Struct, frozen=True):
    """Bots are checked before the tournament."""

    bots: Names


class BotChecked(msgspec.Struct, frozen=True):
    """A bot was checked before the tournament."""

    name: str
    failure: str  # the first check that it failed; empty: it is ready


class RoundBegan(msgspec.Struct, frozen=True):
    """A round begins; some of its matches may have been played before an interruption."""

    number: int  # from 1
    players: tuple[Entrant, ...]
    matches: int
    counted: tuple[CountedMatch, ...]  # of these, those that were played before
    ejections: int = 0  # before, also in discarded attempts
    discarded_attempts: int = 0  # before


class MatchBegan(msgspec.Struct, frozen=True):
    """A match is about to be played."""

    match: str
    names: Names  # by seat


class PlayerEjected(msgspec.Struct, frozen=True):
    """A player was ejected from a match."""

    match: str
    name: str
    ejected: Ejected
    evidence: Evidence = NO_EVIDENCE  # not for the public


class MatchEnded(msgspec.Struct, frozen=True):
    """A match counts, or is void."""

    counted: CountedMatch


class AttemptFailed(msgspec.Struct, frozen=True):
    """An attempt at a match does not count, and there will be another."""

    match: str
    attempt: int  # from 1
    why: str


class SeedRevealed(msgspec.Struct, frozen=True):
    """All matches from a deal are over, so that its seed may be public."""

    deal: int
    seed: str  # in hex


class TournamentEnded(msgspec.Struct, frozen=True):
    """The tournament is over."""

    ranking: Ranking


TournamentEvent = (
    BotChecksBegan
    | BotChecked
    | RoundBegan
    | MatchBegan
    | PlayerEjected
    | MatchEnded
    | AttemptFailed
    | SeedRevealed
    | TournamentEnded
)


class TournamentObserver(Protocol):
    """Gets the events of a tournament, and cannot disturb it."""

    def observe(self, event: TournamentEvent) -> None:
        """Take notice of an event."""
        ...


class TournamentObservers:
    """The observers of one tournament; one that fails is removed."""

    def __init__(self, observers: Sequence[TournamentObserver]) -> None:
        self._observers = list(observers)

    def notify(self, event: TournamentEvent) -> None:
        """Pass an event to all observers."""
        for observer in list(self._observers):
            try:
                observer.observe(event)
            except Exception:
                log.exception("an observer of the tournament failed, and is removed")
                self._observers.remove(observer)
