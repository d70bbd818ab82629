"""Run a tournament of those who come to a house: they sign up, and its manager has them play in rooms."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from fairplay.hosting.spec import Entrant
from fairplay.players.location import Invitation, far
from fairplay.server.house import House
from fairplay.server.in_loop import InLoop, managed
from fairplay.server.logs import tell
from fairplay.server.serving import doors, kept_in
from fairplay.server.settings import HouseSettings
from fairplay.server.visitor import Visitor
from fairplay.tournament.file import SignUp
from fairplay.tournament.running.runners import Hand, Runner

OVER = "the tournament is over"
AT_ONCE = 4  # matches for each player that are asked for, so that those can begin whose players are free

Conduct = Callable[[Sequence[Entrant], Callable[[], Runner]], None]  # runs it to its end, and waits


class CupLobby:
    """Where players wait until a tournament begins, and between its matches."""

    def __init__(self, game: str, sign_up: SignUp, known: Sequence[str] | None) -> None:
        self._game = game
        self._sign_up = sign_up
        self._known = known  # the ids of those who play; None: they sign up
        self._waiting: dict[str, Visitor] = {}
        self._changed = asyncio.Event()

    def refusal(self, visitor: Visitor) -> str:
        """Why somebody cannot play; empty: it can."""
        if visitor.game not in ("", self._game):
            return f"{visitor.game} is not played here"
        is_full = len(self._waiting) >= self._sign_up.max
        if visitor.id not in (self._known or self._waiting) and (self._known or is_full):
            return "the tournament has begun"
        return ""

    def add(self, visitor: Visitor) -> None:
        """Let somebody wait."""
        self._waiting[visitor.id] = visitor
        self._changed.set()

    def remove(self, visitor: Visitor) -> None:
        """Let somebody go."""
        self._waiting.pop(visitor.id, None)
        self._changed.set()

    def close(self) -> None:
        """Nobody has to be called off."""

    def __iter__(self) -> Iterator[Visitor]:
        return iter(self._waiting.values())

    async def signed_up(self) -> list[Visitor]:
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
        found = sorted(self._waiting.values(), key=lambda visitor: visitor.number)
        self._known = [visitor.id for visitor in found]
        return found


async def serve_cup(
    settings: HouseSettings, game: str, sign_up: SignUp, before: Sequence[Entrant], conduct: Conduct
) -> None:
    """Let players sign up, unless it is known who plays, and run the tournament with them to its end."""
    with kept_in(settings.folder):
        house = House(settings)
        house.lobby = lobby = CupLobby(game, sign_up, ids_of(before) if before else None)
        async with doors(house, OVER, again=0.0):
            joined = before
            if not joined:
                joined = [Entrant(visitor.address, visitor.name) for visitor in await lobby.signed_up()]
            tell("tournament begins", players=[entrant.name for entrant in joined])
            executor = InLoop(asyncio.get_running_loop(), house.play)
            hand = partial(Hand, lambda: executor, AT_ONCE * len(joined))
            await managed(executor, lambda: conduct(joined, lambda: Runner([hand()])))


def ids_of(entrants: Sequence[Entrant]) -> list[str]:
    """The ids of those who came to a house."""
    places = [far(entrant.address) for entrant in entrants]
    return [place.place for place in places if isinstance(place, Invitation)]
