"""Drive a conversation by callbacks: each answer leads to the next question without waking a task.

Waking a task for each answer takes about as long as all the work of a referee with that answer.
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
    """Asks players by callbacks as long as possible, and returns other requests to the task that drives the match."""

    def __init__(self, requests: Conversation, channels: Mapping[Seat, AsyncChannel]) -> None:
        self._requests = requests
        self._callback_channels = {seat: channel for seat, channel in channels.items() if is_callback_channel(channel)}
        self._asked: CallbackChannel | None = None
        self._next_request: asyncio.Future[Request]

    def start(self, call: Call) -> bool:
        """Ask by callback. False: the channel cannot do that; otherwise await `wait_for_request`."""
        self._asked = channel = self._callback_channels.get(call.seat)
        if channel is None:
            return False
        import asyncio  # for a quick start: local matches do not need it

        self._next_request = asyncio.get_running_loop().create_future()
        return channel.ask_with_callback(call.message, self._on_answer)

    async def wait_for_request(self) -> Request:
        """Return the first request that cannot be answered by a callback."""
        try:
            return await self._next_request
        finally:
            if self._asked is not None:
                self._asked.stop_waiting()

    def _on_answer(self, answer: Answer | HostFault) -> None:
        """Pass an answer to the conversation; an exception goes to the waiting task."""
        if self._next_request.done():  # cancelled
            return
        try:
            if isinstance(answer, HostFault):
                raise answer
            request = self._requests.send(answer)
            if isinstance(request, Call):
                self._asked = channel = self._callback_channels.get(request.seat)
                if channel is not None and channel.ask_with_callback(request.message, self._on_answer):
                    return
            self._asked = None
            self._next_request.set_result(request)
        except BaseException as error:
            self._next_request.set_exception(error)


def is_callback_channel(channel: AsyncChannel) -> TypeGuard[CallbackChannel]:
    """Can this channel call back with the answer?"""
    return hasattr(channel, "ask_with_callback")
