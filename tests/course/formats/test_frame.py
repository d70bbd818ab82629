"""Bring coordinates of any size into range, and back."""

from itertools import pairwise
from random import Random

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.formats.frame import APART, FARTHEST, PLAIN, frame_of
from tests.some import some

HUGE = 10**50


def test_ordinary_coordinates_stand_for_themselves() -> None:
    assert frame_of([(0, 0), (-FARTHEST, FARTHEST), (17, -4)]) == PLAIN
    assert PLAIN.inwards(-3, 5) == PLAIN.outwards((-3, 5)) == (-3, 5)


def test_large_coordinates_are_moved() -> None:
    frame = frame_of([(HUGE, -HUGE), (HUGE + 2, -HUGE)])

    assert frame.inwards(HUGE, -HUGE) == (0, 0)
    assert frame.inwards(HUGE + 2, -HUGE) == (2, 0)
    assert frame.outwards((-1, 7)) == (HUGE - 1, 7 - HUGE)


def test_wide_gaps_become_smaller_and_the_order_stays() -> None:
    rows = [-HUGE, -5, 0, 3, HUGE]
    frame = frame_of([(row, 0) for row in rows])

    ours = [frame.inwards(row, 0)[0] for row in rows]

    assert [after - before for before, after in pairwise(ours)] == [APART, 5, 3, APART]


def test_whatever_is_close_to_a_known_place_comes_back_to_where_it_was() -> None:
    chance = Random(1)
    for _ in range(50):
        places = [(chance.randint(-HUGE, HUGE), chance.randint(-HUGE, HUGE)) for _ in range(chance.randint(1, 9))]
        frame = frame_of(places)
        for row, column in some(places):
            near = row + chance.randint(-1000, 1000), column + chance.randint(-1000, 1000)
            assert frame.outwards(frame.inwards(*near)) == near


def test_only_the_axis_that_needs_it_is_moved() -> None:
    frame = frame_of([(5, HUGE)])

    assert frame.inwards(5, HUGE) == (5, 0)


def test_a_place_beside_the_farthest_tiles_is_on_the_map() -> None:
    beside = FARTHEST + 1, -FARTHEST - 1

    assert PLAIN.inwards(*beside) == PLAIN.outwards(beside) == beside


@pytest.mark.parametrize("place", [(HUGE, 0), (0, -HUGE), (3 * FARTHEST, 0)])
def test_a_place_far_from_all_others_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(BadRequest, match="too far away"):
        PLAIN.inwards(*place)
