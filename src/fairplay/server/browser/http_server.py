"""Let browsers in only as far as they behave: whoever is slow, silent or too much is cut off, and delays nobody else.

uvicorn waits for ever for the headers of a first request, and for whoever does not read its answer.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BROWSER_CONNECTIONS = 1024
MAX_HEADER_BYTES = 16 * 1024  # bytes
REQUEST_TIMEOUT_S = 10.0  # seconds for a whole request, and for the next bytes of an answer to be taken
KEEP_ALIVE_TIMEOUT_S = 5.0  # seconds between two requests
SHUTDOWN_TIMEOUT_S = 2  # seconds for open answers, when the server stops


class BrowserConnection(H11Protocol):
    """A connection of a browser with deadlines. If there are too many, the one that has been idle longest has to go."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._deadline_start = self.loop.time()
        self._header_bytes = 0  # bytes of a request that is not whole
        self._alarm: asyncio.TimerHandle | None = None  # until it has asked, or while it does not read
        self._update_alarm()
        if len(self.connections) > MAX_BROWSER_CONNECTIONS:
            idle = [one for one in self.connections if isinstance(one, BrowserConnection) and not one.is_responding]
            min(idle, key=lambda one: one._deadline_start).transport.abort()

    @property
    def is_responding(self) -> bool:
        """Is a request being answered?"""
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Something has come. (The limit of h11 is for what comes bit by bit, not for what is there at once.)"""
        self._header_bytes = 0 if self.is_responding else self._header_bytes + len(data)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.transport.abort()
            return
        super().data_received(data)

    def handle_events(self) -> None:
        """Look at what has come."""
        super().handle_events()
        if self.is_responding:
            self._header_bytes = 0
        self._update_alarm()

    def on_response_complete(self) -> None:
        """A request has been answered."""
        super().on_response_complete()
        self._update_alarm()

    def pause_writing(self) -> None:
        """What was said is not taken."""
        super().pause_writing()
        self._set_alarm()

    def resume_writing(self) -> None:
        """It is taken again."""
        super().resume_writing()
        self._cancel_alarm()
        self._update_alarm()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._cancel_alarm()
        super().connection_lost(exc)

    def _update_alarm(self) -> None:
        """Let the alarm run as long as a request is not whole; a byte now and then does not put it off."""
        if not self.is_responding:
            self._set_alarm()
        elif not self.flow.write_paused:
            self._cancel_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is None:
            self._deadline_start = self.loop.time()
            self._alarm = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.abort)

    def _cancel_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None


class SignalFreeServer(Server):
    """A server that leaves signals to the server in whose event loop it runs."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


def make_http_server(app: Any) -> SignalFreeServer:
    """A server for this application."""
    return SignalFreeServer(
        Config(
            app,
            http=BrowserConnection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(KEEP_ALIVE_TIMEOUT_S),
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        )
    )
