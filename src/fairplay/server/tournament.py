"""Run a tournament at a server: clients sign up, and the tournament's manager has them play in rooms."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from fairplay.hosting.spec import Entrant
from fairplay.players.location import ListenAddress, parse_remote_address
from fairplay.server.client import Client
from fairplay.server.logs import log_event
from fairplay.server.loop_executor import LoopExecutor, run_manager
from fairplay.server.server import GameServer
from fairplay.server.serving import lock_directory, open_listeners
from fairplay.server.settings import ServerSettings
from fairplay.tournament.running.runners import Runner, WorkerQueue
from fairplay.tournament.spec_file import SignUpSettings

OVER_MESSAGE = "the tournament is over"
MATCHES_PER_PLAYER = 4  # requested ahead, so that matches of free players can begin

RunTournament = Callable[[Sequence[Entrant], Callable[[], Runner]], None]  # runs it to its end in the calling thread


class TournamentLobby:
    """Where clients wait until a tournament begins, and between its matches."""

    def __init__(self, game: str, sign_up: SignUpSettings, known: Sequence[str] | None) -> None:
        self._game = game
        self._sign_up = sign_up
        self._known = known  # the ids of the players; None: they still sign up
        self._waiting: dict[str, Client] = {}
        self._changed = asyncio.Event()

    def refusal(self, client: Client) -> str:
        """Why a client cannot play; empty: it can."""
        if client.game not in ("", self._game):
            return f"{client.game} is not played here"
        is_full = len(self._waiting) >= self._sign_up.max
        if client.id not in (self._known or self._waiting) and (self._known or is_full):
            return "the tournament has begun"
        return ""

    def add(self, client: Client) -> None:
        """Let a client wait."""
        self._waiting[client.id] = client
        self._changed.set()

    def remove(self, client: Client) -> None:
        """Forget a client, if it waits here."""
        self._waiting.pop(client.id, None)
        self._changed.set()

    def close(self) -> None:
        """Do nothing: this starts no matches."""

    def __iter__(self) -> Iterator[Client]:
        return iter(self._waiting.values())

    async def wait_for_players(self) -> list[Client]:
        """Wait until the tournament is full, or the time is up; the players in the order of sign-in."""
        min_players, max_players = self._sign_up.min, self._sign_up.max
        loop = asyncio.get_running_loop()
        until: float | None = None  # when the time is up; None: there are too few players
        while len(self._waiting) < max_players:
            if len(self._waiting) < min_players:
                until = None
            elif until is None:
                until = loop.time() + self._sign_up.wait
            elif loop.time() >= until:
                break
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
        players = sorted(self._waiting.values(), key=lambda client: client.number)
        self._known = [client.id for client in players]
        return players


async def host_tournament(
    settings: ServerSettings, game: str, sign_up: SignUpSettings, entrants: Sequence[Entrant], run: RunTournament
) -> None:
    """Let players sign up, unless the entrants are known, and run the tournament to its end."""
    with lock_directory(settings.directory):
        server = GameServer(settings)
        server.lobby = lobby = TournamentLobby(game, sign_up, client_ids(entrants) if entrants else None)
        async with open_listeners(server, OVER_MESSAGE, retry_after=0.0):
            if not entrants:
                entrants = [Entrant(client.address, client.name) for client in await lobby.wait_for_players()]
            log_event("tournament started", players=[entrant.name for entrant in entrants])
            executor = LoopExecutor(asyncio.get_running_loop(), server.play)
            make_queue = partial(WorkerQueue, lambda: executor, MATCHES_PER_PLAYER * len(entrants))
            await run_manager(executor, lambda: run(entrants, lambda: Runner([make_queue()])))


def client_ids(entrants: Sequence[Entrant]) -> list[str]:
    """The ids of the entrants that are clients."""
    locations = [parse_remote_address(entrant.address) for entrant in entrants]
    return [location.place for location in locations if isinstance(location, ListenAddress)]
