"""Define the matches that the meters play: every game, built-in players, and bad players without memory."""

from collections.abc import Callable
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
GREETING, TURN, NEWS, END = Moment
CHEATS: dict[str, Any] = {  # what is never legal
    "fish": fish.Place((99, 99)),
    "tsuro": tsuro.Place(0, 0, "A", (99, 99)),
    "q": q.Place(()),
}


class Misbehaviour(msgspec.Struct, frozen=True):
    """How a player misbehaves: at this moment, once the match is that far; on news, once there is so much of it."""

    moment: Moment
    behaviour: str  # raises, answers or cheats
    after: int = 0


class MeterTable(msgspec.Struct, frozen=True):
    """Who plays what; a match is the same whenever it is played with the same seed, and however often it is resumed."""

    game: str
    parameters: dict[str, Any]
    players: tuple[str, ...]  # of the server
    bad: dict[Seat, Misbehaviour] = {}
    enough: int = 10**6  # of Q: tiles on the map, after which all players pass
    pile: int | None = None  # of Q: so few tiles are left at the start, in a state made by hand

    @property
    def names(self) -> tuple[str, ...]:
        """By seat."""
        return tuple(f"{'abcde'[seat]}-{name}" for seat, name in enumerate(self.players))

    def begin(self, seed: bytes) -> AnyMatch:
        """The match before anything has happened."""
        game = make_game(self.game, self.parameters)
        state = game.deal(len(self.players), seed)
        if self.pile is None:
            return Match(game, state, self.names, seed=seed, id=new_match_id())
        return Match(game, msgspec.structs.replace(state, pile=state.pile[: self.pile]), self.names, id=new_match_id())

    def player(self, seat: Seat, seed: bytes) -> "MisbehavingPlayer":
        """A fresh player."""
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

    def _misbehave(self, moment: Moment, far: int) -> Any:
        bad = self._bad
        if bad is None or bad.moment is not moment or far < bad.after:
            return None
        if bad.behaviour == "raises":
            raise RuntimeError("a bad day")
        return self._cheat if bad.behaviour == "cheats" else "junk"


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


TABLES = (
    MeterTable("fish", {"rows": 3, "columns": 4}, ("random", "greedy"), {0: Misbehaviour(END, "raises")}),
    MeterTable("tsuro", {"size": 3}, ("first", "second", "random"), {1: Misbehaviour(END, "answers")}),
    MeterTable("q", {}, ("random", "dag"), {1: Misbehaviour(NEWS, "raises", after=13)}, enough=12),
    MeterTable(
        "fish",
        {"rows": 4, "columns": 4},
        ("greedy", "random", "lookahead:1"),
        {1: Misbehaviour(TURN, "raises", after=10)},
    ),
    MeterTable(
        "tsuro",
        {"size": 4},
        ("survivor", "random", "third", "second"),
        {1: Misbehaviour(TURN, "raises", after=5), 3: Misbehaviour(GREETING, "answers")},
    ),
    MeterTable(
        "q",
        {"q_bonus": 0},
        ("ldasg", "random", "dag"),
        {0: Misbehaviour(GREETING, "raises"), 2: Misbehaviour(NEWS, "answers", after=12)},
        enough=10,
    ),
    MeterTable(
        "fish",
        {"rows": 4, "columns": 4, "colours": "random"},
        ("greedy", "random", "greedy", "random"),
        {
            0: Misbehaviour(GREETING, "raises"),
            1: Misbehaviour(TURN, "cheats", after=9),
            2: Misbehaviour(END, "answers"),
        },
    ),
    MeterTable(
        "tsuro",
        {"size": 4},
        ("survivor", "survivor", "random"),
        {0: Misbehaviour(TURN, "cheats", after=3), 1: Misbehaviour(END, "raises")},
    ),
    MeterTable("q", {}, ("ldasg", "random"), {0: Misbehaviour(NEWS, "raises", after=14)}, pile=9, enough=14),
    MeterTable(
        "fish",
        {"rows": 3, "columns": 5, "holes": 1},
        ("lookahead:2", "random"),
        {0: Misbehaviour(TURN, "answers", after=10), 1: Misbehaviour(END, "raises")},
    ),
    MeterTable(
        "tsuro",
        {"size": 5, "tiles": "cycle"},
        ("second", "third", "second"),
        {seat: Misbehaviour(END, "raises") for seat in range(3)},
    ),
    MeterTable(
        "q",
        {"finish_bonus": 6},
        ("dag", "random", "ldasg", "dag"),
        {
            0: Misbehaviour(TURN, "cheats", after=4),
            1: Misbehaviour(NEWS, "raises", after=11),
            3: Misbehaviour(END, "answers"),
        },
        pile=12,
        enough=12,
    ),
)
