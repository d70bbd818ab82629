"""Run a tournament: create its matches, allocate players, inform whoever watches, and keep what counts."""

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

    What is in the log are answers that were had before, so that to go on is to begin again.
    """

    def __init__(
        self,
        tournament: TournamentSpec,
        directory: Path,
        log: TournamentLog,
        runner: Runner,
        audience: TournamentObservers,
        hidden: Sequence[str] = (),
        bot_logs: str | None = None,
    ) -> None:
        self._tournament = tournament  # with the players of the file as it is now
        self._directory = directory.absolute()
        self._log = log
        self._runner = runner
        self._audience = audience
        self._hidden = (str(self._directory), *hidden)  # what programs may not see
        self._bot_logs = bot_logs  # where what programs say on stderr is kept
        self._matches = self._deals = 0  # how many there were in earlier rounds
        self._expelled: set[str] = set()  # in earlier rounds

    def run(self) -> Ranking:
        """Run it to its end. Raises HostFault or KeyboardInterrupt if it is interrupted; nothing is lost then."""
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
        self._audience.notify(TournamentEnded(ranking))
        return ranking

    def _roster(self, number: int) -> tuple[Entrant, ...]:
        """Who may play in a round: those on record if it has begun, else those in the file who are not expelled."""
        if number in self._log.rounds:
            return self._log.rounds[number]
        return tuple(player for player in self._tournament.players if player.name not in self._expelled)

    def _play(self, number: int, round: Round) -> tuple[CountedMatch, ...]:
        """Play a round to its end."""
        log, matches = self._log, self._schedule_round(round)
        ids, players = [match.spec.id for match in matches], self._roster(number)
        if number not in log.rounds:
            log.write(RoundOpened(number=number, players=players))
        self._audience.notify(self._round_event(number, players, ids))
        RoundInPlay(matches, self._tournament, log, self._audience, expelled=self._expelled).play(self._runner)
        self._expelled.update(name for id in ids for name in log.counted[id].expelled)
        return tuple(log.counted[id] for id in ids)

    def _round_event(self, number: int, players: tuple[Entrant, ...], ids: Sequence[str]) -> RoundBegan:
        """A round as it begins, or goes on: with what came before of the matches with these ids."""
        counted = tuple(self._log.counted[id] for id in ids if id in self._log.counted)
        attempts = [attempt for id in ids for attempt in self._log.attempts.get(id, ())]
        ejections = sum(fault is not None for one in counted for fault in one.faults)
        ejections += sum(len(attempt.faults) for attempt in attempts)
        return RoundBegan(number, players, len(ids), counted, ejections, len(attempts))

    def _schedule_round(self, round: Round) -> list[ScheduledMatch]:
        """The matches of a round with their ids and places."""
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
