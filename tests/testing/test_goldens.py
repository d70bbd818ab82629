"""Test goldens: they are written once, and differences are reported."""

from pathlib import Path

import pytest

from examples.games.connect_four import ConnectFour, Drop
from examples.games.tic_tac_toe import TicTacToe
from fairplay.games.q import Q
from fairplay.testing.goldens import check_golden, golden_text


class Leaning(ConnectFour, frozen=True):
    """Discs fall a column further."""

    def after(self, position: tuple[str, ...], seat: int, action: Drop) -> tuple[str, ...]:
        further = (action.column + 1) % len(position)
        return super().after(position, seat, action if len(position[further]) >= self.height else Drop(further))


def test_a_golden_match_is_written_once_and_then_compared(tmp_path: Path) -> None:
    file = tmp_path / "four.txt"
    with pytest.raises(AssertionError, match="was missing and has been written: check it, and commit it"):
        check_golden(ConnectFour(), file)

    check_golden(ConnectFour(), file)

    lines = file.read_text().splitlines()
    assert lines[0] == "connect-four 1, seed golden, 2 seats"
    assert lines[1].startswith("player-1 drops a disc into column ")
    assert lines[-1].startswith('{"position":[')
    assert golden_text(TicTacToe(), "a") != golden_text(TicTacToe(), "b")
    assert "3 seats" in golden_text(Q(), "a", seats=3)


def test_a_golden_match_under_other_rules_fails_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "four.txt"
    file.write_text(golden_text(ConnectFour(), "golden"))

    with pytest.raises(AssertionError, match=r"four.txt, line \d+: it was .*, and now is "):
        check_golden(Leaning(), file)
    file.write_text(f"{file.read_text()}more\n")
    with pytest.raises(AssertionError, match=r"four\.txt: it had \d+ characters"):
        check_golden(ConnectFour(), file)
