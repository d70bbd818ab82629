"""Play slowly, so that there is time to be killed: thinking is work, not sleep."""

from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any

from fairplay.games import fish, game_info, q, tsuro
from tests.reliability.tables import AnyStrategy, match_progress

HASH_ROUNDS = 40_000  # of hashing per turn: some milliseconds
MAX_CHOICES = 40  # actions
MAX_Q_TILES = 30  # tiles on the map of Q, after which all players pass


class Thinker:
    """Takes its time and then any of the first actions; which one follows from the view."""

    def take_turn(self, view: Any) -> Any:
        thought = b""
        for _ in range(HASH_ROUNDS):
            thought = sha256(thought).digest()
        return choose_action(view)


class Crasher(Thinker):
    """Raises once the match is some way on."""

    def take_turn(self, view: Any) -> Any:
        if match_progress(view) >= 9:
            raise RuntimeError("enough")
        return super().take_turn(view)


class Cheat(Thinker):
    """Answers nonsense once the match is some way on."""

    def take_turn(self, view: Any) -> Any:
        return {"type": "win"} if match_progress(view) >= 15 else super().take_turn(view)


class FailsAtGreeting(Thinker):
    """Does not know how to greet."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> str:
        return "who are you?"


class FailsAtEnd(Thinker):
    """Does not like to hear the result."""

    def end(self, result: Any) -> None:
        raise RuntimeError("a bad loser")


def choose_action(view: Any) -> Any:
    """An action of a built-in player, or one of the first that are legal: which one follows from the view."""
    far = match_progress(view)
    match view:
        case fish.View():
            rules: Any = fish.Fish()
        case tsuro.View():
            rules = tsuro.Tsuro()
        case _:
            return q.Pass() if far >= MAX_Q_TILES else built_in_q_player(("dag", "random", "ldasg")[far % 3])(view)
    actions = list(islice(rules.actions(view), MAX_CHOICES))
    return actions[7 * far % len(actions)]


@cache
def built_in_q_player(name: str) -> AnyStrategy:
    """A built-in player of Q."""
    strategy: AnyStrategy = game_info("q").built_in[name].make("", bytes(32))
    return strategy
