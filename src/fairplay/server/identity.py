"""Find out who somebody is, from the name and the token that it says."""

from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.journal.key import key_in
from fairplay.players.wire import Introduction
from fairplay.server.tokens import GUEST, Passes, Tokens, Tries

KEY = "key"  # the file in the folder of a house
MOST_WRONG, FORGIVEN = 5, 60.0  # wrong tokens for somebody from one address, in so many seconds


class Refused(Exception):
    """Somebody is turned away: a word for whoever counts, and why, without secrets."""

    def __init__(self, reason: str, why: str, fault: Fault = Fault.ILLEGAL) -> None:
        super().__init__(why)
        self.reason = reason
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, *self.args, self.fault), self.__dict__


class Identities:
    """Who has which id. A name that has a token takes it; guests come back by the pass that they were given.

    Wrong tokens are counted for each who is meant and each address, so that nobody who guesses keeps others out.
    """

    def __init__(self, folder: Path | str, *, guests: bool) -> None:
        self.tokens = Tokens(folder)
        self._passes = Passes(key_in(Path(folder, KEY)))
        self._guests = guests
        self._tries = Tries(MOST_WRONG, FORGIVEN)

    def who(self, said: Introduction, address: str, now: float) -> str:
        """The id of somebody. Raises Refused if it is not whom it says, or may not be here."""
        name = said.name if isinstance(said.name, str) else ""
        is_guest = not said.token or said.token.startswith(GUEST)
        if is_guest and not self._guests:
            raise Refused("guest", "who has no token of this house cannot play here")
        try:
            if is_guest and self.tokens.has(name):
                raise Refused("name", f"the name {name} takes its token")
            return self._proven(name, said.token, address, now) if said.token else self._passes.new_id()
        except BadRequest as error:  # somebody has spoilt the file
            raise Refused("tokens", "the tokens of this house cannot be read") from error

    def pass_for(self, id: str) -> str:
        """With what a guest can come back."""
        return self._passes.written(id)

    def _proven(self, name: str, token: str, address: str, now: float) -> str:
        """The id of somebody with a token or a pass."""
        is_guest = token.startswith(GUEST)
        trial = f"{address} {token.partition('.')[0] if is_guest else name}"
        if not self._tries.has_left(trial, now):
            raise Refused("tries", "there were too many wrong tokens; come again in a minute")
        id = self._passes.holder(token) if is_guest else name if self.tokens.fits(name, token) else None
        if id is None:
            self._tries.note(trial, now)
            raise Refused("token", "this is no pass of this house" if is_guest else f"this is no token of {name!r}")
        return id
