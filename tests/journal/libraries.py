"""Fill directories with recorded matches of all games, for tests."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fairplay import Game, Moment
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.journal.library import Query, find_matches
from fairplay.journal.record import Journal
from fairplay.journal.summary import Summary
from fairplay.referee.referee import Referee
from fairplay.testing.hostile import MisbehavingPlayer, raise_error
from tests.journal.journals import RecordFactory

AnyGame = Game[Any, Any, Any]
FISH, TSURO, Q_GAME = Fish(rows=4, columns=4), Tsuro(), Q()
Q_STRATEGY_FACTORY = game_info("q").built_in["dag"].make("", bytes(32))
DAY = 24 * 3600.0
NOON = 20_000 * DAY + DAY / 2


def first_action_strategy(game: AnyGame) -> Callable[[Any], Any]:
    if isinstance(game, Q):  # the simplest is to pass, and that is no match
        return Q_STRATEGY_FACTORY
    return lambda view: next(game.actions(view))


def crashing_player(game: AnyGame, moment: Moment = Moment.TURN) -> MisbehavingPlayer:
    return MisbehavingPlayer(first_action_strategy(game), moment, raise_error(RuntimeError))


def cheating_strategy(view: Any) -> Any:
    return {"type": "place", "at": [99, 99]}


def record_match(
    directory: Path,
    game: AnyGame,
    players: Sequence[Any],
    names: Sequence[str] = ("ann", "bob", "cyd", "dan"),
    addresses: Sequence[str] = (),
    at: float = NOON,
) -> Path:
    begin = RecordFactory(Journal(directory, now=lambda: at), players=addresses)
    Referee().run(game, players, names=names[: len(players)], seed=bytes(32), record=begin)
    return begin.path


def fill_directory(directory: Path) -> Path:
    """One match of each game, a day between them; the first is a tie, in the others somebody is ejected."""
    good = {game.name: first_action_strategy(game) for game in (FISH, TSURO, Q_GAME)}
    record_match(directory, FISH, [good["fish"]] * 2, addresses=("greedy", "./bob.py"))
    table = [good["tsuro"], crashing_player(TSURO), good["tsuro"]]
    record_match(directory, TSURO, table, at=NOON + DAY)
    table = [crashing_player(Q_GAME, Moment.NEWS), good["q"]]
    record_match(directory, Q_GAME, table, ("eve", "ann"), at=NOON + 2 * DAY)
    return directory


def journal_of_game(directory: Path, game: str) -> Path:
    (one,) = find_matches(directory, Query(game=game))
    return directory / one.file


def truncate_journal(path: Path, lines: int) -> bytes:
    """Leave the first lines of a file, and hand over what it was."""
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    return whole


def game_names(found: Sequence[Summary]) -> list[str]:
    return [one.game for one in found]


def match_ids(found: Sequence[Summary]) -> list[str]:
    return [one.id for one in found]


class ReadCounter:
    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, ids: Sequence[str]) -> Sequence[str]:
        self.read += ids
        return ids


@contextmanager
def open_index(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def execute_sql(*statements: str) -> Callable[[Path], object]:
    """Let these be executed in an index."""

    def execute(path: Path) -> None:
        with open_index(path) as connection:
            for statement in statements:
                connection.execute(statement)

    return execute
