"""Draw lots from a seed, so that the same seed always draws the same."""

import hashlib
import hmac
from collections.abc import MutableSequence
from typing import Any

SEED_BYTES = 32
BLOCK = 136  # what SHAKE-256 squeezes out at once


def seed_from(text: str) -> bytes:
    """The seed that a person means: 64 hex digits as they are, anything else by its hash.

    >>> seed_from("7").hex()[:16]
    '2a1c42d7d4dd5b6f'
    """
    if is_whole(text):
        return bytes.fromhex(text)
    return hashlib.sha256(b"fairplay" + text.encode()).digest()


def is_whole(text: str) -> bool:
    """Is this text a whole seed? Anything shorter can be guessed."""
    return len(text) == 2 * SEED_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in text)


def derive(seed: bytes, purpose: str) -> bytes:
    """A seed for one purpose, from which the first cannot be found again."""
    return hmac.digest(seed, purpose.encode(), "sha256")


class Lots:
    """An endless stream of lots; fair, because what does not divide evenly is drawn again."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._blocks = 0
        self._left: list[int] = []

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, each as likely as the others."""
        width = max(1, ((limit - 1).bit_length() + 7) // 8)
        fair = 256**width - 256**width % limit
        while True:
            number = 0
            for _ in range(width):
                number = number << 8 | self._byte()
            if number < fair:
                return number % limit

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put the items into an order drawn from all orders (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, limit: int, count: int) -> list[int]:
        """So many different numbers from 0 to limit - 1."""
        numbers = list(range(limit))
        self.shuffle(numbers)
        return numbers[:count]

    def _byte(self) -> int:
        if not self._left:
            block = hashlib.shake_256(self._seed + self._blocks.to_bytes(8, "big")).digest(BLOCK)
            self._blocks += 1
            self._left = list(reversed(block))
        return self._left.pop()
