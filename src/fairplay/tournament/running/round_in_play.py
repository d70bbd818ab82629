"""Play one round: give its matches to the runner, and log the outcome of each."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from msgspec.structs import replace

from fairplay.core.chance import derive_seed
from fairplay.core.errors import HostFault
from fairplay.core.events import Fault, Result
from fairplay.core.game import Seat
from fairplay.hosting.prepared_match import journal_path
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.tournament.counted_match import CountedMatch, Names, entrant_names, places_by_seat
from fairplay.tournament.events import AttemptFailed, MatchBegan, MatchEnded, SeedRevealed, TournamentObservers
from fairplay.tournament.running.live_ejections import LiveEjections
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.running.schedule import Schedule, ScheduledMatch
from fairplay.tournament.running.worker import PlayedMatch
from fairplay.tournament.spec import Penalty, TournamentSpec
from fairplay.tournament.tournament_log import AttemptDiscarded, DealRevealed, MatchCounted, TournamentLog

MAX_MATCH_ATTEMPTS = 3  # at a match that is replayed for the fault of a player; the last one counts
MAX_HOST_FAULTS_PER_MATCH = 5  # then the match is void
MAX_HOST_FAULTS_IN_A_ROW = 20  # at any matches; then the tournament stops
MIN_FREE_BYTES = 1024 * 1024  # for journals


class RoundInPlay:
    """A round from its first match to its last; each match has exactly one outcome that counts, or is void."""

    def __init__(
        self,
        matches: Sequence[ScheduledMatch],
        tournament: TournamentSpec,
        log: TournamentLog,
        observers: TournamentObservers,
        *,
        expelled: Iterable[str],  # in earlier rounds
    ) -> None:
        self._tournament = tournament
        self._log = log
        self._observers = observers
        self._live = LiveEjections(observers)
        self._failures = 0  # of the host, since the last match that ended
        self._matches = {match.spec.id: match for match in matches}
        self._shared = Counter(match.deal for match in matches if match.spec.sealed)  # matches to come, by deal
        self._seeds = {match.deal: match.spec.seed for match in matches if match.spec.sealed}
        self._schedule = Schedule(
            matches, log.counted, expelled=expelled, can_expel=can_expel(tournament), cancel=self._cancel
        )
        for match in matches:
            if match.spec.id in log.counted:
                self._reveal_deal_if_finished(match)

    @property
    def left(self) -> int:
        """How many matches are still to be played."""
        return self._schedule.left

    def next_match(self) -> MatchSpec | None:
        """The next match, for the runner."""
        spec = self._schedule.next_match()
        if spec is None:
            return None
        spec = self._next_attempt(spec)
        self._live.watch(spec)
        self._observers.notify(MatchBegan(spec.id, entrant_names(spec.entrants)))
        return spec

    def play(self, runner: Runner) -> None:
        """Play all of it."""
        for played in runner.play(self):
            if played is None:
                self._live.report_new()
            else:
                self._process_outcome(played)

    def _next_attempt(self, spec: MatchSpec) -> MatchSpec:
        """The next attempt at a match, after those in the log that do not count."""
        void = [attempt for attempt in self._log.attempts.get(spec.id, ()) if not attempt.host_fault]
        return make_attempt(spec, 1 + len(void))

    def _process_outcome(self, played: PlayedMatch) -> None:
        """Count an attempt, or discard it."""
        outcome = played.outcome
        match = self._matches[outcome.id.partition("-")[0]]
        if played.journal is not None and outcome.result is not None:  # half a journal could not be resumed here
            store_journal(journal_path(replace(match.spec, id=outcome.id)), played.journal)
        if outcome.result is None:
            self._handle_host_fault(match, outcome)
            return
        self._live.finish(outcome)
        self._failures = 0
        penalties = {out.seat: self._tournament.penalty_for(out.fault) for out in outcome.result.ejected}
        attempts = 1 + sum(not attempt.host_fault for attempt in self._log.attempts.get(match.spec.id, ()))
        if Penalty.REPLAY in penalties.values() and attempts < MAX_MATCH_ATTEMPTS:
            names = entrant_names(match.spec.entrants)
            faults = tuple((names[out.seat], out.fault) for out in outcome.result.ejected)
            self._retry(match, outcome, f"played again, for the fault of {', '.join(dict(faults))}", faults)
        else:
            before = [fault for one in self._log.attempts.get(match.spec.id, ()) for fault in one.faults]
            self._count(match, count_match(match, outcome, outcome.result, penalties, before))

    def _handle_host_fault(self, match: ScheduledMatch, outcome: Outcome) -> None:
        """Retry a match after a fault of the host, which punishes no player; after several it is void.

        If no match can be recorded, or matches fail in a row, the tournament stops.
        """
        check_free_space(journal_path(match.spec).parent)
        self._failures += 1
        if self._failures == MAX_HOST_FAULTS_IN_A_ROW:
            raise HostFault(f"{self._failures} attempts in a row failed; the last: {outcome.host_fault}")
        failures = 1 + sum(attempt.host_fault for attempt in self._log.attempts.get(match.spec.id, ()))
        if failures < MAX_HOST_FAULTS_PER_MATCH:
            self._retry(match, outcome, outcome.host_fault)
        else:
            self._live.forget(outcome.id)
            why = f"a fault of the host, {failures} times: {outcome.host_fault}"
            self._count(match, void_match(match, why))

    def _retry(
        self, match: ScheduledMatch, outcome: Outcome, why: str, faults: tuple[tuple[str, Fault], ...] = ()
    ) -> None:
        host_fault = outcome.result is None
        self._log.write(
            AttemptDiscarded(match=match.spec.id, attempt=outcome.id, why=why, host_fault=host_fault, faults=faults)
        )
        attempts = len(self._log.attempts[match.spec.id])
        self._observers.notify(AttemptFailed(match.spec.id, attempts, why))
        self._schedule.retries.append(match.spec)

    def _cancel(self, match: ScheduledMatch, out: Names) -> None:
        self._count(match, void_match(match, f"cancelled, with expelled players: {', '.join(out)}"))

    def _count(self, match: ScheduledMatch, counted: CountedMatch) -> None:
        self._log.write(MatchCounted(counted=counted))
        self._observers.notify(MatchEnded(counted))
        self._reveal_deal_if_finished(match)

    def _reveal_deal_if_finished(self, match: ScheduledMatch) -> None:
        """Reveal the seed of a deal after its last match."""
        deal = match.deal
        if not match.spec.sealed:
            return
        self._shared[deal] -= 1
        if not self._shared[deal] and deal not in self._log.revealed:
            seed = (self._seeds[deal] or b"").hex()
            self._log.write(DealRevealed(deal=deal, seed=seed))
            self._observers.notify(SeedRevealed(deal, seed))


def can_expel(tournament: TournamentSpec) -> bool:
    """Whether a fault can expel players from the tournament."""
    return any(tournament.penalty_for(fault) is Penalty.EXPEL for fault in Fault)


def make_attempt(spec: MatchSpec, number: int) -> MatchSpec:
    """An attempt at a match, the first being the match itself; a deal that no other match shares is replaced."""
    if number == 1:
        return spec
    seed = spec.seed if spec.sealed or spec.seed is None else derive_seed(spec.seed, f"attempt {number}")
    return replace(spec, id=f"{spec.id}-{number}", seed=seed)


def count_match(
    match: ScheduledMatch,
    outcome: Outcome,
    result: Result,
    penalties: Mapping[Seat, Penalty],
    before: Sequence[tuple[str, Fault]] = (),
) -> CountedMatch:
    """How a match counts, given the penalties for faults in it, and the faults in discarded attempts."""
    names, faults = entrant_names(match.spec.entrants), {out.seat: out.fault for out in result.ejected}
    seats = range(len(names))
    forfeit = [penalties.get(seat) is Penalty.FORFEIT for seat in seats]
    scores = result.scores or ()
    return CountedMatch(
        match=match.spec.id,
        deal=match.deal,
        names=names,
        places=places_by_seat(result, len(names)),
        scores=tuple(None if forfeit[seat] else score for seat, score in enumerate(scores)),
        faults=tuple(faults.get(seat) for seat in seats) if faults else (),
        earlier_faults=tuple(before),
        expelled=tuple(names[seat] for seat in seats if penalties.get(seat) is Penalty.EXPEL),
        attempt="" if outcome.id == match.spec.id else outcome.id,
        turns=tuple(turns.count for turns in outcome.turns),
        thinking_s=tuple(round(turns.seconds, 6) for turns in outcome.turns),
        slowest_turn_s=tuple(round(turns.slowest, 6) for turns in outcome.turns),
        receipt="" if result.receipt is None else str(result.receipt),
    )


def void_match(match: ScheduledMatch, why: str) -> CountedMatch:
    """A match that does not count."""
    return CountedMatch(match=match.spec.id, deal=match.deal, names=entrant_names(match.spec.entrants), void=why)


def check_free_space(directory: Path) -> None:
    """Raise HostFault if the disk has no space for journals."""
    try:
        with TemporaryFile(dir=directory) as file:
            file.write(bytes(MIN_FREE_BYTES))
    except OSError as error:
        raise HostFault(f"no match can be recorded in {directory}: {error.strerror}") from None


def store_journal(path: Path, text: bytes) -> None:
    """Store the journal of a match that was played on another machine, as a whole."""
    new = path.with_suffix(".new")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "wb") as kept:
        kept.write(text)
        kept.flush()
        os.fsync(file)
    new.replace(path)
