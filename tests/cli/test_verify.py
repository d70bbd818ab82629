"""Try out fairplay verify."""

from pathlib import Path

import pytest

from fairplay.journal.replay import read
from tests.cli.command import BROKEN, Done, complaint, fairplay, forged, journal, refusal, script, spoil
from tests.journal.journals import plain, sealed


def test_a_lawful_and_finished_match_passes(tmp_path: Path) -> None:
    path = journal(tmp_path)

    done = fairplay("verify", str(path))

    assert done == Done(0, f"{path}: same result, {len(read(path).facts)} facts\n", "")


def test_several_matches_are_checked_one_after_the_other_up_to_the_first_that_fails(tmp_path: Path) -> None:
    good, bad = journal(tmp_path / "good"), spoil(journal(tmp_path / "bad"), "edited")

    done = fairplay("verify", str(good), str(bad), str(good))

    assert done.code == 2
    assert done.out == f"{good}: same result, {len(read(good).facts)} facts\n"
    assert done.err.startswith(f"fairplay: {bad}: line 3 (byte ")


def test_the_script_says_the_same(tmp_path: Path) -> None:
    path = journal(tmp_path)

    assert script("verify", str(path)) == fairplay("verify", str(path))


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_journal_is_refused_and_the_line_is_named(how: str, tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), how)

    assert refusal(fairplay("verify", str(path))) == complaint(path, how)


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


def receipt_of(path: Path, line: int = -1) -> str:
    heads = read(path).heads
    return f"{line % len(heads)}:{heads[line]}"


@pytest.mark.parametrize("line", [-1, -2, 3, 0])
def test_a_receipt_that_fits_is_said_to_fit(line: int, tmp_path: Path) -> None:
    path = journal(tmp_path)

    done = fairplay("verify", str(path), "--receipt", receipt_of(path, line))

    assert done == Done(0, f"{path}: same result, {len(read(path).facts)} facts, the receipt fits\n", "")


def test_a_lawful_match_in_place_of_another_is_found_by_the_receipt(tmp_path: Path) -> None:
    path = journal(tmp_path / "one")
    receipt = receipt_of(path)
    path.write_bytes(journal(tmp_path / "two").read_bytes())

    done = fairplay("verify", str(path), "--receipt", receipt)

    assert fairplay("verify", str(path)).code == 0
    assert "the receipt" in refusal(done)


def test_lines_that_are_missing_are_found_by_the_receipt(tmp_path: Path) -> None:
    path = journal(tmp_path)
    receipt, lines = receipt_of(path), len(plain(path))
    spoil(path, "unfinished")

    done = fairplay("verify", str(path), "--receipt", receipt)

    assert refusal(done) == f"{path}: lines are missing: the receipt is for line {lines}, and the file has 6"


@pytest.mark.parametrize(
    "receipt", ["", "7", "7:", "7:abc", "-1:" + "0" * 64, "x:" + "0" * 64, "9" * 30 + ":" + "0" * 64]
)
def test_what_is_no_receipt_is_refused(receipt: str, tmp_path: Path) -> None:
    done = fairplay("verify", str(journal(tmp_path)), "--receipt", receipt)

    assert refusal(done) == f"{receipt!r} is no receipt; it is a number, a colon and 64 hex digits"


def test_a_receipt_is_for_one_match(tmp_path: Path) -> None:
    path = str(journal(tmp_path))

    assert refusal(fairplay("verify", path, path, "--receipt", "1:" + "0" * 64)).startswith(
        "a receipt is for one match"
    )
