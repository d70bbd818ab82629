"""Run a match as a conversation: calls to players come out, answers go in, the result is returned."""

from collections.abc import Callable, Generator
from typing import Any

import msgspec

from fairplay.core.errors import IllegalAction
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Receipt, Started
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell

NOT_DUE = "answered where only an acknowledgement was due"
AnyMatch = Match[Any, Any, Any]
# The event, the match after it, and what led to it: a message and the answer.
Announce = Callable[[Event, AnyMatch, Message | None, Answer | None], None]
Receipts = Callable[[], Receipt | None]  # where the record stands, if there is one


class Call(msgspec.Struct, frozen=True, gc=False):
    """A message to a seat; the driver sends back the answer."""

    seat: Seat
    message: Message


class Dismiss(msgspec.Struct, frozen=True, gc=False):
    """A seat was ejected: the driver says goodbye, cuts the line, and sends back `Answered(None)`."""

    seat: Seat
    ejected: Ejected


Script = Generator[Call | Dismiss, Answer, AnyMatch]


def no_receipt() -> None:
    """Nobody keeps a record."""


def conversation(match: AnyMatch, announce: Announce, receipt: Receipts = no_receipt) -> Script:
    """A whole match, from the greeting to the farewell; also the rest of one that was interrupted."""
    announce(Started(match.names, match.commitment), match, None, None)
    match = yield from tell_all(match, match.seated, greeting, Moment.GREETING, announce)
    match = yield from tell_news(match, announce)  # what an interrupted match still owed
    while (seat := match.turn) is not None:
        view = match.view(seat)  # computed once: a player is judged by what it was shown
        message = TakeTurn(view)
        answer = yield Call(seat, message)
        fact = judge(match.game, view, seat, answer)
        match = match.after(fact)
        announce(fact, match, message, answer)
        if isinstance(fact, Ejected):
            yield Dismiss(seat, fact)
        elif match.owed:
            match = yield from tell_news(match, announce)
    match = yield from tell_all(match, winners_first(match), farewell(receipt()), Moment.FAREWELL, announce)
    announce(Ended(match.result), match, None, None)
    return match


def judge(game: Game[Any, Any, Any], view: Any, seat: Seat, answer: Answer) -> Fact:
    """What an answer to TakeTurn amounts to."""
    if isinstance(answer, Failed):
        return Ejected(seat, answer.fault, Moment.TURN, answer.why)
    try:
        game.check(view, answer.value)
    except IllegalAction as illegal:
        return Ejected(seat, Fault.ILLEGAL, Moment.TURN, str(illegal), illegal.clause)
    return Acted(seat, answer.value)


def judge_acknowledgement(seat: Seat, moment: Moment, answer: Answer) -> Ejected | None:
    """What an answer to any other message amounts to; None: all is well."""
    match answer:
        case Failed(fault, why):
            return Ejected(seat, fault, moment, why)
        case Answered(None):
            return None
        case Answered():
            return Ejected(seat, Fault.MALFORMED, moment, NOT_DUE)


def tell(match: AnyMatch, seat: Seat, message: Message, moment: Moment, announce: Announce) -> Script:
    """Say something that has to be acknowledged; the match goes on, with or without this seat."""
    answer = yield Call(seat, message)
    ejected = judge_acknowledgement(seat, moment, answer)
    if ejected is not None:
        match = match.after(ejected)
        announce(ejected, match, message, answer)
        yield Dismiss(seat, ejected)
    return match


def tell_all(
    match: AnyMatch,
    seats: tuple[Seat, ...],
    message: Callable[[AnyMatch, Seat], Message],
    moment: Moment,
    announce: Announce,
) -> Script:
    """Say something to each of these seats, one after the other."""
    for seat in seats:
        match = yield from tell(match, seat, message(match, seat), moment, announce)
    return match


def tell_news(match: AnyMatch, announce: Announce) -> Script:
    """Say what is owed since the last action."""
    for news in match.owed:
        if news in match.owed:  # and its seat did not fail a moment ago
            match = yield from tell(match, news.seat, Tell(news.content), Moment.NEWS, announce)
    return match


def greeting(match: AnyMatch, seat: Seat) -> Message:
    """What a seat hears first."""
    return Start(seat, match.names, match.view(seat))


def farewell(receipt: Receipt | None) -> Callable[[AnyMatch, Seat], Message]:
    """What a seat hears last: the result, with the receipt of the record when the game was over."""
    return lambda match, seat: End(msgspec.structs.replace(match.result, receipt=receipt))


def winners_first(match: AnyMatch) -> tuple[Seat, ...]:
    """The order of the farewell: the winners, then the others, each group in the order of play."""
    winners = frozenset().union(*match.result.ranking[:1])
    return tuple(sorted(match.seated, key=lambda seat: seat not in winners))
