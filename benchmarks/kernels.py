"""Compare the speed of the kernels in C with that of Python, and measure the cost of playouts."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from fairplay import Game, playouts
from fairplay.core.chance import Dice, derive_seed, seed_from_text
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.fish import kernel as fish_kernel
from fairplay.games.fish import search as fish_search
from fairplay.games.fish.state import PLAYING
from fairplay.games.q import Q
from fairplay.games.q import kernel as q_kernel
from fairplay.games.q import search as q_search
from fairplay.games.q.pieces import FINISH_BONUS, Q_BONUS
from fairplay.games.tsuro import Tsuro, outlook
from fairplay.games.tsuro import kernel as tsuro_kernel
from fairplay.games.tsuro.board import prospect
from fairplay.games.tsuro.state import PLACING
from fairplay.kernels import kernels, unavailable_reason

ROUNDS = 5  # of each side, in turns; the best round counts
POSITIONS, POSITION_INTERVAL = 60, 7  # of each game, and turns between them
REPEATS = 20  # in a round, of calls that are so short that a pause of the machine would show
PLAYOUTS = 20_000
COUNTED_PLAYOUTS = 200  # to count the moves of a playout

AnyGame = Game[Any, Any, Any]
Answer = Callable[[Any], object]


class Pair(NamedTuple):
    """A function in Python and in C, and views as arguments."""

    in_python: Answer
    in_c: Answer
    views: Sequence[Any]


def sample_views(game: AnyGame, seats: int, asked: Callable[[Any], bool]) -> list[Any]:
    """Views from whole matches of random players, in which the question applies."""
    choose, views, number = game_info(game.name).built_in["random"].make("", seed_from_text("key")), list[Any](), 0
    while len(views) < POSITION_INTERVAL * POSITIONS:
        state = game.deal(seats, seed_from_text(f"{number}"))
        number += 1
        while (seat := game.turn(state)) is not None:
            view = game.view(state, seat)
            if next(game.actions(view), None) is None:
                break
            if asked(view):
                views.append(view)
            state = game.apply(state, choose(view))
    return views[: POSITION_INTERVAL * POSITIONS : POSITION_INTERVAL]


def lay_uncached(view: Any) -> object:
    """The answer of Python without its cache."""
    prospect.cache_clear()
    return outlook.best_lay(view)


def search(best_move: Callable[[Any, int, int], object], turns: int, view: Any) -> object:
    """The answer of a search of Fish."""
    return best_move(view.state, view.seat, turns)


def function_pairs() -> dict[str, Pair]:
    """The functions that exist in both languages."""
    fish = sample_views(Fish(), 2, lambda view: view.state.stage is PLAYING)
    tsuro = sample_views(Tsuro(), 4, lambda view: view.table.stage is not PLACING)
    q = sample_views(Q(), 2, lambda view: True)
    looking = {
        f"lookahead:{turns}": Pair(
            partial(search, fish_search.best_move, turns),
            partial(search, fish_kernel.best_move, turns),
            fish,
        )
        for turns in (1, 2, 3)
    }
    best = Pair(
        lambda view: q_search.best_draft(view, Q_BONUS, FINISH_BONUS),
        lambda view: q_kernel.best_draft(view, Q_BONUS, FINISH_BONUS),
        q,
    )
    return {**looking, "survivor": Pair(lay_uncached, tsuro_kernel.best_lay, tsuro), "best": best}


def time_answers(answer: Answer, views: Sequence[Any]) -> float:
    """The processor time of an answer, in seconds."""
    since = time.process_time()
    for view in views:
        answer(view)
    return (time.process_time() - since) / len(views)


def compare_functions(rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds for an answer in Python and in C, and their ratio."""
    figures = {}
    for name, pair in function_pairs().items():
        in_python = in_c = float("inf")
        for _ in range(rounds):
            in_python = min(in_python, time_answers(pair.in_python, pair.views) * 1e6)
            for _ in range(REPEATS):
                in_c = min(in_c, time_answers(pair.in_c, pair.views) * 1e6)
        figures[name] = {"python": round(in_python, 1), "c": round(in_c, 2), "ratio": round(in_python / in_c, 1)}
    return figures


def run_batch(game: AnyGame, threads: int) -> Callable[[], int]:
    """Run random playouts from the start on so many threads, and return about how many moves they had."""
    state, seed = game.deal(2, bytes(32)), bytes(32)
    moves = sum(
        count_moves(game, state, Dice(derive_seed(seed, "playouts"), number)) for number in range(COUNTED_PLAYOUTS)
    )

    def run() -> int:
        playouts(game, state, PLAYOUTS, seed, threads)
        return moves * PLAYOUTS // COUNTED_PLAYOUTS

    return run


def time_playouts(game: AnyGame, rounds: int) -> dict[str, float]:
    """Nanoseconds for a move of a playout from the start, on one thread and on two, and the ratio of the two."""
    runs = {threads: run_batch(game, threads) for threads in (1, 2)}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for threads, run in runs.items():
            since = time.perf_counter()
            moves = run()
            best[threads] = min(best[threads], (time.perf_counter() - since) / moves * 1e9)
    return {"one": round(best[1], 1), "two": round(best[2], 1), "ratio": round(best[1] / best[2], 2)}


def count_moves(game: AnyGame, state: Any, dice: Dice) -> int:
    """The mean number of moves of a playout."""
    moves = 0
    while (seat := game.turn(state)) is not None:
        state = game.apply(state, game.random_action(game.view(state, seat), dice))
        moves += 1
    return moves


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="how often each is measured")
    asked = parser.parse_args()
    if kernels is None:
        sys.exit(f"there are no kernels to measure: {unavailable_reason}")
    answers = compare_functions(asked.rounds)
    boards = {f"fish.{side}x{side}": time_playouts(Fish(rows=side, columns=side), 3 * asked.rounds) for side in (5, 8)}
    if asked.json:
        json.dump({"answers": answers, "playouts": boards}, sys.stdout)
        print()
        return
    print(f"{'us for an answer':<18}{'Python':>10}{'C':>10}{'ratio':>8}")
    for name, figure in answers.items():
        print(f"{name:<18}{figure['python']:>10.1f}{figure['c']:>10.2f}{figure['ratio']:>8.1f}")
    print(f"\n{'ns for a move':<18}{'1 thread':>10}{'2 threads':>10}{'ratio':>8}")
    for name, figure in boards.items():
        print(f"{name:<18}{figure['one']:>10.1f}{figure['two']:>10.1f}{figure['ratio']:>8.2f}")


if __name__ == "__main__":
    main()
