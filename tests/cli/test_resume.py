"""Test `fairplay resume`, and that the command of an interrupted match resumes it."""

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from fairplay.journal.append_file import Disk
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import (
    BEST_SANDBOX,
    INSTALLED_COMMAND,
    INTERRUPTIONS,
    SMALL_BOARD,
    accept_ctrl_c,
    damage_journal,
    make_in_process_player,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.cli.debugging import COUNTING_BOT
from tests.players.machine import needs_strict
from tests.python_path import python_path


def branch(path: Path, directory: Path, *arguments: str) -> Path:
    done = run_fairplay("resume", str(path), *arguments, "--journal", str(directory), "--quiet")
    assert done.code == 0, done
    (made,) = directory.glob("*.jsonl")
    return made


@pytest.mark.parametrize("at", ["0", "7", ""])
def test_the_same_players_go_on_as_they_would_have(at: str, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    whole = read_journal(path)
    if not at:
        damage_journal(path, "unfinished")

    made = branch(path, tmp_path / "branch", "greedy", "random", *(("--at", at) if at else ()))

    assert read_journal(made).facts == whole.facts
    assert verify(read_journal(made)).result == verify(whole).result


def test_a_branch_from_the_beginning_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")
    before = path.read_bytes()

    done = run_fairplay("resume", str(path), "--at", "0", "--quiet")

    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == before


def test_a_branch_has_the_facts_before_it_and_names_its_parent(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    made = branch(path, tmp_path / "branch", "--at", "9", "random", "eve=greedy")
    told = run_fairplay("resume", str(path), "--at", "9", "greedy", "random", "--events").out

    parent, opening = read_journal(path), read_journal(made).opening
    assert opening.parent is not None
    assert (opening.parent.match, opening.parent.facts) == (parent.opening.match, 9)
    assert opening.match == made.stem != path.stem
    assert read_journal(made).facts[:9] == parent.facts[:9]
    assert read_journal(made).facts != parent.facts
    assert (opening.names, opening.players) == (("ann", "eve"), ("random", "greedy"))
    types = [json.loads(line)["type"] for line in told.splitlines()]
    assert types == ["started", *["acted"] * (len(parent.facts) - 9), "ended"]
    verify(read_journal(made))
    other = branch(path, tmp_path / "other", "--at", "3", "bob=greedy", "bob=random")
    assert read_journal(other).opening.names == ("bob", "bob-2")


def test_a_torn_tail_is_gone_for_good_before_anything_is_written_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or else after a power cut the tail might be there again, with half of what was written over it."""
    path = damage_journal(record_journal(tmp_path), "torn")
    done: list[str] = []

    def call(disk: Disk, file: int, *arguments: Any, name: str) -> Any:
        if os.path.samestat(os.fstat(file), path.stat()):
            done.append(name)
        return getattr(os, {"truncate": "ftruncate", "sync": "fsync"}.get(name, name))(file, *arguments)

    for name in ("truncate", "sync", "write"):
        monkeypatch.setattr(Disk, name, partialmethod(call, name=name))

    assert run_fairplay("resume", str(path), "--quiet").code == 0

    at = done.index("truncate")
    assert "write" not in done[:at]
    assert done[at : at + 3] == ["truncate", "sync", "write"]
    assert verify(read_journal(path)).result.ejected == ()


def test_a_match_may_have_a_pace_once_its_only_program_is_ejected(tmp_path: Path) -> None:
    bot = tmp_path / "cheat.py"
    bot.write_text("def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}\n")
    path = record_journal(tmp_path, "ann=greedy", f"bob={bot}", "cyd=random")

    early, late = (run_fairplay("resume", str(path), "--at", at, "--pace", "1", "--quiet") for at in ("0", "5"))
    made = branch(path, tmp_path / "branch", "--at", "5", "random", "greedy")

    assert refusal_line(early).startswith("--pace is for players in this process")
    assert late.code == 0
    assert [ejected.seat for ejected in verify(read_journal(made)).ejected] == [1]
    assert read_journal(made).opening.players == ("random", str(bot), "greedy")


def test_an_ejected_player_of_this_process_is_not_imported_for_a_branch(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=in-process:tests.tournament.players:Cheat", "cyd=random")

    made = branch(path, tmp_path / "branch", "--at", "5")

    assert [ejected.seat for ejected in verify(read_journal(made)).ejected] == [1]


READS_BESIDE_ITSELF = """
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    if Path(__file__).with_name("games").joinpath("notes").is_file():
        raise RuntimeError("there they are")
    return next(Fish().actions(view))
"""


@needs_strict
def test_programs_of_a_branch_see_nothing_of_where_the_journal_of_their_parent_is(tmp_path: Path) -> None:
    bot = tmp_path / "bob" / "bot.py"
    path = record_journal(tmp_path / "bob" / "games")
    (path.parent / "notes").touch()
    bot.write_text(READS_BESIDE_ITSELF)
    branch = ("resume", str(path), "--at", "4", str(bot.parent), "random", "--quiet")

    sandboxed, free = run_fairplay(*branch), run_fairplay(*branch, "--sandbox", "none")

    assert sandboxed.code == 0
    assert " is out: " not in sandboxed.out
    assert "there they are" in free.out


@pytest.mark.parametrize("how", ["a match", "a match that goes on", "a branch"])
def test_every_fact_is_safe_from_a_power_cut_at_once_if_that_is_asked_for(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = ("greedy", "random", "--seed", "7")
    old, new = damage_journal(record_journal(tmp_path / "old", *players), "unfinished"), tmp_path / "new"
    command = {
        "a match": ("play", "fish", *players, *SMALL_BOARD, "--journal", str(new)),
        "a match that goes on": ("resume", str(old)),
        "a branch": ("resume", str(old), "--at", "5", "--journal", str(new)),
    }[how]
    synced: list[int] = []

    def sync(disk: Disk, file: int) -> None:
        synced.append(file)
        os.fsync(file)

    monkeypatch.setattr(Disk, "sync", sync)
    assert run_fairplay(*command, "--sync", "always", "--quiet").code == 0

    path = old if how == "a match that goes on" else next(new.glob("*.jsonl"))
    before = 0 if how == "a match" else 5
    assert len(synced) >= len(read_journal(path).facts) - before


PLAY = ("play", "fish", "ann=greedy", "bob=random", "cyd=lookahead:1", *SMALL_BOARD)


def unfinished(directory: Path, *options: str, lines: int = 8, torn: int = 0) -> tuple[Path, Any]:
    """A match of PLAY after a crash, with so many lines and some bytes of the next; and what it was before."""
    assert run_fairplay(*PLAY, *options, "--journal", str(directory), "--quiet").code == 0
    (path,) = directory.glob("*.jsonl")
    whole, text = read_journal(path), path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*text[:lines], text[lines][:torn]]))
    return path, whole


@pytest.mark.parametrize(
    ("seed", "lines", "torn"), [("7", 1, 0), ("7", 1, 40), ("ab" * 32, 2, 0), ("", 8, 0), ("7", 8, 1), ("", 13, 199)]
)
def test_the_same_command_resumes_in_the_same_file(seed: str, lines: int, torn: int, tmp_path: Path) -> None:
    options = ("--seed", seed) if seed else ()
    path, whole = unfinished(tmp_path, *options, lines=lines, torn=torn)

    done = run_fairplay(*PLAY, *options, "--journal", str(tmp_path), "--quiet")

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
        (*PLAY, "--seed", "8"),
        PLAY,
    ],
    ids=["parameters", "players", "names", "seed", "no seed"],
)
def test_another_command_begins_a_match_of_its_own(other: tuple[str, ...], tmp_path: Path) -> None:
    path, _ = unfinished(tmp_path, "--seed", "7")
    left = path.read_bytes()

    done = run_fairplay(*other, "--journal", str(tmp_path), "--quiet")

    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == left
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_neither_a_finished_match_nor_a_branch_is_resumed(tmp_path: Path) -> None:
    play = (*PLAY, "--seed", "7", "--journal", str(tmp_path), "--quiet")
    assert run_fairplay(*play).code == 0
    (path,) = tmp_path.glob("*.jsonl")
    assert refusal_line(run_fairplay("resume", str(path))) == f"{path}: this match is finished"
    assert run_fairplay("resume", str(path), "--at", "5", "--journal", str(tmp_path), "--quiet").code == 0
    (cut,) = set(tmp_path.glob("*.jsonl")) - {path}
    left = damage_journal(cut, "unfinished").read_bytes()
    one, other = read_journal(cut).opening, read_journal(path).opening
    assert (one.names, one.players, one.seed) == (other.names, other.players, other.seed)

    assert run_fairplay(*play).err == ""

    (new,) = set(tmp_path.glob("*.jsonl")) - {path, cut}
    assert cut.read_bytes() == left
    assert read_journal(new).opening.match != other.match
    assert read_journal(new).facts == read_journal(path).facts


def test_a_damaged_match_is_never_resumed(tmp_path: Path) -> None:
    path, _ = unfinished(tmp_path, "--seed", "7")
    damaged = path.read_bytes().replace(b'"seat":1', b'"seat":0', 1)
    path.write_bytes(damaged)

    for _ in range(2):
        why = refusal_line(run_fairplay(*PLAY, "--seed", "7", "--journal", str(tmp_path)))
        assert why.startswith(f"{path}: line 4 (byte ")
    assert path.read_bytes() == damaged


WAITING = COUNTING_BOT.format(third="import time; time.sleep(60)")
BEFORE_THE_THIRD = 2 * 3 + 2  # facts, at a table of three


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
            for _ in range(1 + BEFORE_THE_THIRD):
                assert process.stdout.readline()
            bot.write_text(WAITING.replace("sleep(60)", "sleep(0)"))
            yield command, process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("where", "how"), [("in the process", "Ctrl-C"), ("in a program", "SIGTERM"), ("in a program", "Ctrl-C")]
)
def test_an_interrupted_match_says_how_to_go_on(
    where: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, kind = INTERRUPTIONS[how]
    with waiting(tmp_path, where, monkeypatch, start) as (command, process):
        process.send_signal(kind)
        _, err = process.communicate(timeout=30)

    (path,) = tmp_path.glob("*.jsonl")
    assert process.returncode == 130
    next_step = f": fairplay resume {path}" if where == "in a program" else f" in {path}: the same command again"
    assert err == f"\nfairplay: interrupted; to go on with the match{next_step}\n"
    assert len(read_journal(path).facts) == BEFORE_THE_THIRD
    assert run_fairplay(*command).code == 0
    assert verify(read_journal(path)).turn is None
    assert verify(read_journal(path)).ejected == ()


def interrupted(words: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """The journal of a match that is interrupted when it is about to show some words, and what is said then."""

    class Interrupted(StringIO):
        def write(self, text: str) -> int:
            if words in text:
                raise KeyboardInterrupt
            return super().write(text)

    with monkeypatch.context() as patch:
        patch.setattr("tests.cli.command.StringIO", Interrupted)
        done = run_fairplay(*PLAY, "--journal", str(directory))
    assert done.code == 130
    (path,) = directory.glob("*.jsonl")
    return path, done.err.splitlines()[-1]


def test_a_match_that_is_interrupted_when_it_is_over_says_where_to_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, said = interrupted("1. ", tmp_path, monkeypatch)

    assert said == f"fairplay: interrupted; the match is over: fairplay replay {path}"
    assert read_journal(path).closing is not None


def test_an_interrupted_match_without_a_mac_names_the_option_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")

    path, said = interrupted(" places a penguin ", tmp_path, monkeypatch)

    assert said == f"fairplay: interrupted; to go on with the match: fairplay resume {path} --trust"
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0


def test_a_match_whose_file_is_gone_does_not_say_how_to_go_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    source = f"""import glob, os
def take_turn(view):
    os.unlink(*glob.glob({str(games / "*.jsonl")!r}))
    raise KeyboardInterrupt"""
    address = make_in_process_player(source, tmp_path, monkeypatch)

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


def test_a_running_match_is_not_resumed_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with waiting(tmp_path, "in a program", monkeypatch) as (command, process):
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
