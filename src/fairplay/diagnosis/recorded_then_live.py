"""Continue a recorded match differently: seats answer from the record while it agrees, and live after that."""

from collections.abc import Callable

from fairplay.core.errors import BadJournal
from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.diagnosis.debug_player import DebugPlayer
from fairplay.hosting.prepared_match import AnyMatch
from fairplay.hosting.timing_record import TimingRecord
from fairplay.journal.reenactment import RecordChecker
from fairplay.journal.replay import RecordedMatch
from fairplay.referee.changes import ChangeListener
from fairplay.referee.conversation import Call, OnEvent
from fairplay.render.formatting import format_duration


class RecordedAnswers(TimingRecord):
    """Knows the recorded answers of all seats, for as long as the match goes as it went in the record."""

    def __init__(self, recorded: RecordedMatch, facts: int, match: AnyMatch) -> None:
        super().__init__()
        self.match = match  # as it stands
        self._facts = recorded.facts
        self._checker = RecordChecker(recorded)
        self._checker.position = facts
        self._agrees = True

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Compare a fact with the record."""
        if isinstance(event, Acted | Ejected):
            self._agrees = self._agrees and self._facts[self._checker.position :][:1] == (event,)
            self._checker.position += self._agrees
        return super().write(event, message, answer)

    def track_match(self, inform: OnEvent) -> OnEvent:
        """Inform observers by a function that also keeps the match as it stands."""

        def observe(event: Event, match: AnyMatch) -> None:
            self.match = match
            inform(event, match)

        return observe

    def answer(self, call: Call) -> Answer | None:
        """The recorded answer to a call; None: the record is over, or the match differs from it."""
        try:
            return self._checker.answer(call) if self._agrees else None
        except BadJournal:  # the record ends here, or the match was resumed
            self._agrees = False
            return None


class RecordedThenLive:
    """A channel that answers from the record and then from a live channel, which is greeted first."""

    def __init__(self, seat: Seat, recorded: RecordedAnswers, live: AsyncChannel) -> None:
        self._seat = seat
        self._recorded_answers = recorded
        self._live_channel = live
        self._is_live = False

    async def ask(self, message: Message) -> Answer:
        if not self._is_live:
            known = self._recorded_answers.answer(Call(self._seat, message))
            if known is not None:
                return known
            if isinstance(message, End):  # the live player never had the seat
                return Answered(None)
            self._is_live, match = True, self._recorded_answers.match
            greeted = await self._live_channel.ask(Start(self._seat, match.names, match.view(self._seat)))
            if isinstance(greeted, Failed):
                return greeted
        return await self._live_channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        await self._live_channel.close(reason)


class DebugChannel(ChangeListener):
    """A channel to a player that was greeted and asked already: its first answer is the one that it gave."""

    def __init__(self, player: DebugPlayer, first_answer: Answer, write: Callable[[str], None]) -> None:
        self._player = player
        self.on_change = player.on_change
        self._first_answer: Answer | None = first_answer
        self._write = write

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, Start):
            return Answered(None)
        if self._first_answer is not None:
            answer, self._first_answer = self._first_answer, None
            return answer
        answer = await self._player.ask(message)
        if isinstance(message, TakeTurn):
            self._write(f"  took {format_duration(answer.took)}")
        return answer

    async def close(self, reason: CloseReason) -> None:
        await self._player.close(reason)
