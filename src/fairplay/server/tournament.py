"""Run a tournament of those who come to a server: they sign up, and its manager has them play in rooms."""

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
MATCHES_PER_PLAYER = 4  # matches for each player that are asked for, so that those can begin whose players are free

RunTournament = Callable[[Sequence[Entrant], Callable[[], Runner]], None]  # runs it to its end, and waits


class TournamentLobby:
    """Where players wait until a tournament begins, and between its matches."""

    def __init__(self, game: str, sign_up: SignUpSettings, known: Sequence[str] | None) -> None:
        self._game = game
        self._sign_up = sign_up
        self._known = known  # the ids of those who play; None: they sign up
        self._waiting: dict[str, Client] = {}
        self._changed = asyncio.Event()

    def refusal(self, client: Client) -> str:
        """Why somebody cannot play; empty: it can."""
        if client.game not in ("", self._game):
            return f"{client.game} is not played here"
        is_full = len(self._waiting) >= self._sign_up.max
        if client.id not in (self._known or self._waiting) and (self._known or is_full):
            return "the tournament has begun"
        return ""

    def add(self, client: Client) -> None:
        """Let somebody wait."""
        self._waiting[client.id] = client
        self._changed.set()

    def remove(self, client: Client) -> None:
        """Let somebody go."""
        self._waiting.pop(client.id, None)
        self._changed.set()

    def close(self) -> None:
        """Nobody has to be called off."""

    def __iter__(self) -> Iterator[Client]:
        return iter(self._waiting.values())

    async def wait_for_players(self) -> list[Client]:
        """Those who play, in the order in which they came: as many as there may be, or who is there in time."""
        least, most = self._sign_up.min, self._sign_up.max
        loop = asyncio.get_running_loop()
        until: float | None = None  # when the time is up; None: there are too few of them
        while len(self._waiting) < most:
            if len(self._waiting) < least:
                until = None
            elif until is None:
                until = loop.time() + self._sign_up.wait
            elif loop.time() >= until:
                break
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()
        found = sorted(self._waiting.values(), key=lambda client: client.number)
        self._known = [client.id for client in found]
        return found


async def host_tournament(
    settings: ServerSettings, game: str, sign_up: SignUpSettings, before: Sequence[Entrant], conduct: RunTournament
) -> None:
    """Let players sign up, unless it is known who plays, and run the tournament with them to its end."""
    with lock_directory(settings.directory):
        server = GameServer(settings)
        server.lobby = lobby = TournamentLobby(game, sign_up, client_ids(before) if before else None)
        async with open_listeners(server, OVER_MESSAGE, retry_after=0.0):
            joined = before
            if not joined:
                joined = [Entrant(client.address, client.name) for client in await lobby.wait_for_players()]
            log_event("tournament begins", players=[entrant.name for entrant in joined])
            executor = LoopExecutor(asyncio.get_running_loop(), server.play)
            hand = partial(WorkerQueue, lambda: executor, MATCHES_PER_PLAYER * len(joined))
            await run_manager(executor, lambda: conduct(joined, lambda: Runner([hand()])))


def client_ids(entrants: Sequence[Entrant]) -> list[str]:
    """The ids of those who came to a server."""
    places = [parse_remote_address(entrant.address) for entrant in entrants]
    return [place.place for place in places if isinstance(place, ListenAddress)]
