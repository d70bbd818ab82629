"""Test players that are programs: their names, time limits and sandbox, and that none is left behind."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.limits import Limits, parse_limits
from fairplay.sandbox import protections
from tests.cli.command import (
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
from tests.players.machine import CAN_BE_STRICT, needs_strict
from tests.players.programs import becomes_true, processes_marked

STARTED = "import sys, time\nfrom fairplay.bot import run\nfrom fairplay.games.fish import Fish\n"
SLEEPS = "import time\ndef take_turn(view): time.sleep(60)"
SLOW_TWICE = """
import time
from fairplay.games.fish import Fish

class Player:
    turns = 0

    def take_turn(self, view):
        self.turns += 1
        if self.turns < 3:
            time.sleep(1)
        return next(Fish().actions(view))
"""
NEVER_THERE = "import time\ntime.sleep(60)"
WRITES = """
from pathlib import Path

def take_turn(view):
    Path(__file__).with_name("notes.txt").write_text("mine")
"""
PROGRAM = f"#!{sys.executable}\n{STARTED}\n"  # to be gone on with
PLAYS = "run(lambda view: next(Fish().actions(view)))\n"
LEVELS = [pytest.param("strict", marks=needs_strict), "none"]


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
def test_a_program_has_its_arguments_as_a_shell_has_them(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = "assert sys.argv[1:] == ['--flag', 'two words', \"it's\", '$HOME', '--depth=3', ''], sys.argv\n"
    program = shlex.quote(written(tmp_path / "my bots" / "a bot.py", PROGRAM + checks + PLAYS))
    interpreter = f"{shlex.quote(sys.executable)} " if way == "with its interpreter" else ""
    address = f"exec:{interpreter}{program} --flag 'two words' \"it's\" '$HOME' --depth=3 ''"

    lines = outcome(f"bob={address}", "--journal", str(tmp_path / "games"))

    assert sorted(line[3:] for line in lines[:2]) == ["ann", "bob"]
    assert recorded(tmp_path / "games").opening.players == ("greedy", address)
    assert verify(recorded(tmp_path / "games")).ejected == ()


def test_a_path_without_py_is_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "bot", PROGRAM + PLAYS)
    monkeypatch.chdir(tmp_path)

    assert {line[3:] for line in outcome("./bot")} == {"ann", "./bot"}


def test_a_program_is_looked_for_where_a_shell_would_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "tools" / "fish-bot", PROGRAM + PLAYS)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"), prepend=os.pathsep)

    assert {line[3:] for line in outcome("bob=exec:fish-bot")} == {"ann", "bob"}


def test_a_program_that_says_something_else_is_out(tmp_path: Path) -> None:
    lines = outcome("bob=exec:echo hello world")

    assert lines[:2] == ["1. ann", "bob is out: malformed (greeting), not a reply: not JSON"]
    assert "    bob: received b'hello world' (11 bytes, SHA-256 " in "\n".join(lines)


NO_PROGRAMS = {
    "./nobody": "there is no program './nobody'",
    "./nobody.py": "there is no Python file ./nobody.py",
    "./games.py": "there is no Python file ./games.py",
    "./plain": "./plain may not be executed; to make it a program: chmod +x ./plain",
    "./plain.js": './plain.js may not be executed; write exec:"node ./plain.js"',
    "exec:./plain.py --flag": './plain.py may not be executed; write exec:"python3 ./plain.py --flag"',
    "exec:'./a $b.js'": "./a $b.js may not be executed; write " + shlex.quote("exec:node './a $b.js'"),
    "./games.py/": "there is neither a program bot nor a file bot.py in ./games.py/",
    "exec:./plain --flag": "./plain may not be executed; to make it a program: chmod +x ./plain",
    "exec:./nobody --flag": "there is no program './nobody'",
    "exec:nobody-there": "there is no program 'nobody-there'",
    "exec:": "exec: names no program; write exec:./bot or exec:'./bot --flag'",
    "exec: ": "exec: names no program; write exec:./bot or exec:'./bot --flag'",
    "exec:''": "there is no program ''",
    "exec:'./bot": "exec:'./bot is not a command line: No closing quotation",
}


@pytest.mark.parametrize("address", NO_PROGRAMS)
def test_an_invalid_program_is_refused_before_anything_is_recorded(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plain", "plain.js", "plain.py", "a $b.js"):
        written(tmp_path / name, PROGRAM + PLAYS, 0o644)
    (tmp_path / "games.py").mkdir()
    path = damage_journal(record_journal(tmp_path), "unfinished")
    left = path.read_bytes()
    monkeypatch.chdir(tmp_path)

    played = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--journal", "games")
    resumed = run_fairplay("resume", str(path), "greedy", address, "--journal", "games")

    assert refusal_line(played) == refusal_line(resumed) == NO_PROGRAMS[address]
    assert list(tmp_path.glob("games/*")) == []
    assert path.read_bytes() == left


def test_a_match_with_a_missing_program_is_resumed_once_it_is_back(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot", PROGRAM + PLAYS)
    path = damage_journal(record_journal(tmp_path, "greedy", bot), "unfinished")
    Path(bot).unlink()

    assert refusal_line(run_fairplay("resume", str(path))) == f"there is no program {bot!r}"
    written(tmp_path / "bot", PROGRAM + PLAYS)
    assert run_fairplay("resume", str(path), "--quiet").code == 0
    assert verify(read_journal(path)).ejected == ()


@pytest.mark.parametrize("verb", ["play", "resume"])
def test_and_its_file_stays_as_it_is_until_then(verb: str, tmp_path: Path) -> None:
    bot = written(tmp_path / "bot", PROGRAM + PLAYS)
    path = damage_journal(record_journal(tmp_path, "greedy", bot), "unfinished")
    left = path.read_bytes()
    Path(bot).unlink()

    again = ("resume", str(path)) if verb == "resume" else ("play", "fish", "greedy", bot, *SMALL_BOARD)
    assert run_fairplay(*again, *(("--journal", str(tmp_path)) if verb == "play" else ())).code == 2
    assert path.read_bytes() == left


@needs_strict
@pytest.mark.skipif(os.geteuid() != 0, reason="only the programs of root run as somebody else")
def test_a_file_that_is_closed_to_others_is_refused_in_one_line(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT, 0o600)

    done = run_fairplay("play", "fish", "greedy", bot, *SMALL_BOARD, "--journal", str(tmp_path / "games"))

    assert refusal_line(done).startswith(f"{bot} is closed to others, ")
    assert list(tmp_path.glob("games/*")) == []


def test_a_directory_that_cannot_be_made_is_a_fault_of_the_host(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT)
    directory = tmp_path / "bot.py" / "games"

    done = run_fairplay("play", "fish", "greedy", bot, *SMALL_BOARD, "--journal", str(directory))

    assert refusal_line(done, 3) == f"cannot read the journals in {directory}: Not a directory"


def test_the_bytes_of_an_illegal_answer_are_in_the_journal(tmp_path: Path) -> None:
    cheats = PROGRAM + "run(lambda view: {'type': 'place', 'at': [99, 99]})\n"

    lines = outcome(f"bob={written(tmp_path / 'bot', cheats)}", "--journal", str(tmp_path / "games"))

    (path,) = (tmp_path / "games").glob("*.jsonl")
    (kept,) = [line for line in map(json.loads, path.read_bytes().splitlines()) if "answer" in line]
    assert lines[1].startswith("bob is out: illegal (turn), rule 3.2: ")
    assert kept["answer"] == {"type": "place", "at": [99, 99]}
    assert kept["evidence"]["received"].startswith("b'")
    assert "[99,99]" in kept["evidence"]["received"].replace(" ", "")


# How long they may take


def test_a_program_that_takes_too_long_is_ejected(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", f"print('thinking')\n{SLEEPS}")

    lines = outcome(f"bob={bot}", "--limit", "0.5", "--journal", str(tmp_path / "games"))

    clocks = lines[2].removeprefix("    bob: limit 0.500 s, taken ")
    assert lines[:2] == ["1. ann", "bob is out: timed out (turn), no answer within 0.5 s"]
    assert 0.5 <= float(clocks.partition(" s, delays of the host ")[0]) < 2.0
    assert lines[3:5] == ["    bob: the program is still running; its stderr ends with:", "    bob: thinking"]
    assert verify(recorded(tmp_path / "games")).ejected[0].fault.value == "timed_out"
    assert becomes_true(lambda: not processes_marked(bot))


@pytest.mark.alone
def test_the_first_turn_may_have_a_limit_of_its_own(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", SLOW_TWICE)

    told = run_fairplay("play", "fish", f"bob={bot}", "greedy", *SMALL_BOARD, "--limit", "0.5,first=20", "--events").out

    events = [json.loads(line) for line in told.splitlines()]
    assert [(event["type"], event.get("name")) for event in events[1:4]] == [
        ("acted", "bob"),
        ("acted", "greedy"),
        ("ejected", "bob"),
    ]
    assert events[3]["why"] == "no answer within 0.5 s"


def test_a_program_that_never_answers_is_ejected_at_the_greeting(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", NEVER_THERE)

    lines = outcome(f"bob={bot}", "--limit", "start=0.5")

    assert lines[:2] == ["1. ann", "bob is out: timed out (greeting), no answer within 0.5 s"]
    assert becomes_true(lambda: not processes_marked(bot))


def test_a_match_that_is_resumed_has_limits_too(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")
    bot = written(tmp_path / "bot.py", SLEEPS)

    done = run_fairplay("resume", str(path), "greedy", bot, "--limit", "0.5", "--quiet")

    assert strip_scores(done.out)[:2] == ["1. ann", "bob is out: timed out (turn), no answer within 0.5 s"]


def test_players_in_this_process_have_no_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = make_in_process_player(SLOW_TWICE.replace("sleep(1)", "sleep(0.05)"), tmp_path, monkeypatch)

    lines = outcome(f"bob={slow}", "--limit", "0.01", "--journal", str(tmp_path / "games"))

    opening = recorded(tmp_path / "games").opening
    assert not any("is out" in line for line in lines)
    assert (opening.limits, opening.sandbox) == (None, "")


NO_LIMITS = ["", "soon", "0", "-1", "inf", "nan", "86401", "1,2", "move=1,move=2", "2,move=2", "pace=3", "bank=", "=3"]


@pytest.mark.parametrize("limit", NO_LIMITS)
def test_an_invalid_limit_is_refused_in_one_line(limit: str, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    into = ("--limit", limit, "--journal", str(tmp_path / "games"))

    played = run_fairplay("play", "fish", "greedy", "random", *SMALL_BOARD, *into)
    resumed = run_fairplay("resume", str(path), "--at", "3", *into)

    assert refusal_line(played) == refusal_line(resumed)
    assert refusal_line(played).startswith(f"{limit!r} is not a time limit")
    assert not (tmp_path / "games").exists()


# How they are shut in


@pytest.mark.parametrize("limit", ["5", "2.5", "move=3,first=20,bank=60,increment=1,start=30"])
def test_the_opening_says_how_long_they_might_take(limit: str, tmp_path: Path) -> None:
    outcome(f"bob={written(tmp_path / 'bot.py', LEGAL_BOT)}", "--limit", limit, "--journal", str(tmp_path / "games"))

    assert msgspec.convert(recorded(tmp_path / "games").opening.limits, Limits) == parse_limits(limit)


@pytest.mark.parametrize("asked", ["auto", *LEVELS])
def test_the_opening_names_the_sandbox(asked: str, tmp_path: Path) -> None:
    path, bot = record_journal(tmp_path), written(tmp_path / "bot.py", LEGAL_BOT)
    options = ("--sandbox", asked, "--limit", "4", "--journal")

    outcome(f"bob={bot}", *options, str(tmp_path / "played"))
    run_fairplay("resume", str(path), "--at", "9", "random", bot, *options, str(tmp_path / "resumed"))

    level = ("strict" if CAN_BE_STRICT else "none") if asked == "auto" else asked
    for directory in ("played", "resumed"):
        opening = recorded(tmp_path / directory).opening
        limits = {"move": 4.0, "start_up": 10.0, "arrival": 60.0, "increment": 0.0, "goodbye": 0.25}
        assert (opening.sandbox, opening.limits) == (level, limits)


@needs_strict
def test_a_strict_sandbox_allows_no_files_beside_the_program(tmp_path: Path) -> None:
    lines = outcome(f"bob={written(tmp_path / 'bot.py', WRITES)}", "--sandbox", "strict")

    # As root it is a stranger there; an ordinary user's program writes in a /tmp of its own, which is gone afterwards.
    assert lines[0] == "1. ann" and lines[1].startswith("bob is out: ")
    assert os.geteuid() != 0 or lines[-1].endswith(f"[Errno 13] Permission denied: '{tmp_path}/notes.txt'")
    assert not (tmp_path / "notes.txt").exists()


def test_without_a_sandbox_it_can(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", f"{WRITES}\n    return first(view)\n{LEGAL_BOT.replace('take_turn', 'first')}")

    lines = outcome(f"bob={bot}", "--sandbox", "none")

    assert not any("is out" in line for line in lines)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("verb", ["play", "resume"])
def test_journals_are_hidden_in_a_sandbox(verb: str, level: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    there = {"play": 2, "resume": 1}[verb]
    assert journals_seen(verb, level, tmp_path) == (0 if level == "strict" else there)


@needs_strict
def test_the_parent_of_a_branch_is_hidden_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    assert journals_seen("resume", "strict", tmp_path, "--journal", str(tmp_path / "branches")) == 0


@needs_strict
@pytest.mark.skipif(os.geteuid() != 0, reason="only the programs of root run as somebody else")
def test_the_journals_are_hidden_in_a_directory_that_is_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)

    assert journals_seen("play", "strict", tmp_path) == 0


def journals_seen(verb: str, level: str, directory: Path, *options: str) -> int:
    """How many journals a bot sees that lies beside their directory; it answers with that."""
    games = directory / "games"
    looks = f"return len(list(Path({str(games)!r}).glob('*')))"
    bot = written(directory / "bot.py", f"from pathlib import Path\ndef take_turn(view): {looks}")
    path = damage_journal(record_journal(games), "unfinished")

    if verb == "play":
        done = run_fairplay("play", "fish", "greedy", bot, *SMALL_BOARD, "--sandbox", level, "--journal", str(games))
    else:
        done = run_fairplay("resume", str(path), "greedy", bot, "--sandbox", level, *options)
    (said,) = re.findall(r'"answer":(\d+)}', done.out)
    return int(said)


def test_no_environment_comes_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "1234")
    bot = written(
        tmp_path / "bot.py", "import os\ndef take_turn(view): raise RuntimeError(os.environ.get('OUR_SECRET'))"
    )

    if CAN_BE_STRICT:
        assert outcome(f"bob={bot}", "--sandbox", "strict")[-1] == "    bob: RuntimeError: None"
    assert outcome(f"bob={bot}", "--sandbox", "none")[-1] == "    bob: RuntimeError: 1234"


def test_a_sandbox_that_there_is_not_is_refused(tmp_path: Path) -> None:
    for verb in (("play", "fish"), ("resume", str(record_journal(tmp_path)))):
        line = refusal_line(run_fairplay(*verb, "greedy", "random", "--sandbox", "loose"))
        assert line == "Invalid value for '--sandbox': 'loose' is not one of 'auto', 'strict', 'none'."


def test_where_no_sandbox_can_be_had_auto_warns_and_strict_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT)
    why = "there is no strict sandbox here (files: a test from inside shows that it does not hold)"
    monkeypatch.setattr(protections, "why_not_strict", lambda: why)
    command = ("play", "fish", "greedy", bot, *SMALL_BOARD, "--quiet", "--journal", str(tmp_path / "games"))

    strict = run_fairplay(*command, "--sandbox", "strict")
    assert refusal_line(strict) == f"{why}; `fairplay doctor` says more"
    assert list(tmp_path.glob("games/*")) == []

    auto = run_fairplay(*command)
    warning = f"fairplay: programs run WITHOUT A SANDBOX: {why}; `fairplay doctor` says more\n"
    assert (auto.code, auto.err) == (0, warning)
    assert recorded(tmp_path / "games").opening.sandbox == "none"


def test_those_in_this_process_need_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no strict sandbox here")

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


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("start", "kind"), [*INTERRUPTIONS.values(), KILLED], ids=[*INTERRUPTIONS, "SIGKILL"])
def test_an_interrupted_match_leaves_no_process_behind(
    start: Callable[[], None], kind: signal.Signals, level: str, tmp_path: Path
) -> None:
    mark = str(tmp_path)
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


@pytest.mark.parametrize(("start", "kind"), [*INTERRUPTIONS.values(), KILLED], ids=[*INTERRUPTIONS, "SIGKILL"])
def test_a_match_that_is_interrupted_before_its_start_leaves_no_journal(
    start: Callable[[], None], kind: signal.Signals, tmp_path: Path
) -> None:
    sleeper = f"{tmp_path}/sleeper"
    late = written(tmp_path / "late.py", STARTS_OTHERS.format(mark=sleeper, pause="pass") + "\ntime.sleep(600)")
    there = written(tmp_path / "there.py", LEGAL_BOT)

    with hosting(there, late, "--limit", "start=600", start=start) as process:
        while not processes_marked(sleeper):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(kind)
        out, err = process.communicate(timeout=30)

    assert becomes_true(lambda: not processes_marked(str(tmp_path))), processes_marked(str(tmp_path))
    assert (out, process.returncode) == ("", -kind if kind is signal.SIGKILL else 130)
    assert strip_sandbox_warning(err) == ("" if kind is signal.SIGKILL else "\nfairplay: interrupted\n")


def test_the_keyboard_ends_a_match_with_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    presses = make_in_process_player("def take_turn(view): raise KeyboardInterrupt", tmp_path, monkeypatch)
    bot = written(tmp_path / "bot.py", STARTS_OTHERS.format(mark=str(tmp_path), pause="pass"))

    done = run_fairplay("play", "fish", bot, presses, *SMALL_BOARD, "--quiet")

    assert done == (130, "", "\nfairplay: interrupted\n")
    assert becomes_true(lambda: not processes_marked(str(tmp_path))), processes_marked(str(tmp_path))


def test_a_program_that_raises_what_the_keyboard_does_is_out_like_any_other(tmp_path: Path) -> None:
    for raised in ("KeyboardInterrupt", "SystemExit(130)"):
        bot = written(tmp_path / "bot.py", f"def take_turn(view): raise {raised}")

        assert outcome(f"bob={bot}")[1].startswith("bob is out: crashed (turn), the program ")


@pytest.mark.parametrize("level", LEVELS)
def test_when_a_match_is_over_all_are_gone(level: str, tmp_path: Path) -> None:
    mark = str(tmp_path)
    good = written(tmp_path / "good.py", STARTS_OTHERS.format(mark=mark, pause="pass"))
    bad = written(tmp_path / "bad.py", STARTS_OTHERS.format(mark=mark, pause="raise RuntimeError"))

    lines = outcome(f"bob={good}", f"cyd={bad}", "--sandbox", level)

    assert any(line.startswith("cyd is out: crashed (turn)") for line in lines)
    assert becomes_true(lambda: not processes_marked(mark)), processes_marked(mark)


# Beside others who come over a line


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_programs_guests_and_built_in_players_sit_at_one_table(scheme: str, tmp_path: Path) -> None:
    bot = written(tmp_path / "bot.py", LEGAL_BOT)
    joined: list[CommandResult] = []

    with hosting("ann=greedy", f"bob={bot}", f"cyd={scheme}:0", "--quiet", "--journal", str(tmp_path)) as process:
        assert process.stderr is not None
        while not strip_sandbox_warning(invitation := process.stderr.readline()):
            pass
        assert invitation.startswith(f"fairplay: waiting for 1 at {scheme}://127.0.0.1:")
        thread = threading.Thread(target=lambda: joined.append(run_script("join", invitation.split()[-1], "random")))
        thread.start()
        out, err = process.communicate(timeout=60)
        thread.join()

    assert (process.returncode, err, joined[0].code) == (0, "", 0)
    assert not any("is out" in line for line in out.splitlines())
    opening = recorded(tmp_path).opening
    assert opening.players == ("greedy", bot, f"{scheme}:0")
    assert (opening.limits is None, opening.sandbox != "") == (False, True)


def test_a_seat_without_a_joining_player_is_ejected() -> None:
    done = run_fairplay("play", "fish", "ann=greedy", "bob=tcp:0", *SMALL_BOARD, "--limit", "arrival=0.2", "--quiet")

    assert done.code == 0
    assert strip_scores(done.out)[:2] == ["1. ann", "bob is out: gone (greeting), no player connected"]


@pytest.mark.parametrize("address", ["tcp:", "tcp:listener", "ws:70000", "tcp:no.such.host.invalid:0"])
def test_an_unusable_port_is_refused_before_anything_is_recorded(address: str, tmp_path: Path) -> None:
    done = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--journal", str(tmp_path / "games"))

    assert refusal_line(done)
    assert list(tmp_path.glob("games/*")) == []
