"""Draw lots from a seed, so that the same seed always draws the same."""

import hmac
from collections.abc import MutableSequence
from hashlib import sha256, shake_256
from itertools import chain, count
from typing import Any

SEED_BYTES = 32
BLOCK = 136  # what SHAKE-256 squeezes out at once


def seed_from(text: str) -> bytes:
    """The seed that a person means: 64 hex digits as they are, anything else by its hash.

    >>> seed_from("7").hex()[:16]
    '1eb562fa446913c7'
    """
    if is_whole(text):
        return bytes.fromhex(text)
    return sha256(b"fairplay" + text.encode()).digest()


def is_whole(text: str) -> bool:
    """Is this text a whole seed? Anything shorter can be guessed."""
    return len(text) == 2 * SEED_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in text)


def derive(seed: bytes, purpose: str) -> bytes:
    """A seed for one purpose, from which the first cannot be found again."""
    return hmac.digest(seed, purpose.encode(), "sha256")


class Lots:
    """An endless stream of lots; fair, because what does not divide evenly is drawn again."""

    def __init__(self, seed: bytes) -> None:
        self._bytes = chain.from_iterable(shake_256(seed + n.to_bytes(8, "big")).digest(BLOCK) for n in count())

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, each as likely as the others."""
        width = (limit - 1).bit_length() + 7 >> 3 or 1
        fair = 256**width // limit * limit
        stream = self._bytes
        for number in stream:
            for _ in range(width - 1):
                number = number << 8 | next(stream)
            if number < fair:
                return number % limit
        raise AssertionError("the stream has no end")

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put the items into an order drawn from all orders (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, limit: int, size: int) -> list[int]:
        """So many different numbers from 0 to limit - 1."""
        numbers = list(range(limit))
        self.shuffle(numbers)
        return numbers[:size]
