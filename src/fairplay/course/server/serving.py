"""Run the server of a course: sign up clients, play with them, and report the result."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import msgspec

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Failed
from fairplay.core.roles import AsyncChannel, Record
from fairplay.course.channel.remote import CourseChannel, CourseClient
from fairplay.course.dialects.dialect import Call, Dialect
from fairplay.course.dialects.servers import CourseServerSettings
from fairplay.course.server.lobby import CourseLobby, Report, ShowStatus, describe_player_count, show_nothing
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.games import make_game
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.prepared_match import AnyMatch, PreparedMatch, begin_unrecorded
from fairplay.hosting.records import open_journal
from fairplay.hosting.run import HostedMatch, new_match, run_async
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.hosting.table import ConnectedTable
from fairplay.journal.options import Durability
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import Referee, distinct_names
from fairplay.server.loop_executor import LoopExecutor, run_manager
from fairplay.tournament import tournament_log
from fairplay.tournament.courses import COURSES
from fairplay.tournament.events import PlayerEjected, TournamentEvent, TournamentObserver, TournamentObservers
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Runner, WorkerQueue
from fairplay.tournament.spec import TournamentSpec
from fairplay.transport.endpoint import describe_os_error

Ranks = list[list[str]]  # names, best first


class CourseResult(msgspec.Struct, frozen=True):
    """The result of a course's server: the ranks, and the misbehaving clients."""

    ranks: Ranks
    out: list[str]


NO_RESULT = CourseResult([], [])  # of too few clients


async def serve(
    dialect: Dialect,
    rules: CourseServerSettings,
    host: str,
    port: int,
    *,
    report: Report,
    show: ShowStatus = show_nothing,  # of the sign-up
    journal: str | None = None,
    state: Any = None,  # to start from; None: it is dealt
    labels: Sequence[str] = (),  # names for clients of courses without names
) -> CourseResult:
    """Let clients sign up, and play a tournament or a game with them."""
    check_settings(dialect, rules)
    if journal is not None:
        check_journal_directory(Path(journal))
    lobby = CourseLobby(rules, report)
    async with CourseSignUp(
        dialect,
        host,
        port,
        most=rules.most,
        name_timeout=rules.name_timeout,
        distinct=rules.distinct,
        on_signed_up=lobby.add,
        on_refused=lobby.refuse,
    ) as listener:
        where = f"{listener.address}{describe_reach(listener.host)}"
        report(f"waiting {rules.wait:g} s for {describe_player_count(rules)} players at {where}")
        clients = await lobby.wait_for_clients(listener, show)
        if len(clients) < rules.least:
            report(f"not enough players: {len(clients)} signed up, {rules.least} are needed")
            return NO_RESULT
        numbered = (f"player{number}" for number in range(len(labels) + 1, len(clients) + 1))
        wanted = [client.name or label for client, label in zip(clients, [*labels, *numbered], strict=False)]
        players = CoursePlayers(dialect, dict(zip(distinct_names(wanted), clients, strict=True)), rules, report)
        if state is not None and (seats := players.seat_count(state)) != len(clients):
            report(f"{len(clients)} players signed up, but the state is for {seats}")
            return NO_RESULT
        report(f"playing with {', '.join(players.display_names)}")
        playing = players.play_tournament(journal) if dialect.game in COURSES else players.play_match(journal, state)
        served = await playing
        report(f"won: {format_names(served.ranks[0] if served.ranks else [])}; misbehaved: {format_names(served.out)}")
        return served


def format_names(names: Sequence[str]) -> str:
    """Names as text."""
    return ", ".join(names) or "none"


def describe_reach(host: str) -> str:
    """A note if only this machine can connect.

    >>> describe_reach("127.0.0.1"), describe_reach("0.0.0.0")
    (' (this machine only; for others: --host 0.0.0.0)', '')
    """
    return " (this machine only; for others: --host 0.0.0.0)" if ip_address(host).is_loopback else ""


def check_settings(dialect: Dialect, rules: CourseServerSettings) -> None:
    """Raise BadRequest if the game does not allow these numbers of players."""
    seats = make_game(dialect.game, rules.parameters).seats
    if dialect.game not in COURSES and not (rules.least in seats and rules.most in seats):
        raise BadRequest(
            f"{dialect.game} is for {seats[0]} to {seats[-1]} players, not for {describe_player_count(rules)}"
        )


def check_journal_directory(directory: Path) -> None:
    """Create a directory for journals. Raises BadRequest if they cannot be written there."""
    try:
        if tournament_log.log_exists(directory):
            raise BadRequest(f"there is a tournament in {directory} already; choose another directory")
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory):
            pass
    except (OSError, ValueError) as error:
        raise BadRequest(f"cannot write journals in {directory}: {describe_os_error(error)}") from None


