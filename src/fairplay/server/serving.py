"""Open a server with all its listeners: for players and spectators, for browsers and monitors; and close them in order."""

import asyncio
import fcntl
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.server.browser.pages import serve_pages
from fairplay.server.lobby import Lobby
from fairplay.server.logs import log_event
from fairplay.server.server import KEY_FILE, RETRY_AFTER_S, GameServer
from fairplay.server.settings import ServerSettings
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.transport.endpoint import describe_os_error

LOCK_FILE = "lock"  # the file that shows that a server is open
PAUSE_MESSAGE = "the server stops for a while"
GC_THRESHOLD_OBJECTS = 20_000  # objects that are new and still there, before somebody looks whether they are garbage


def reduce_garbage_collection() -> None:
    """Have this process look for garbage seldom: of what a server makes, nearly all is gone as soon as it is not needed.

    What is there by now is not looked at again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD_OBJECTS)


async def serve(settings: ServerSettings) -> None:
    """Keep a server open until this is cancelled; then it is closed in good order, and all can be gone on with."""
    with lock_directory(settings.directory):
        server = GameServer(settings)
        server.lobby = Lobby(settings.offers, server.open_room, server.attendance)
        server.resume_matches()
        async with open_listeners(server):
            await asyncio.get_running_loop().create_future()


@contextmanager
def lock_directory(directory: str) -> Iterator[None]:
    """A server is kept in this directory. Raises BadRequest if another one is, or if nothing can be written there.

    If a bad request keeps it from opening, as a port that is taken does, no new directory is left behind.
    """
    is_new = not Path(directory).exists()
    with ExitStack() as held:
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)
            fcntl.flock(held.enter_context(Path(directory, LOCK_FILE).open("a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another server is open that keeps its matches in {directory}") from None
        except OSError as error:
            raise BadRequest(f"nothing can be kept in {directory}: {describe_os_error(error)}") from None
        try:
            yield
        except BadRequest:
            if is_new:
                remove_unused(Path(directory))
            raise


def remove_unused(directory: Path) -> None:
    """Remove a directory in which nothing has happened yet."""
    with suppress(OSError):
        files = list(directory.iterdir())
        if {file.name for file in files} <= {LOCK_FILE, KEY_FILE}:
            for file in files:
                file.unlink()
            directory.rmdir()


@asynccontextmanager
async def open_listeners(server: GameServer, over: str = "", retry_after: float = RETRY_AFTER_S) -> AsyncIterator[None]:
    """The listeners of a server are open; at the end nobody comes in any more, and the server stops.

    If it is not interrupted, everybody is told that it is over, and when to come again.
    """
    settings = server.settings
    reception = SignIn(server, settings)
    async with AsyncExitStack() as leaving:
        await leaving.enter_async_context(reception)
        over_tcp, *over_websocket = reception.addresses
        log_event("listening", address=over_tcp, websocket=over_websocket)
        if settings.web is not None:
            web = serve_pages(
                server,
                settings.web,
                settings.web_host,
                hosts=settings.web_names,
                limits=settings.connection_limits,
            )
            log_event("serving web pages", address=f"http://{await leaving.enter_async_context(web)}")
        why = PAUSE_MESSAGE
        try:
            yield
            why = over
        finally:
            await finish_despite_cancellation(reception.stop_accepting())
            await server.stop(why, RETRY_AFTER_S if why == PAUSE_MESSAGE else retry_after)
