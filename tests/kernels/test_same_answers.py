"""The kernels answer as the functions in Python do; `make reliability` asks more of them."""

import pytest

from fairplay.core.chance import seed_from
from fairplay.kernels import kernels, why_not
from tests.kernels.comparing import TRIALS, trials

POSITIONS = 150


@pytest.mark.skipif(kernels is None, reason=why_not)
@pytest.mark.parametrize("game", TRIALS)
def test_a_kernel_answers_as_python_does(game: str) -> None:
    assert [failure for failure in trials(game, range(POSITIONS), seed_from("kernels")) if failure] == []
