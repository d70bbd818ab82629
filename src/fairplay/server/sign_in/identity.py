"""Identify a client by its name and token."""

from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.journal.key import load_key
from fairplay.protocol.wire import Introduction
from fairplay.server.sign_in.tokens import GUEST_PREFIX, ReconnectTokens, Tokens

KEY_FILE = "key"  # in the directory of a server


class Refused(Exception):
    """A connection is refused: a reason for metrics, and an explanation without secrets."""

    def __init__(self, reason: str, why: str, fault: Fault = Fault.ILLEGAL) -> None:
        super().__init__(why)
        self.reason = reason
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, *self.args, self.fault), self.__dict__


class InvalidToken(Exception):
    """An invalid token, for the operator: with the whole path of the file."""


class Identities:
    """Gives clients their ids. A name with a token requires it; guests come back by their reconnect tokens.

    A valid token is always accepted, also after many invalid ones: tokens have 128 bits, so guessing is hopeless, and
    each guess costs a connection and one hash.
    """

    def __init__(self, directory: Path | str, *, guests: bool) -> None:
        self.tokens = Tokens(directory)
        self._reconnect_tokens = ReconnectTokens(load_key(Path(directory, KEY_FILE)))
        self._guests = guests

    def identify(self, introduction: Introduction) -> str:
        """The id of a client. Raises Refused if its token is invalid, or guests are not allowed."""
        name = introduction.name if isinstance(introduction.name, str) else ""
        token = introduction.token
        is_guest = not token or token.startswith(GUEST_PREFIX)
        if is_guest and not self._guests:
            raise Refused("guests_not_allowed", "this server accepts no guests: use a token")
        try:
            if is_guest and self.tokens.has(name):
                raise Refused("name_reserved", f"the name {name} requires its token")
            return self._verify(name, token) if token else self._reconnect_tokens.new_id()
        except BadRequest as error:  # the file is damaged
            raise Refused("unreadable_tokens", "the tokens of this server cannot be read") from error

    def reconnect_token(self, id: str) -> str:
        """The token with which a guest can come back."""
        return self._reconnect_tokens.create(id)

    def _verify(self, name: str, token: str) -> str:
        """The id for a token. The error names the directory, as the token may be of another server."""
        if token.startswith(GUEST_PREFIX):
            if (id := self._reconnect_tokens.client_id(token)) is None:
                raise Refused("invalid_token", "invalid reconnect token: sign in again")
            return id
        if not self.tokens.is_valid(name, token):
            path = self.tokens.path.absolute()
            why = f"invalid token for {name!r} (this server reads {path.parent.name}/{path.name})"
            raise Refused("invalid_token", why) from InvalidToken(
                f"invalid token for {name!r} (this server reads {path})"
            )
        return name
