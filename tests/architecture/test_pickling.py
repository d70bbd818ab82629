"""Check that every struct, exception and position can be pickled."""

import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

import fairplay
from fairplay.core.chance import SeededRandom
from fairplay.core.match import Match
from fairplay.games import GAMES, game_info
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.listener import ConnectedPlayer
from fairplay.testing.hostile_answers import IndescribableError, InvalidTextError
from fairplay.testing.laws import LawInputs
from fairplay.testing.playouts import Position, Sampling, playout
from tests.architecture.type_examples import NoExample, example_of
from tests.journal.libraries import FISH, first_action_strategy, record_match, truncate_journal
from tests.nonempty import nonempty

STAYS: dict[type, str] = {  # what is not meant to leave its process, and why
    ConnectedPlayer: "it holds a connection",
    Sampling: "it draws from a stream of random numbers that must not be shared",
    LawInputs: "it has a Sampling",
    InvalidTextError: "it is as bad as an exception can be",
    IndescribableError: "it is as bad as an exception can be",
}


Crossing = (msgspec.Struct, BaseException)


def ours() -> Iterator[type]:
    """Every struct and every exception that a module of ours defines."""
    for found in pkgutil.walk_packages(fairplay.__path__, "fairplay."):
        if found.name.endswith("__main__"):
            continue
        for kind in vars(import_module(found.name)).values():
            if isinstance(kind, type) and kind.__module__ == found.name and issubclass(kind, Crossing):
                yield kind


KINDS = [kind for kind in ours() if kind not in STAYS and not isabstract(kind)]


class Plain(pickle.Pickler):
    """Pickles as Python does by itself, whatever libraries are loaded that teach it more."""

    dispatch_table: dict[Any, Any] = {}  # noqa: RUF012  # it is the library's


def again(value: Any) -> Any:
    text = BytesIO()
    Plain(text).dump(value)
    return pickle.loads(text.getvalue())


def held(value: Any) -> Any:
    """What is to be compared: an exception is equal to nothing but itself."""
    return (type(value), str(value), value.args, vars(value)) if isinstance(value, BaseException) else value


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_an_example_of_each_class_survives_pickle(kind: type) -> None:
    example = example_of(kind)

    assert held(again(example)) == held(example)


def test_all_values_that_cross_processes_were_found() -> None:
    names = {kind.__name__ for kind in KINDS}

    assert len(KINDS) > 100
    assert names >= {
        "Acted",
        "BadJournal",
        "ConnectionClosed",
        "Fish",
        "InUse",
        "Limits",
        "Match",
        "RecordedMatch",
        "Unfinished",
    }


def test_a_class_without_an_example_is_detected() -> None:
    class Strange:
        pass

    class Holding(msgspec.Struct):
        strange: Strange

    with pytest.raises(NoExample, match="Strange"):
        example_of(Holding)


@pytest.mark.parametrize("kind", STAYS, ids=lambda kind: kind.__name__)
def test_classes_declared_as_local_are_not_pickled(kind: type) -> None:
    with pytest.raises((TypeError, AssertionError, NoExample)):
        held(again(example_of(kind)))


# Positions.


def positions(game: str) -> list[Position]:
    rules = game_info(game).rules()
    seats = rules.seats[0]
    match: Match[Any, Any, Any] = Match(rules, rules.deal(seats, bytes(32)), tuple(f"p{seat}" for seat in range(seats)))
    return playout(match, Sampling(SeededRandom(bytes(32)), 1000, 20), game)[::7]


each_game = pytest.mark.parametrize("game", GAMES)


@each_game
def test_pickled_positions_give_the_same_answers(game: str) -> None:
    for position in nonempty(positions(game)):
        match = again(position.match)

        assert match == position.match
        assert match.result == position.match.result
        for seat in (*range(len(match.names)), None):
            view = again(position.match.view(seat))
            assert view == position.match.view(seat)
            if seat is not None and seat == match.turn:
                some_actions = list(islice(match.game.actions(view), 50))
                assert some_actions == list(islice(match.game.actions(position.match.view(seat)), 50))


def test_the_tables_of_a_board_are_shared_and_not_sent() -> None:
    for game, most in (("fish", 400), ("tsuro", 1200)):
        for position in nonempty(positions(game)):
            shown = position.match.view(0)
            board = getattr(shown, "state", None) or shown.table
            came = again(shown)

            assert (getattr(came, "state", None) or came.table).grid is board.grid
            assert len(pickle.dumps(shown)) < most


def test_a_pickled_map_keeps_its_frontier() -> None:
    for position in nonempty(positions("q")):
        sent = position.match.state.map
        came = again(sent)

        assert (came.tiles, came.frontier, came.edge) == (sent.tiles, sent.frontier, sent.edge)
        with pytest.raises(AttributeError):
            came.tiles = {}


# A pool.

POOL = """
import sys
from concurrent.futures import ProcessPoolExecutor

from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify


def check(path):
    return verify(read_journal(path))


if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        for path in sys.argv[1:]:
            asked = pool.submit(check, path)
            error = asked.exception()
            print(asked.result().result.ranking if error is None else f"{type(error).__name__}: {error}")
"""


def test_bad_journals_are_raised_across_a_process_pool_which_continues(tmp_path: Path) -> None:
    good, cut_short = (record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2) for _ in range(2))
    truncate_journal(cut_short, 4)
    edited, pool = tmp_path / "edited.jsonl", tmp_path / "pool.py"
    edited.write_bytes(good.read_bytes().replace(b'"seq":3', b'"seq":4'))
    pool.write_text(POOL)

    done = subprocess.run(  # in a process of its own, for a pool may leave a tracker of resources behind
        [sys.executable, pool, edited, cut_short, tmp_path / "nowhere.jsonl", good],
        capture_output=True,
        text=True,
        check=True,
    )

    damaged, unfinished, nowhere, fine = done.stdout.splitlines()
    assert damaged.startswith("BadJournal: line 4 (byte ")
    assert unfinished == "Unfinished: unfinished after fact 2"
    assert nowhere.startswith("BadJournal: ")
    assert fine == str(verify(read_journal(good)).result.ranking)
