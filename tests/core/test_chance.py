"""Check that random numbers are fair, and that a seed always draws the same numbers."""

from collections import Counter
from hashlib import sha256, shake_256

import pytest

from fairplay.core.chance import BLOCK_BYTES, SeededRandom, derive_seed, is_full_seed, seed_from_text

SEEDS = [seed_from_text(f"chance {number}") for number in range(5)]
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=range(5))
# Chi-square is above this with a probability of 0.001, by degrees of freedom. The seeds are fixed, so it is so or not.
CRITICAL = {1: 10.83, 6: 22.46, 99: 148.23, 256: 330.52}


def chi_square(counts: Counter[int], outcomes: int) -> float:
    expected = counts.total() / outcomes
    missing = outcomes - len(counts)
    return sum((count - expected) ** 2 / expected for count in counts.values()) + missing * expected


# Fixed answers: whatever else changes, old matches must be dealt again as they were.


def test_the_numbers_of_a_seed_never_change() -> None:
    lots = SeededRandom(bytes(range(32)))

    drawn = [lots.below(6) for _ in range(20)], lots.below(1000), lots.below(2**70)

    assert drawn == ([4, 4, 3, 0, 2, 5, 3, 0, 1, 1, 1, 5, 4, 2, 4, 4, 0, 5, 1, 5], 853, 295445115686778223436)


def test_shuffles_samples_and_seeds_never_change() -> None:
    lots, cards = SeededRandom(seed_from_text("fixed")), list("abcdefgh")

    lots.shuffle(cards)

    assert "".join(cards) == "dgcfbhea"
    assert lots.sample(10, 4) == [3, 5, 8, 2]
    assert seed_from_text("7").hex() == "1eb562fa446913c74964c4a8015fe143eeee98cf269a3a781a0b7842d3448b86"
    assert derive_seed(bytes(32), "seat 0").hex() == "8ab4d7ee5b2cdd5db961dbb82a38b3a8c26768f7dcb5589a24ba659fb2603d93"


def test_the_stream_is_shake_256_of_the_seed_and_the_number_of_the_block() -> None:
    seed = bytes(range(32))
    lots = SeededRandom(seed)

    drawn = bytes(lots.below(256) for _ in range(2 * BLOCK_BYTES))

    assert drawn == shake_256(seed + bytes(8)).digest(BLOCK_BYTES) + shake_256(seed + bytes(7) + b"\1").digest(
        BLOCK_BYTES
    )


# Fairness.


@each_seed
@pytest.mark.parametrize("limit", [2, 7, 100, 257])
def test_all_numbers_are_equally_likely(limit: int, seed: bytes) -> None:
    lots = SeededRandom(seed)

    counts = Counter(lots.below(limit) for _ in range(limit * 100))

    assert chi_square(counts, limit) < CRITICAL[limit - 1]
    biased = Counter(lots.below(256) % 100 for _ in range(10000))
    assert chi_square(biased, 100) > CRITICAL[99]  # which is noticed


def test_a_value_that_does_not_divide_evenly_is_drawn_again() -> None:
    seed = SEEDS[0]
    raw = shake_256(seed + bytes(8)).digest(BLOCK_BYTES)
    lots = SeededRandom(seed)

    drawn = [lots.below(200) for _ in range(sum(byte < 200 for byte in raw))]

    assert drawn == [byte for byte in raw if byte < 200]
    assert len(drawn) < BLOCK_BYTES


@pytest.mark.parametrize("limit", [1, 2, 3, 255, 256, 257, 65535, 65536, 65537, 2**64, 2**64 + 1, 10**30])
def test_a_number_is_below_any_limit(limit: int) -> None:
    lots = SeededRandom(SEEDS[0])

    drawn = [lots.below(limit) for _ in range(200)]

    assert all(0 <= number < limit for number in drawn)
    numbers = SeededRandom(SEEDS[0]).sample(min(limit, 100), min(limit, 10))
    assert len(numbers) == len(set(numbers)) == min(limit, 10) and set(numbers) <= set(range(min(limit, 100)))
    assert limit < 100 or max(drawn) > limit // 2


# Shuffles and samples.


@each_seed
@pytest.mark.parametrize("size", [0, 1, 2, 100, 300, 65600])
def test_a_shuffle_draws_the_same_numbers_as_below(size: int, seed: bytes) -> None:
    shuffled, items = list(range(size)), list(range(size))
    lots, same = SeededRandom(seed), SeededRandom(seed)

    lots.shuffle(shuffled)

    for last in range(size - 1, 0, -1):
        other = same.below(last + 1)
        items[last], items[other] = items[other], items[last]
    assert shuffled == items
    assert lots.below(2**70) == same.below(2**70)  # and no more than that


# Seeds.


@pytest.mark.parametrize(
    "text", ["", "7", "demo", "ab" * 31, "ab" * 33, "xy" * 32, "ab" * 31 + " 7", "٣" * 64, "0x" * 32]
)
def test_64_hex_digits_are_the_seed_and_any_other_text_is_a_seed_by_its_hash(text: str) -> None:
    seed = seed_from_text(text)

    assert seed == sha256(b"fairplay" + text.encode()).digest()
    assert not is_full_seed(text)
    digits = "0123456789abcdef" * 4
    assert seed_from_text(digits) == seed_from_text(digits.upper()) == bytes.fromhex(digits)
