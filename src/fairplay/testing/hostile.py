"""Keep a shelf of bad players, each with the fault that it has to be ejected for."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec

from fairplay.core.events import Fault, Result
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import Answer, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import AnyStrategy, Channel, Cheat, CloseReason
from fairplay.games import GAMES, game_info
from fairplay.referee.local_channel import LocalChannel
from fairplay.testing import cheats, hostile_answers, hostile_connections, hostile_programs, hostile_replies

AnyGame = Game[Any, Any, Any]
Behaviour = Callable[[], Any]
MakeChannel = Callable[
    [AnyStrategy, AnyGame, Moment], Channel
]  # a player that is bad at this moment, and good otherwise

GREETING, TURN, NEWS, END = Moment
MESSAGE_TYPES: dict[Moment, type[Message]] = {GREETING: Start, TURN: TakeTurn, NEWS: Tell, END: End}


class Distance(Enum):
    """How far away a player is: in this process, behind pipes, behind a socket."""

    IN_PROCESS = "in-process"
    PROGRAM = "program"
    TCP = "tcp"
    WEBSOCKET = "websocket"


IN_PROCESS_ONLY = frozenset({Distance.IN_PROCESS})
REMOTE_DISTANCES = frozenset(Distance) - IN_PROCESS_ONLY


class HostilePlayer(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of bad player: what it does, and what it must be ejected for. It plays by a strategy otherwise."""

    name: str
    about: str  # in one line
    fault: Fault
    moments: tuple[Moment, ...]  # at which it makes sense
    make: MakeChannel
    distances: frozenset[Distance] = IN_PROCESS_ONLY
    clause: str = ""  # of the rules, if it breaks one
    only_in: str = ""  # the only game it makes sense for; empty: all

    @property
    def moment(self) -> Moment:
        """When it is bad, if nothing else is said."""
        return self.moments[0]

    def applies_to(self, game: str) -> bool:
        """Can it be bad at its moment in this game?"""
        return self.only_in in ("", game) and (self.moment is not NEWS or game_info(game).has_news)

    def with_moment(self, moment: Moment) -> "HostilePlayer":
        """The same, bad at this moment."""
        return msgspec.structs.replace(self, moments=(moment,))

    def make_channel(self, strategy: AnyStrategy, game: AnyGame) -> Channel:
        """A way to such a player; for one that has to be elsewhere, a stand-in that says how it fails."""
        return self.make(strategy, game, self.moment)


class MisbehavingPlayer:
    """A player that does its work at one moment, and then something else as well."""

    def __init__(self, strategy: AnyStrategy, moment: Moment, deed: Behaviour) -> None:
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
        return self._deed() if self._moment is END else None


class ScribblingPlayer(MisbehavingPlayer):
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
        if self._moment is END:
            result.ranking = ()


class FailingChannel:
    """A channel to a player that fails on its n-th call of a moment; nobody has to wait for it."""

    def __init__(self, channel: Channel, moment: Moment, failed: Failed, count: int = 1) -> None:
        self._channel = channel
        self._moment = moment
        self._failed = failed
        self._left = count

    def ask(self, message: Message) -> Answer:
        """Pass it on, until it is the call to fail on."""
        if isinstance(message, MESSAGE_TYPES[self._moment]):
            self._left -= 1
            if self._left == 0:
                return self._failed
        return self._channel.ask(message)

    def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


class HangingChannel(FailingChannel):
    """The same, and the failure is that it hangs."""

    def __init__(self, channel: Channel, moment: Moment, count: int = 1) -> None:
        super().__init__(channel, moment, Failed(Fault.TIMED_OUT, "no answer in time"), count)


def raise_error(error: type[BaseException]) -> Behaviour:
    """The deed of raising this."""

    def deed() -> Any:
        raise error("a bad day")

    return deed


def recurse_forever() -> Any:
    """Call oneself until the stack is full."""
    return recurse_forever()


def make_misbehaving(name: str, about: str, fault: Fault, deed: Behaviour, *moments: Moment) -> HostilePlayer:
    """Does this."""
    return HostilePlayer(
        name=name,
        about=about,
        fault=fault,
        moments=moments or tuple(Moment),
        make=lambda strategy, game, moment: LocalChannel(MisbehavingPlayer(strategy, moment, deed), game),
    )


def make_raising(moment: Moment, error: type[BaseException] = RuntimeError) -> HostilePlayer:
    """Raises at this moment, after it did its work."""
    name = f"raises at the {moment.value}"
    return make_misbehaving(name, f"raises a {error.__name__}", Fault.CRASHED, raise_error(error), moment)


def make_returning(name: str, value: Any, *moments: Moment) -> HostilePlayer:
    """Returns this, where it makes no sense."""
    return make_misbehaving(name, f"{name}, where that makes no sense", Fault.MALFORMED, lambda: value, *moments)


def make_hanging(moment: Moment) -> HostilePlayer:
    """Hangs at the first call of this moment."""
    return HostilePlayer(
        name=f"hangs at the {moment.value}",
        about="never answers",
        fault=Fault.TIMED_OUT,
        moments=(moment,),
        make=lambda strategy, game, moment: HangingChannel(LocalChannel(strategy, game), moment),
        distances=REMOTE_DISTANCES,
    )


