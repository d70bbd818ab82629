"""Test that the same command resumes a match that was interrupted."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from fairplay.cli.main import main
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import (
    BEST_SANDBOX,
    INSTALLED_COMMAND,
    INTERRUPTIONS,
    SMALL_BOARD,
    accept_ctrl_c,
    make_in_process_player,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.python_path import python_path

PLAY = ("play", "fish", "ann=greedy", "bob=random", "cyd=lookahead:1", *SMALL_BOARD)


def cut(path: Path, lines: int, torn: int = 0) -> Path:
    """A journal as a crash leaves it: so many lines, and some bytes of the next."""
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:lines]) + (whole[lines][:torn] if torn else b""))
    return path


def unfinished(directory: Path, *options: str, lines: int = 8, torn: int = 0) -> tuple[Path, Any]:
    """A match of PLAY that was interrupted, and what it was before."""
    assert run_fairplay(*PLAY, *options, "--journal", str(directory), "--quiet").code == 0
    (path,) = directory.glob("*.jsonl")
    whole = read_journal(path)
    return cut(path, lines, torn), whole


@pytest.mark.parametrize("seed", [("--seed", "7"), ("--seed", "ab" * 32), ()])
@pytest.mark.parametrize(("lines", "torn"), [(1, 0), (1, 40), (2, 0), (8, 0), (8, 1), (13, 199)])
def test_the_same_command_resumes_in_the_same_file(
    seed: tuple[str, ...], lines: int, torn: int, tmp_path: Path
) -> None:
    path, whole = unfinished(tmp_path, *seed, lines=lines, torn=torn)

    done = run_fairplay(*PLAY, *seed, "--journal", str(tmp_path), "--quiet")

    again = read_journal(path)
    assert (done.code, done.err) == (0, f"fairplay: resuming {path}\n")
    assert list(tmp_path.glob("*.jsonl")) == [path]
    assert (again.facts, again.closing and again.closing.result) == (whole.facts, whole.closing.result)
    assert again.resumptions == (max(0, lines - 2),)
    assert verify(again).result == whole.closing.result


@pytest.mark.parametrize(
    "other",
    [
        ("play", "fish", "ann=greedy", "bob=random", "cyd=lookahead:1", "--set", "rows=5", "--seed", "7"),
        ("play", "fish", "ann=greedy", "bob=random", "cyd=lookahead:2", *SMALL_BOARD, "--seed", "7"),
        ("play", "fish", "ann=greedy", "bob=random", "dan=lookahead:1", *SMALL_BOARD, "--seed", "7"),
        ("play", "fish", "bob=random", "ann=greedy", "cyd=lookahead:1", *SMALL_BOARD, "--seed", "7"),
        (*PLAY, "--seed", "8"),
        PLAY,
    ],
    ids=["parameters", "players", "names", "seats", "seed", "no seed"],
)
def test_another_command_begins_a_match_of_its_own(other: tuple[str, ...], tmp_path: Path) -> None:
    path, _ = unfinished(tmp_path, "--seed", "7")
    left = path.read_bytes()

    done = run_fairplay(*other, "--journal", str(tmp_path), "--quiet")

    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == left
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_finished_match_is_not_resumed(tmp_path: Path) -> None:
    for _ in range(2):
        assert run_fairplay(*PLAY, "--seed", "7", "--journal", str(tmp_path), "--quiet").code == 0

    one, two = (read_journal(path) for path in tmp_path.glob("*.jsonl"))
    assert one.opening.match != two.opening.match
    assert one.facts == two.facts


def test_a_branch_is_not_resumed_by_the_command_of_its_parent(tmp_path: Path) -> None:
    path, whole = unfinished(tmp_path / "old", "--seed", "7", lines=12)
    branched = ("resume", str(path), "--at", "5", "--journal", str(tmp_path / "games"), "--quiet")
    assert run_fairplay(*branched).code == 0
    (branch,) = (tmp_path / "games").glob("*.jsonl")
    left = cut(branch, 9).read_bytes()
    opening = read_journal(branch).opening
    assert (opening.names, opening.players, opening.seed) == (
        whole.opening.names,
        whole.opening.players,
        whole.opening.seed,
    )

    done = run_fairplay(*PLAY, "--seed", "7", "--journal", str(tmp_path / "games"), "--quiet")

    assert (done.code, done.err) == (0, "")
    assert branch.read_bytes() == left
    (new,) = set((tmp_path / "games").glob("*.jsonl")) - {branch}
    assert read_journal(new).opening.parent is None


def test_of_two_interrupted_matches_the_older_is_resumed_first(tmp_path: Path) -> None:
    paths = {name: unfinished(tmp_path / name)[0] for name in ("old", "new")}
    for path in paths.values():
        path.rename(tmp_path / path.name)

    for name in ("old", "new"):
        done = run_fairplay(*PLAY, "--journal", str(tmp_path), "--quiet")
        assert done.err == f"fairplay: resuming {tmp_path / paths[name].name}\n"


def test_a_damaged_match_is_never_resumed(tmp_path: Path) -> None:
    path, _ = unfinished(tmp_path, "--seed", "7")
    damaged = path.read_bytes().replace(b'"seat":1', b'"seat":0', 1)
    path.write_bytes(damaged)

    for _ in range(2):
        why = refusal_line(run_fairplay(*PLAY, "--seed", "7", "--journal", str(tmp_path)))
        assert why.startswith(f"{path}: line 4 (byte ")
    assert path.read_bytes() == damaged


def test_a_file_whose_opening_is_torn_is_no_match(tmp_path: Path) -> None:
    path, whole = unfinished(tmp_path, "--seed", "7", lines=0, torn=100)

    done = run_fairplay(*PLAY, "--seed", "7", "--journal", str(tmp_path), "--quiet")

    assert (done.code, done.err) == (0, "")
    (new,) = set(tmp_path.glob("*.jsonl")) - {path}
    assert read_journal(new).facts == whole.facts


def test_resume_without_players_uses_those_of_the_record(tmp_path: Path) -> None:
    path, whole = unfinished(tmp_path, torn=30)

    done = run_fairplay("resume", str(path), "--events")

    types = [json.loads(line)["type"] for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert types == ["started", *["acted"] * (len(whole.facts) - 6), "ended"]
    assert verify(read_journal(path)).result == whole.closing.result


def test_resume_refuses_what_is_finished(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert refusal_line(run_fairplay("resume", str(path))) == f"{path}: this match is finished"


def test_resume_alone_takes_no_other_directory(tmp_path: Path) -> None:
    path, _ = unfinished(tmp_path)

    done = run_fairplay("resume", str(path), "--journal", str(tmp_path))

    assert refusal_line(done).startswith("--journal is for a branch")


WAITING = """
import time
from fairplay.games.fish import Fish

