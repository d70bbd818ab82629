"""Test players that are programs or modules: names, time limits, sandbox, and that no process is left behind."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.journal.verification import verify
from fairplay.sandbox import protections
from tests.cli.command import (
    BEST_POLICY,
    BEST_SANDBOX,
    INSTALLED_COMMAND,
    INTERRUPTIONS,
    LEGAL_BOT,
    SMALL_BOARD,
    CommandResult,
    accept_ctrl_c,
    damage_journal,
    make_in_process_player,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
    strip_sandbox_warning,
    strip_scores,
)
from tests.cli.tournament_files import write_tournament_file
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, processes_marked

STARTED = "import sys, time\nfrom fairplay.bot import run\nfrom fairplay.games.fish import Fish\n"
PROGRAM = f"#!{sys.executable}\n{STARTED}\n"  # to be gone on with
PLAYS = "run(lambda view: next(Fish().actions(view)))\n"


def written(path: Path, source: str, mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{source}\n")
    path.chmod(mode)
    return str(path)


def outcome(*arguments: str) -> list[str]:
    """How a match came out in which greedy sits first; with this deal, better than any other player here."""
    done = run_fairplay("play", "fish", "ann=greedy", *arguments, *SMALL_BOARD, "--seed", "1", "--quiet")
    assert (done.code, done.err) == (0, ""), done
    return strip_scores(done.out)


def recorded(directory: Path) -> RecordedMatch:
    (path,) = directory.glob("*.jsonl")
    return read_journal(path)


# How they are named


@pytest.mark.parametrize("way", ["with its interpreter", "by its first line"])
def test_a_program_has_its_arguments_as_a_shell_has_them(way: str, tmp_path: Path) -> None:
    checks = "assert sys.argv[1:] == ['--flag', 'two words', \"it's\", '$HOME', '--depth=3', ''], sys.argv\n"
    program = shlex.quote(written(tmp_path / "my bots" / "a bot.py", PROGRAM + checks + PLAYS))
    interpreter = f"{shlex.quote(sys.executable)} " if way == "with its interpreter" else ""
    address = f"exec:{interpreter}{program} --flag 'two words' \"it's\" '$HOME' --depth=3 ''"

    lines = outcome(f"bob={address}", "--limit", "move=30,first=31", "--journal", str(tmp_path / "games"))

    opening = recorded(tmp_path / "games").opening
    assert sorted(line[3:] for line in lines[:2]) == ["ann", "bob"]
    assert opening.players == ("greedy", address)
    assert opening.sandbox == BEST_POLICY.level.value
    assert opening.limits is not None and (opening.limits["move"], opening.limits["first_move"]) == (30.0, 31.0)
    assert verify(recorded(tmp_path / "games")).ejected == ()


@pytest.mark.parametrize("address", ["./fish-bot", "exec:fish-bot"])
def test_a_program_is_found_by_its_path_and_where_a_shell_would_look(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "fish-bot", PROGRAM + PLAYS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert {line[3:] for line in outcome(f"bob={address}")} == {"ann", "bob"}


def test_a_program_that_says_something_else_is_out(tmp_path: Path) -> None:
    lines = outcome("bob=exec:echo hello world")

    assert lines[:2] == ["1. ann", "bob is out: malformed (greeting), not a reply: not JSON"]
    assert "    bob: received b'hello world' (11 bytes, SHA-256 " in "\n".join(lines)


def test_a_match_with_a_missing_program_is_resumed_once_it_is_back(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot", PROGRAM + PLAYS)
    path = damage_journal(record_journal(tmp_path, "greedy", bot), "unfinished")
    left = path.read_bytes()
    Path(bot).unlink()

    for again in (("resume", str(path)), ("play", "fish", "greedy", bot, *SMALL_BOARD, "--journal", str(tmp_path))):
        assert refusal_line(run_fairplay(*again)) == f"there is no program {bot!r}"
        assert path.read_bytes() == left
    written(tmp_path / "bot", PROGRAM + PLAYS)
    assert run_fairplay("resume", str(path), "--quiet").code == 0
    assert verify(read_journal(path)).ejected == ()


@needs_strict
@pytest.mark.skipif(os.geteuid() != 0, reason="only the programs of root run as somebody else")
def test_a_file_that_is_closed_to_others_is_refused_in_one_line(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT, 0o600)

    done = run_fairplay("play", "fish", "greedy", bot, *SMALL_BOARD, "--journal", str(tmp_path / "games"))

    assert refusal_line(done).startswith(f"{bot} is closed to others, ")
    assert list(tmp_path.glob("games/*")) == []


# How long they may take


def test_a_program_that_takes_too_long_is_ejected(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", "import time\nprint('thinking')\ndef take_turn(view): time.sleep(60)")

    lines = outcome(f"bob={bot}", "--limit", "0.5", "--journal", str(tmp_path / "games"))

    clocks = lines[2].removeprefix("    bob: limit 0.500 s, taken ")
    assert lines[:2] == ["1. ann", "bob is out: timed out (turn), no answer within 0.5 s"]
    assert 0.5 <= float(clocks.partition(" s, delays of the host ")[0]) < 2.0
    assert lines[3:5] == ["    bob: the program is still running; its stderr ends with:", "    bob: thinking"]
    assert verify(recorded(tmp_path / "games")).ejected[0].fault.value == "timed_out"
    assert becomes_true(lambda: not processes_marked(bot))


# How they are shut in


@needs_strict
def test_a_strict_sandbox_allows_no_files_beside_the_program(tmp_path: Path) -> None:
    writes = 'open(__file__.replace("bot.py", "notes.txt"), "w").close()'
    bot = written(tmp_path / "bot.py", LEGAL_BOT.replace("return", f"{writes}\n    return"))

    lines = outcome(f"bob={bot}", "--sandbox", "strict")

    # As root it is a stranger there; an ordinary user's program writes in a /tmp of its own, which is gone afterwards.
    assert os.geteuid() != 0 or lines[-1].endswith(f"[Errno 13] Permission denied: '{tmp_path}/notes.txt'")
    assert not (tmp_path / "notes.txt").exists()
    assert not any("is out" in line for line in outcome(f"bob={bot}", "--sandbox", "none"))
    assert (tmp_path / "notes.txt").exists()


@needs_strict
@pytest.mark.parametrize(("verb", "mode"), [("play", 0o755), ("resume", 0o755), ("play", 0o700)])
def test_journals_are_hidden_in_a_sandbox(verb: str, mode: int, tmp_path: Path) -> None:
    """A bot that lies beside the directory of journals answers how many it sees there."""
    if mode == 0o700 and os.geteuid() != 0:
        pytest.skip("only the programs of root run as somebody else")
    tmp_path.chmod(mode)
    games = tmp_path / "games"
    looks = f"return len(list(Path({str(games)!r}).glob('*')))"
    bot = written(tmp_path / "bot.py", f"from pathlib import Path\ndef take_turn(view): {looks}")
    path = damage_journal(record_journal(games), "unfinished")
    begun = ("play", "fish", "greedy", bot, *SMALL_BOARD, "--journal", str(games))
    command = begun if verb == "play" else ("resume", str(path), "greedy", bot)

    seen = [
        re.findall(r'"answer":(\d+)}', run_fairplay(*command, "--sandbox", level).out) for level in ("strict", "none")
    ]

    assert seen[0] == ["0"]
    assert int(seen[1][0]) > 0


def test_where_no_sandbox_can_be_had_auto_warns_and_strict_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT)
    why = "there is no strict sandbox here (files: a test from inside shows that it does not hold)"
    monkeypatch.setattr(protections, "why_not_strict", lambda: why)
    monkeypatch.setattr(protections, "why_no_landlock", lambda: "gone")
    command = ("play", "fish", "greedy", bot, *SMALL_BOARD, "--quiet", "--journal", str(tmp_path / "games"))

    strict = run_fairplay(*command, "--sandbox", "strict")
    assert refusal_line(strict) == f"{why}; `fairplay doctor` says more"
    assert list(tmp_path.glob("games/*")) == []

    auto = run_fairplay(*command)
    reasons = f"{why}; there is no Landlock here (gone)"
    warning = f"fairplay: programs run WITHOUT A SANDBOX: {reasons}; `fairplay doctor` says more\n"
    assert (auto.code, auto.err) == (0, warning)
    assert recorded(tmp_path / "games").opening.sandbox == "none"
    # Those in this process need none.
    assert run_fairplay("play", "fish", "greedy", "random", *SMALL_BOARD, "--sandbox", "strict", "--quiet").code == 0


# That none is left behind

STARTS_OTHERS = """
import subprocess, sys, time
from fairplay.games.fish import Fish

