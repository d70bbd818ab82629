"""Run a match as a conversation: calls to players come out, answers go in, the result is returned."""

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
OnEvent = Callable[[Event, AnyMatch], None]  # lets those who watch know of an event, with the match after it


class Call(msgspec.Struct, frozen=True, gc=False):
    """A message to a seat; the driver sends back the answer."""

    seat: Seat
    message: Message


class CloseChannel(msgspec.Struct, frozen=True, gc=False):
    """A seat was ejected: the driver begins to say goodbye and to cut the line, and sends back `Answered(None)`."""

    seat: Seat
    ejected: Ejected


class MakeDurable(msgspec.Struct, frozen=True, gc=False):
    """What was written has to be durable before anybody hears of it: the driver waits, and sends `Answered(None)`."""


class AwaitClosedChannels(msgspec.Struct, frozen=True, gc=False):
    """The result is to be written: the driver waits until all ejected players are gone, and sends `Answered(None)`."""


Request = Call | CloseChannel | MakeDurable | AwaitClosedChannels
Conversation = Generator[Request, Answer, AnyMatch]
Announce = Callable[[Event, AnyMatch, Message | None, Answer | None], Generator[MakeDurable, Answer, None]]
MAKE_DURABLE = MakeDurable()
AWAIT_CLOSED_CHANNELS = AwaitClosedChannels()


def ignore_event(event: Event, match: AnyMatch) -> None:
    """Nobody watches."""


def conversation(
    match: AnyMatch, record: Record = NULL_RECORD, on_event: OnEvent = ignore_event, *, resumed: bool = False
) -> Conversation:
    """A whole match, from the greeting to the end; also the rest of one that was interrupted."""

    def announce(
        event: Event, match: AnyMatch, message: Message | None, answer: Answer | None
    ) -> Generator[MakeDurable, Answer, None]:
        """Write an event down, and then let it be known."""
        if record.write(event, message, answer):
            yield MAKE_DURABLE
        on_event(event, match)

    yield from announce(Started(match.names, match.commitment), match, None, None)
    # The ranking is fixed when the game is over: who fails then, fails at the end, however late it is greeted.
    moment = Moment.END if resumed and match.turn is None else Moment.GREETING
    for guest in match.remaining_seats:
        match = yield from tell(match, guest, Start(guest, match.names, match.view(guest)), moment, announce)
    match = yield from tell_news(match, announce)  # what an interrupted match still owed
    game, write = match.game, record.write
    while (seat := game.turn(match.state)) is not None:
        view = game.view(match.state, seat)  # computed once: a player is judged by what it was shown
        message = TakeTurn(view)
        answer = yield Call(seat, message)
        fact = judge(game, view, seat, answer)
        match = match.after(fact)
        if write(fact, message, answer):
            yield MAKE_DURABLE
        on_event(fact, match)
        if not isinstance(fact, Acted):
            yield CloseChannel(seat, fact)
        elif match.pending_news:
            match = yield from tell_news(match, announce)
    yield MAKE_DURABLE  # a result that was told and then lost would be worse than a slow one
    match, result = yield from end_match(match, record.receipt(), announce)
    yield AWAIT_CLOSED_CHANNELS  # what they say too late belongs before it
    record.write(Ended(result), None, None)
    yield MAKE_DURABLE
    on_event(Ended(msgspec.structs.replace(result, receipt=record.receipt())), match)
    return match


def judge(game: Game[Any, Any, Any], view: Any, seat: Seat, answer: Answer) -> Fact:
    """What an answer to TakeTurn amounts to."""
    if not isinstance(answer, Answered):  # asked like that, as a struct says yes in a quarter of the time of a no
        return Ejected(seat, answer.fault, Moment.TURN, answer.why)
    check: Callable[[Any, Any], object] = game.check  # which may be somebody else's, and say what it should not
    try:
        verdict = check(view, answer.value)
    except IllegalAction as illegal:
        return Ejected(seat, Fault.ILLEGAL, Moment.TURN, str(illegal), illegal.clause)
    if verdict is not None:
        raise HostFault(CHECK_RETURNED_VALUE.format(game=game.name, what=type(verdict).__name__))
    return Acted(seat, answer.value)


def judge_acknowledgement(seat: Seat, moment: Moment, answer: Answer) -> Ejected | None:
    """What an answer to any other message amounts to; None: all is well."""
    if not isinstance(answer, Answered):
        return Ejected(seat, answer.fault, moment, answer.why)
    return None if answer.value is None else Ejected(seat, Fault.MALFORMED, moment, UNEXPECTED_ANSWER)


def tell(match: AnyMatch, seat: Seat, message: Message, moment: Moment, announce: Announce) -> Conversation:
    """Say something that has to be acknowledged; the match goes on, with or without this seat."""
    answer = yield Call(seat, message)
    ejected = judge_acknowledgement(seat, moment, answer)
    if ejected is not None:
        match = match.after(ejected)
        yield from announce(ejected, match, message, answer)
        yield CloseChannel(seat, ejected)
    return match


def tell_news(match: AnyMatch, announce: Announce) -> Conversation:
    """Say what is owed since the last action."""
    for news in match.pending_news:
        if news in match.pending_news:  # and its seat did not fail a moment ago
            match = yield from tell(match, news.seat, Tell(news.content), Moment.NEWS, announce)
    return match


def end_match(
    match: AnyMatch, receipt: Receipt | None, announce: Announce
) -> Generator[Request, Answer, tuple[AnyMatch, Result]]:
    """Tell everybody the result, with a receipt from when the game was over; the match and the result after that."""
    result = match.result
    for seat in winners_first(match, result):
        told = match
        message = End(msgspec.structs.replace(result, receipt=receipt))
        match = yield from tell(match, seat, message, Moment.END, announce)
        if match is not told:  # it failed, and the others hear of that
            result = match.result
    return match, result


def winners_first(match: AnyMatch, result: Result) -> tuple[Seat, ...]:
    """The order in which players are told of the end: the winners, then the others, each group in the order of play."""
    winners = result.ranking[0] if result.ranking else frozenset()
    return tuple(sorted(match.remaining_seats, key=lambda seat: seat not in winners))
