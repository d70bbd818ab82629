"""Answer by a script, for tests without delays and processes."""

from collections.abc import Callable, Iterable
from typing import Any

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import CloseReason, Strategy

Script = Callable[[Message], Answer]
SCRIPT_ENDED = Failed(Fault.GONE, "the script is over")


class ScriptedChannel:
    """A channel that answers by a function or from a list of answers, after which it is gone.

    It remembers every message in `heard`, and every close in `closed`.
    """

    def __init__(self, script: Script | Iterable[Answer]) -> None:
        self.heard: list[Message] = []
        self.closed: list[CloseReason] = []
        self._script = script if callable(script) else script_from_answers(script)

    def ask(self, message: Message) -> Answer:
        """Remember the message, and answer by the script."""
        if self.closed:
            raise AssertionError(f"asked after it was closed: {message}")
        self.heard.append(message)
        return self._script(message)

    def close(self, reason: CloseReason) -> None:
        self.closed.append(reason)


class AsyncScriptedChannel:
    """The same, awaited."""

    def __init__(self, script: Script | Iterable[Answer]) -> None:
        self._channel = ScriptedChannel(script)
        self.heard = self._channel.heard
        self.closed = self._channel.closed

    async def ask(self, message: Message) -> Answer:
        """Remember the message, and answer by the script."""
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def script_from_answers(answers: Iterable[Answer]) -> Script:
    """The script that gives these answers, whatever is asked."""
    rest = iter(answers)
    return lambda message: next(rest, SCRIPT_ENDED)


def strategy_script(strategy: Strategy[Any, Any]) -> Script:
    """The script of a good player: it acts by a strategy, and acknowledges everything else."""
    return lambda message: Answered(strategy(message.view) if isinstance(message, TakeTurn) else None)


def failing_script(at: int, failure: Answer, otherwise: Script) -> Script:
    """The script of a player that fails when it is called for the n-th time, counted from 0."""
    calls = iter(range(at))
    return lambda message: failure if next(calls, None) is None else otherwise(message)
