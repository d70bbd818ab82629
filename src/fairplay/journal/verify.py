"""Referee a recorded match again, and say where the record is not what the rules make of it."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadJournal, HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Started
from fairplay.core.game import Moment
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.journal.replay import Recorded, begin, read
from fairplay.referee.referee import AnyMatch, Call, conversation

MOMENTS: dict[type[Message], Moment] = {
    Start: Moment.GREETING,
    TakeTurn: Moment.TURN,
    Tell: Moment.NEWS,
    End: Moment.FAREWELL,
}


class Unfinished(BadJournal):
    """A sound record of a match that has not ended."""

    def __init__(self, facts: int) -> None:
        super().__init__(0, f"unfinished after fact {facts}")


def verify(recorded: Recorded) -> Match[Any, Any, Any]:
    """The final match of a finished and lawful record. Raises BadJournal with the first line that differs."""
    entries, position = recorded.entries, 0
    current = begin(recorded.opening, recorded.game)

    def announce(event: Event, match: AnyMatch, answer: Answer | None) -> None:
        nonlocal position, current
        current = match
        match event:
            case Started():
                pass
            case Acted() | Ejected():
                if entries[position].fact != event:
                    raise BadJournal(position + 2, difference(entries[position].fact, event))
                position += 1
            case Ended(result):
                if position < len(entries):
                    raise BadJournal(position + 2, "the match was over before this")
                if recorded.closing is None:
                    raise Unfinished(position)
                if recorded.closing.result != result:
                    raise BadJournal(position + 2, "this is not the result of the match")

    def answer_again(call: Call) -> Answer:
        if position == len(entries):
            if isinstance(call.message, TakeTurn):
                if recorded.closing is not None:
                    raise BadJournal(position + 2, f"this is no result: it was still the turn of seat {call.seat}")
                raise Unfinished(position)
            return Answered(None)
        entry = entries[position]
        match entry.fact:
            case Acted(_, action) if isinstance(call.message, TakeTurn):
                return Answered(action)
            case Ejected(fault=Fault.ILLEGAL):  # nothing but an action can be
                if isinstance(call.message, TakeTurn):
                    return Answered(entry.answer)
            case Ejected(seat, fault, moment, why) if (seat, moment) == (call.seat, MOMENTS[type(call.message)]):
                return Failed(fault, why)
        if isinstance(call.message, TakeTurn):
            raise BadJournal(position + 2, f"this cannot happen on the turn of seat {call.seat}")
        return Answered(None)

    parent = recorded.opening.parent
    again = parent.facts if parent else None  # a branch begins there with a greeting of its own
    script = conversation(current, announce)
    try:
        request = next(script)
        while True:
            if position == again:
                again, script = None, conversation(current, announce)
                request = next(script)
            request = script.send(answer_again(request) if isinstance(request, Call) else Answered(None))
    except StopIteration as end:
        final: AnyMatch = end.value
        return final
    except HostFault as fault:  # what the host had handed over ran out, then as now
        if position == len(entries) and recorded.closing is None:
            raise Unfinished(position) from None
        raise BadJournal(position + 2, f"nobody could go on here: {fault}") from None


def read_lawful(path: Path | str) -> Recorded:
    """The journal in this file, finished or not, once it was refereed again."""
    recorded = read(path)
    with suppress(Unfinished):
        verify(recorded)
    return recorded


def difference(written: Acted | Ejected, judged: Acted | Ejected) -> str:
    """In what a fact is not what the referee makes of it."""
    if written.seat != judged.seat:
        return f"it was the turn of seat {judged.seat}, not of seat {written.seat}"
    match written, judged:
        case Acted(), Ejected(why=why):
            return f"this is not lawful: {why}"
        case Ejected(), Acted():
            return "this was lawful, and nobody can be ejected for it"
    return "this is not how the referee judges it"
