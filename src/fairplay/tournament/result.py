"""Hold the result of a tournament, or its state while it is played."""

import os
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.render.text import align_columns, printable
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch, Ranking
from fairplay.tournament.events import MatchEnded, RoundBegan, TournamentEvent
from fairplay.tournament.layout import REPORT_FILE
from fairplay.tournament.rating.standings import StandingsRow, standings
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.tournament_log import TournamentLog

if TYPE_CHECKING:
    from fairplay.tournament.rating.ratings import Ratings

MAX_SHOWN_NAME_CHARS = 40


class TournamentResult(msgspec.Struct, frozen=True, dict=True):
    """The result of a tournament, or its state so far. The ratings are computed on first use.

    Attributes:
        spec: the tournament, with all players.
        directory: that holds its files.
        counted: the matches that are over.
        ranking: groups of players; empty: the ratings decide, or the tournament is not over.
        finished: whether the tournament is over.
        bot_failures: by the name of a bot, the first check that it failed; empty: it is ready.
    """

    spec: TournamentSpec
    directory: Path
    counted: tuple[CountedMatch, ...] = ()
    ranking: Ranking = ()
    finished: bool = False
    bot_failures: dict[str, str] = {}

    @cached_property
    def ratings(self) -> "Ratings":
        """The strength of each player, with intervals. Raises BadRequest if a library is missing."""
        require_extras()
        from fairplay.tournament.rating.ratings import rate_players  # needs the extra `tournament`

        return rate_players(self.counted)

    @cached_property
    def standings(self) -> tuple[StandingsRow, ...]:
        """A row for each player, best first."""
        return standings(self.spec.players, self.counted, self.ranking, self.ratings)

    @property
    def report(self) -> Path:
        """The path of the report, if it was written."""
        return self.directory / REPORT_FILE

    def show(self) -> None:
        """Print the standings in short; the report and `fairplay standings` have ratings and faults."""
        rows = [
            [f"{row.place}.", printable(row.name, MAX_SHOWN_NAME_CHARS), f"{row.points:.1f} of {row.games}"]
            for row in self.standings
        ]
        print(*align_columns(rows, {0, 2}), sep="\n")

    def __repr__(self) -> str:
        state = "" if self.finished else ", not finished"
        return f"<TournamentResult of {self.spec.game}: {len(self.counted)} matches{state}, in {str(self.directory)!r}>"


class LiveResult:
    """An observer that computes the result so far from events alone."""

    def __init__(self, spec: TournamentSpec, directory: Path) -> None:
        self._before = TournamentResult(spec, directory)
        self._players = {player.name: player for player in spec.players}
        self._counted: list[CountedMatch] = []

    def observe(self, event: TournamentEvent) -> None:
        match event:
            case RoundBegan(players=players, counted=counted):
                self._players |= {player.name: player for player in players}
                self._counted += counted
            case MatchEnded(counted):
                self._counted.append(counted)

    @property
    def result(self) -> TournamentResult:
        """The result so far."""
        tournament = replace(self._before.spec, players=tuple(self._players.values()))
        return replace(self._before, spec=tournament, counted=tuple(self._counted))


def read_result(directory: Path) -> TournamentResult:
    """The result of the tournament in a directory so far. Raises BadRequest if there is none."""
    return result_from_log(tournament_log.read_log(directory), directory)


def result_from_log(log: TournamentLog, directory: Path) -> TournamentResult:
    """The result of a tournament by its log."""
    rounds = log.rounds
    players = {player.name: player for number in sorted(rounds) for player in rounds[number]}
    tournament = replace(log.opening.spec, players=tuple(players.values()) or log.opening.spec.players)
    closed = log.closed
    counted = tuple(log.counted[id] for id in sorted(log.counted, key=match_order))
    ranking = () if closed is None else closed.ranking
    return TournamentResult(tournament, directory, counted, ranking, closed is not None, log.bot_failures)


def match_order(id: str) -> tuple[int, str]:
    """The key that sorts matches by their ids, which are longer from the hundred thousandth on.

    >>> sorted(["m100000", "m99999", "m00002"], key=match_order)
    ['m00002', 'm99999', 'm100000']
    """
    return len(id), id


def require_extras() -> None:
    """Raise BadRequest if a library that tournaments need is missing."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for such small matrices, threads only wait for one another
    for library in ("numpy", "scipy", "matplotlib"):
        if find_spec(library) is None:
            raise BadRequest(f"{library} is missing, which tournaments need: pip install 'fairplay[tournament]'")
