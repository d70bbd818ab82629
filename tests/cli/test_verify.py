"""Test `fairplay verify`, and that no command uses a journal that is damaged, forged or no file."""

import os
import shutil
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
from tests.nonempty import nonempty


def test_several_matches_are_checked_and_every_one_that_fails_is_named(tmp_path: Path) -> None:
    good, bad = record_journal(tmp_path / "good"), damage_journal(record_journal(tmp_path / "bad"), "edited")

    unfinished = damage_journal(record_journal(tmp_path / "unfinished"), "unfinished")

    done = run_fairplay("verify", str(good), str(bad), str(unfinished), str(good))

    first, second = done.err.splitlines()
    assert done.code == 2
    assert done.out == f"{good}: same result, {len(read_journal(good).facts)} facts\n" * 2
    assert first.startswith(f"fairplay: {bad}: line 3 (byte ")
    assert second.startswith(f"fairplay: {unfinished}: ")


def receipt_of(path: Path, line: int = -1) -> str:
    heads = read_journal(path).heads
    return f"{line % len(heads)}:{heads[line]}"


@pytest.mark.parametrize("line", [-1, 3, 0])
def test_a_receipt_that_fits_is_said_to_fit_and_what_it_covers(line: int, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    lines = len(read_lines(path))

    done = run_fairplay("verify", str(path), "--receipt", receipt_of(path, line))

    part = f"the file up to line {line % lines + 1}, not the result"
    covers = f"all {lines} lines, the result too" if line == -1 else part
    facts = len(read_journal(path).facts)
    assert done == CommandResult(0, f"{path}: same result, {facts} facts, the receipt fits: it covers {covers}\n", "")


def test_a_receipt_for_another_line_or_another_match_does_not_fit(tmp_path: Path) -> None:
    path = record_journal(tmp_path / "one")
    receipt = receipt_of(path)
    for line in (-1, 3):
        number, _, head = receipt_of(path, line).partition(":")
        done = run_fairplay("verify", str(path), "--receipt", f"{int(number) - 1}:{head}")
        assert "the receipt does not fit" in refusal_line(done)

    path.write_bytes(record_journal(tmp_path / "two").read_bytes())
    assert run_fairplay("verify", str(path)).code == 0
    assert "the receipt" in refusal_line(run_fairplay("verify", str(path), "--receipt", receipt))


def test_lines_that_are_missing_are_found_by_the_receipt(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    receipt, lines = receipt_of(path), len(read_lines(path))
    damage_journal(path, "unfinished")

    done = run_fairplay("verify", str(path), "--receipt", receipt)

    assert refusal_line(done) == f"{path}: lines are missing: the receipt is for line {lines}, and the file has 7"


COMMANDS = {
    "replay": "replay {path}",
    "one position": "replay {path} --at 1",
    "page": "replay {path} -o {out}/match.html",
    "GIF": "replay {path} -o {out}/match.gif",
    "draw": "draw {path} --at 1 -o {out}/board.svg",
    "verify": "verify {path}",
    "why": "why {path}",
    "why-not": "why-not fish --view {path} null",
    "debug": "debug {path} --seat 0 greedy",
    "resume": "resume {path} random random",
}
every_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_journal(tmp_path_factory.mktemp("recorded"))


def refusal(name: str, path: Path, out: Path) -> str:
    """The line with which a command refuses a journal; it writes nothing."""
    out.mkdir(exist_ok=True)
    line = refusal_line(run_fairplay(*COMMANDS[name].format(path=path, out=out).split()))
    assert list(out.iterdir()) == []
    return line


@every_command
def test_no_damaged_journal_is_used(name: str, match: Path, tmp_path: Path) -> None:
    for how in nonempty(DAMAGE_MESSAGES):
        path = damage_journal(Path(shutil.copy(match, tmp_path)), how)

        line = refusal(name, path, tmp_path / "out")

        if name == "why-not" and how not in ("edited", "a line is missing"):  # which might have been a view
            assert line.startswith(str(path))
        else:
            assert line == damage_message(path, how)


@every_command
def test_no_forged_match_is_used(name: str, match: Path, tmp_path: Path) -> None:
    path = forge_journal(Path(shutil.copy(match, tmp_path)))

    line = refusal(name, path, tmp_path / "out")

    assert line.startswith(f"{path}: line 5: this is not legal: rule 3.3: ")


@every_command
def test_no_command_waits_for_a_pipe_or_reads_an_endless_file(name: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)

    for path, why in ((pipe, "it is a named pipe, not a file"), (Path("/dev/zero"), "it is a device, not a file")):
        colon = "" if name == "why-not" else ":"
        assert refusal(name, path, tmp_path / "out") == f"{path}{colon} cannot be read: {why}"


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
    assert refusal_line(run_fairplay("library", "list", str(tmp_path / "pipe.jsonl"))).endswith(": Not a directory")


@pytest.mark.parametrize(
    "command",
    [
        "replay {path}",
        "replay {path} --at 1",
        "why {path}",
        "debug {path} --seat 0 --turn 2 random",
        "why-not fish --view {path} --at 0 {{'type':'place','at':[0,0]}}",
        "why-not fish --view {path} --at 1 {{'type':'place','at':[99,99]}}",
        "library show {path.parent} {path.stem}",
    ],
)
def test_names_in_a_journal_reach_no_terminal_raw(command: str, tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob\u202e\n1. bob=random")

    done = run_fairplay(*command.format(path=path).replace("'", '"').split())

    assert done.code in (0, 1) and done.err == ""
    assert done.out
    assert all(line.isprintable() and not line.startswith("1. bob") for line in done.out.split("\n"))


def test_other_control_codes_in_a_journal_do_not_reach_the_terminal_either(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    opening, *rest = read_lines(path)
    path.write_bytes(seal_lines([{**opening, "rules": "\x1b[2J\n"}, *rest]))

    assert refusal_line(run_fairplay("verify", str(path))).startswith(f"{path}: line 1: recorded with version �[2J�")
