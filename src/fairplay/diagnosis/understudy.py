"""Let a recorded match go on otherwise: the others answer from the record as long as it goes, and then make room."""

from collections.abc import Callable

from fairplay.core.errors import BadJournal
from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel, Parting
from fairplay.diagnosis.rehearsal import Rehearsal
from fairplay.hosting.notes import Notes
from fairplay.hosting.sitting import AnyMatch
from fairplay.journal.reenact import Again
from fairplay.journal.replay import Recorded
from fairplay.referee.changes import TellsChanges
from fairplay.referee.referee import Call, Inform
from fairplay.render.words import duration


class Prompter(Notes):
    """Knows what everybody answered, as long as all that happens is what happened then."""

    def __init__(self, recorded: Recorded, facts: int, match: AnyMatch) -> None:
        super().__init__()
        self.match = match  # as it stands
        self._facts = recorded.facts
        self._again = Again(recorded)
        self._again.position = facts
        self._goes = True

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Hold a fact against the record."""
        if isinstance(event, Acted | Ejected):
            self._goes = self._goes and self._facts[self._again.position :][:1] == (event,)
            self._again.position += self._goes
        return super().write(event, message, answer)

    def following(self, inform: Inform) -> Inform:
        """What informs others, and keeps the match as it stands."""

        def told(event: Event, match: AnyMatch) -> None:
            self.match = match
            inform(event, match)

        return told

    def answer(self, call: Call) -> Answer | None:
        """What the record has for an answer; None: it does not go so far, or goes another way."""
        try:
            return self._again.answer(call) if self._goes else None
        except BadJournal:  # here the record ends, or the match was resumed
            self._goes = False
            return None


class Understudy:
    """A channel that answers from the record; when that is over, somebody else takes the seat and is greeted."""

    def __init__(self, seat: Seat, prompter: Prompter, other: AsyncChannel) -> None:
        self._seat = seat
        self._prompter = prompter
        self._other = other
        self._sits = False

    async def ask(self, message: Message) -> Answer:
        if not self._sits:
            known = self._prompter.answer(Call(self._seat, message))
            if known is not None:
                return known
            if isinstance(message, End):  # it never sat there
                return Answered(None)
            self._sits, match = True, self._prompter.match
            greeted = await self._other.ask(Start(self._seat, match.names, match.view(self._seat)))
            if isinstance(greeted, Failed):
                return greeted
        return await self._other.ask(message)

    async def close(self, parting: Parting) -> None:
        await self._other.close(parting)


class Rehearsed(TellsChanges):
    """A channel to a player that was greeted and asked already: the match goes on with the answer that it gave."""

    def __init__(self, rehearsal: Rehearsal, given: Answer, tell: Callable[[str], None]) -> None:
        self._rehearsal = rehearsal
        self.changed = rehearsal.changed
        self._given: Answer | None = given
        self._tell = tell

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, Start):
            return Answered(None)
        if self._given is not None:
            answer, self._given = self._given, None
            return answer
        answer = await self._rehearsal.ask(message)
        if isinstance(message, TakeTurn):
            self._tell(f"  took {duration(answer.took)}")
        return answer

    async def close(self, parting: Parting) -> None:
        await self._rehearsal.close(parting)
