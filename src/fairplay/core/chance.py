"""Draw lots from a seed, so that the same seed always draws the same."""

import hmac
from collections.abc import MutableSequence
from functools import cache
from hashlib import sha256, shake_256
from itertools import chain, count, islice
from typing import Any

SEED_BYTES = 32
MASK_64 = 2**64 - 1
BLOCK_BYTES = 136  # what SHAKE-256 squeezes out at once


def seed_from_text(text: str) -> bytes:
    """The seed that a person means: 64 hex digits as they are, anything else by its hash.

    >>> seed_from_text("7").hex()[:16]
    '1eb562fa446913c7'
    """
    if is_full_seed(text):
        return bytes.fromhex(text)
    return sha256(b"fairplay" + text.encode()).digest()


def is_full_seed(text: str) -> bool:
    """Is this text a whole seed? Anything shorter can be guessed."""
    return len(text) == 2 * SEED_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in text)


def seed_commitment(seed: bytes, match_id: str) -> str:
    """What is published before a match: it binds the host to the seed, and does not tell it.

    The id of the match goes into it, so that nobody can tell whether two matches are dealt from one seed.

    >>> seed_commitment(bytes(32), "a")[:16], seed_commitment(bytes(32), "b")[:16]
    ('41a0370c3d9f4277', '7ec8020a087ee172')
    """
    return sha256(seed + match_id.encode()).hexdigest()


def derive_seed(seed: bytes, purpose: str) -> bytes:
    """A seed for one purpose, from which the first cannot be found again."""
    return hmac.digest(seed, purpose.encode(), "sha256")


class SeededRandom:
    """An endless stream of lots; fair, because what does not divide evenly is drawn again."""

    def __init__(self, seed: bytes) -> None:
        self._bytes = chain.from_iterable(shake_256(seed + n.to_bytes(8, "big")).digest(BLOCK_BYTES) for n in count())

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, each as likely as the others."""
        width = (limit - 1).bit_length() + 7 >> 3 or 1
        fair = 256**width // limit * limit
        while (number := int.from_bytes(islice(self._bytes, width), "big")) >= fair:
            pass
        return number % limit

    def numbers(self, size: int, limit: int) -> list[int]:
        """So many numbers from 0 to limit - 1, as `below` draws them one by one; a limit up to 256 goes fastest."""
        if limit > 256:
            return [self.below(limit) for _ in range(size)]
        remainders, unfair = _remainders(limit)
        drawn = b""
        while len(drawn) < size:
            drawn += bytes(islice(self._bytes, size - len(drawn))).translate(remainders, unfair)
        return list(drawn)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put the items into an order drawn from all orders (Fisher and Yates)."""
        draw = self._bytes.__next__
        for last in range(len(items) - 1, 0, -1):
            limit = last + 1
            if limit <= 256:  # as in `below`, with one byte and two bytes written out: whole decks are drawn like that
                while (other := draw()) >= 256 // limit * limit:
                    pass
            elif limit <= 65536:
                while (other := draw() << 8 | draw()) >= 65536 // limit * limit:
                    pass
            else:
                other = self.below(limit)
            other %= limit
            items[last], items[other] = items[other], items[last]

    def sample(self, limit: int, size: int) -> list[int]:
        """So many different numbers from 0 to limit - 1."""
        numbers = list(range(limit))
        self.shuffle(numbers)
        return numbers[:size]


class Dice:
    """Numbers for playouts, quick instead of unpredictable: SplitMix64, from another start for each number."""

    def __init__(self, seed: bytes, number: int) -> None:
        self._state = _mix(int.from_bytes(seed[:8], "little") + number)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; of a small limit each is as likely as the others."""
        self._state = self._state + 0x9E3779B97F4A7C15 & MASK_64
        return (_mix(self._state) >> 32) * limit >> 32


def _mix(number: int) -> int:
    number &= MASK_64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK_64
    return number ^ number >> 31


@cache
def _remainders(limit: int) -> tuple[bytes, bytes]:
    """What each byte is drawn as, and those bytes that are drawn again."""
    return bytes(byte % limit for byte in range(256)), bytes(range(256 // limit * limit, 256))
