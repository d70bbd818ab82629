"""Put a record through the conversation again, with the answers that it holds."""

from collections.abc import Generator
from typing import Any

import msgspec

from fairplay.core.errors import BadJournal, HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Started
from fairplay.core.game import Game, Moment
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.journal.lines import encode
from fairplay.journal.replay import Recorded, begin
from fairplay.referee.referee import AnyMatch, Call, conversation

MOMENTS: dict[type[Message], Moment] = {
    Start: Moment.GREETING,
    TakeTurn: Moment.TURN,
    Tell: Moment.NEWS,
    End: Moment.FAREWELL,
}


class Unfinished(BadJournal):
    """A sound record of a match that has not ended."""

    def __init__(self, facts: int, torn: int = 0) -> None:
        tail = f"; {torn} bytes of a torn line follow" if torn else ""
        super().__init__(0, f"unfinished after fact {facts}{tail}")


Exchange = tuple[Call, Answer]


def reenact(recorded: Recorded) -> Generator[Exchange, None, AnyMatch]:
    """Every call of the match with the answer to it; the final match is returned.

    Raises BadJournal with the first line that is not what the referee makes of the answers.
    """
    entries, position = recorded.entries, 0
    interruptions = set(recorded.resumptions)
    current = begin(recorded.opening, recorded.game)
    last = len(recorded.heads)  # the line that holds the result, if there is one

    def announce(event: Event, match: AnyMatch, message: Message | None, answer: Answer | None) -> None:
        nonlocal position, current
        current = match
        match event:
            case Started():
                pass
            case Acted() | Ejected():
                entry = entries[position]
                if entry.fact != event:
                    raise BadJournal(entry.seq + 1, difference(entry.fact, event))
                if isinstance(event, Ejected) and entry.shown != plain(what_was_shown(recorded.game, message)):
                    raise BadJournal(entry.seq + 1, "this is not what the player was shown")
                position += 1
            case Ended(result):
                if position < len(entries):
                    raise BadJournal(entries[position].seq + 1, "the match was over before this")
                if recorded.closing is None:
                    raise Unfinished(position, recorded.torn)
                if recorded.closing.result != result:
                    raise BadJournal(last, "this is not the result of the match")

    def answer_again(call: Call) -> Answer:
        if position == len(entries):
            if isinstance(call.message, TakeTurn):
                if recorded.closing is not None:
                    raise BadJournal(last, f"this is no result: it was still the turn of seat {call.seat}")
                raise Unfinished(position, recorded.torn)
            return Answered(None)
        entry = entries[position]
        match entry.fact:
            case Acted(_, action) if isinstance(call.message, TakeTurn):
                return Answered(action)
            case Ejected(fault=Fault.ILLEGAL):  # nothing but an action can be
                if isinstance(call.message, TakeTurn):
                    return Answered(entry.answer)
            case Ejected(seat, fault, moment, why) if (seat, moment) == (call.seat, MOMENTS[type(call.message)]):
                return Failed(fault, why, entry.took, entry.evidence)
        if isinstance(call.message, TakeTurn):
            raise BadJournal(entry.seq + 1, f"this cannot happen on the turn of seat {call.seat}")
        return Answered(None)

    script = conversation(current, announce)
    try:
        request = next(script)
        while True:
            if position in interruptions:
                interruptions.remove(position)
                script = conversation(current, announce)
                request = next(script)
            answer: Answer = Answered(None)
            if isinstance(request, Call):
                answer = answer_again(request)
                yield request, answer
            request = script.send(answer)
    except StopIteration as end:
        final: AnyMatch = end.value
        return final
    except HostFault as fault:  # what the host had handed over ran out, then as now
        if position == len(entries) and recorded.closing is None:
            raise Unfinished(position, recorded.torn) from None
        line = entries[position].seq + 1 if position < len(entries) else last
        raise BadJournal(line, f"nobody could go on here: {fault}") from None


def what_was_shown(game: Game[Any, Any, Any], message: Message | None) -> Any:
    """What a record keeps of a message to a player that failed to answer it."""
    match message:
        case Start(view=view) | TakeTurn(view):
            return game.pack(view)
        case Tell(news):
            return news
        case End() | None:
            return None  # the result is in the record anyway


def plain(value: Any) -> Any:
    """A value as it is read from a journal."""
    return msgspec.json.decode(encode(value))


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
