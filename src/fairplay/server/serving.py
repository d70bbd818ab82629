"""Open and close a server with all its listeners: for players, spectators, browsers and monitors."""

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

LOCK_FILE = "lock"  # stack by the server that uses the directory
PAUSE_MESSAGE = "the server is stopping for a while"
GC_THRESHOLD_OBJECTS = 20_000  # new objects until the next collection


def reduce_garbage_collection() -> None:
    """Collect garbage seldom: reference counts free nearly all that a server makes. Freeze what exists by now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD_OBJECTS)


async def serve(settings: ServerSettings) -> None:
    """Run a server until this is cancelled; then stop it in good order, so that every match can be resumed."""
    with lock_directory(settings.directory):
        server = GameServer(settings)
        server.lobby = Lobby(settings.offers, server.open_room, server.attendance)
        server.resume_matches()
        async with open_listeners(server):
            await asyncio.get_running_loop().create_future()


@contextmanager
def lock_directory(directory: str) -> Iterator[None]:
    """Hold the directory of a server. Raises BadRequest if another server holds it, or if it cannot be written.

    If a bad request follows, such as a port that is taken, a new directory is removed again.
    """
    is_new = not Path(directory).exists()
    with ExitStack() as stack:
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(Path(directory, LOCK_FILE).open("a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRequest(f"another server uses {directory}: stop it, or choose another --dir") from None
        except OSError as error:
            raise BadRequest(f"cannot write to {directory}: {describe_os_error(error)}") from None
        try:
            yield
        except BadRequest:
            if is_new:
                remove_unused(Path(directory))
            raise


def remove_unused(directory: Path) -> None:
    """Remove a directory that holds no matches or tokens yet."""
    with suppress(OSError):
        files = list(directory.iterdir())
        if {file.name for file in files} <= {LOCK_FILE, KEY_FILE}:
            for file in files:
                file.unlink()
            directory.rmdir()


@asynccontextmanager
async def open_listeners(server: GameServer, over: str = "", retry_after: float = RETRY_AFTER_S) -> AsyncIterator[None]:
    """Open the listeners of a server; at the end, close them and stop the server.

    If it ends by itself, all clients are told that it is `over`, and when to come again.
    """
    settings = server.settings
    sign_in = SignIn(server, settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(sign_in)
        over_tcp, *over_websocket = sign_in.addresses
        log_event("listening", address=over_tcp, websocket=over_websocket)
        if settings.web is not None:
            web = serve_pages(
                server,
                settings.web,
                settings.web_host,
                hosts=settings.web_names,
                limits=settings.connection_limits,
            )
            log_event("serving web pages", address=f"http://{await stack.enter_async_context(web)}")
        why = PAUSE_MESSAGE
        try:
            yield
            why = over
        finally:
            await finish_despite_cancellation(sign_in.stop_accepting())
            await server.stop(why, RETRY_AFTER_S if why == PAUSE_MESSAGE else retry_after)