subprocess.Popen(
    [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", {mark!r}],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    start_new_session=True,
)

def take_turn(view):
    {pause}
    return next(Fish().actions(view))
"""


KILLED = (accept_ctrl_c, signal.SIGKILL)


@contextmanager
def hosting(*arguments: str, start: Callable[[], None] = accept_ctrl_c) -> Iterator["subprocess.Popen[str]"]:
    """A match that is being played by a process of its own."""
    command = [str(INSTALLED_COMMAND), "play", "fish", *BEST_SANDBOX, *arguments, *SMALL_BOARD]
    with start_process(command, start=start) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("how", "level"),
    [
        ("Ctrl-C", "none"),
        pytest.param("SIGTERM", "strict", marks=needs_strict),
        ("SIGTERM in the background", "none"),
        pytest.param("SIGKILL", "strict", marks=needs_strict),
        ("SIGKILL", "none"),
    ],
)
def test_an_interrupted_match_leaves_no_process_behind(how: str, level: str, tmp_path: Path) -> None:
    mark, (start, kind) = str(tmp_path), INTERRUPTIONS.get(how, KILLED)
    thinks = written(tmp_path / "thinks.py", STARTS_OTHERS.format(mark=mark, pause="time.sleep(600)"))
    waits = written(tmp_path / "waits.py", STARTS_OTHERS.format(mark=mark, pause="pass"))
    options = ("--sandbox", level, "--limit", "600", "--events", "--journal", str(tmp_path / "games"))

    with hosting(waits, thinks, "greedy", *options, start=start) as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["type"] for _ in range(2)] == ["started", "acted"]
        assert len(processes_marked(mark)) >= 5  # the referee, both programs, and what they started
        process.send_signal(kind)
        err = strip_sandbox_warning(process.communicate(timeout=30)[1])

    (path,) = (tmp_path / "games").glob("*.jsonl")
    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)
    if kind is signal.SIGKILL:
        assert (process.returncode, err) == (-signal.SIGKILL, "")
    else:
        assert process.returncode == 130
        assert err == f"\nfairplay: interrupted; to go on with the match: fairplay resume {path}\n"
    assert len(read_journal(path).facts) == 1


def test_a_match_that_is_interrupted_before_its_start_leaves_no_process_behind(tmp_path: Path) -> None:
    sleeper = f"{tmp_path}/sleeper"
    late = written(tmp_path / "late.py", STARTS_OTHERS.format(mark=sleeper, pause="pass") + "\ntime.sleep(600)")
    there = written(tmp_path / "there.py", LEGAL_BOT)

    with hosting(there, late, "--limit", "start=600") as process:
        while not processes_marked(sleeper):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert becomes_true(lambda: not processes_marked(str(tmp_path))), processes_marked(str(tmp_path))
    assert (out, process.returncode) == ("", 130)
    assert strip_sandbox_warning(err) == "\nfairplay: interrupted\n"


def test_the_keyboard_ends_a_match_with_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But a program that raises what the keyboard does is out like any other."""
    presses = make_in_process_player("def take_turn(view): raise KeyboardInterrupt", tmp_path, monkeypatch)
    bot = written(tmp_path / "bot.py", STARTS_OTHERS.format(mark=str(tmp_path), pause="pass"))

    done = run_fairplay("play", "fish", bot, presses, *SMALL_BOARD, "--quiet")

    assert done == (130, "", "\nfairplay: interrupted\n")
    assert becomes_true(lambda: not processes_marked(str(tmp_path))), processes_marked(str(tmp_path))
    for raised in ("KeyboardInterrupt", "SystemExit(130)"):
        bot = written(tmp_path / "bot.py", f"def take_turn(view): raise {raised}")
        assert outcome(f"bob={bot}")[1].startswith("bob is out: crashed (turn), the program ")


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    (tmp_path / "leaver.py").write_text("import os\n\ndef take_turn(view):\n    os._exit(7)\n")  # which nothing notices
    (tmp_path / "steady.py").write_text(LEGAL_BOT)
    return tmp_path


def play_module(directory: Path, *arguments: str) -> CommandResult:
    return run_script("play", "fish", *arguments, *SMALL_BOARD, "--quiet", cwd=directory)


def test_a_module_that_ends_its_process_loses_its_own_match_only(modules: Path) -> None:
    """Unless it is in that of the referee."""
    done = play_module(modules, "py:leaver:take_turn", "greedy", *BEST_SANDBOX)

    assert done.code == 0
    assert "1. greedy" in done.out
    assert "py:leaver:take_turn (0) is out: crashed (turn), the program ended with exit code 7" in done.out
    assert play_module(modules, "py:leaver:take_turn", "greedy", "--in-process").code == 7
    assert play_module(modules, "in-process:leaver:take_turn", "greedy").code == 7


def test_a_match_with_a_module_is_played_here_or_there_and_resumed_from_its_record(modules: Path) -> None:
    here = play_module(modules, "py:steady:take_turn", "greedy", "--in-process")
    there = play_module(modules, "py:steady:take_turn", "greedy", *BEST_SANDBOX, "--journal", "games")
    (path,) = (modules / "games").glob("*.jsonl")
    resumed = run_script("resume", str(damage_journal(path, "unfinished")), "--quiet", cwd=modules)

    for done in (here, there, resumed):
        assert done.code == 0
        assert ":steady:take_turn" in done.out and "is out" not in done.out


def test_a_module_that_ends_its_process_ends_no_worker_of_a_tournament_but_with_in_process(modules: Path) -> None:
    players = '[{ name = "ann", player = "py:leaver:take_turn" }, { name = "bob", player = "greedy" }]'
    write_tournament_file(modules, players=players, format='{ kind = "round-robin", games = 2 }')
    command = ("tournament", "cup.toml", "--quiet", "--executor", "here")

    assert run_script(*command, "--in-process", cwd=modules).code == 7
    assert run_script(*command, "--out", "other", cwd=modules).code == 0
    assert (modules / "other" / "results.json").is_file()
