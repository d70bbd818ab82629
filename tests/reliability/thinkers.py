"""Play slowly, so that there is time to be killed: thinking is work, not sleep."""

from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any

from fairplay.games import fish, q, title, tsuro
from tests.reliability.tables import AnyStrategy, progress

ROUNDS = 40_000  # of hashing per turn: some milliseconds
CHOICE = 40  # actions
ENOUGH = 30  # tiles on the map of Q, after which everybody passes


class Thinker:
    """Takes its time and then any of the first actions; which one follows from the view."""

    def take_turn(self, view: Any) -> Any:
        thought = b""
        for _ in range(ROUNDS):
            thought = sha256(thought).digest()
        return choice(view)


class Crasher(Thinker):
    """Raises once the match is some way on."""

    def take_turn(self, view: Any) -> Any:
        if progress(view) >= 9:
            raise RuntimeError("enough")
        return super().take_turn(view)


class Cheat(Thinker):
    """Answers nonsense once the match is some way on."""

    def take_turn(self, view: Any) -> Any:
        return {"type": "win"} if progress(view) >= 15 else super().take_turn(view)


class Stranger(Thinker):
    """Does not know how to greet."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> str:
        return "who are you?"


class Loser(Thinker):
    """Does not like to hear the result."""

    def end(self, result: Any) -> None:
        raise RuntimeError("a bad loser")


def choice(view: Any) -> Any:
    """An action of a house player, or one of the first that are legal: which one follows from the view."""
    far = progress(view)
    match view:
        case fish.View():
            rules: Any = fish.Fish()
        case tsuro.View():
            rules = tsuro.Tsuro()
        case _:
            return q.Pass() if far >= ENOUGH else house(("dag", "random", "ldasg")[far % 3])(view)
    actions = list(islice(rules.actions(view), CHOICE))
    return actions[7 * far % len(actions)]


@cache
def house(name: str) -> AnyStrategy:
    """A house player of Q."""
    strategy: AnyStrategy = title("q").house[name].make("", bytes(32))
    return strategy
