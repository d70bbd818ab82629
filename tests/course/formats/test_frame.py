"""Test that coordinates of any size are mapped into our range, and back."""

from itertools import pairwise
from random import Random

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.formats.frame import COORDINATE_GAP, IDENTITY_FRAME, MAX_COORDINATE, make_frame
from tests.nonempty import nonempty

HUGE = 10**50


def test_ordinary_coordinates_stand_for_themselves() -> None:
    assert make_frame([(0, 0), (-MAX_COORDINATE, MAX_COORDINATE), (17, -4)]) == IDENTITY_FRAME
    assert IDENTITY_FRAME.to_ours(-3, 5) == IDENTITY_FRAME.to_theirs((-3, 5)) == (-3, 5)


def test_large_coordinates_are_moved() -> None:
    frame = make_frame([(HUGE, -HUGE), (HUGE + 2, -HUGE)])

    assert frame.to_ours(HUGE, -HUGE) == (0, 0)
    assert frame.to_ours(HUGE + 2, -HUGE) == (2, 0)
    assert frame.to_theirs((-1, 7)) == (HUGE - 1, 7 - HUGE)


def test_wide_gaps_become_smaller_and_the_order_stays() -> None:
    rows = [-HUGE, -5, 0, 3, HUGE]
    frame = make_frame([(row, 0) for row in rows])

    ours = [frame.to_ours(row, 0)[0] for row in rows]

    assert [after - before for before, after in pairwise(ours)] == [COORDINATE_GAP, 5, 3, COORDINATE_GAP]


def test_whatever_is_close_to_a_known_place_comes_back_to_where_it_was() -> None:
    chance = Random(1)
    for _ in range(50):
        places = [(chance.randint(-HUGE, HUGE), chance.randint(-HUGE, HUGE)) for _ in range(chance.randint(1, 9))]
        frame = make_frame(places)
        for row, column in nonempty(places):
            near = row + chance.randint(-1000, 1000), column + chance.randint(-1000, 1000)
            assert frame.to_theirs(frame.to_ours(*near)) == near


def test_only_the_axis_that_needs_it_is_moved() -> None:
    frame = make_frame([(5, HUGE)])

    assert frame.to_ours(5, HUGE) == (5, 0)


def test_a_place_beside_the_farthest_tiles_is_on_the_map() -> None:
    beside = MAX_COORDINATE + 1, -MAX_COORDINATE - 1

    assert IDENTITY_FRAME.to_ours(*beside) == IDENTITY_FRAME.to_theirs(beside) == beside


@pytest.mark.parametrize("place", [(HUGE, 0), (0, -HUGE), (3 * MAX_COORDINATE, 0)])
def test_a_place_far_from_all_others_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(BadRequest, match="too far away"):
        IDENTITY_FRAME.to_ours(*place)
