"""Test `fairplay verify`."""

import os
from pathlib import Path

import pytest

from fairplay.journal.replay import read_journal
from tests.cli.command import (
    DAMAGE_MESSAGES,
    SMALL_BOARD,
    CommandResult,
    damage_journal,
    damage_message,
    forge_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)
from tests.journal.journals import read_lines, seal_lines


def test_a_legal_and_finished_match_passes(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    done = run_fairplay("verify", str(path))

    assert done == CommandResult(0, f"{path}: same result, {len(read_journal(path).facts)} facts\n", "")


def test_several_matches_are_checked_and_every_one_that_fails_is_named(tmp_path: Path) -> None:
    good, bad = record_journal(tmp_path / "good"), damage_journal(record_journal(tmp_path / "bad"), "edited")

    unfinished = damage_journal(record_journal(tmp_path / "unfinished"), "unfinished")

    done = run_fairplay("verify", str(good), str(bad), str(unfinished), str(good))

    first, second = done.err.splitlines()
    assert done.code == 2
    assert done.out == f"{good}: same result, {len(read_journal(good).facts)} facts\n" * 2
    assert first.startswith(f"fairplay: {bad}: line 3 (byte ")
    assert second.startswith(f"fairplay: {unfinished}: ")


def test_the_script_says_the_same(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert run_script("verify", str(path)) == run_fairplay("verify", str(path))


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_a_broken_journal_is_refused_and_the_line_is_named(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("verify", str(path))) == damage_message(path, how)


def test_an_unfinished_match_does_not_pass(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")

    assert refusal_line(run_fairplay("verify", str(path))) == f"{path}: unfinished after fact 5"


def test_a_forged_match_does_not_pass_with_a_chain_made_anew(tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    assert refusal_line(run_fairplay("verify", str(path))).startswith(f"{path}: line 5: this is not legal: rule 3.3: ")


def test_control_codes_in_a_journal_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    opening, *rest = read_lines(path)
    path.write_bytes(seal_lines([{**opening, "rules": "\x1b[2J\n"}, *rest]))

    assert refusal_line(run_fairplay("verify", str(path))).startswith(f"{path}: line 1: recorded with version �[2J�")


def receipt_of(path: Path, line: int = -1) -> str:
    heads = read_journal(path).heads
    return f"{line % len(heads)}:{heads[line]}"


@pytest.mark.parametrize("line", [-1, -2, 3, 0])
def test_a_receipt_that_fits_is_said_to_fit_and_what_it_covers(line: int, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    lines = len(read_lines(path))

    done = run_fairplay("verify", str(path), "--receipt", receipt_of(path, line))

    covers = (
        f"all {lines} lines, the result too"
        if line == -1
        else f"the file up to line {line % lines + 1}, not the result"
    )
    facts = len(read_journal(path).facts)
    assert done == CommandResult(0, f"{path}: same result, {facts} facts, the receipt fits: it covers {covers}\n", "")


def test_a_legal_match_in_place_of_another_is_found_by_the_receipt(tmp_path: Path) -> None:
    path = record_journal(tmp_path / "one")
    receipt = receipt_of(path)
    path.write_bytes(record_journal(tmp_path / "two").read_bytes())

    done = run_fairplay("verify", str(path), "--receipt", receipt)

    assert run_fairplay("verify", str(path)).code == 0
    assert "the receipt" in refusal_line(done)


@pytest.mark.parametrize("line", [-1, 3])
def test_a_receipt_for_another_line_of_the_same_match_does_not_fit(line: int, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    number, _, head = receipt_of(path, line).partition(":")

    done = run_fairplay("verify", str(path), "--receipt", f"{int(number) - 1}:{head}")

    assert "the receipt does not fit" in refusal_line(done)


def test_lines_that_are_missing_are_found_by_the_receipt(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    receipt, lines = receipt_of(path), len(read_lines(path))
    damage_journal(path, "unfinished")

    done = run_fairplay("verify", str(path), "--receipt", receipt)

    assert refusal_line(done) == f"{path}: lines are missing: the receipt is for line {lines}, and the file has 7"


@pytest.mark.parametrize(
    "receipt", ["", "7", "7:", "7:abc", "-1:" + "0" * 64, "x:" + "0" * 64, "9" * 30 + ":" + "0" * 64]
)
def test_an_invalid_receipt_is_refused(receipt: str, tmp_path: Path) -> None:
    done = run_fairplay("verify", str(record_journal(tmp_path)), "--receipt", receipt)

    assert refusal_line(done) == f"{receipt!r} is not a receipt: expected a number, a colon and 64 hex digits"


def test_a_receipt_is_for_one_match(tmp_path: Path) -> None:
    path = str(record_journal(tmp_path))

    assert refusal_line(run_fairplay("verify", path, path, "--receipt", "1:" + "0" * 64)).startswith(
        "a receipt is for one match"
    )


@pytest.mark.parametrize("verb", ["verify", "replay", "draw", "why", "why-not", "debug", "resume"])
def test_no_verb_waits_for_a_pipe_or_reads_an_endless_file(verb: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path, why in ((str(pipe), "it is a named pipe, not a file"), ("/dev/zero", "it is a device, not a file")):
        more = {
            "draw": [path, "-o", str(tmp_path / "board.svg")],
            "why-not": ["fish", "{}", "--view", path],
            "debug": [path, "--seat", "0", "greedy"],
        }.get(verb, [path])

        done = run_script(verb, *more, timeout=30)

        assert refusal_line(done) == f"{path}{'' if verb == 'why-not' else ':'} cannot be read: {why}"


def test_a_directory_with_all_that_is_no_journal_is_played_in_and_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    (tmp_path / "directory.jsonl").mkdir()

    played = run_script(
        "play", "fish", "greedy", "random", *SMALL_BOARD, "--journal", str(tmp_path), "--quiet", timeout=30
    )
    listed = run_script("library", "list", str(tmp_path), timeout=30)

    assert (played.code, played.err) == (0, "")
    assert (listed.code, listed.err) == (0, "")
    assert len(listed.out.splitlines()) == 2  # the headings, and the match
    assert refusal_line(run_script("library", "list", str(tmp_path / "pipe.jsonl"), timeout=30)).endswith(
        ": Not a directory"
    )
