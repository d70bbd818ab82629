"""Define hostile players, each with the fault for which it has to be ejected."""

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
MakeChannel = Callable[[AnyStrategy, AnyGame, Moment], Channel]  # a player that misbehaves at this moment only

GREETING, TURN, NEWS, END = Moment
MESSAGE_TYPES: dict[Moment, type[Message]] = {GREETING: Start, TURN: TakeTurn, NEWS: Tell, END: End}


class Distance(Enum):
    """How a player is connected: in this process, by pipes, or by a socket."""

    IN_PROCESS = "in-process"
    PROGRAM = "program"
    TCP = "tcp"
    WEBSOCKET = "websocket"


IN_PROCESS_ONLY = frozenset({Distance.IN_PROCESS})
REMOTE_DISTANCES = frozenset(Distance) - IN_PROCESS_ONLY


class HostilePlayer(msgspec.Struct, frozen=True, kw_only=True):
    """A hostile player: what it does, and the fault for which it must be ejected. Otherwise it plays by a strategy."""

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
        """The default moment of its misbehaviour."""
        return self.moments[0]

    def applies_to(self, game: str) -> bool:
        """Can it misbehave at its moment in this game?"""
        return self.only_in in ("", game) and (self.moment is not NEWS or game_info(game).has_news)

    def with_moment(self, moment: Moment) -> "HostilePlayer":
        """The same player, which misbehaves at this moment."""
        return msgspec.structs.replace(self, moments=(moment,))

    def make_channel(self, strategy: AnyStrategy, game: AnyGame) -> Channel:
        """A channel to such a player; for a remote one, a stand-in that gives its failure."""
        return self.make(strategy, game, self.moment)


class MisbehavingPlayer:
    """A player that plays well, but misbehaves after its work at one moment."""

    def __init__(self, strategy: AnyStrategy, moment: Moment, misbehave: Behaviour) -> None:
        self._strategy = strategy
        self._moment = moment
        self._misbehave = misbehave

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        return self._misbehave() if self._moment is GREETING else None

    def take_turn(self, view: Any) -> Any:
        action = self._strategy(view)
        return self._misbehave() if self._moment is TURN else action

    def tell(self, news: Any) -> Any:
        return self._misbehave() if self._moment is NEWS else None

    def end(self, result: Result) -> Any:
        return self._misbehave() if self._moment is END else None


class ScribblingPlayer(MisbehavingPlayer):
    """A player that changes its arguments, at one moment."""

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
    """A channel to a player that fails on its n-th call of a moment, at once."""

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
    """The same with a timeout as the failure."""

    def __init__(self, channel: Channel, moment: Moment, count: int = 1) -> None:
        super().__init__(channel, moment, Failed(Fault.TIMED_OUT, "no answer in time"), count)


def raise_error(error: type[BaseException]) -> Behaviour:
    """A behaviour that raises this error."""

    def behaviour() -> Any:
        raise error("a bad day")

    return behaviour


def recurse_forever() -> Any:
    """Call itself until the stack is full."""
    return recurse_forever()


def make_misbehaving(name: str, about: str, fault: Fault, misbehave: Behaviour, *moments: Moment) -> HostilePlayer:
    """A player with this behaviour."""
    return HostilePlayer(
        name=name,
        about=about,
        fault=fault,
        moments=moments or tuple(Moment),
        make=lambda strategy, game, moment: LocalChannel(MisbehavingPlayer(strategy, moment, misbehave), game),
    )


def make_raising(moment: Moment, error: type[BaseException] = RuntimeError) -> HostilePlayer:
    """A player that raises at this moment, after its work."""
    name = f"raises at the {moment.value}"
    return make_misbehaving(name, f"raises a {error.__name__}", Fault.CRASHED, raise_error(error), moment)


def make_returning(name: str, value: Any, *moments: Moment) -> HostilePlayer:
    """A player that returns this value, where it makes no sense."""
    return make_misbehaving(name, f"{name}, where that makes no sense", Fault.MALFORMED, lambda: value, *moments)


def make_hanging(moment: Moment) -> HostilePlayer:
    """A player that hangs at the first call of this moment."""
    return HostilePlayer(
        name=f"hangs at the {moment.value}",
        about="never answers",
        fault=Fault.TIMED_OUT,
        moments=(moment,),
        make=lambda strategy, game, moment: HangingChannel(LocalChannel(strategy, game), moment),
        distances=REMOTE_DISTANCES,
    )


def make_twisting(name: str, twist: Callable[[Any], Any]) -> HostilePlayer:
    """A player that answers a good action with bad values in it."""
    return HostilePlayer(
        name=name,
        about=f"{name} in an action that would be fine",
        fault=Fault.MALFORMED,
        moments=(TURN,),
        make=lambda strategy, game, moment: LocalChannel(twisted_strategy(twist, strategy), game),
    )


def twisted_strategy(twist: Callable[[Any], Any], strategy: AnyStrategy) -> AnyStrategy:
    """The strategy with its actions twisted, where that is possible."""

    def choose(view: Any) -> Any:
        action = strategy(view)
        twisted = twist(action)
        return action if twisted is None else twisted

    return choose


def make_cheating(name: str, game: str, cheat: Cheat) -> HostilePlayer:
    """A player that cheats on every turn on which it can, and plays by its strategy on the others."""
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


def make_remote(misbehaviour: hostile_programs.Misbehaviour) -> HostilePlayer:
    """A remote player with this misbehaviour; in this process a stand-in gives its failure."""
    fault = Fault(misbehaviour.fault)
    failed = Failed(fault, f"a stand-in for a player that {misbehaviour.about}")
    return HostilePlayer(
        name=misbehaviour.name,
        about=misbehaviour.about,
        fault=fault,
        moments=tuple(dict.fromkeys(Moment(moment) for moment in misbehaviour.ejection_moments.values())),
        make=lambda strategy, game, moment: FailingChannel(LocalChannel(strategy, game), moment, failed),
        distances=frozenset(Distance(distance) for distance in misbehaviour.distances),
    )


RARE_CHEATS = frozenset(name for game in GAMES for name in game_info(game).rare_cheats)
CHEATING_PLAYERS: dict[str, HostilePlayer] = {
    name: make_cheating(name, game, cheat) for game, known in cheats.CHEATS.items() for name, cheat in known.items()
}
HOSTILE_PLAYERS: dict[str, HostilePlayer] = {  # in this process: each fault at each moment of each game
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
ODD_PLAYERS: dict[str, HostilePlayer] = {  # in this process: odd answers and odd exceptions, at any moment
    bad.name: bad
    for bad in (
        HostilePlayer(
            name="scribbles",
            about="changes its arguments",
            fault=Fault.CRASHED,
            moments=(TURN, GREETING, NEWS, END),
            make=lambda strategy, game, moment: LocalChannel(ScribblingPlayer(strategy, moment), game),
        ),
        *(
            make_misbehaving(f"raises {name}", f"raises {name}", Fault.CRASHED, behaviour, TURN, GREETING, NEWS, END)
            for name, behaviour in hostile_answers.HOSTILE_ERRORS.items()
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
REMOTE_PLAYERS: dict[str, HostilePlayer] = {it.name: make_remote(it) for it in MISBEHAVIOURS.values() if it.fault}
ALL_PLAYERS = {**HOSTILE_PLAYERS, **ODD_PLAYERS, **REMOTE_PLAYERS}
