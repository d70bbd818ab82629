"""Tell of ejections as they happen, from the journals of matches that are being played, where we see them."""

import msgspec

from fairplay.core.events import Ejected
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.hosting.sitting import path_of
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.lines import Entry
from fairplay.tournament.counted import names_of
from fairplay.tournament.events import Audience, PlayerEjected

decode = msgspec.json.Decoder(Entry).decode


class Watched:
    """A match that is being played."""

    def __init__(self, spec: MatchSpec) -> None:
        self.names = names_of(spec.entrants)
        self.told: set[int] = set()  # seats
        self._spec = spec
        self._read = 0  # bytes

    def news(self) -> list[Entry]:
        """The ejections since the last look."""
        try:
            with path_of(self._spec).open("rb") as file:
                file.seek(self._read)
                whole = file.read().rpartition(b"\n")[0]
        except OSError:  # it has not begun, or is on another machine
            return []
        self._read += len(whole) + bool(whole)
        return [entry for entry in map(ejection, whole.split(b"\n")) if entry is not None]


class Live:
    """Those matches of a round that are being played, and who was ejected from them."""

    def __init__(self, audience: Audience) -> None:
        self._audience = audience
        self._watched: dict[str, Watched] = {}

    def watch(self, spec: MatchSpec) -> None:
        """A match begins, or goes on."""
        self._watched.setdefault(spec.id, Watched(spec))

    def look(self) -> None:
        """Tell what has happened meanwhile."""
        for id, match in self._watched.items():
            for entry in match.news():
                if isinstance(entry.fact, Ejected):
                    self._tell(id, match, entry.fact, entry.evidence or NO_EVIDENCE)

    def ended(self, outcome: Outcome) -> None:
        """A match has ended: tell what was not told before."""
        match = self._watched.pop(outcome.id)
        evidence = dict(outcome.evidence)
        for ejected in outcome.result.ejected if outcome.result is not None else ():
            self._tell(outcome.id, match, ejected, evidence.get(ejected.seat, NO_EVIDENCE))

    def forget(self, id: str) -> None:
        """A match will not be played any more."""
        self._watched.pop(id, None)

    def _tell(self, id: str, match: Watched, ejected: Ejected, evidence: Evidence) -> None:
        if ejected.seat not in match.told and ejected.seat < len(match.names):
            match.told.add(ejected.seat)
            self._audience.tell(PlayerEjected(id, match.names[ejected.seat], ejected, evidence))


def ejection(line: bytes) -> Entry | None:
    """A line of a journal, if it tells of an ejection."""
    if b'"fact":{"type":"ejected"' not in line:
        return None
    try:
        return decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
