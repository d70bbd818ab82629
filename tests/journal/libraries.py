"""Fill folders with recorded matches of all games, for tests."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairplay import Game, Journal, Moment, Referee
from fairplay.games import title
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.journal.library import Query, find
from fairplay.journal.summary import Summary
from fairplay.testing.hostile import Misbehaving, raises
from tests.journal.journals import Beginning

AnyGame = Game[Any, Any, Any]
FISH, TSURO, Q_GAME = Fish(rows=4, columns=4), Tsuro(), Q()
Q_PLAYER = title("q").house["dag"].make("", bytes(32))
DAY = 24 * 3600.0
NOON = 20_000 * DAY + DAY / 2


def simple(game: AnyGame) -> Callable[[Any], Any]:
    if isinstance(game, Q):  # the simplest is to pass, and that is no match
        return Q_PLAYER
    return lambda view: next(game.actions(view))


def crashing(game: AnyGame, moment: Moment = Moment.TURN) -> Misbehaving:
    return Misbehaving(simple(game), moment, raises(RuntimeError))


def cheating(view: Any) -> Any:
    return {"type": "place", "at": [99, 99]}


def play(
    folder: Path,
    game: AnyGame,
    players: Sequence[Any],
    names: Sequence[str] = ("ann", "bob", "cyd", "dan"),
    addresses: Sequence[str] = (),
    at: float = NOON,
) -> Path:
    """A recorded match."""
    begin = Beginning(Journal(folder, now=lambda: at), players=addresses)
    Referee().run(game, players, names=names[: len(players)], seed=bytes(32), record=begin)
    return begin.path


def fill(folder: Path) -> Path:
    """One match of each game, a day between them; the first is a tie, in the others somebody is ejected."""
    good = simple(FISH)
    play(folder, FISH, [good, good], addresses=("greedy", "./bob.py"), at=NOON)
    play(folder, TSURO, [simple(TSURO), crashing(TSURO), simple(TSURO)], at=NOON + DAY)
    play(folder, Q_GAME, [crashing(Q_GAME, Moment.NEWS), simple(Q_GAME)], ("eve", "ann"), at=NOON + 2 * DAY)
    return folder


def of_game(folder: Path, game: str) -> Path:
    (one,) = find(folder, Query(game=game))
    return folder / one.file


def cut(path: Path, lines: int) -> bytes:
    """Leave the first lines of a file, and hand over what it was."""
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    return whole


def games(found: Sequence[Summary]) -> list[str]:
    return [one.game for one in found]


def ids(found: Sequence[Summary]) -> list[str]:
    return [one.id for one in found]


class Reading:
    """Stands by while journals are read, and counts."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, ids: Sequence[str]) -> Sequence[str]:
        self.read += ids
        return ids
