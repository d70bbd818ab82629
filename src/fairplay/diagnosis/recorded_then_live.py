"""Let a recorded match go on otherwise: the others answer from the record as long as it goes, and then make room."""

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
    """Knows what everybody answered, as long as all that happens is what happened then."""

    def __init__(self, recorded: RecordedMatch, facts: int, match: AnyMatch) -> None:
        super().__init__()
        self.match = match  # as it stands
        self._facts = recorded.facts
        self._checker = RecordChecker(recorded)
        self._checker.position = facts
        self._agrees = True

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Hold a fact against the record."""
        if isinstance(event, Acted | Ejected):
            self._agrees = self._agrees and self._facts[self._checker.position :][:1] == (event,)
            self._checker.position += self._agrees
        return super().write(event, message, answer)

    def track_match(self, inform: OnEvent) -> OnEvent:
        """What informs others, and keeps the match as it stands."""

        def told(event: Event, match: AnyMatch) -> None:
            self.match = match
            inform(event, match)

        return told

    def answer(self, call: Call) -> Answer | None:
        """What the record has for an answer; None: it does not go so far, or goes another way."""
        try:
            return self._checker.answer(call) if self._agrees else None
        except BadJournal:  # here the record ends, or the match was resumed
            self._agrees = False
            return None


class RecordedThenLive:
    """A channel that answers from the record; when that is over, somebody else takes the seat and is greeted."""

    def __init__(self, seat: Seat, prompter: RecordedAnswers, other: AsyncChannel) -> None:
        self._seat = seat
        self._recorded_answers = prompter
        self._live_channel = other
        self._is_live = False

    async def ask(self, message: Message) -> Answer:
        if not self._is_live:
            known = self._recorded_answers.answer(Call(self._seat, message))
            if known is not None:
                return known
            if isinstance(message, End):  # it never sat there
                return Answered(None)
            self._is_live, match = True, self._recorded_answers.match
            greeted = await self._live_channel.ask(Start(self._seat, match.names, match.view(self._seat)))
            if isinstance(greeted, Failed):
                return greeted
        return await self._live_channel.ask(message)

    async def close(self, parting: CloseReason) -> None:
        await self._live_channel.close(parting)


class DebugChannel(ChangeListener):
    """A channel to a player that was greeted and asked already: the match goes on with the answer that it gave."""

    def __init__(self, rehearsal: DebugPlayer, given: Answer, tell: Callable[[str], None]) -> None:
        self._player = rehearsal
        self.on_change = rehearsal.on_change
        self._first_answer: Answer | None = given
        self._tell = tell

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, Start):
            return Answered(None)
        if self._first_answer is not None:
            answer, self._first_answer = self._first_answer, None
            return answer
        answer = await self._player.ask(message)
        if isinstance(message, TakeTurn):
            self._tell(f"  took {format_duration(answer.took)}")
        return answer

    async def close(self, parting: CloseReason) -> None:
        await self._player.close(parting)
