"""Test that a long search does not block other threads, and can be interrupted."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from fairplay.games.fish import Fish, kernel
from fairplay.games.fish.state import PLAYING, State
from fairplay.kernels import kernels, unavailable_reason

pytestmark = pytest.mark.skipif(kernels is None, reason=unavailable_reason)


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
