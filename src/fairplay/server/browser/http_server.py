"""Serve HTTP with timeouts and limits: a slow, silent or excessive connection is closed, and delays no other.

uvicorn by itself waits for ever for the headers of a first request, and for a browser that does not read its answer.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BROWSER_CONNECTIONS = 1024
MAX_HEADER_BYTES = 16 * 1024
REQUEST_TIMEOUT_S = 10.0  # for a whole request, and until the next bytes of an answer are read
KEEP_ALIVE_TIMEOUT_S = 5.0  # between two requests
SHUTDOWN_TIMEOUT_S = 2  # for open answers, when the server stops


class BrowserConnection(H11Protocol):
    """A connection of a browser with deadlines. If there are too many, the one that is idle longest is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self._deadline_start = self.loop.time()
        self._header_bytes = 0  # of an incomplete request
        self._alarm: asyncio.TimerHandle | None = None  # while a request is incomplete, or an answer is not read
        self._update_alarm()
        if len(self.connections) > MAX_BROWSER_CONNECTIONS:
            idle = [one for one in self.connections if isinstance(one, BrowserConnection) and not one.is_responding]
            min(idle, key=lambda one: one._deadline_start).transport.abort()

    @property
    def is_responding(self) -> bool:
        """Is a request being answered?"""
        return self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Limit the bytes of headers. (The limit of h11 is not for bytes that come all at once.)"""
        self._header_bytes = 0 if self.is_responding else self._header_bytes + len(data)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.transport.abort()
            return
        super().data_received(data)

    def handle_events(self) -> None:
        """Update the deadline after complete requests."""
        super().handle_events()
        if self.is_responding:
            self._header_bytes = 0
        self._update_alarm()

    def on_response_complete(self) -> None:
        """Start the deadline of the next request."""
        super().on_response_complete()
        self._update_alarm()

    def pause_writing(self) -> None:
        """Start a deadline: the browser does not read."""
        super().pause_writing()
        self._set_alarm()

    def resume_writing(self) -> None:
        """The browser reads again."""
        super().resume_writing()
        self._cancel_alarm()
        self._update_alarm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._cancel_alarm()
        super().connection_lost(exc)

    def _update_alarm(self) -> None:
        """Run the alarm while a request is incomplete; single bytes do not extend it."""
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
    """An HTTP server that leaves signals to the game server in whose event loop it runs."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture no signals."""
        yield


def make_http_server(app: Any) -> SignalFreeServer:
    """The HTTP server for an application."""
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
