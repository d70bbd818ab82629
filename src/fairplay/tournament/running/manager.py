"""Run a tournament: create its matches, inform its observers, and log what counts."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch, Ranking, Round, RoundResult
from fairplay.tournament.events import RoundBegan, TournamentEnded, TournamentObservers
from fairplay.tournament.formats import start_format
from fairplay.tournament.layout import KEY_FILE, MATCHES_DIR
from fairplay.tournament.running.round_in_play import RoundInPlay
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.running.schedule import ScheduledMatch
from fairplay.tournament.running.worker import TOKEN_FILE
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.tournament_log import RoundOpened, TournamentClosed, TournamentLog


class Manager:
    """Drives the format of one tournament, as a driver drives the conversation of a match.

    Outcomes in the log answer the format at once, so resuming a tournament is the same as starting it.
    """

    def __init__(
        self,
        tournament: TournamentSpec,
        directory: Path,
        log: TournamentLog,
        runner: Runner,
        observers: TournamentObservers,
        hidden: Sequence[str] = (),
        bot_logs: str | None = None,
    ) -> None:
        self._tournament = tournament  # with the players in the current file
        self._directory = directory.absolute()
        self._log = log
        self._runner = runner
        self._observers = observers
        self._hidden = (str(self._directory), *hidden)  # paths that programs may not see
        self._bot_logs = bot_logs  # the directory for the stderr of programs
        self._matches = self._deals = 0  # in earlier rounds
        self._expelled: set[str] = set()  # in earlier rounds

    def run(self) -> Ranking:
        """Run the tournament to its end. HostFault and KeyboardInterrupt interrupt it; then it can be resumed."""
        (self._directory / MATCHES_DIR).mkdir(parents=True, exist_ok=True)
        if self._runner.token:
            (self._directory / MATCHES_DIR / TOKEN_FILE).write_text(self._runner.token)
        number = 1
        matches_of = start_format(replace(self._tournament, players=self._roster(number)))
        try:
            round = next(matches_of)
            while True:
                counted = self._play(number, round)
                number += 1
                round = matches_of.send(RoundResult(counted, self._roster(number)))
        except StopIteration as stop:
            ranking: Ranking = stop.value
        if self._log.closed is None:
            self._log.write(TournamentClosed(ranking=ranking))
        self._observers.notify(TournamentEnded(ranking))
        return ranking

    def _roster(self, number: int) -> tuple[Entrant, ...]:
        """The players of a round: those in the log if it has begun, or else those in the file without the expelled."""
        if number in self._log.rounds:
            return self._log.rounds[number]
        return tuple(player for player in self._tournament.players if player.name not in self._expelled)

    def _play(self, number: int, round: Round) -> tuple[CountedMatch, ...]:
        """Play a round to its end."""
        log, matches = self._log, self._schedule_round(round)
        ids, players = [match.spec.id for match in matches], self._roster(number)
        if number not in log.rounds:
            log.write(RoundOpened(number=number, players=players))
        self._observers.notify(self._round_event(number, players, ids))
        RoundInPlay(matches, self._tournament, log, self._observers, expelled=self._expelled).play(self._runner)
        self._expelled.update(name for id in ids for name in log.counted[id].expelled)
        return tuple(log.counted[id] for id in ids)

    def _round_event(self, number: int, players: tuple[Entrant, ...], ids: Sequence[str]) -> RoundBegan:
        """The event that a round begins or is resumed, with the outcomes so far of the matches with these ids."""
        counted = tuple(self._log.counted[id] for id in ids if id in self._log.counted)
        attempts = [attempt for id in ids for attempt in self._log.attempts.get(id, ())]
        ejections = sum(fault is not None for one in counted for fault in one.faults)
        ejections += sum(len(attempt.faults) for attempt in attempts)
        return RoundBegan(number, players, len(ids), counted, ejections, len(attempts))

    def _schedule_round(self, round: Round) -> list[ScheduledMatch]:
        """The matches of a round with their ids and directories."""
        deals: dict[bytes | None, int] = {}
        journal, key, matches = str(self._directory / MATCHES_DIR), str(self._directory / KEY_FILE), []
        for number, spec in enumerate(round, self._matches + 1):
            deal = deals.setdefault(spec.seed, self._deals + len(deals))
            spec = replace(spec, id=f"m{number:05}", journal=journal, key=key)
            spec = replace(spec, hidden=self._hidden, bot_logs=self._bot_logs)
            matches.append(ScheduledMatch(spec, deal))
        self._matches += len(matches)
        self._deals += len(deals)
        return matches