class Player:
    def __init__(self):
        self.turns = 0

    def take_turn(self, view):
        self.turns += 1
        if self.turns == 4:
            time.sleep(60)
        return next(Fish().actions(view))
"""
BEFORE_THE_FOURTH = 3 * 3 + 2  # facts, at a table of three


@contextmanager
def waiting(
    directory: Path, where: str, monkeypatch: pytest.MonkeyPatch, start: Callable[[], None] = accept_ctrl_c
) -> Iterator[tuple[list[str], "subprocess.Popen[str]"]]:
    """A match that is being played: its third player thinks, here or in a program; in another match it would not."""
    player = make_in_process_player(WAITING, directory, monkeypatch)
    bot = directory / f"{player.split(':')[1]}.py"
    address = player if where == "in the process" else str(bot)
    command = ["play", "fish", "greedy", "random", address, *SMALL_BOARD, "--seed", "7", "--journal", str(directory)]
    with start_process(
        [INSTALLED_COMMAND, *command, *BEST_SANDBOX, "--events", "--limit", "100"],
        env={**os.environ, "PYTHONPATH": python_path(directory), "PYTHONDONTWRITEBYTECODE": "1"},
        start=start,
    ) as process:
        try:
            assert process.stdout is not None
            for _ in range(1 + BEFORE_THE_FOURTH):
                assert process.stdout.readline()
            bot.write_text(WAITING.replace("sleep(60)", "sleep(0)"))
            yield command, process
        finally:
            process.kill()


everywhere = pytest.mark.parametrize("where", ["in the process", "in a program"])


@everywhere
@pytest.mark.parametrize(("start", "kind"), INTERRUPTIONS.values(), ids=INTERRUPTIONS)
def test_an_interrupted_match_says_how_to_go_on(
    start: Callable[[], None], kind: signal.Signals, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting(tmp_path, where, monkeypatch, start) as (command, process):
        process.send_signal(kind)
        _, err = process.communicate(timeout=30)

    (path,) = tmp_path.glob("*.jsonl")
    assert process.returncode == 130
    how = {"in a program": f": fairplay resume {path}", "in the process": f" in {path}: the same command again"}
    assert err == f"\nfairplay: interrupted; to go on with the match{how[where]}\n"
    assert len(read_journal(path).facts) == BEFORE_THE_FOURTH
    assert run_fairplay(*command).code == 0
    assert verify(read_journal(path)).turn is None
    assert verify(read_journal(path)).ejected == ()


class Interrupted(StringIO):
    """An output at which Ctrl-C is pressed when it is about to show some words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def write(self, text: str) -> int:
        if self._words in text:
            raise KeyboardInterrupt
        return super().write(text)


