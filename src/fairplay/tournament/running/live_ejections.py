"""Tell of ejections as they happen, from the journals of matches that are being played, where we see them."""

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
    """A match that is being played."""

    def __init__(self, spec: MatchSpec) -> None:
        self.names = entrant_names(spec.entrants)
        self.reported_seats: set[int] = set()  # seats
        self._spec = spec
        self._read = 0  # bytes

    def read_ejections(self) -> list[Entry]:
        """The ejections since the last look."""
        try:
            with journal_path(self._spec).open("rb") as file:
                file.seek(self._read)
                whole = file.read().rpartition(b"\n")[0]
        except OSError:  # it has not begun, or is on another machine
            return []
        self._read += len(whole) + bool(whole)
        return [entry for entry in map(parse_ejection, whole.split(b"\n")) if entry is not None]


class LiveEjections:
    """Those matches of a round that are being played, and who was ejected from them."""

    def __init__(self, audience: TournamentObservers) -> None:
        self._audience = audience
        self._watched: dict[str, WatchedMatch] = {}

    def watch(self, spec: MatchSpec) -> None:
        """A match begins, or goes on."""
        self._watched.setdefault(spec.id, WatchedMatch(spec))

    def report_new(self) -> None:
        """Tell what has happened meanwhile."""
        for id, match in self._watched.items():
            for entry in match.read_ejections():
                if isinstance(entry.fact, Ejected):
                    self._report(id, match, entry.fact, entry.evidence or NO_EVIDENCE)

    def finish(self, outcome: Outcome) -> None:
        """A match has ended: tell what was not told before."""
        match = self._watched.pop(outcome.id)
        evidence = dict(outcome.evidence)
        for ejected in outcome.result.ejected if outcome.result is not None else ():
            self._report(outcome.id, match, ejected, evidence.get(ejected.seat, NO_EVIDENCE))

    def forget(self, id: str) -> None:
        """A match will not be played any more."""
        self._watched.pop(id, None)

    def _report(self, id: str, match: WatchedMatch, ejected: Ejected, evidence: Evidence) -> None:
        if ejected.seat not in match.reported_seats and ejected.seat < len(match.names):
            match.reported_seats.add(ejected.seat)
            self._audience.notify(PlayerEjected(id, match.names[ejected.seat], ejected, evidence))


def parse_ejection(line: bytes) -> Entry | None:
    """A line of a journal, if it tells of an ejection."""
    if b'"fact":{"type":"ejected"' not in line:
        return None
    try:
        return decode_journal_entry(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
