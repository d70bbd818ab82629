"""Follow a match at a house on a terminal, where it is drawn in place."""

from collections.abc import Iterator

import pytest

from fairplay.games import GAMES
from fairplay.journal.replay import read
from fairplay.observers.reporter import standings
from tests.cli.terminal import Terminal
from tests.server.houses import Running, running


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as it:
        yield it


@pytest.mark.parametrize("game", GAMES)
def test_the_board_is_drawn_in_place_to_the_end(house: Running, game: str) -> None:
    room = house.open(game, fails=1)
    with Terminal("watch", house.door, room) as terminal:
        terminal.see(f"{game} 0: ")
        number = house.turns(room, 2)
        shown = terminal.see(f"{game} {number}: ")
        assert any("→" in line and " s" in line for line in shown)
        house.to_the_end(room)

        assert terminal.ended() == 0
        terminal.assert_left_as_it_was()
        recorded = read(house.house.journal(room) or "")
        assert recorded.closing is not None
        for line in standings(recorded.closing.result, recorded.names):
            assert line[:60] in terminal.text


def test_whoever_comes_late_sees_the_number_of_the_last_move(house: Running) -> None:
    room = house.open("fish")
    number = house.turns(room, 5)

    with Terminal("watch", house.door, room) as terminal:
        terminal.see(f"fish {number}: ")


def test_one_leaves_by_ctrl_c(house: Running) -> None:
    room = house.open("fish")

    with Terminal("watch", house.door, room) as terminal:
        terminal.see("fish 0: ")
        terminal.press("ctrl-c")

        assert terminal.ended() == 0
        terminal.assert_left_as_it_was()
