"""Open a house with all its doors: for players and spectators, for browsers and monitors; and close them in order."""

import asyncio
import fcntl
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.referee.closing import surely
from fairplay.server.browser.pages import shown
from fairplay.server.house import AGAIN, KEY, House
from fairplay.server.lobby import Lobby
from fairplay.server.logs import tell
from fairplay.server.settings import HouseSettings
from fairplay.server.sign_in.reception import Reception
from fairplay.transport.places import reason

LOCK = "lock"  # the file that shows that a house is open
PAUSE = "the house stops for a while"
SELDOM = 20_000  # objects that are new and still there, before somebody looks whether they are garbage


def collect_seldom() -> None:
    """Have this process look for garbage seldom: of what a house makes, nearly all is gone as soon as it is not needed.

    What is there by now is not looked at again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)


async def serve(settings: HouseSettings) -> None:
    """Keep a house open until this is cancelled; then it is closed in good order, and all can be gone on with."""
    with kept_in(settings.folder):
        house = House(settings)
        house.lobby = Lobby(settings.offers, house.open_room, house.attendance)
        house.take_up()
        async with doors(house):
            await asyncio.get_running_loop().create_future()


@contextmanager
def kept_in(folder: str) -> Iterator[None]:
    """A house is kept in this folder. Raises BadRequest if another one is, or if nothing can be written there.

    If a bad request keeps it from opening, as a port that is taken does, no new folder is left behind.
    """
    is_new = not Path(folder).exists()
    with ExitStack() as held:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            fcntl.flock(held.enter_context(Path(folder, LOCK).open("a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another house is open that keeps its matches in {folder}") from None
        except OSError as error:
            raise BadRequest(f"nothing can be kept in {folder}: {reason(error)}") from None
        try:
            yield
        except BadRequest:
            if is_new:
                remove_unused(Path(folder))
            raise


def remove_unused(folder: Path) -> None:
    """Remove a folder in which nothing has happened yet."""
    with suppress(OSError):
        files = list(folder.iterdir())
        if {file.name for file in files} <= {LOCK, KEY}:
            for file in files:
                file.unlink()
            folder.rmdir()


@asynccontextmanager
async def doors(house: House, over: str = "", again: float = AGAIN) -> AsyncIterator[None]:
    """The doors of a house are open; at the end nobody comes in any more, and the house stops.

    If it is not interrupted, everybody is told that it is over, and when to come again.
    """
    settings = house.settings
    reception = Reception(house, settings)
    async with AsyncExitStack() as leaving:
        await leaving.enter_async_context(reception)
        over_tcp, *over_websocket = reception.addresses
        tell("open", address=over_tcp, websocket=over_websocket)
        if settings.web is not None:
            web = shown(
                house,
                settings.web,
                settings.web_host,
                hosts=settings.web_names,
                limits=settings.strangers,
            )
            tell("to be seen", address=f"http://{await leaving.enter_async_context(web)}")
        why = PAUSE
        try:
            yield
            why = over
        finally:
            await surely(reception.shut())
            await house.stop(why, AGAIN if why == PAUSE else again)
