"""Define the matches and players of the meters: built-in, bad without memory, and slow ones that can be killed."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.chance import derive_seed
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match
from fairplay.games import fish, game_info, make_game, q, tsuro
from fairplay.games.tsuro.board import EMPTY
from fairplay.players.address import open_player
from fairplay.referee.referee import new_match_id

AnyMatch = Match[Any, Any, Any]
AnyStrategy = Callable[[Any], Any]
Misbehaviour = tuple[Moment, str, int]  # when; raises, answers or cheats; how far a match (or how long news) must be
GREETING, TURN, NEWS, END = Moment
CHEATS: dict[str, Any] = {  # what is never legal
    "fish": fish.Place((99, 99)),
    "tsuro": tsuro.Place(0, 0, "A", (99, 99)),
    "q": q.Place(()),
}


class MeterTable(msgspec.Struct, frozen=True):
    """Who plays what; a match is the same whenever it is played with the same seed, and however often it is resumed."""

    game: str
    parameters: dict[str, Any]
    players: tuple[str, ...]  # built-in ones
    bad: dict[Seat, Misbehaviour] = {}
    enough: int = 10**6  # of Q: tiles on the map, after which all players pass
    pile: int | None = None  # of Q: so few tiles are left at the start, in a state made by hand

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{'abcde'[seat]}-{name}" for seat, name in enumerate(self.players))

    def begin(self, seed: bytes) -> AnyMatch:
        game = make_game(self.game, self.parameters)
        state = game.deal(len(self.players), seed)
        if self.pile is None:
            return Match(game, state, self.names, seed=seed, id=new_match_id())
        return Match(game, msgspec.structs.replace(state, pile=state.pile[: self.pile]), self.names, id=new_match_id())

    def player(self, seat: Seat, seed: bytes) -> "MisbehavingPlayer":
        strategy: Any = open_player(self.players[seat], game_info(self.game), derive_seed(seed, f"seat {seat}"))
        return MisbehavingPlayer(strategy, self.bad.get(seat), CHEATS[self.game], self.enough)


class MisbehavingPlayer:
    """Plays by a strategy and misbehaves as it is meant to; it remembers nothing, so it can be replaced at any time."""

    def __init__(self, strategy: AnyStrategy, bad: Misbehaviour | None, cheat: Any, enough: int) -> None:
        self._strategy = strategy
        self._bad = bad
        self._cheat = cheat
        self._enough = enough

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        return self._misbehave(GREETING, 0)

    def take_turn(self, view: Any) -> Any:
        far = match_progress(view)
        deed = self._misbehave(TURN, far)
        if deed is not None:
            return deed
        return q.Pass() if far >= self._enough else self._strategy(view)

    def tell(self, news: Any) -> Any:
        return self._misbehave(NEWS, sum(map(len, news)))

    def end(self, result: Any) -> Any:
        return self._misbehave(END, 0)

    def _misbehave(self, at: Moment, far: int) -> Any:
        moment, behaviour, after = self._bad or (None, "", 0)
        if moment is not at or far < after:
            return None
        if behaviour == "raises":
            raise RuntimeError("a bad day")
        return self._cheat if behaviour == "cheats" else "junk"


def match_progress(view: Any) -> int:
    """How far a match has come: tiles that are gone or taken in Fish, tiles on the board in the other games."""
    match view:
        case fish.View():
            state = view.state
            return state.grid.rows * state.grid.columns - state.free.bit_count()
        case tsuro.View():
            return len(view.table.board) - view.table.board.count(EMPTY)
        case _:
            return len(view.map.tiles)


SMALL = {"rows": 4, "columns": 4}
TABLES = (
    MeterTable("fish", {"rows": 3, "columns": 4}, ("random", "greedy"), {0: (END, "raises", 0)}),
    MeterTable("tsuro", {"size": 3}, ("first", "second", "random"), {1: (END, "answers", 0)}),
    MeterTable("q", {}, ("random", "dag"), {1: (NEWS, "raises", 13)}, enough=12),
    MeterTable("fish", SMALL, ("greedy", "random", "lookahead:1"), {1: (TURN, "raises", 10)}),
    MeterTable(
        "tsuro",
        {"size": 4},
        ("survivor", "random", "third", "second"),
        {1: (TURN, "raises", 5), 3: (GREETING, "answers", 0)},
    ),
    MeterTable(
        "q",
        {"q_bonus": 0},
        ("ldasg", "random", "dag"),
        {0: (GREETING, "raises", 0), 2: (NEWS, "answers", 12)},
        enough=10,
    ),
    MeterTable(
        "fish",
        {**SMALL, "colours": "random"},
        ("greedy", "random", "greedy", "random"),
        {0: (GREETING, "raises", 0), 1: (TURN, "cheats", 9), 2: (END, "answers", 0)},
    ),
    MeterTable(
        "tsuro", {"size": 4}, ("survivor", "survivor", "random"), {0: (TURN, "cheats", 3), 1: (END, "raises", 0)}
    ),
    MeterTable("q", {}, ("ldasg", "random"), {0: (NEWS, "raises", 14)}, pile=9, enough=14),
    MeterTable(
        "fish",
        {"rows": 3, "columns": 5, "holes": 1},
        ("lookahead:2", "random"),
        {0: (TURN, "answers", 10), 1: (END, "raises", 0)},
    ),
    MeterTable(
        "tsuro",
        {"size": 5, "tiles": "cycle"},
        ("second", "third", "second"),
        dict.fromkeys(range(3), (END, "raises", 0)),
    ),
    MeterTable(
        "q",
        {"finish_bonus": 6},
        ("dag", "random", "ldasg", "dag"),
        {0: (TURN, "cheats", 4), 1: (NEWS, "raises", 11), 3: (END, "answers", 0)},
        pile=12,
        enough=12,
    ),
)


# Slow players, which work rather than sleep.


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
    def take_turn(self, view: Any) -> Any:
        if match_progress(view) >= 9:
            raise RuntimeError("enough")
        return super().take_turn(view)


class Cheat(Thinker):
    def take_turn(self, view: Any) -> Any:
        return {"type": "win"} if match_progress(view) >= 15 else super().take_turn(view)


class FailsAtGreeting(Thinker):
    def start(self, seat: int, names: tuple[str, ...], view: Any) -> str:
        return "who are you?"


class FailsAtEnd(Thinker):
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
    strategy: AnyStrategy = game_info("q").built_in[name].make("", bytes(32))
    return strategy
