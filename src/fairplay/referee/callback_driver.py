"""Go on with a conversation whenever an answer comes, for as long as players can be asked without waiting.

To wake whoever drives the conversation for each answer takes about as long as all that a referee does with it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from fairplay.core.errors import HostFault
from fairplay.core.game import Seat
from fairplay.core.messages import Answer
from fairplay.core.roles import AsyncChannel, CallbackChannel
from fairplay.referee.conversation import Call, Conversation, Request

if TYPE_CHECKING:
    import asyncio


class CallbackDriver:
    """The part of a conversation in which nobody waits; whoever drives it is woken for all else."""

    def __init__(self, script: Conversation, there: Mapping[Seat, AsyncChannel]) -> None:
        self._script = script
        self._quick = {seat: channel for seat, channel in there.items() if is_callback_channel(channel)}
        self._asked: CallbackChannel | None = None
        self._next_request: asyncio.Future[Request]

    def start(self, call: Call) -> bool:
        """Ask a question, if that can be done without waiting; then wait until it has `stopped`."""
        self._asked = channel = self._quick.get(call.seat)
        if channel is None:
            return False
        import asyncio  # where all players are in this process, nobody needs it

        self._next_request = asyncio.get_running_loop().create_future()
        return channel.ask_with_callback(call.message, self._on_answer)

    async def wait_for_request(self) -> Request:
        """The first request that is something else than a question, or has to be waited for."""
        try:
            return await self._next_request
        finally:
            if self._asked is not None:
                self._asked.stop_waiting()

    def _on_answer(self, answer: Answer | HostFault) -> None:
        """Hand over an answer. Whatever that raises is for whoever waits."""
        if self._next_request.done():  # it was called off
            return
        try:
            if isinstance(answer, HostFault):
                raise answer
            request = self._script.send(answer)
            if isinstance(request, Call):
                self._asked = channel = self._quick.get(request.seat)
                if channel is not None and channel.ask_with_callback(request.message, self._on_answer):
                    return
            self._asked = None
            self._next_request.set_result(request)
        except BaseException as error:
            self._next_request.set_exception(error)


def is_callback_channel(channel: AsyncChannel) -> TypeGuard[CallbackChannel]:
    """May one ask over it without waiting?"""
    return hasattr(channel, "ask_with_callback")
