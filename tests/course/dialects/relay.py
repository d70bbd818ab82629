"""Play matches through a dialect in memory: messages of the referee become calls, and these become messages again."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.events import Fact, Fault
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import AnyStrategy, Channel, CloseReason
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import VOID, Call, Caller
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel, action_decoder
from fairplay.testing.hostile import AnyGame

CallHandler = Callable[[Call], Any]  # what a client of the course replies to a call
encode = msgspec.json.encode


class PlayerFailed(Exception):
    """The player in a client has failed, so there will be no reply: the failure is the argument."""


class CallingChannel:
    """A channel to a client of the course: calls and replies are JSON on the way."""

    def __init__(self, game: AnyGame, name: str, client: CallHandler) -> None:
        self._callee = DIALECTS[game.name].callee(game, name)
        self._client = client
        self._decode = action_decoder(type(game))

    def ask(self, message: Message) -> Answer:
        reply: Any = VOID
        for call in self._callee.calls(message):
            assert reply == VOID
            try:
                reply = msgspec.json.decode(encode(self._client(msgspec.json.decode(encode(call), type=Call))))
            except PlayerFailed as broken:
                failed: Failed = broken.args[0]
                return failed
        if isinstance(message, TakeTurn):
            return Answered(self._decode(encode(self._callee.action(reply))))
        assert reply == VOID
        return Answered(None)

    def close(self, reason: CloseReason) -> None:
        pass


class Client:
    """A client of the course with a player of ours in it; it keeps what the player was told."""

    def __init__(self, game: AnyGame, name: str, strategy: AnyStrategy) -> None:
        self._caller = DIALECTS[game.name].caller(name)
        self._player = LocalChannel(strategy, game)
        self.told: list[Message] = []

    def __call__(self, call: Call) -> Any:
        reply: Any = VOID
        for message in self._caller.messages(call):
            assert reply == VOID
            self.told.append(message)
            answer = self._player.ask(message)
            if isinstance(answer, Failed):
                raise PlayerFailed(answer)
            if isinstance(message, TakeTurn):
                reply = self._caller.reply(answer.value)
        return reply


class FailingChannel:
    """A channel that is dead from the so-manieth question on."""

    def __init__(self, channel: Channel, at: int) -> None:
        self._channel = channel
        self._left = at

    def ask(self, message: Message) -> Answer:
        self._left -= 1
        return self._channel.ask(message) if self._left >= 0 else Failed(Fault.GONE, "hung up")

    def close(self, reason: CloseReason) -> None:
        pass


def relay_channel(game: AnyGame, name: str, strategy: AnyStrategy) -> Channel:
    """A channel to a player of ours through both ends of the dialect."""
    return CallingChannel(game, name, Client(game, name, strategy))


def match_facts(match: AnyMatch, table: Sequence[Channel]) -> list[Fact]:
    """All that happens in a match."""
    facts: list[Any] = []
    play(match, table, on_event=lambda event, after: facts.append(event))
    return facts


def any_action(game: AnyGame, key: bytes, most: int = 60) -> AnyStrategy:
    """A player that does whatever is legal, exchanges and passes too; the same wherever it sits."""

    def choose(view: Any) -> Any:
        options = list(islice(game.actions(view), most))
        lot = sha256(key + encode(options)).digest()
        return options[int.from_bytes(lot) % len(options)]

    return choose


def wire(calls: Iterable[Call]) -> list[str]:
    """Calls as they are sent."""
    return [encode(call).decode() for call in calls]


def hear(caller: Caller, *calls: Call | str) -> list[Any]:
    """The messages that the last of these calls makes."""
    messages: list[Any] = []
    for call in calls:
        parsed = msgspec.json.decode(call, type=Call) if isinstance(call, str) else call
        messages = list(caller.messages(parsed))
    return messages


def begin_match(game: AnyGame, seats: int, number: int) -> AnyMatch:
    """A match that is about to begin, with names that every course takes."""
    names = tuple("abcde"[seat] * 3 for seat in range(seats))
    return Match(game, game.deal(seats, number.to_bytes(32)), names)
