"""List what can happen in a tournament, and tell it to whoever watches."""

import logging
from collections.abc import Sequence
from typing import Protocol

import msgspec

from fairplay.core.events import Ejected
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch, Names, Ranking

log = logging.getLogger("fairplay")


class BotChecksBegan(msgspec.Struct, frozen=True, tag="trials"):
    """Bots have to show that they are ready, before the tournament."""

    bots: Names


class BotChecked(msgspec.Struct, frozen=True, tag="tried"):
    """A bot went through the trials before the tournament."""

    name: str
    why: str  # it is not ready; empty: it is


class RoundBegan(msgspec.Struct, frozen=True, tag="round"):
    """A round begins; some of its matches may have been played before an interruption."""

    number: int  # from 1
    players: tuple[Entrant, ...]
    matches: int
    counted: tuple[CountedMatch, ...]  # of these: they were played before
    ejections: int = 0  # in these and in void attempts before
    void_attempts: int = 0  # before


class MatchBegan(msgspec.Struct, frozen=True, tag="began"):
    """A match is about to be played."""

    match: str
    names: Names  # by seat


class PlayerEjected(msgspec.Struct, frozen=True, tag="ejected"):
    """Somebody was ejected from a match."""

    match: str
    name: str
    ejected: Ejected
    evidence: Evidence = NO_EVIDENCE  # what else is known of it; not for the public


class MatchEnded(msgspec.Struct, frozen=True, tag="ended"):
    """A match counts, or is void."""

    counted: CountedMatch


class AttemptFailed(msgspec.Struct, frozen=True, tag="attempt"):
    """An attempt at a match does not count, and there will be another."""

    match: str
    attempt: int  # from 1
    why: str


class SeedRevealed(msgspec.Struct, frozen=True, tag="revealed"):
    """All matches from a deal are over, so that everybody may know its seed."""

    deal: int
    seed: str  # in hex


class TournamentEnded(msgspec.Struct, frozen=True, tag="end"):
    """All is over."""

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
    """Who watches a tournament, and can disturb nothing."""

    def observe(self, event: TournamentEvent) -> None:
        """Something has happened."""
        ...


class TournamentObservers:
    """Those who watch one tournament; who fails is dropped."""

    def __init__(self, observers: Sequence[TournamentObserver]) -> None:
        self._observers = list(observers)

    def notify(self, event: TournamentEvent) -> None:
        """Tell everybody."""
        for observer in list(self._observers):
            try:
                observer.observe(event)
            except Exception:
                log.exception("an observer of the tournament failed, and is told no more")
                self._observers.remove(observer)
