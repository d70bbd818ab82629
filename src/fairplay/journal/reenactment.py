"""Run the conversation of a recorded match again, with the recorded answers."""

from collections.abc import Generator
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import BadJournal, HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Started
from fairplay.core.game import Game, Moment
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import NullRecord
from fairplay.journal.lines import Entry, encode_line
from fairplay.journal.replay import CANNOT_CONTINUE, RecordedMatch, begin_match
from fairplay.referee.conversation import AnyMatch, Call, Conversation, conversation
from fairplay.referee.host_faults import describe_rules_error

MOMENT_OF_MESSAGE: dict[type[Message], Moment] = {
    Start: Moment.GREETING,
    TakeTurn: Moment.TURN,
    Tell: Moment.NEWS,
    End: Moment.END,
}


class Unfinished(BadJournal):
    """A sound record of a match that has not ended."""

    def __init__(self, facts: int, torn: int = 0) -> None:
        tail = f"; {torn} bytes of a torn line follow" if torn else ""
        super().__init__(0, f"unfinished after fact {facts}{tail}")
        self.facts = facts
        self.torn = torn

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.facts, self.torn), self.__dict__


Exchange = tuple[Call, Answer]


def reenact(recorded: RecordedMatch) -> Generator[Exchange, None, AnyMatch]:
    """Yield every call of the match with its answer; return the final match.

    Raises BadJournal with the first line that is not what the referee makes of the answers.
    """
    again, interruptions = RecordChecker(recorded), set(recorded.resumptions)
    script = again.conversation(resumed=False)
    try:
        request = next(script)
        while True:
            if again.position in interruptions:
                interruptions.remove(again.position)
                script = again.conversation(resumed=True)
                request = next(script)
            answer: Answer = Answered(None)
            if isinstance(request, Call):
                answer = again.answer(request)
                yield request, answer
            request = script.send(answer)
    except StopIteration as end:
        final: AnyMatch = end.value
        return final
    except HostFault as fault:  # the host's own supply ran out, then as now
        if again.is_at_end and recorded.closing is None:
            raise Unfinished(again.position, recorded.torn_bytes) from None
        raise BadJournal(again.line_number, f"{CANNOT_CONTINUE}: {fault}") from None
    except BadJournal:
        raise
    except Exception as error:  # the rules have changed, or never allowed what comes here
        raise BadJournal(
            again.line_number, f"{CANNOT_CONTINUE}: {describe_rules_error(error, recorded.game)}"
        ) from error


class RecordChecker(NullRecord):
    """A record that compares instead of writing, and supplies the recorded answers."""

    def __init__(self, recorded: RecordedMatch) -> None:
        self.position = 0  # the number of facts so far
        self._recorded = recorded
        self._entries = recorded.entries
        self._names = dict(recorded.seatings)  # by facts: of several seatings at one point the last one counts
        self._match = begin_match(recorded.opening, recorded.game)

    @property
    def is_at_end(self) -> bool:
        """Are there no more facts?"""
        return self.position == len(self._entries)

    @property
    def line_number(self) -> int:
        """The line number of the next fact, or of the result if there is none."""
        return len(self._recorded.heads) if self.is_at_end else self._entries[self.position].seq + 1

    def conversation(self, *, resumed: bool) -> Conversation:
        """The conversation from the current point on, with the names that were seated there."""
        seated = replace(self._match, names=self._names.get(self.position, self._match.names))
        return conversation(seated, self, self._inform, resumed=resumed)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Compare an event with the record. Raises BadJournal if it differs."""
        recorded = self._recorded
        match event:
            case Acted() | Ejected():
                entry = self._entries[self.position]
                if entry.fact != event:
                    raise BadJournal(self.line_number, describe_difference(entry.fact, event))
                if isinstance(event, Ejected) and entry.shown != json_round_trip(shown_value(recorded.game, message)):
                    raise BadJournal(self.line_number, "this is not what the player was shown")
                self.position += 1
            case Ended(result):
                if not self.is_at_end:
                    raise BadJournal(self.line_number, "the match was over before this")
                if recorded.closing is None:
                    raise Unfinished(self.position, recorded.torn_bytes)
                if recorded.closing.result != result:
                    raise BadJournal(self.line_number, "this is not the result of the match")
            case Started():
                pass
        return False

    def answer(self, call: Call) -> Answer:
        """The recorded answer to a call."""
        if self.is_at_end:
            if isinstance(call.message, TakeTurn):
                if self._recorded.closing is not None:
                    raise BadJournal(self.line_number, f"this is no result: it was still the turn of seat {call.seat}")
                raise Unfinished(self.position, self._recorded.torn_bytes)
            return Answered(None)
        entry = self._entries[self.position]
        match entry.fact:
            case Acted(_, action) if isinstance(call.message, TakeTurn):
                return Answered(action)
            case Ejected(fault=Fault.ILLEGAL):  # only an action can be illegal
                if isinstance(call.message, TakeTurn):
                    return Answered(entry.answer)
            case Ejected(seat, fault, moment, why) if (seat, moment) == (call.seat, moment_of(call.message, entry)):
                return Failed(fault, why, entry.took, entry.evidence or NO_EVIDENCE)
        if isinstance(call.message, TakeTurn):
            raise BadJournal(self.line_number, f"this cannot happen on the turn of seat {call.seat}")
        return Answered(None)

    def _inform(self, event: Event, match: AnyMatch) -> None:
        self._match = match


def moment_of(message: Message, entry: Entry) -> Moment:
    """The moment of an ejection for failing to answer this message, if the entry is about that."""
    moment = MOMENT_OF_MESSAGE[type(message)]
    greeted_when_over = moment is Moment.GREETING and entry.shown is not None  # the end itself shows nothing
    if greeted_when_over and isinstance(entry.fact, Ejected) and entry.fact.moment is Moment.END:
        return Moment.END
    return moment


def shown_value(game: Game[Any, Any, Any], message: Message | None) -> Any:
    """The part of a message that a record keeps for a player that failed to answer it."""
    match message:
        case Start(view=view) | TakeTurn(view):
            return game.pack(view)
        case Tell(news):
            return news
        case End() | None:
            return None  # the result is in the record anyway


def json_round_trip(value: Any) -> Any:
    """A value as it would be read from a journal."""
    return msgspec.json.decode(encode_line(value))


def describe_difference(written: Acted | Ejected, judged: Acted | Ejected) -> str:
    """How a recorded fact differs from the judgement of the referee."""
    if written.seat != judged.seat:
        return f"it was the turn of seat {judged.seat}, not of seat {written.seat}"
    match written, judged:
        case Acted(), Ejected(why=why):
            return f"this is not legal: {why}"
        case Ejected(), Acted():
            return "this was legal and cannot lead to an ejection"
    return "this is not how the referee judges it"
