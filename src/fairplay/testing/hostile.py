"""Keep a shelf of bad players, each with the fault that it has to be ejected for."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import Answer, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import AnyStrategy, Channel, Cheat, Parting
from fairplay.games import GAMES, title
from fairplay.referee.local import Local
from fairplay.testing import cheats, hostile_answers, hostile_connections, hostile_programs, hostile_replies

AnyGame = Game[Any, Any, Any]
Deed = Callable[[], Any]
Make = Callable[[AnyStrategy, AnyGame, Moment], Channel]  # a player that is bad at this moment, and good otherwise

GREETING, TURN, NEWS, FAREWELL = Moment
CALLS: dict[Moment, type[Message]] = {GREETING: Start, TURN: TakeTurn, NEWS: Tell, FAREWELL: End}


class Distance(Enum):
    """How far away a player is: in this process, behind pipes, behind a socket."""

    HERE = "in-process"
    PROGRAM = "program"
    TCP = "tcp"
    WEBSOCKET = "websocket"


HERE = frozenset({Distance.HERE})
AWAY = frozenset(Distance) - HERE


class Bad(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of bad player: what it does, and what it must be ejected for. It plays by a strategy otherwise."""

    name: str
    about: str  # in one line
    fault: Fault
    moments: tuple[Moment, ...]  # at which it makes sense
    make: Make
    distances: frozenset[Distance] = HERE
    clause: str = ""  # of the rules, if it breaks one
    only_in: str = ""  # the only game it makes sense for; empty: all

    @property
    def moment(self) -> Moment:
        """When it is bad, if nothing else is said."""
        return self.moments[0]

    def fits(self, game: str) -> bool:
        """Can it be bad at its moment in this game?"""
        return self.only_in in ("", game) and (self.moment is not NEWS or title(game).has_news)

    def at(self, moment: Moment) -> "Bad":
        """The same, bad at this moment."""
        return msgspec.structs.replace(self, moments=(moment,))

    def seat(self, strategy: AnyStrategy, game: AnyGame) -> Channel:
        """A way to such a player; for one that has to be elsewhere, a stand-in that says how it fails."""
        return self.make(strategy, game, self.moment)


class Misbehaving:
    """A player that does its work at one moment, and then something else as well."""

    def __init__(self, strategy: AnyStrategy, moment: Moment, deed: Deed) -> None:
        self._strategy = strategy
        self._moment = moment
        self._deed = deed

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        return self._deed() if self._moment is GREETING else None

    def take_turn(self, view: Any) -> Any:
        action = self._strategy(view)
        return self._deed() if self._moment is TURN else action

    def tell(self, news: Any) -> Any:
        return self._deed() if self._moment is NEWS else None

    def end(self, result: Result) -> Any:
        return self._deed() if self._moment is FAREWELL else None


class Scribbling(Misbehaving):
    """A player that writes into what it is given, at one moment."""

    def __init__(self, strategy: AnyStrategy, moment: Moment) -> None:
        super().__init__(strategy, moment, lambda: None)

    def start(self, seat: Seat, names: Any, view: Any) -> Any:
        """Change a name."""
        if self._moment is GREETING:
            names[0] = "me"

    def take_turn(self, view: Any) -> Any:
        """Change the view."""
        if self._moment is TURN:
            view.seat = 0
        return self._strategy(view)

    def tell(self, news: Any) -> Any:
        """Change the news."""
        if self._moment is NEWS:
            news[0] = "gold"

    def end(self, result: Any) -> Any:
        """Change the result."""
        if self._moment is FAREWELL:
            result.ranking = ()


class Failing:
    """A channel to a player that fails on its n-th call of a moment; nobody has to wait for it."""

    def __init__(self, channel: Channel, moment: Moment, failed: Failed, count: int = 1) -> None:
        self._channel = channel
        self._moment = moment
        self._failed = failed
        self._left = count

    def ask(self, message: Message) -> Answer:
        """Pass it on, until it is the call to fail on."""
        if isinstance(message, CALLS[self._moment]):
            self._left -= 1
            if self._left == 0:
                return self._failed
        return self._channel.ask(message)

    def close(self, parting: Parting) -> None:
        self._channel.close(parting)


class Hanging(Failing):
    """The same, and the failure is that it hangs."""

    def __init__(self, channel: Channel, moment: Moment, count: int = 1) -> None:
        super().__init__(channel, moment, Failed(Fault.TIMED_OUT, "no answer in time"), count)


def raises(error: type[BaseException]) -> Deed:
    """The deed of raising this."""

    def deed() -> Any:
        raise error("a bad day")

    return deed


def recurse() -> Any:
    """Call oneself until the stack is full."""
    return recurse()


def misbehaving(name: str, about: str, fault: Fault, deed: Deed, *moments: Moment) -> Bad:
    """Does this."""
    return Bad(
        name=name,
        about=about,
        fault=fault,
        moments=moments or tuple(Moment),
        make=lambda strategy, game, moment: Local(Misbehaving(strategy, moment, deed), game),
    )