class CoursePlayers:
    """The clients that signed up, by their unique names."""

    def __init__(
        self, dialect: Dialect, clients: Mapping[str, CourseClient], rules: CourseServerSettings, report: Report
    ) -> None:
        self.names = tuple(clients)
        self._dialect = dialect
        self._clients = clients
        self._report = report
        self._game: Game[Any, Any, Any] = make_game(dialect.game, rules.parameters)
        self._limits = Limits(move=rules.turn)
        self._entrants = tuple(Entrant(f"client:{name}", name) for name in clients)

    @property
    def display_names(self) -> list[str]:
        """The names; with the client's address where it chose another one."""
        return [name if client.name == name else f"{name} ({client.place})" for name, client in self._clients.items()]

    async def play_tournament(self, directory: str | None) -> CourseResult:
        """Play the knock-out tournament of the course, with its first and last call."""
        failed = await self._call_all(dict.fromkeys(self._clients, self._dialect.opening))
        tournament = TournamentSpec(
            game=self._dialect.game,
            players=tuple(one for one in self._entrants if one.name not in failed),
            format=COURSES[self._dialect.game],
            seed=secrets.token_bytes(SEED_BYTES),
            parameters=self._game.parameters(),
            limits=self._limits,
        )
        with TemporaryDirectory() if directory is None else nullcontext(directory) as place:
            ranks, expelled = await self._run_tournament(tournament, Path(place))
        out = [*failed, *expelled]
        winners = ranks[0] if ranks else []
        closing = self._dialect.closing
        calls = {name: None if closing is None else Call(closing, (name in winners,)) for name in self._clients}
        late = await self._call_all({name: call for name, call in calls.items() if name not in out})
        return CourseResult([[name for name in rank if name not in late] for rank in ranks], [*out, *late])

    async def _run_tournament(self, tournament: TournamentSpec, directory: Path) -> tuple[Ranks, list[str]]:
        """The ranks of a tournament, and the expelled players."""
        executor = LoopExecutor(asyncio.get_running_loop(), self._play)
        return await run_manager(
            executor, partial(run_tournament, tournament, directory, executor, EjectionReporter(self._report))
        )

    def seat_count(self, state: Any) -> int:
        """The number of players of a state."""
        return len(self._game.order(state))

    async def play_match(self, directory: str | None, state: Any) -> CourseResult:
        """Play one match, from a state or a deal."""
        names = self.names
        prepared = (
            new_match(self._spec(directory)) if state is None else self._prepare_from_state(state, names, directory)
        )
        hosted = HostedMatch(prepared, Referee(), ConnectedTable(self._channels(self._spec(directory))))
        result = (await hosted.play_async()).result
        for ejected in result.ejected:
            self._report(f"{names[ejected.seat]} was ejected: {describe_failure(ejected)}")
        ranks = [[names[seat] for seat in sorted(rank)] for rank in result.ranking]
        return CourseResult(ranks, [names[ejected.seat] for ejected in result.ejected])

    def _spec(self, directory: str | None) -> MatchSpec:
        return MatchSpec(
            game=self._dialect.game,
            entrants=self._entrants,
            parameters=self._game.parameters(),
            limits=self._limits,
            journal=directory,
        )

    def _prepare_from_state(self, state: Any, names: tuple[str, ...], directory: str | None) -> PreparedMatch:
        """Prepare a match that starts from a state."""
        match, conditions = Match(self._game, state, names), MatchConditions(self._limits, None)
        addresses = tuple(entrant.address for entrant in self._entrants)
        begin: Callable[[AnyMatch], Record] = begin_unrecorded
        if directory is not None:
            begin = partial(
                open_journal(directory, Durability.BATCH).begin, players=addresses, **conditions.journal_fields
            )
        return PreparedMatch(match, names, addresses, conditions, begin)

    async def _play(self, spec: MatchSpec) -> Outcome:
        return await run_async(spec, channels=self._channels(spec))

    def _channels(self, spec: MatchSpec) -> dict[Seat, AsyncChannel]:
        """The channels to the players of a match."""
        game, channels = spec.load_game(), dict[Seat, AsyncChannel]()
        for seat, entrant in enumerate(spec.entrants):
            callee = self._dialect.callee(game, entrant.name)
            channels[seat] = CourseChannel(self._clients[entrant.name], callee, game, limits=self._limits)
        return channels

    async def _call_all(self, calls: Mapping[str, Call | None]) -> list[str]:
        """Call these clients at once; return the names of those that failed."""
        made = {name: call for name, call in calls.items() if call is not None}
        answers = await asyncio.gather(
            *(self._clients[name].call(call, self._limits.move) for name, call in made.items())
        )
        failed = {name: answer for name, answer in zip(made, answers, strict=True) if isinstance(answer, Failed)}
        for name, answer in failed.items():
            self._report(f"{name} failed at {made[name].method}: {describe_failure(answer)}")
            await self._clients[name].close()
        return list(failed)


class EjectionReporter:
    """An observer that reports ejections."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def observe(self, event: TournamentEvent) -> None:
        if isinstance(event, PlayerEjected):
            self._report(f"{event.name} was ejected from {event.match}: {describe_failure(event.ejected)}")


def describe_failure(failed: Ejected | Failed) -> str:
    """A fault and its reason as text."""
    return f"{failed.fault.value.replace('_', ' ')}, {failed.why}"


def run_tournament(
    tournament: TournamentSpec, directory: Path, executor: LoopExecutor, observer: TournamentObserver
) -> tuple[Ranks, list[str]]:
    """Run a tournament; return its ranks and the expelled players. It blocks, so run it in a thread."""
    with (
        tournament_log.create_log(directory, tournament) as steps,
        Runner([WorkerQueue(lambda: executor, len(tournament.players))]) as runner,
    ):
        ranking = Manager(tournament, directory, steps, runner, TournamentObservers([observer])).run()
        expelled = [name for id in sorted(steps.counted) for name in steps.counted[id].expelled]
        return [list(rank) for rank in ranking], expelled
