"""Keep a shelf of bad players, each with the fault that it has to be ejected for."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairplay.core.events import Ejected, Fault, Result
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import Answer, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import Channel, Strategy
from fairplay.games.fish import actions as fish
from fairplay.games.q.actions import Action, Exchange, Place, Placement
from fairplay.games.q.board import position_of
from fairplay.games.q.draft import drafts
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.state import View
from fairplay.games.tsuro import actions as tsuro
from fairplay.referee.local import Local

AnyGame = Game[Any, Any, Any]
AnyStrategy = Strategy[Any, Any]
Cheat = Callable[[Any], Any]  # from a view to an illegal action; None: the cheat is impossible now

CALLS: dict[Moment, type[Message]] = {
    Moment.GREETING: Start,
    Moment.TURN: TakeTurn,
    Moment.NEWS: Tell,
    Moment.FAREWELL: End,
}
ONLY_IN = {Moment.NEWS: "q"}  # the other games have no news


class Bad(msgspec.Struct, frozen=True):
    """A kind of bad player: what it must be ejected for, and how it is seated; it plays by a strategy otherwise."""

    fault: Fault
    moment: Moment
    seat: Callable[[AnyStrategy, AnyGame], Channel]
    game: str = ""  # the only one it makes sense for; empty: all


class Misbehaving:
    """A player that does its work at one moment, and then something else as well."""

    def __init__(self, strategy: AnyStrategy, moment: Moment, deed: Callable[[], Any]) -> None:
        self._strategy = strategy
        self._moment = moment
        self._deed = deed

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        """Sit down."""
        return self._deed() if self._moment is Moment.GREETING else None

    def take_turn(self, view: Any) -> Any:
        """Play by the strategy."""
        action = self._strategy(view)
        return self._deed() if self._moment is Moment.TURN else action

    def tell(self, news: Any) -> Any:
        """Take the news."""
        return self._deed() if self._moment is Moment.NEWS else None

    def end(self, result: Result) -> Any:
        """Take leave."""
        return self._deed() if self._moment is Moment.FAREWELL else None


class Hanging:
    """A channel to a player that hangs on its n-th call of a moment; nobody has to wait for it."""

    def __init__(self, channel: Channel, moment: Moment, count: int = 1) -> None:
        self._channel = channel
        self._moment = moment
        self._left = count

    def ask(self, message: Message) -> Answer:
        """Pass it on, until it is the call to hang on."""
        if isinstance(message, CALLS[self._moment]):
            self._left -= 1
            if self._left == 0:
                return Failed(Fault.TIMED_OUT, "no answer in time")
        return self._channel.ask(message)

    def close(self, ejected: Ejected | None) -> None:
        """Pass it on."""
        self._channel.close(ejected)


def raises(error: type[BaseException]) -> Callable[[], Any]:
    """The deed of raising this."""

    def deed() -> Any:
        raise error("a bad day")

    return deed


def recurse() -> Any:
    """Call oneself until the stack is full."""
    return recurse()


def raising(moment: Moment, error: type[BaseException] = RuntimeError) -> Bad:
    """Raises at this moment, after it did its work."""
    return misbehaving(Fault.CRASHED, moment, raises(error))


def returning(moment: Moment, value: Any) -> Bad:
    """Returns this at this moment, where it makes no sense."""
    return misbehaving(Fault.MALFORMED, moment, lambda: value)


def misbehaving(fault: Fault, moment: Moment, deed: Callable[[], Any]) -> Bad:
    """Does this at this moment."""
    return Bad(
        fault,
        moment,
        lambda strategy, game: Local(Misbehaving(strategy, moment, deed), game),
        ONLY_IN.get(moment, ""),
    )


def hanging(moment: Moment) -> Bad:
    """Hangs at the first call of this moment."""
    return Bad(
        Fault.TIMED_OUT,
        moment,
        lambda strategy, game: Hanging(Local(strategy, game), moment),
        ONLY_IN.get(moment, ""),
    )


def cheating(game: str, cheat: Cheat) -> Bad:
    """Cheats on every turn on which it can, and plays by its strategy on the others."""
    return Bad(Fault.ILLEGAL, Moment.TURN, lambda strategy, rules: Local(cheater(cheat, strategy), rules), game)


def always(action: Any) -> Cheat:
    """The cheat of doing this, whatever the position is."""
    return lambda view: action


def cheater(cheat: Cheat, strategy: AnyStrategy) -> AnyStrategy:
    """The strategy with a cheat before it."""
    return lambda view: cheat(view) or strategy(view)


# The cheats of the Q course.


def not_adjacent(view: View) -> Action:
    """A tile where no other is near."""
    row = max(position_of(cell)[0] for cell in view.map.tiles) + 2
    return one_tile(view.hand[0] if view.hand else 0, (row, 0))


def not_owned(view: View) -> Action | None:
    """A tile that is not in the hand, where it fits if it does anywhere."""
    others = [kind for kind in range(len(NAMES)) if kind not in view.hand]
    if not others:
        return None
    edge, frontier = view.map.edge, view.map.frontier
    places = ((kind, cell) for cell in edge for kind in others if frontier[cell] >> kind & 1)
    kind, cell = next(places, (others[0], edge[0]))
    return one_tile(kind, position_of(cell))


def not_a_line(view: View) -> Action | None:
    """Tiles that all fit, the last one beside the line."""
    for draft in drafts(view) if len(view.hand) > 1 else ():
        extended = draft.map
        for cell in extended.edge:
            if not draft.is_in_line(position_of(cell)):
                for kind in draft.hand:
                    if extended.frontier[cell] >> kind & 1:
                        return draft.plus(cell, kind).action
    return None


def bad_exchange(view: View) -> Action | None:
    """An exchange for more tiles than are left."""
    return Exchange() if view.left < len(view.hand) else None


def no_fit(view: View) -> Action | None:
    """A tile of the hand where it does not fit."""
    for cell in view.map.edge:
        for kind in view.hand:
            if not view.map.frontier[cell] >> kind & 1:
                return one_tile(kind, position_of(cell))
    return None


def one_tile(kind: int, at: tuple[int, int]) -> Place:
    """A placement of a single tile."""
    return Place((Placement(NAMES[kind], at),))


Q_CHEATS: dict[str, Cheat] = {
    "non-adjacent-coordinate": not_adjacent,
    "tile-not-owned": not_owned,
    "not-a-line": not_a_line,
    "bad-ask-for-tiles": bad_exchange,
    "no-fit": no_fit,
}

SHELF: dict[str, Bad] = {
    **{f"raises in the {moment.value}": raising(moment) for moment in Moment},
    **{f"hangs in the {moment.value}": hanging(moment) for moment in Moment},
    "exits": raising(Moment.TURN, SystemExit),
    "recurses for ever": misbehaving(Fault.CRASHED, Moment.TURN, recurse),
    "answers nothing": returning(Moment.TURN, None),
    "answers junk": returning(Moment.TURN, "junk"),
    "answers an action of no game": returning(Moment.TURN, {"type": "win"}),
    "answers an object": returning(Moment.TURN, object()),
    **{
        f"answers in the {moment.value}": returning(moment, "thanks")
        for moment in (Moment.GREETING, Moment.NEWS, Moment.FAREWELL)
    },
    "places far away in fish": cheating("fish", always(fish.Place((10**6, -(10**6))))),
    "places far away in tsuro": cheating("tsuro", always(tsuro.Place(0, 0, "A", (10**6, -(10**6))))),
    "places far away in q": cheating("q", lambda view: one_tile(view.hand[0], (10**6, -(10**6)))),
    "places nothing in q": cheating("q", always(Place(()))),
    **{f"cheats: {name}": cheating("q", cheat) for name, cheat in Q_CHEATS.items()},
}
