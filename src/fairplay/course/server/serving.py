"""Play the role of a course's server: let clients sign up, play with them, and say what came of it."""

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
from fairplay.course.channel.remote import Client, CourseRemote
from fairplay.course.dialects.dialect import Call, Dialect
from fairplay.course.dialects.servers import ServerRules
from fairplay.course.server.lobby import CourseLobby, Show, Tell, numbers, unshown
from fairplay.course.server.sign_up import SignUp
from fairplay.games import game_with
from fairplay.hosting.records import journal_in
from fairplay.hosting.run import Hosted, new_match, run_async
from fairplay.hosting.sitting import AnyMatch, Sitting, unrecorded
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.hosting.table import Gathering
from fairplay.hosting.terms import Terms
from fairplay.journal.requests import Sync
from fairplay.protocol.limits import Limits
from fairplay.referee.host import Referee, distinct
from fairplay.server.in_loop import InLoop, managed
from fairplay.tournament import notebook
from fairplay.tournament.courses import COURSES
from fairplay.tournament.events import Audience, PlayerEjected, TournamentEvent, TournamentObserver
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Hand, Runner
from fairplay.tournament.spec import Cup
from fairplay.transport.places import reason

Ranks = list[list[str]]  # names, best first


class Served(msgspec.Struct, frozen=True):
    """What came of it: the ranks, and who misbehaved."""

    ranks: Ranks
    out: list[str]


NOTHING = Served([], [])  # was played


async def serve(
    dialect: Dialect,
    rules: ServerRules,
    host: str,
    port: int,
    *,
    tell: Tell,
    show: Show = unshown,  # how it stands, while clients are waited for
    journal: str | None = None,
    state: Any = None,  # of the game, to begin with; None: it is dealt
    labels: Sequence[str] = (),  # what those who come are called, where they say no names
) -> Served:
    """Let clients sign up, play a tournament or a game with them, and tell them who has won."""
    refuse_senseless(dialect, rules)
    if journal is not None:
        refuse_unfit(Path(journal))
    lobby = CourseLobby(rules, tell)
    async with SignUp(
        dialect,
        host,
        port,
        most=rules.most,
        name_limit=rules.name_limit,
        distinct=rules.distinct,
        signed=lobby.sign,
        refused=lobby.refuse,
    ) as door:
        tell(f"waiting {rules.wait:g} s for {numbers(rules)} at {door.address}{reach(door.host)}")
        clients = await lobby.gathered(door, show)
        if len(clients) < rules.least:
            tell(f"only {len(clients)} came, and it takes {rules.least}")
            return NOTHING
        numbered = (f"player{number}" for number in range(len(labels) + 1, len(clients) + 1))
        wanted = [client.name or label for client, label in zip(clients, [*labels, *numbered], strict=False)]
        company = Company(dialect, dict(zip(distinct(wanted), clients, strict=True)), rules, tell)
        if state is not None and (seats := company.seats_in(state)) != len(clients):
            tell(f"{len(clients)} came, and the state is for {seats}")
            return NOTHING
        tell(f"playing with {', '.join(company.introduced)}")
        playing = company.tournament(journal) if dialect.game in COURSES else company.match(journal, state)
        served = await playing
        tell(f"won: {listed(served.ranks[0] if served.ranks else [])}; misbehaved: {listed(served.out)}")
        return served


def listed(names: Sequence[str]) -> str:
    """Names as people read them; some courses tell only how many they are."""
    return ", ".join(names) or "nobody"


def reach(host: str) -> str:
    """Who can come in, if that is not everybody.

    >>> reach("127.0.0.1"), reach("0.0.0.0")
    (' (this machine only; serve --host 0.0.0.0 lets others in)', '')
    """
    return " (this machine only; serve --host 0.0.0.0 lets others in)" if ip_address(host).is_loopback else ""


def refuse_senseless(dialect: Dialect, rules: ServerRules) -> None:
    """Raise BadRequest if so many could not play."""
    seats = game_with(dialect.game, rules.parameters).seats
    if dialect.game not in COURSES and not (rules.least in seats and rules.most in seats):
        raise BadRequest(f"{dialect.game} is one game of {seats[0]} to {seats[-1]} players, not of {numbers(rules)}")


