"""Referee a match as a generator: it yields calls to players, is sent answers, and returns the final match."""

from collections.abc import Callable, Generator
from typing import Any

import msgspec

from fairplay.core.errors import HostFault, IllegalAction
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Receipt, Result, Started
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Message, Start, TakeTurn, Tell
from fairplay.core.roles import NULL_RECORD, Record

UNEXPECTED_ANSWER = "answered where only an acknowledgement was due"
CHECK_RETURNED_VALUE = "the rules of {game} returned {what}: check returns None, and raises IllegalAction to say no"
AnyMatch = Match[Any, Any, Any]
OnEvent = Callable[[Event, AnyMatch], None]  # informs observers of an event, with the match after it


class Call(msgspec.Struct, frozen=True, gc=False):
    """A message to a seat; the driver sends back the answer."""

    seat: Seat
    message: Message


class CloseChannel(msgspec.Struct, frozen=True, gc=False):
    """A seat was ejected: the driver starts closing its channel, and sends back `Answered(None)`."""

    seat: Seat
    ejected: Ejected


class MakeDurable(msgspec.Struct, frozen=True, gc=False):
    """The record must be durable before the next event is announced: the driver waits, and sends `Answered(None)`."""


class AwaitClosedChannels(msgspec.Struct, frozen=True, gc=False):
    """The result comes next: the driver waits until all ejected players are gone, and sends `Answered(None)`."""


Request = Call | CloseChannel | MakeDurable | AwaitClosedChannels
Conversation = Generator[Request, Answer, AnyMatch]
Announce = Callable[[Event, AnyMatch, Message | None, Answer | None], Generator[MakeDurable, Answer, None]]
MAKE_DURABLE = MakeDurable()
AWAIT_CLOSED_CHANNELS = AwaitClosedChannels()


def ignore_event(event: Event, match: AnyMatch) -> None:
    """Do nothing: there are no observers."""


def conversation(
    match: AnyMatch, record: Record = NULL_RECORD, on_event: OnEvent = ignore_event, *, resumed: bool = False
) -> Conversation:
    """Referee a match from its start to its end, or the rest of an interrupted match."""

    def announce(
        event: Event, match: AnyMatch, message: Message | None, answer: Answer | None
    ) -> Generator[MakeDurable, Answer, None]:
        """Record an event, then announce it."""
        if record.write(event, message, answer):
            yield MAKE_DURABLE
        on_event(event, match)

    yield from announce(Started(match.names, match.commitment), match, None, None)
    # The ranking is fixed when the game is over: a failure after that is one at the end, even at a late greeting.
    moment = Moment.END if resumed and match.turn is None else Moment.GREETING
    for greeted in match.remaining_seats:
        message = Start(greeted, match.names, match.view(greeted))
        match = yield from tell(match, greeted, message, moment, announce)
    match = yield from tell_news(match, announce)  # that were pending when the match was interrupted
    game, write = match.game, record.write
    while (seat := game.turn(match.state)) is not None:
        view = game.view(match.state, seat)  # computed once: a player is judged by what it was shown
        question = TakeTurn(view)
        answer = yield Call(seat, question)
        fact = judge(game, view, seat, answer)
        match = match.after(fact)
        if write(fact, question, answer):
            yield MAKE_DURABLE
        on_event(fact, match)
        if not isinstance(fact, Acted):
            yield CloseChannel(seat, fact)
        elif match.pending_news:
            match = yield from tell_news(match, announce)
    yield MAKE_DURABLE  # losing a result that was announced would be worse than a slow one
    match, result = yield from end_match(match, record.receipt(), announce)
    yield AWAIT_CLOSED_CHANNELS  # late answers are recorded before the result
    record.write(Ended(result), None, None)
    yield MAKE_DURABLE
    on_event(Ended(msgspec.structs.replace(result, receipt=record.receipt())), match)
    return match


def judge(game: Game[Any, Any, Any], view: Any, seat: Seat, answer: Answer) -> Fact:
    """Judge an answer to TakeTurn: the action, or an ejection."""
    if not isinstance(answer, Answered):  # this way round, as isinstance is faster where it is true
        return Ejected(seat, answer.fault, Moment.TURN, answer.why)
    check: Callable[[Any, Any], object] = game.check  # of a third-party game it may return anything
    try:
        verdict = check(view, answer.value)
    except IllegalAction as illegal:
        return Ejected(seat, Fault.ILLEGAL, Moment.TURN, str(illegal), illegal.clause)
    if verdict is not None:
        raise HostFault(CHECK_RETURNED_VALUE.format(game=game.name, what=type(verdict).__name__))
    return Acted(seat, answer.value)


def judge_acknowledgement(seat: Seat, moment: Moment, answer: Answer) -> Ejected | None:
    """Judge the answer to any other message: an ejection, or None if it was acknowledged."""
    if not isinstance(answer, Answered):
        return Ejected(seat, answer.fault, moment, answer.why)
    return None if answer.value is None else Ejected(seat, Fault.MALFORMED, moment, UNEXPECTED_ANSWER)


def tell(match: AnyMatch, seat: Seat, message: Message, moment: Moment, announce: Announce) -> Conversation:
    """Send a message that has to be acknowledged, and eject the seat if it was not."""
    answer = yield Call(seat, message)
    ejected = judge_acknowledgement(seat, moment, answer)
    if ejected is not None:
        match = match.after(ejected)
        yield from announce(ejected, match, message, answer)
        yield CloseChannel(seat, ejected)
    return match


def tell_news(match: AnyMatch, announce: Announce) -> Conversation:
    """Send the pending news of the last action."""
    for news in match.pending_news:
        if news in match.pending_news:  # still: its seat may have been ejected by now
            match = yield from tell(match, news.seat, Tell(news.content), Moment.NEWS, announce)
    return match


def end_match(
    match: AnyMatch, receipt: Receipt | None, announce: Announce
) -> Generator[Request, Answer, tuple[AnyMatch, Result]]:
    """Tell all players the result, with the receipt of that moment; return the match and the result after that."""
    result = match.result
    for seat in winners_first(match, result):
        before = match
        message = End(msgspec.structs.replace(result, receipt=receipt))
        match = yield from tell(match, seat, message, Moment.END, announce)
        if match is not before:  # it was ejected, which changes the result
            result = match.result
    return match, result


def winners_first(match: AnyMatch, result: Result) -> tuple[Seat, ...]:
    """The order in which players are told the result: winners first, both groups in turn order."""
    winners = result.ranking[0] if result.ranking else frozenset()
    return tuple(sorted(match.remaining_seats, key=lambda seat: seat not in winners))
