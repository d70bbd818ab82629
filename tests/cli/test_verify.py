"""Try out fairplay verify."""

from pathlib import Path

import pytest

from fairplay.journal.replay import read
from tests.cli.command import BROKEN, Done, fairplay, forged, journal, refusal, script, spoil
from tests.journal.journals import plain, sealed


def test_a_lawful_and_finished_match_passes(tmp_path: Path) -> None:
    path = journal(tmp_path)

    done = fairplay("verify", str(path))

    assert done == Done(0, f"{path}: lawful and finished, {len(read(path).facts)} facts\n", "")


def test_several_matches_are_checked_one_after_the_other_up_to_the_first_that_fails(tmp_path: Path) -> None:
    good, bad = journal(tmp_path / "good"), spoil(journal(tmp_path / "bad"), "edited")

    done = fairplay("verify", str(good), str(bad), str(good))

    assert done.code == 2
    assert done.out == f"{good}: lawful and finished, {len(read(good).facts)} facts\n"
    assert done.err.startswith(f"fairplay: {bad}: line 3: ")


def test_the_script_says_the_same(tmp_path: Path) -> None:
    path = journal(tmp_path)

    assert script("verify", str(path)) == fairplay("verify", str(path))


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_journal_is_refused_and_the_line_is_named(how: str, tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), how)

    assert refusal(fairplay("verify", str(path))) == BROKEN[how].format(path=path)


def test_an_unfinished_match_does_not_pass(tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), "unfinished")

    assert refusal(fairplay("verify", str(path))) == f"{path}: unfinished after fact 5"


def test_a_forged_match_does_not_pass_with_a_chain_made_anew(tmp_path: Path) -> None:
    path = forged(journal(tmp_path))

    assert refusal(fairplay("verify", str(path))).startswith(f"{path}: line 4: this is not lawful: rule 3.3: ")


def test_what_stands_in_a_journal_reaches_no_terminal_raw(tmp_path: Path) -> None:
    path = journal(tmp_path)
    opening, *rest = plain(path)
    path.write_bytes(sealed([{**opening, "rules": "\x1b[2J\n"}, *rest]))

    assert refusal(fairplay("verify", str(path))).startswith(f"{path}: line 1: played by version �[2J�")