def make_twisting(name: str, twist: Callable[[Any], Any]) -> HostilePlayer:
    """Answers a good action that is made of bad things."""
    return HostilePlayer(
        name=name,
        about=f"{name} in an action that would be fine",
        fault=Fault.MALFORMED,
        moments=(TURN,),
        make=lambda strategy, game, moment: LocalChannel(twisted_strategy(twist, strategy), game),
    )


def twisted_strategy(twist: Callable[[Any], Any], strategy: AnyStrategy) -> AnyStrategy:
    """The strategy with a twist to its actions, wherever there is one."""

    def choose(view: Any) -> Any:
        action = strategy(view)
        found = twist(action)
        return action if found is None else found

    return choose


def make_cheating(name: str, game: str, cheat: Cheat) -> HostilePlayer:
    """Cheats on every turn on which it can, and plays by its strategy on the others."""
    return HostilePlayer(
        name=name,
        about=cheats.describe_cheat(cheat),
        fault=Fault.ILLEGAL,
        moments=(TURN,),
        make=lambda strategy, rules, moment: LocalChannel(cheats.cheating_strategy(cheat, strategy), rules),
        distances=IN_PROCESS_ONLY | {Distance.TCP},
        clause=cheats.broken_clause(cheat),
        only_in=game,
    )


def make_remote(deed: hostile_programs.Misbehaviour) -> HostilePlayer:
    """What a program does, for which a failure stands in wherever there is no program."""
    fault = Fault(deed.fault)
    failed = Failed(fault, f"a stand-in for somebody who {deed.about}")
    return HostilePlayer(
        name=deed.name,
        about=deed.about,
        fault=fault,
        moments=tuple(dict.fromkeys(Moment(moment) for moment in deed.ejection_moments.values())),
        make=lambda strategy, game, moment: FailingChannel(LocalChannel(strategy, game), moment, failed),
        distances=frozenset(Distance(distance) for distance in deed.distances),
    )


RARE_CHEATS = frozenset(name for game in GAMES for name in game_info(game).rare_cheats)
CHEATING_PLAYERS: dict[str, HostilePlayer] = {
    name: make_cheating(name, game, cheat) for game, known in cheats.CHEATS.items() for name, cheat in known.items()
}
HOSTILE_PLAYERS: dict[str, HostilePlayer] = {  # in this process, one of each fault at each moment of each game
    bad.name: bad
    for bad in (
        *(make_raising(moment) for moment in Moment),
        *(make_hanging(moment) for moment in Moment),
        make_misbehaving("exits", "leaves by sys.exit", Fault.CRASHED, raise_error(SystemExit), TURN),
        make_misbehaving(
            "recurses for ever", "calls itself until the stack is full", Fault.CRASHED, recurse_forever, TURN
        ),
        make_returning("answers nothing", None, TURN),
        make_returning("answers junk", "junk", TURN),
        make_returning("answers an action of no game", {"type": "win"}, TURN),
        make_returning("answers an object", object(), TURN),
        *(make_returning(f"answers at the {moment.value}", "thanks", moment) for moment in (GREETING, NEWS, END)),
        *(bad for bad in CHEATING_PLAYERS.values() if bad.name not in RARE_CHEATS),
    )
}
ODD_PLAYERS: dict[str, HostilePlayer] = {  # in this process, too: strange answers and strange exceptions, at any moment
    bad.name: bad
    for bad in (
        HostilePlayer(
            name="scribbles",
            about="writes into what it is given",
            fault=Fault.CRASHED,
            moments=(TURN, GREETING, NEWS, END),
            make=lambda strategy, game, moment: LocalChannel(ScribblingPlayer(strategy, moment), game),
        ),
        *(
            make_misbehaving(f"raises {name}", f"raises {name}", Fault.CRASHED, deed, TURN, GREETING, NEWS, END)
            for name, deed in hostile_answers.HOSTILE_ERRORS.items()
        ),
        *(
            make_misbehaving(f"answers {name}", f"answers {name}", Fault.MALFORMED, make, TURN, GREETING, NEWS, END)
            for name, make in hostile_answers.HOSTILE_ANSWERS.items()
        ),
        *(make_twisting(f"answers with {name}", twist) for name, twist in hostile_answers.ACTION_TWISTS.items()),
        *(bad for bad in CHEATING_PLAYERS.values() if bad.name in RARE_CHEATS),
    )
}
MISBEHAVIOURS = {**hostile_replies.MISBEHAVIOURS, **hostile_programs.MISBEHAVIOURS, **hostile_connections.MISBEHAVIOURS}
REMOTE_PLAYERS: dict[str, HostilePlayer] = {
    deed.name: make_remote(deed) for deed in MISBEHAVIOURS.values() if deed.fault
}
ALL_PLAYERS = {**HOSTILE_PLAYERS, **ODD_PLAYERS, **REMOTE_PLAYERS}
