"""Define positions of the toy, by name."""

from collections.abc import Mapping

from tests.toy import State, Toy

QUICK: Mapping[str, int] = {"cards": 10, "hand": 2}
EXAMPLES: Mapping[str, State] = {
    # Nobody has played a card yet.
    "start": Toy().deal(2, bytes(32)),
    # There is nothing in the hand of whoever is on turn.
    "an empty hand": State(((), (3, 4)), (1,), (2, 0), (), (2, 0), order=(0, 1), ranked=(0, 1)),
}