@pytest.fixture
def interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[Path, str]]:
    """The journal of a match that is interrupted at some words, and what is said then."""

    def at(words: str) -> tuple[Path, str]:
        monkeypatch.setattr(sys, "argv", ["fairplay", *PLAY, "--journal", str(tmp_path)])
        with redirect_stdout(Interrupted(words)), pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 130
        (path,) = tmp_path.glob("*.jsonl")
        return path, capsys.readouterr().err.splitlines()[-1]

    return at


def test_a_match_that_is_interrupted_when_it_is_over_says_where_to_see_it(
    interrupted: Callable[[str], tuple[Path, str]],
) -> None:
    path, said = interrupted("1. ")

    assert said == f"fairplay: interrupted; the match is over: fairplay replay {path}"
    assert read_journal(path).closing is not None


def test_an_interrupted_match_without_a_mac_names_the_option_trust(
    interrupted: Callable[[str], tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")

    path, said = interrupted(" places a penguin ")

    assert said == f"fairplay: interrupted; to go on with the match: fairplay resume {path} --trust"
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0


TAKES_THE_FILE_AWAY = """
from pathlib import Path

def take_turn(view):
    for path in Path({games!r}).glob("*.jsonl"):
        path.unlink()
    raise KeyboardInterrupt
"""


def test_a_match_whose_file_is_gone_does_not_say_how_to_go_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    address = make_in_process_player(TAKES_THE_FILE_AWAY.format(games=str(games)), tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--journal", str(games))

    assert (done.code, done.err.strip()) == (130, "fairplay: interrupted")


def test_an_interrupted_branch_names_the_command_that_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = unfinished(tmp_path / "old")
    address = make_in_process_player("def take_turn(view): raise KeyboardInterrupt", tmp_path, monkeypatch)
    players = [address] * len(read_journal(path).opening.names)

    done = run_fairplay("resume", str(path), *players, "--journal", str(tmp_path / "new"))

    (branch,) = (tmp_path / "new").glob("*.jsonl")
    assert done.code == 130
    assert done.err.endswith(f"; to go on with the match: fairplay resume {branch} PLAYER...\n")


@everywhere
def test_a_running_match_is_not_resumed_by_another_process(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting(tmp_path, where, monkeypatch) as (command, process):
        (path,) = tmp_path.glob("*.jsonl")
        left = path.read_bytes()
        assert refusal_line(run_fairplay("resume", str(path))) == f"{path}: another process is playing this match"
        assert run_fairplay(*command).code == 0  # and so this began another one
        assert path.read_bytes() == left
        assert len(list(tmp_path.glob("*.jsonl"))) == 2
        process.kill()
        process.communicate(timeout=30)

    assert run_fairplay(*command).err == f"fairplay: resuming {path}\n"
    facts = {read_journal(path).facts for path in tmp_path.glob("*.jsonl")}
    assert len(facts) == 1


def test_a_match_with_a_full_disk_is_suspended_and_can_be_resumed(tmp_path: Path) -> None:
    def fill_up() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    command = (*PLAY, "--seed", "7", "--journal", str(tmp_path))
    done = run_script(*command, "--events", preexec_fn=fill_up)

    (path,) = tmp_path.glob("*.jsonl")
    assert done.code == 3
    assert done.err.endswith(f"; to go on with the match: fairplay resume {path}\n")
    assert len(done.out.splitlines()) - 1 == len(read_journal(path).facts)  # nobody was told what could not be written
    assert '"ejected"' not in done.out
    assert run_fairplay(*command).code == 0
    assert verify(read_journal(path)).ejected == ()
