"""Make nonces, which tie replies to questions."""

import secrets
from hashlib import blake2b

NONCES_PER_HASH = 8  # nonces that are made at once


class Nonces:
    """The nonces of one connection, for all matches that are played over it.

    Each holds the number of its question and a random part that cannot be guessed.
    """

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(16)
        self._questions = 0
        self._parts = self._random_parts(0)  # for this question and those after it

    def next(self) -> str:
        """The nonce of the next question."""
        self._questions = question = self._questions + 1
        place = question % NONCES_PER_HASH
        if not place:
            self._parts = self._random_parts(question)
        return f"{question}-{self._parts[place]}"

    def is_old(self, nonce: str) -> bool:
        """Is this the nonce of an earlier question?"""
        number, _, _ = nonce.partition("-")
        if not (number.isascii() and number.isdigit() and 0 < int(number) < self._questions):
            return False
        return nonce == f"{int(number)}-{self._random_parts(int(number))[int(number) % NONCES_PER_HASH]}"

    def _random_parts(self, question: int) -> list[str]:
        """The random parts of the nonces around a question."""
        digits = blake2b(b"%d" % (question // NONCES_PER_HASH), key=self._secret).hexdigest()
        return [digits[start : start + 16] for start in range(0, len(digits), 16)]
