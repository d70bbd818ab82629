"""Draw random numbers from a seed: the same seed always gives the same numbers."""

import hmac
from collections.abc import MutableSequence
from functools import cache
from hashlib import sha256, shake_256
from itertools import chain, count, islice
from typing import Any

SEED_BYTES = 32
MASK_64 = 2**64 - 1
BLOCK_BYTES = 136  # the output block of SHAKE-256


def seed_from_text(text: str) -> bytes:
    """The seed of a text: 64 hex digits are the seed itself, any other text is hashed.

    >>> seed_from_text("7").hex()[:16]
    '1eb562fa446913c7'
    """
    if is_full_seed(text):
        return bytes.fromhex(text)
    return sha256(b"fairplay" + text.encode()).digest()


def is_full_seed(text: str) -> bool:
    """Is this text a whole seed? A shorter one can be guessed."""
    return len(text) == 2 * SEED_BYTES and all(digit in "0123456789abcdefABCDEF" for digit in text)


def seed_commitment(seed: bytes, match_id: str) -> str:
    """The commitment that is published before a match: it binds the host to the seed without revealing it.

    It covers the id of the match, so that two matches that are dealt from one seed have different commitments.

    >>> seed_commitment(bytes(32), "a")[:16], seed_commitment(bytes(32), "b")[:16]
    ('41a0370c3d9f4277', '7ec8020a087ee172')
    """
    return sha256(seed + match_id.encode()).hexdigest()


def derive_seed(seed: bytes, purpose: str) -> bytes:
    """A seed for one purpose; the original seed cannot be computed from it."""
    return hmac.digest(seed, purpose.encode(), "sha256")


class SeededRandom:
    """An endless stream of random numbers; fair, because values that do not divide evenly are drawn again."""

    def __init__(self, seed: bytes) -> None:
        self._bytes = chain.from_iterable(shake_256(seed + n.to_bytes(8, "big")).digest(BLOCK_BYTES) for n in count())

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, all equally likely."""
        width = (limit - 1).bit_length() + 7 >> 3 or 1
        fair = 256**width // limit * limit
        while (number := int.from_bytes(islice(self._bytes, width), "big")) >= fair:
            pass
        return number % limit

    def numbers(self, size: int, limit: int) -> list[int]:
        """`size` numbers from 0 to limit - 1, the same as from `below`; limits up to 256 are fastest."""
        if limit > 256:
            return [self.below(limit) for _ in range(size)]
        remainders, unfair = _remainders(limit)
        drawn = b""
        while len(drawn) < size:
            drawn += bytes(islice(self._bytes, size - len(drawn))).translate(remainders, unfair)
        return list(drawn)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffle the items in place (Fisher and Yates); all orders are equally likely."""
        draw = self._bytes.__next__
        for last in range(len(items) - 1, 0, -1):
            limit = last + 1
            if limit <= 256:  # as in `below`, written out for one and two bytes, as whole decks are shuffled here
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
        """`size` different numbers from 0 to limit - 1."""
        numbers = list(range(limit))
        self.shuffle(numbers)
        return numbers[:size]


class Dice:
    """Random numbers for playouts, fast but predictable: SplitMix64, with a different start for each playout."""

    def __init__(self, seed: bytes, number: int) -> None:
        self._state = _mix(int.from_bytes(seed[:8], "little") + number)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; all equally likely for small limits."""
        self._state = self._state + 0x9E3779B97F4A7C15 & MASK_64
        return (_mix(self._state) >> 32) * limit >> 32


def _mix(number: int) -> int:
    number &= MASK_64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK_64
    return number ^ number >> 31


@cache
def _remainders(limit: int) -> tuple[bytes, bytes]:
    """The number for each byte, and the bytes that are drawn again."""
    return bytes(byte % limit for byte in range(256)), bytes(range(256 // limit * limit, 256))
