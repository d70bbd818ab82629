"""Play matches through a dialect in memory: what the referee says becomes calls, and these become messages again."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.events import Event, Fact, Fault
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import AnyStrategy, Channel, Parting
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import VOID, Call
from fairplay.referee.drivers import play
from fairplay.referee.local import Local, decoder
from fairplay.referee.referee import AnyMatch
from fairplay.testing.hostile import AnyGame

Answering = Callable[[Call], Any]  # what a client of the course replies to a call
encode = msgspec.json.encode


class Broken(Exception):
    """The player in a client has failed, so there will be no reply."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.why)
        self.failed = failed


class Called:
    """A channel to a client of the course: calls and replies are JSON on the way."""

    def __init__(self, game: AnyGame, name: str, client: Answering) -> None:
        self._callee = DIALECTS[game.name].callee(game, name)
        self._client = client
        self._decode = decoder(type(game))

    def ask(self, message: Message) -> Answer:
        reply: Any = VOID
        for call in self._callee.calls(message):
            assert reply == VOID
            try:
                reply = msgspec.json.decode(encode(self._client(msgspec.json.decode(encode(call), type=Call))))
            except Broken as broken:
                return broken.failed
        if isinstance(message, TakeTurn):
            return Answered(self._decode(encode(self._callee.action(reply))))
        assert reply == VOID
        return Answered(None)

    def close(self, parting: Parting) -> None:
        pass


class Client:
    """A client of the course with a player of ours in it; it keeps what the player was told."""

    def __init__(self, game: AnyGame, name: str, strategy: AnyStrategy) -> None:
        self._caller = DIALECTS[game.name].caller(name)
        self._player = Local(strategy, game)
        self.told: list[Message] = []

    def __call__(self, call: Call) -> Any:
        reply: Any = VOID
        for message in self._caller.messages(call):
            assert reply == VOID
            self.told.append(message)
            answer = self._player.ask(message)
            if isinstance(answer, Failed):
                raise Broken(answer)
            if isinstance(message, TakeTurn):
                reply = self._caller.reply(answer.value)
        return reply


class Failing:
    """A channel that is dead from the so-manieth question on."""

    def __init__(self, channel: Channel, at: int) -> None:
        self._channel = channel
        self._left = at

    def ask(self, message: Message) -> Answer:
        self._left -= 1
        return self._channel.ask(message) if self._left >= 0 else Failed(Fault.GONE, "hung up")

    def close(self, parting: Parting) -> None:
        pass


def relayed(game: AnyGame, name: str, strategy: AnyStrategy) -> Channel:
    """A channel to a player of ours through both ends of the dialect."""
    return Called(game, name, Client(game, name, strategy))


def facts_of(match: AnyMatch, table: Sequence[Channel]) -> list[Fact]:
    """All that happens in a match."""
    facts: list[Any] = []

    def keep(event: Event, after: AnyMatch) -> None:
        facts.append(event)

    play(match, table, inform=keep)
    return facts


def any_action(game: AnyGame, key: bytes, most: int = 60) -> AnyStrategy:
    """A player that does whatever is legal, exchanges and passes too; the same wherever it sits."""

    def choose(view: Any) -> Any:
        options = list(islice(game.actions(view), most))
        lot = sha256(key + encode(options)).digest()
        return options[int.from_bytes(lot) % len(options)]

    return choose


def begun(game: AnyGame, seats: int, number: int) -> AnyMatch:
    """A match that is about to begin, with names that every course takes."""
    names = tuple("abcde"[seat] * 3 for seat in range(seats))
    return Match(game, game.deal(seats, number.to_bytes(32)), names)
