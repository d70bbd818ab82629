"""Run many random playouts of a position, in several threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from math import ceil
from typing import Any

from fairplay.core.chance import derive_seed
from fairplay.core.errors import BadRequest
from fairplay.core.game import Game

MAX_BATCH_PLAYOUTS = 2000  # Ctrl-C is noticed between batches


def playouts(game: Game[Any, Any, Any], state: Any, n: int, seed: bytes, threads: int = 1) -> list[tuple[int, ...]]:
    """The scores by seat at the end of n playouts of a state, with random actions (`Game.random_action`).

    The same seed gives the same scores in any number of threads. Threads are faster only where a kernel plays.
    Ejected seats keep their scores.

    >>> from fairplay.games.fish import Fish
    >>> fish = Fish(rows=5, columns=5)
    >>> scores = playouts(fish, fish.deal(2, bytes(32)), 100, bytes(32), threads=2)
    >>> len(scores), len(scores[0])
    (100, 2)
    """
    if n < 0 or threads < 1:
        raise BadRequest(f"cannot run {n} playouts in {threads} threads: both must be positive")
    key, batches = derive_seed(seed, "playouts"), split_batches(n, threads)
    if threads == 1:
        return list(chain.from_iterable(game.playouts(state, numbers, key) for numbers in batches))
    pool = ThreadPoolExecutor(threads)
    try:
        return list(chain.from_iterable(pool.map(lambda numbers: game.playouts(state, numbers, key), batches)))
    finally:
        pool.shutdown(cancel_futures=True)


def split_batches(n: int, threads: int) -> Iterator[range]:
    """Split the numbers from 0 to n - 1 into batches, the same number of batches for each thread.

    >>> [len(numbers) for numbers in split_batches(10_000, threads=2)]
    [1667, 1667, 1667, 1667, 1667, 1665]
    """
    turns = ceil(n / (threads * MAX_BATCH_PLAYOUTS)) or 1
    size = ceil(n / (threads * turns)) or 1
    return (range(start, min(start + size, n)) for start in range(0, n, size))
