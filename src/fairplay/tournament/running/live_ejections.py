"""Report ejections as they happen, from the journals of running matches, as far as these are on this machine."""

import msgspec

from fairplay.core.events import Ejected
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.hosting.prepared_match import journal_path
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.lines import Entry
from fairplay.tournament.counted_match import entrant_names
from fairplay.tournament.events import PlayerEjected, TournamentObservers

decode_journal_entry = msgspec.json.Decoder(Entry).decode


class WatchedMatch:
    """A running match, whose journal is read as it grows."""

    def __init__(self, spec: MatchSpec) -> None:
        self.names = entrant_names(spec.entrants)
        self.reported_seats: set[int] = set()
        self._spec = spec
        self._read_bytes = 0

    def read_ejections(self) -> list[Entry]:
        """The ejections since the last call."""
        try:
            with journal_path(self._spec).open("rb") as file:
                file.seek(self._read_bytes)
                whole = file.read().rpartition(b"\n")[0]
        except OSError:  # the match has not begun, or is on another machine
            return []
        self._read_bytes += len(whole) + bool(whole)
        return [entry for entry in map(parse_ejection, whole.split(b"\n")) if entry is not None]


class LiveEjections:
    """The running matches of a round, and the ejections from them."""

    def __init__(self, observers: TournamentObservers) -> None:
        self._observers = observers
        self._watched: dict[str, WatchedMatch] = {}

    def watch(self, spec: MatchSpec) -> None:
        """Watch a match that begins or is resumed."""
        self._watched.setdefault(spec.id, WatchedMatch(spec))

    def report_new(self) -> None:
        """Report new ejections."""
        for id, match in self._watched.items():
            for entry in match.read_ejections():
                if isinstance(entry.fact, Ejected):
                    self._report(id, match, entry.fact, entry.evidence or NO_EVIDENCE)

    def finish(self, outcome: Outcome) -> None:
        """Report the ejections of an ended match that were not reported before."""
        match = self._watched.pop(outcome.id)
        evidence = dict(outcome.evidence)
        for ejected in outcome.result.ejected if outcome.result is not None else ():
            self._report(outcome.id, match, ejected, evidence.get(ejected.seat, NO_EVIDENCE))

    def forget(self, id: str) -> None:
        """Stop watching a match that will not be played."""
        self._watched.pop(id, None)

    def _report(self, id: str, match: WatchedMatch, ejected: Ejected, evidence: Evidence) -> None:
        if ejected.seat not in match.reported_seats and ejected.seat < len(match.names):
            match.reported_seats.add(ejected.seat)
            self._observers.notify(PlayerEjected(id, match.names[ejected.seat], ejected, evidence))


def parse_ejection(line: bytes) -> Entry | None:
    """The entry in a line of a journal, if it is an ejection."""
    if b'"fact":{"type":"ejected"' not in line:
        return None
    try:
        return decode_journal_entry(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