def raising(moment: Moment, error: type[BaseException] = RuntimeError) -> Bad:
    """Raises at this moment, after it did its work."""
    name = f"raises in the {moment.value}"
    return misbehaving(name, f"raises a {error.__name__}", Fault.CRASHED, raises(error), moment)


def returning(name: str, value: Any, *moments: Moment) -> Bad:
    """Returns this, where it makes no sense."""
    return misbehaving(name, f"{name}, where that makes no sense", Fault.MALFORMED, lambda: value, *moments)


def hanging(moment: Moment) -> Bad:
    """Hangs at the first call of this moment."""
    return Bad(
        name=f"hangs in the {moment.value}",
        about="never answers",
        fault=Fault.TIMED_OUT,
        moments=(moment,),
        make=lambda strategy, game, moment: Hanging(Local(strategy, game), moment),
        distances=AWAY,
    )


def twisting(name: str, twist: Callable[[Any], Any]) -> Bad:
    """Answers a good action that is made of bad things."""
    return Bad(
        name=name,
        about=f"{name} in an action that would be fine",
        fault=Fault.MALFORMED,
        moments=(TURN,),
        make=lambda strategy, game, moment: Local(twister(twist, strategy), game),
    )


def twister(twist: Callable[[Any], Any], strategy: AnyStrategy) -> AnyStrategy:
    """The strategy with a twist to its actions, wherever there is one."""

    def choose(view: Any) -> Any:
        action = strategy(view)
        found = twist(action)
        return action if found is None else found

    return choose


def cheating(name: str, game: str, cheat: Cheat) -> Bad:
    """Cheats on every turn on which it can, and plays by its strategy on the others."""
    return Bad(
        name=name,
        about=cheats.about(cheat),
        fault=Fault.ILLEGAL,
        moments=(TURN,),
        make=lambda strategy, rules, moment: Local(cheats.cheater(cheat, strategy), rules),
        distances=HERE | {Distance.TCP},
        clause=cheats.clause_of(cheat),
        only_in=game,
    )


def away(deed: hostile_programs.Deed) -> Bad:
    """What a program does, for which a failure stands in wherever there is no program."""
    fault = Fault(deed.fault)
    failed = Failed(fault, f"a stand-in for somebody who {deed.about}")
    return Bad(
        name=deed.name,
        about=deed.about,
        fault=fault,
        moments=tuple(dict.fromkeys(Moment(moment) for moment in deed.found_out.values())),
        make=lambda strategy, game, moment: Failing(Local(strategy, game), moment, failed),
        distances=frozenset(Distance(distance) for distance in deed.distances),
    )


SELDOM = frozenset(name for game in GAMES for name in title(game).seldom)
CHEATS: dict[str, Bad] = {
    name: cheating(name, game, cheat) for game, known in cheats.CHEATS.items() for name, cheat in known.items()
}
SHELF: dict[str, Bad] = {  # in this process, one of each fault at each moment of each game
    bad.name: bad
    for bad in (
        *(raising(moment) for moment in Moment),
        *(hanging(moment) for moment in Moment),
        misbehaving("exits", "leaves by sys.exit", Fault.CRASHED, raises(SystemExit), TURN),
        misbehaving("recurses for ever", "calls itself until the stack is full", Fault.CRASHED, recurse, TURN),
        returning("answers nothing", None, TURN),
        returning("answers junk", "junk", TURN),
        returning("answers an action of no game", {"type": "win"}, TURN),
        returning("answers an object", object(), TURN),
        *(returning(f"answers in the {moment.value}", "thanks", moment) for moment in (GREETING, NEWS, FAREWELL)),
        *(bad for bad in CHEATS.values() if bad.name not in SELDOM),
    )
}
ODD: dict[str, Bad] = {  # in this process, too: strange answers and strange exceptions, at any moment
    bad.name: bad
    for bad in (
        Bad(
            name="scribbles",
            about="writes into what it is given",
            fault=Fault.CRASHED,
            moments=(TURN, GREETING, NEWS, FAREWELL),
            make=lambda strategy, game, moment: Local(Scribbling(strategy, moment), game),
        ),
        *(
            misbehaving(f"raises {name}", f"raises {name}", Fault.CRASHED, deed, TURN, GREETING, NEWS, FAREWELL)
            for name, deed in hostile_answers.RAISED.items()
        ),
        *(
            misbehaving(f"answers {name}", f"answers {name}", Fault.MALFORMED, make, TURN, GREETING, NEWS, FAREWELL)
            for name, make in hostile_answers.ANSWERS.items()
        ),
        *(twisting(f"answers with {name}", twist) for name, twist in hostile_answers.TWISTS.items()),
        *(bad for bad in CHEATS.values() if bad.name in SELDOM),
    )
}
DEEDS = {**hostile_replies.DEEDS, **hostile_programs.DEEDS, **hostile_connections.DEEDS}
FAR: dict[str, Bad] = {deed.name: away(deed) for deed in DEEDS.values() if deed.fault}
EVERYBODY = {**SHELF, **ODD, **FAR}
