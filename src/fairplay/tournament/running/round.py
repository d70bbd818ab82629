"""Play one round: hand out its matches, and settle what each of them comes to."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from msgspec.structs import replace

from fairplay.core.chance import derive
from fairplay.core.errors import HostFault
from fairplay.core.events import Fault, Result
from fairplay.core.game import Seat
from fairplay.hosting.sitting import path_of
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.tournament.counted import Counted, Names, names_of, places_of
from fairplay.tournament.events import AttemptFailed, Audience, MatchBegan, MatchEnded, Revealed
from fairplay.tournament.notebook import Attempted, DealRevealed, MatchCounted, Notebook
from fairplay.tournament.running.live import Live
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.running.schedule import Schedule, Scheduled
from fairplay.tournament.running.worker import Played
from fairplay.tournament.spec import Consequence, Cup

MOST_ATTEMPTS = 3  # at a match that is played again for a player's fault; the last one counts
MOST_FAILURES = 5  # of the host at one match; then it is void
MOST_IN_A_ROW = 20  # failures of the host, at whichever matches; then the tournament stops
ROOM = 1024 * 1024  # bytes that have to be left for journals


class RoundInPlay:
    """A round from its first match to its last; each comes to exactly one outcome that counts, or is void."""

    def __init__(
        self,
        matches: Sequence[Scheduled],
        cup: Cup,
        notebook: Notebook,
        audience: Audience,
        *,
        expelled: Iterable[str],  # in earlier rounds
    ) -> None:
        self._cup = cup
        self._notebook = notebook
        self._audience = audience
        self._live = Live(audience)
        self._failures = 0  # of the host, since a match has last ended
        self._matches = {match.spec.id: match for match in matches}
        self._shared = Counter(match.deal for match in matches if match.spec.sealed)  # matches to come, by deal
        self._seeds = {match.deal: match.spec.seed for match in matches if match.spec.sealed}
        self._schedule = Schedule(
            matches, notebook.counted, expelled=expelled, can_expel=can_expel(cup), cancel=self._cancel
        )
        for match in matches:
            if match.spec.id in notebook.counted:
                self._over(match)

    @property
    def left(self) -> int:
        """How many matches are still to be handed out."""
        return self._schedule.left

    def take(self) -> MatchSpec | None:
        """The next match, for the runner."""
        spec = self._schedule.take()
        if spec is None:
            return None
        spec = self._latest(spec)
        self._live.watch(spec)
        self._audience.tell(MatchBegan(spec.id, names_of(spec.entrants)))
        return spec

    def play(self, runner: Runner) -> None:
        """Play all of it."""
        for played in runner.play(self):
            if played is None:
                self._live.look()
            else:
                self._settle(played)

    def _latest(self, spec: MatchSpec) -> MatchSpec:
        """The attempt that is to be made at a match: the one behind those on record that do not count."""
        void = [attempt for attempt in self._notebook.attempts.get(spec.id, ()) if not attempt.host]
        return attempt_at(spec, 1 + len(void))

    def _settle(self, played: Played) -> None:
        """Decide what comes of an attempt."""
        outcome = played.outcome
        match = self._matches[outcome.id.partition("-")[0]]
        if played.journal is not None and outcome.result is not None:  # nobody else can go on with half of one
            keep(path_of(replace(match.spec, id=outcome.id)), played.journal)
        if outcome.result is None:
            self._failed(match, outcome)
            return
        self._live.ended(outcome)
        self._failures = 0
        consequences = {out.seat: self._cup.consequence(out.fault) for out in outcome.result.ejected}
        attempts = 1 + sum(not attempt.host for attempt in self._notebook.attempts.get(match.spec.id, ()))
        if Consequence.REPLAY in consequences.values() and attempts < MOST_ATTEMPTS:
            names = names_of(match.spec.entrants)
            faults = tuple((names[out.seat], out.fault) for out in outcome.result.ejected)
            self._again(match, outcome, f"played again, for the fault of {', '.join(dict(faults))}", faults)
        else:
            before = [fault for one in self._notebook.attempts.get(match.spec.id, ()) for fault in one.faults]
            self._count(match, counted(match, outcome, outcome.result, consequences, before))

    def _failed(self, match: Scheduled, outcome: Outcome) -> None:
        """A fault of the host punishes nobody: the match goes on, or is void in the end.

        If no match can be recorded any more, or one after the other fails, none of them is to blame.
        """
        refuse_full(path_of(match.spec).parent)
        self._failures += 1
        if self._failures == MOST_IN_A_ROW:
            raise HostFault(f"{self._failures} attempts in a row have failed; the last: {outcome.host_fault}")
        failures = 1 + sum(attempt.host for attempt in self._notebook.attempts.get(match.spec.id, ()))
        if failures < MOST_FAILURES:
            self._again(match, outcome, outcome.host_fault)
        else:
            self._live.forget(outcome.id)
            why = f"a fault of the host, {failures} times: {outcome.host_fault}"
            self._count(match, void(match, why))

    def _again(self, match: Scheduled, outcome: Outcome, why: str, faults: tuple[tuple[str, Fault], ...] = ()) -> None:
        host = outcome.result is None
        self._notebook.write(Attempted(match=match.spec.id, played=outcome.id, why=why, host=host, faults=faults))
        attempts = len(self._notebook.attempts[match.spec.id])
        self._audience.tell(AttemptFailed(match.spec.id, attempts, why))
        self._schedule.again.append(match.spec)

    def _cancel(self, match: Scheduled, out: Names) -> None:
        self._count(match, void(match, f"cancelled: {', '.join(out)} may not play any more"))

    def _count(self, match: Scheduled, counted: Counted) -> None:
        self._notebook.write(MatchCounted(counted=counted))
        self._audience.tell(MatchEnded(counted))
        self._over(match)

    def _over(self, match: Scheduled) -> None:
        """If it was the last match from its deal, the seed need not be kept secret any more."""
        deal = match.deal
        if not match.spec.sealed:
            return
        self._shared[deal] -= 1
        if not self._shared[deal] and deal not in self._notebook.revealed:
            seed = (self._seeds[deal] or b"").hex()
            self._notebook.write(DealRevealed(deal=deal, seed=seed))
            self._audience.tell(Revealed(deal, seed))


def can_expel(cup: Cup) -> bool:
    """Is there a fault that puts players out of the tournament?"""
    return any(cup.consequence(fault) is Consequence.TOURNAMENT for fault in Fault)


def attempt_at(spec: MatchSpec, number: int) -> MatchSpec:
    """An attempt at a match, the first being the match itself; a deal that no others share is dealt anew."""
    if number == 1:
        return spec
    seed = spec.seed if spec.sealed or spec.seed is None else derive(spec.seed, f"attempt {number}")
    return replace(spec, id=f"{spec.id}-{number}", seed=seed)


def counted(
    match: Scheduled,
    outcome: Outcome,
    result: Result,
    consequences: Mapping[Seat, Consequence],
    before: Sequence[tuple[str, Fault]] = (),
) -> Counted:
    """How a match counts, given what comes of the faults in it, and the faults in attempts that do not count."""
    names, faults = names_of(match.spec.entrants), {out.seat: out.fault for out in result.ejected}
    seats = range(len(names))
    forfeit = [consequences.get(seat) is Consequence.FORFEIT for seat in seats]
    scores = result.scores or ()
    return Counted(
        match=match.spec.id,
        deal=match.deal,
        names=names,
        places=places_of(result, len(names)),
        scores=tuple(None if forfeit[seat] else score for seat, score in enumerate(scores)),
        faults=tuple(faults.get(seat) for seat in seats) if faults else (),
        faults_before=tuple(before),
        expelled=tuple(names[seat] for seat in seats if consequences.get(seat) is Consequence.TOURNAMENT),
        played="" if outcome.id == match.spec.id else outcome.id,
        turns=tuple(turns.count for turns in outcome.turns),
        seconds=tuple(round(turns.seconds, 6) for turns in outcome.turns),
        slowest=tuple(round(turns.slowest, 6) for turns in outcome.turns),
        receipt="" if result.receipt is None else str(result.receipt),
    )


def void(match: Scheduled, why: str) -> Counted:
    """A match that does not count."""
    return Counted(match=match.spec.id, deal=match.deal, names=names_of(match.spec.entrants), void=why)


def refuse_full(folder: Path) -> None:
    """Raise HostFault if there is no room for more journals."""
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
    except OSError as error:
        raise HostFault(f"no more matches can be recorded in {folder}: {error.strerror}") from None


def keep(path: Path, text: bytes) -> None:
    """Keep the journal of a match that was played elsewhere; nobody ever sees half of one."""
    new = path.with_suffix(".new")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "wb") as kept:
        kept.write(text)
        kept.flush()
        os.fsync(file)
    new.replace(path)
