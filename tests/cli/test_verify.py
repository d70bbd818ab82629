"""Try out fairplay verify."""

import os
from pathlib import Path

import pytest

from fairplay.journal.replay import read
from tests.cli.command import BROKEN, SMALL, Done, complaint, fairplay, forged, journal, refusal, script, spoil
from tests.journal.journals import plain, sealed


def test_a_lawful_and_finished_match_passes(tmp_path: Path) -> None:
    path = journal(tmp_path)

    done = fairplay("verify", str(path))

    assert done == Done(0, f"{path}: same result, {len(read(path).facts)} facts\n", "")


def test_several_matches_are_checked_and_every_one_that_fails_is_named(tmp_path: Path) -> None:
    good, bad = journal(tmp_path / "good"), spoil(journal(tmp_path / "bad"), "edited")

    unfinished = spoil(journal(tmp_path / "unfinished"), "unfinished")

    done = fairplay("verify", str(good), str(bad), str(unfinished), str(good))

    first, second = done.err.splitlines()
    assert done.code == 2
    assert done.out == f"{good}: same result, {len(read(good).facts)} facts\n" * 2
    assert first.startswith(f"fairplay: {bad}: line 3 (byte ")
    assert second.startswith(f"fairplay: {unfinished}: ")


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

    assert refusal(fairplay("verify", str(path))).startswith(f"{path}: line 5: this is not lawful: rule 3.3: ")


def test_what_stands_in_a_journal_reaches_no_terminal_raw(tmp_path: Path) -> None:
    path = journal(tmp_path)
    opening, *rest = plain(path)
    path.write_bytes(sealed([{**opening, "rules": "\x1b[2J\n"}, *rest]))

    assert refusal(fairplay("verify", str(path))).startswith(f"{path}: line 1: played by version �[2J�")


def receipt_of(path: Path, line: int = -1) -> str:
    heads = read(path).heads
    return f"{line % len(heads)}:{heads[line]}"


@pytest.mark.parametrize("line", [-1, -2, 3, 0])
def test_a_receipt_that_fits_is_said_to_fit_and_what_it_covers(line: int, tmp_path: Path) -> None:
    path = journal(tmp_path)
    lines = len(plain(path))

    done = fairplay("verify", str(path), "--receipt", receipt_of(path, line))

    covers = (
        f"all {lines} lines, the result too"
        if line == -1
        else f"the file up to line {line % lines + 1}, not the result"
    )
    facts = len(read(path).facts)
    assert done == Done(0, f"{path}: same result, {facts} facts, the receipt fits: it covers {covers}\n", "")


def test_a_lawful_match_in_place_of_another_is_found_by_the_receipt(tmp_path: Path) -> None:
    path = journal(tmp_path / "one")
    receipt = receipt_of(path)
    path.write_bytes(journal(tmp_path / "two").read_bytes())

    done = fairplay("verify", str(path), "--receipt", receipt)

    assert fairplay("verify", str(path)).code == 0
    assert "the receipt" in refusal(done)


@pytest.mark.parametrize("line", [-1, 3])
def test_a_receipt_for_another_line_of_the_same_match_does_not_fit(line: int, tmp_path: Path) -> None:
    path = journal(tmp_path)
    number, _, head = receipt_of(path, line).partition(":")

    done = fairplay("verify", str(path), "--receipt", f"{int(number) - 1}:{head}")

    assert "the receipt does not fit" in refusal(done)


def test_lines_that_are_missing_are_found_by_the_receipt(tmp_path: Path) -> None:
    path = journal(tmp_path)
    receipt, lines = receipt_of(path), len(plain(path))
    spoil(path, "unfinished")

    done = fairplay("verify", str(path), "--receipt", receipt)

    assert refusal(done) == f"{path}: lines are missing: the receipt is for line {lines}, and the file has 7"


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


@pytest.mark.parametrize("verb", ["verify", "replay", "draw", "why", "why-not", "debug", "resume"])
def test_no_verb_waits_for_a_pipe_or_reads_an_endless_file(verb: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path, why in ((str(pipe), "it is a named pipe and no file"), ("/dev/zero", "it is a device and no file")):
        more = {
            "draw": [path, "-o", str(tmp_path / "board.svg")],
            "why-not": ["fish", "{}", "--view", path],
            "debug": [path, "--seat", "0", "greedy"],
        }.get(verb, [path])

        done = script(verb, *more, timeout=30)

        assert refusal(done) == f"{path}{'' if verb == 'why-not' else ':'} cannot be read: {why}"


def test_a_folder_with_all_that_is_no_journal_is_played_in_and_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    (tmp_path / "folder.jsonl").mkdir()

    played = script("play", "fish", "greedy", "random", *SMALL, "--journal", str(tmp_path), "--quiet", timeout=30)
    listed = script("library", "list", str(tmp_path), timeout=30)

    assert (played.code, played.err) == (0, "")
    assert (listed.code, listed.err) == (0, "")
    assert len(listed.out.splitlines()) == 2  # the headings, and the match
    assert refusal(script("library", "list", str(tmp_path / "pipe.jsonl"), timeout=30)).endswith(": Not a directory")
