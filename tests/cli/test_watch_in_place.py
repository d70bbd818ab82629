"""Test `fairplay watch` on a terminal, where it draws the match in place."""

from collections.abc import Iterator

import pytest

from fairplay.games import GAMES
from fairplay.journal.replay import read_journal
from fairplay.observers.reporter import format_standings
from tests.cli.terminal import Terminal
from tests.server.small_servers import RunningServer, run_small_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


@pytest.mark.parametrize("game", GAMES)
def test_the_board_is_drawn_in_place_to_the_end(server: RunningServer, game: str) -> None:
    room = server.open_room(game, fails=1)
    with Terminal("watch", server.listener, room) as terminal:
        terminal.wait_for_screen(f"{game} 0: ")
        number = server.play_turns(room, 2)
        shown = terminal.wait_for_screen(f"{game} {number}: ")
        assert any("→" in line and " s" in line for line in shown)
        server.play_to_end(room)

        assert terminal.wait_for_exit() == 0
        terminal.assert_left_as_it_was()
        recorded = read_journal(server.server.journal(room) or "")
        assert recorded.closing is not None
        for line in format_standings(recorded.closing.result, recorded.names):
            assert line[:60] in terminal.text


def test_a_late_spectator_sees_the_number_of_the_last_move_and_leaves_by_ctrl_c(server: RunningServer) -> None:
    room = server.open_room("fish")
    number = server.play_turns(room, 5)

    with Terminal("watch", server.listener, room) as terminal:
        terminal.wait_for_screen(f"fish {number}: ")
        terminal.press("ctrl-c")

        assert terminal.wait_for_exit() == 0
        terminal.assert_left_as_it_was()
