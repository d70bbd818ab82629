"""Find out who somebody is, from the name and the token that it says."""

from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.journal.key import load_key
from fairplay.protocol.wire import Introduction
from fairplay.server.sign_in.tokens import GUEST_PREFIX, ReconnectTokens, Tokens

KEY_FILE = "key"  # the file in the directory of a server


class Refused(Exception):
    """Somebody is turned away: a word for whoever counts, and why, without secrets."""

    def __init__(self, reason: str, why: str, fault: Fault = Fault.ILLEGAL) -> None:
        super().__init__(why)
        self.reason = reason
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, *self.args, self.fault), self.__dict__


class InvalidToken(Exception):
    """What the operator is told of a wrong token: the whole path of the file."""


class Identities:
    """Who has which id. A name that has a token takes it; guests come back by the pass that they were given.

    A right token always enters, however many wrong ones came before it: tokens have 128 bits, so that no number of
    guesses helps, and each guess costs a connection and one hash.
    """

    def __init__(self, directory: Path | str, *, guests: bool) -> None:
        self.tokens = Tokens(directory)
        self._reconnect_tokens = ReconnectTokens(load_key(Path(directory, KEY_FILE)))
        self._guests = guests

    def identify(self, said: Introduction) -> str:
        """The id of somebody. Raises Refused if it is not whom it says, or may not be here."""
        name = said.name if isinstance(said.name, str) else ""
        is_guest = not said.token or said.token.startswith(GUEST_PREFIX)
        if is_guest and not self._guests:
            raise Refused("guests_not_allowed", "who has no token of this server cannot play here")
        try:
            if is_guest and self.tokens.has(name):
                raise Refused("name_reserved", f"the name {name} takes its token")
            return self._verify(name, said.token) if said.token else self._reconnect_tokens.new_id()
        except BadRequest as error:  # somebody has spoilt the file
            raise Refused("unreadable_tokens", "the tokens of this server cannot be read") from error

    def reconnect_token(self, id: str) -> str:
        """With what a guest can come back."""
        return self._reconnect_tokens.create(id)

    def _verify(self, name: str, token: str) -> str:
        """The id of somebody with a token or a pass. The directory's name helps who made a token for another server."""
        if token.startswith(GUEST_PREFIX):
            if (id := self._reconnect_tokens.client_id(token)) is None:
                raise Refused("invalid_token", "this is no pass of this server")
            return id
        if not self.tokens.is_valid(name, token):
            path = self.tokens.path.absolute()
            why = f"invalid token for {name!r} (this server reads {path.parent.name}/{path.name})"
            raise Refused("invalid_token", why) from InvalidToken(
                f"invalid token for {name!r} (this server reads {path})"
            )
        return name
