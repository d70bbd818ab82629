"""Test that the kernels answer as the functions in Python do; `make reliability` runs more cases."""

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.games.q import kernel as q_kernel
from fairplay.games.q.board import map_of, position_of
from fairplay.games.q.draft import Draft
from fairplay.games.q.view import View
from fairplay.kernels import kernels, unavailable_reason
from tests.kernels.comparing import TRIALS, run_trials

POSITIONS = {"fish": 1500, "tsuro": 1500, "q": 150}


pytestmark = pytest.mark.skipif(kernels is None, reason=unavailable_reason)


@pytest.mark.parametrize("game", TRIALS)
def test_a_kernel_answers_as_python_does(game: str) -> None:
    assert [failure for failure in run_trials(game, range(POSITIONS[game]), seed_from_text("kernels")) if failure] == []


@pytest.mark.parametrize("away", [2**30, -(2**30)])
def test_a_map_that_is_far_away_is_answered_in_python(away: int) -> None:
    near, far = ({(row + rows, 2**30): kind for row, kind in enumerate((0, 1, 2))} for rows in (0, away))
    views = [View(0, map_of(tiles.items()), (3, 4, 5), (0, 1), (0, 0), 9) for tiles in (near, far)]

    one, other = (q_kernel.best_draft(view, 8, 4) for view in views)

    assert one is not None
    assert other is not None
    assert [(row + away, column, kind) for row, column, kind in placed(one)] == placed(other)


def placed(draft: Draft) -> list[tuple[int, int, int]]:
    return [(*position_of(cell), kind) for cell, kind in draft.placed]
