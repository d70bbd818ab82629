"""Test that the kernels answer as the functions in Python do, and let other threads go on during a long search."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.games.fish import Fish, kernel
from fairplay.games.fish.state import PLAYING, State
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


@pytest.fixture
def only_who_gives_way() -> Iterator[None]:
    """No thread is switched to that is not let."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(usual)


LONG: dict[str, Callable[[State], object]] = {  # searches that would take for ever, or some seconds
    "lookahead": lambda state: kernel.best_move(state, state.order[0], 9),
    "territory": lambda state: kernel.territory_step(state, 10**7),
}


@pytest.mark.usefixtures("only_who_gives_way")
@pytest.mark.parametrize("name", LONG)
def test_others_go_on_during_a_search_and_may_interrupt_it(name: str) -> None:
    game, go_on, this = Fish(), threading.Event(), threading.get_ident()
    state = game.deal(2, bytes(32))
    while state.stage is not PLAYING:
        state = game.apply(state, next(game.actions(game.view(state, state.order[0]))))

    def interrupt() -> None:
        go_on.wait()
        signal.pthread_kill(this, signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        go_on.set()
        LONG[name](state)
    other.join()