def refuse_unfit(folder: Path) -> None:
    """Raise BadRequest unless matches can be recorded in a folder, which is made if it is not there."""
    try:
        if notebook.exists(folder):
            raise BadRequest(f"there is a tournament in {folder} already; name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        raise BadRequest(f"no journal can be written in {folder}: {reason(error)}") from None


class Company:
    """Those who have signed up, by the names that they have here."""

    def __init__(self, dialect: Dialect, clients: Mapping[str, Client], rules: ServerRules, tell: Tell) -> None:
        self.names = tuple(clients)
        self._dialect = dialect
        self._clients = clients
        self._tell = tell
        self._game: Game[Any, Any, Any] = game_with(dialect.game, rules.parameters)
        self._limits = Limits(move=rules.turn)
        self._entrants = tuple(Entrant(f"visitor:{name}", name) for name in clients)

    @property
    def introduced(self) -> list[str]:
        """The names; where they are not what a client said, with where it came from."""
        return [name if client.name == name else f"{name} ({client.place})" for name, client in self._clients.items()]

    async def tournament(self, folder: str | None) -> Served:
        """A knock-out by the rules of the course, with its first and its last call."""
        failed = await self._say(dict.fromkeys(self._clients, self._dialect.opening))
        cup = Cup(
            game=self._dialect.game,
            players=tuple(one for one in self._entrants if one.name not in failed),
            format=COURSES[self._dialect.game],
            seed=secrets.token_bytes(SEED_BYTES),
            parameters=self._game.parameters(),
            limits=self._limits,
        )
        with TemporaryDirectory() if folder is None else nullcontext(folder) as place:
            ranks, expelled = await self._managed(cup, Path(place))
        out = [*failed, *expelled]
        winners = ranks[0] if ranks else []
        closing = self._dialect.closing
        told = {name: None if closing is None else Call(closing, (name in winners,)) for name in self._clients}
        late = await self._say({name: call for name, call in told.items() if name not in out})
        return Served([[name for name in rank if name not in late] for rank in ranks], [*out, *late])

    async def _managed(self, cup: Cup, folder: Path) -> tuple[Ranks, list[str]]:
        """What comes of a tournament."""
        executor = InLoop(asyncio.get_running_loop(), self._play)
        return await managed(executor, partial(conducted, cup, folder, executor, Ejections(self._tell)))

    def seats_in(self, state: Any) -> int:
        """For how many a state is."""
        return len(self._game.order(state))

    async def match(self, folder: str | None, state: Any) -> Served:
        """One match, from a state or from a deal."""
        names = self.names
        sitting = new_match(self._spec(folder)) if state is None else self._from(state, names, folder)
        hosted = Hosted(sitting, Referee(), Gathering(self._channels(self._spec(folder))))
        result = (await hosted.play_async()).result
        for ejected in result.ejected:
            self._tell(f"{names[ejected.seat]} was ejected: {in_words(ejected)}")
        ranks = [[names[seat] for seat in sorted(rank)] for rank in result.ranking]
        return Served(ranks, [names[ejected.seat] for ejected in result.ejected])

    def _spec(self, folder: str | None) -> MatchSpec:
        return MatchSpec(
            game=self._dialect.game,
            entrants=self._entrants,
            parameters=self._game.parameters(),
            limits=self._limits,
            journal=folder,
        )

    def _from(self, state: Any, names: tuple[str, ...], folder: str | None) -> Sitting:
        """A match that begins with a state."""
        match, terms = Match(self._game, state, names), Terms(self._limits, None)
        addresses = tuple(entrant.address for entrant in self._entrants)
        begin: Callable[[AnyMatch], Record] = unrecorded
        if folder is not None:
            begin = partial(journal_in(folder, Sync.BATCH).begin, players=addresses, **terms.kept)
        return Sitting(match, names, addresses, terms, begin)

    async def _play(self, spec: MatchSpec) -> Outcome:
        return await run_async(spec, gathered=self._channels(spec))

    def _channels(self, spec: MatchSpec) -> dict[Seat, AsyncChannel]:
        """The channels to those who play a match."""
        game, channels = spec.rules(), dict[Seat, AsyncChannel]()
        for seat, entrant in enumerate(spec.entrants):
            callee = self._dialect.callee(game, entrant.name)
            channels[seat] = CourseRemote(self._clients[entrant.name], callee, game, limits=self._limits)
        return channels

    async def _say(self, calls: Mapping[str, Call | None]) -> list[str]:
        """Make a call to each of these at once; who fails, in their order."""
        made = {name: call for name, call in calls.items() if call is not None}
        answers = await asyncio.gather(
            *(self._clients[name].call(call, self._limits.move) for name, call in made.items())
        )
        failed = {name: answer for name, answer in zip(made, answers, strict=True) if isinstance(answer, Failed)}
        for name, answer in failed.items():
            self._tell(f"{name} failed at {made[name].method}: {in_words(answer)}")
            await self._clients[name].hang_up()
        return list(failed)


class Ejections:
    """An observer that tells whoever runs the server who was ejected."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def observe(self, event: TournamentEvent) -> None:
        if isinstance(event, PlayerEjected):
            self._tell(f"{event.name} was ejected from {event.match}: {in_words(event.ejected)}")


def in_words(failed: Ejected | Failed) -> str:
    """What somebody has done."""
    return f"{failed.fault.value.replace('_', ' ')}, {failed.why}"


def conducted(cup: Cup, folder: Path, executor: InLoop, observer: TournamentObserver) -> tuple[Ranks, list[str]]:
    """The ranks of a tournament and who was expelled; to be run in a thread of its own, as it waits."""
    with notebook.begun(folder, cup) as steps, Runner([Hand(lambda: executor, len(cup.players))]) as runner:
        ranking = Manager(cup, folder, steps, runner, Audience([observer])).run()
        expelled = [name for id in sorted(steps.counted) for name in steps.counted[id].expelled]
        return [list(rank) for rank in ranking], expelled
