"""Test the message with the rank of a player that has joined a match."""

import pytest

from fairplay.cli.client.joining import describe_rank
from fairplay.core.events import Result


@pytest.mark.parametrize(
    ("seat", "words"), [(0, "ranked 1 of 4, tied"), (2, "ranked 3 of 4"), (3, "the match is over")]
)
def test_a_tie_takes_as_many_ranks_as_it_has_players(seat: int, words: str) -> None:
    result = Result((frozenset({0, 1}), frozenset({2})), ())

    assert describe_rank(result, seat, 4).startswith(words)
