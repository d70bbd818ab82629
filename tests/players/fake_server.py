"""Fake a server for tests: a real port where each connection is handled by the next function of a test."""

import socket
import ssl
import threading
from collections.abc import Callable
from itertools import count
from typing import Any, Self

import msgspec

from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Game, Moment
from fairplay.core.messages import End, Message, Start, TakeTurn
from fairplay.games import make_game
from fairplay.protocol import wire

FAKE_SERVER_TIMEOUT_S = 30.0
FISH = make_game("fish", {"rows": 3, "columns": 4})
VIEW = FISH.view(FISH.deal(2, bytes(32)), 0)
RECEIPT = Receipt(7, "0f" * 32)
TURN = TakeTurn(VIEW)
END = End(Result((frozenset({0}), frozenset({1})), ()))


class ClientConnection:
    """The server's end of a connection to a client."""

    numbers = count(1)

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def send(self, text: bytes) -> None:
        self._connection.sendall(text)

    def receive(self) -> dict[str, Any] | None:
        """The next reply; None: it has hung up."""
        text = self._lines.readline()
        heard: dict[str, Any] | None = msgspec.json.decode(text) if text else None
        return heard

    def ask(self, text: bytes) -> Any:
        """Its answer to a question, and to no other."""
        self.send(text)
        reply = self.receive()
        assert reply is not None, "it has hung up"
        assert reply["nonce"] == msgspec.json.decode(text)["nonce"]
        return reply["answer"]

    def sign_in(self, *, window: float = 20.0, token: str = "pass", name: str = "ann") -> Any:
        """Let it in; what it says about itself."""
        hello = wire.Hello(match="", turn=0, nonce=self.nonce(), limit=5.0, protocol=wire.PROTOCOL_VERSION)
        said = self.ask(wire.encode(hello) + b"\n")
        self.send(wire.encode(wire.Welcome(name=name, reconnect_window=window, reconnect_token=token)) + b"\n")
        return said

    def begin(self, game: Game[Any, Any, Any] = FISH) -> Any:
        """Greet it to a match; what it answers to hello."""
        said = self.ask(wire.encode_hello(game, match_id="m", nonce=self.nonce(), limit=5.0))
        self.question(Start(0, ("ann", "bob"), VIEW))
        return said

    def question(self, message: Message) -> Any:
        return self.ask(self.write_question(message))

    def write_question(self, message: Message) -> bytes:
        """A question that was not asked before."""
        return wire.encode_question(message, FISH, match_id="m", turn=1, nonce=self.nonce(), limit=5.0)

    def end(self) -> None:
        """The match is over, and on record."""
        self.end_without_receipt()
        self.send(wire.encode_closing(RECEIPT, match_id="m", turn=1, nonce=self.nonce(), limit=1.0))

    def end_without_receipt(self) -> None:
        self.question(END)

    def play(self) -> list[Any]:
        """A whole match; what was answered to hello and on its turn."""
        answers = [self.begin(), self.question(TURN)]
        self.end()
        return answers

    def dismiss(self) -> None:
        out = Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")
        self.send(wire.encode_goodbye("m", out))

    def nonce(self) -> str:
        return f"n-{next(self.numbers)}"

    def close(self) -> None:
        self._lines.close()
        self._connection.close()


class FakeServer:
    """A port. The first function handles the first connection, and so on; each is closed when its function returns."""

    def __init__(self, *meetings: Callable[[ClientConnection], Any], tls: ssl.SSLContext | None = None) -> None:
        self.results: list[Any] = []  # what the functions return, or an exception
        self._meetings = meetings
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(FAKE_SERVER_TIMEOUT_S)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._open)

    def _open(self) -> None:
        with self._socket:
            for meet in self._meetings:
                connection, _ = self._socket.accept()
                connection.settimeout(FAKE_SERVER_TIMEOUT_S)
                try:
                    if self._tls is not None:
                        connection = self._tls.wrap_socket(connection, server_side=True)
                    guest = ClientConnection(connection)
                    try:
                        self.results.append(meet(guest))
                    finally:
                        guest.close()
                except Exception as error:
                    connection.close()
                    self.results.append(error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(FAKE_SERVER_TIMEOUT_S)
        assert not self._thread.is_alive()
