"""Run a tournament: create its matches, allocate players, inform whoever watches, and keep what counts."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted import Counted, Ranking, Round, Sent
from fairplay.tournament.events import Audience, RoundBegan, TournamentEnded
from fairplay.tournament.formats import format_of
from fairplay.tournament.notebook import Closed, Notebook, RoundOpened
from fairplay.tournament.places import KEY, MATCHES
from fairplay.tournament.running.round import RoundInPlay
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.running.schedule import Scheduled
from fairplay.tournament.running.worker import TOKEN
from fairplay.tournament.spec import Cup


class Manager:
    """Drives the format of one tournament, as a driver drives the conversation of a match.

    What is in the notebook are answers that were had before, so that to go on is to begin again.
    """

    def __init__(
        self,
        cup: Cup,
        folder: Path,
        notebook: Notebook,
        runner: Runner,
        audience: Audience,
        hidden: Sequence[str] = (),
        bot_logs: str | None = None,
    ) -> None:
        self._cup = cup  # with the players of the file as it is now
        self._folder = folder.absolute()
        self._notebook = notebook
        self._runner = runner
        self._audience = audience
        self._hidden = (str(self._folder), *hidden)  # what programs may not see
        self._bot_logs = bot_logs  # where what programs say on stderr is kept
        self._matches = self._deals = 0  # how many there were in earlier rounds
        self._expelled: set[str] = set()  # in earlier rounds

    def run(self) -> Ranking:
        """Run it to its end. Raises HostFault or KeyboardInterrupt if it is interrupted; nothing is lost then."""
        (self._folder / MATCHES).mkdir(parents=True, exist_ok=True)
        if self._runner.token:
            (self._folder / MATCHES / TOKEN).write_text(self._runner.token)
        number = 1
        matches_of = format_of(replace(self._cup, players=self._roster(number)))
        try:
            round = next(matches_of)
            while True:
                counted = self._play(number, round)
                number += 1
                round = matches_of.send(Sent(counted, self._roster(number)))
        except StopIteration as stop:
            ranking: Ranking = stop.value
        if self._notebook.closed is None:
            self._notebook.write(Closed(ranking=ranking))
        self._audience.tell(TournamentEnded(ranking))
        return ranking

    def _roster(self, number: int) -> tuple[Entrant, ...]:
        """Who may play in a round: those on record if it has begun, else those in the file who are not expelled."""
        if number in self._notebook.rounds:
            return self._notebook.rounds[number]
        return tuple(player for player in self._cup.players if player.name not in self._expelled)

    def _play(self, number: int, round: Round) -> tuple[Counted, ...]:
        """Play a round to its end."""
        notebook, matches = self._notebook, self._scheduled(round)
        ids, players = [match.spec.id for match in matches], self._roster(number)
        if number not in notebook.rounds:
            notebook.write(RoundOpened(number=number, players=players))
        self._audience.tell(self._begun(number, players, ids))
        RoundInPlay(matches, self._cup, notebook, self._audience, expelled=self._expelled).play(self._runner)
        self._expelled.update(name for id in ids for name in notebook.counted[id].expelled)
        return tuple(notebook.counted[id] for id in ids)

    def _begun(self, number: int, players: tuple[Entrant, ...], ids: Sequence[str]) -> RoundBegan:
        """A round as it begins, or goes on: with what came before of the matches with these ids."""
        counted = tuple(self._notebook.counted[id] for id in ids if id in self._notebook.counted)
        attempts = [attempt for id in ids for attempt in self._notebook.attempts.get(id, ())]
        ejections = sum(fault is not None for one in counted for fault in one.faults)
        ejections += sum(len(attempt.faults) for attempt in attempts)
        return RoundBegan(number, players, len(ids), counted, ejections, len(attempts))

    def _scheduled(self, round: Round) -> list[Scheduled]:
        """The matches of a round with their ids and places."""
        deals: dict[bytes | None, int] = {}
        journal, key, matches = str(self._folder / MATCHES), str(self._folder / KEY), []
        for number, spec in enumerate(round, self._matches + 1):
            deal = deals.setdefault(spec.seed, self._deals + len(deals))
            spec = replace(spec, id=f"m{number:05}", journal=journal, key=key)
            spec = replace(spec, hidden=self._hidden, bot_logs=self._bot_logs)
            matches.append(Scheduled(spec, deal))
        self._matches += len(matches)
        self._deals += len(deals)
        return matches
