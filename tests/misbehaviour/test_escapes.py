"""Test that every escape attempt fails, and that a successful one would be noticed."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.core.events import Fault
from fairplay.hosting.spec import MatchSpec
from fairplay.sandbox.cgroup import cgroup_support
from fairplay.testing.escapes import runner as attacking
from fairplay.testing.escapes.escape_attempt import ESCAPED_EXIT_CODE, SLEEP_THEN_EXIT, EscapeAttempt, Language
from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from fairplay.testing.escapes.runner import AttemptResult, Verdict, run_escape_attempts
from fairplay.testing.escapes.targets import EscapeTargets
from tests.players.machine import needs_strict
from tests.players.programs import NOTHING, Holdings, current_holdings, is_cleaned_up, new_holdings
from tests.players.sandbox_hosts import Host, unused_user_id
from tools.readme_tables import ROOT

pytestmark = needs_strict
KNOWN = {attempt.name: attempt for attempt in ESCAPE_SUITE}


def bad(turn: str, name: str = "bad", ally: str = "") -> EscapeAttempt:
    return EscapeAttempt(name=name, tries="it", turn=turn, ally=ally)


def run_attempt(attempt: EscapeAttempt) -> AttemptResult:
    (result,) = run_escape_attempts([attempt])
    return result


def test_the_documentation_lists_all_escape_attempts() -> None:
    section = (ROOT / "docs" / "sandbox.md").read_text().partition("## What a bot could try")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")][1:]

    shown = [name.strip() for row in rows for name in row[3].split(";") if name.strip()]

    assert sorted(shown) == sorted(KNOWN)
    assert len(KNOWN) == len(ESCAPE_SUITE) >= 45
    assert {attempt.fault for attempt in ESCAPE_SUITE} >= {Fault.TIMED_OUT, Fault.CRASHED, Fault.FLOOD, Fault.MALFORMED}
    assert {attempt.language for attempt in ESCAPE_SUITE} == set(Language)


@pytest.fixture(scope="module")
def suite_run(request: pytest.FixtureRequest) -> tuple[dict[str, AttemptResult], Holdings]:
    """The results of all attempts whose tests were chosen, run at once, and what they left in this process."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen = {item.callspec.params["name"] for item in items if item.originalname == "test_an_escape_attempt_fails"}
    before = current_holdings()
    results = run_escape_attempts([KNOWN[name] for name in KNOWN if name in chosen])
    left = NOTHING if is_cleaned_up(before) else new_holdings(before)
    return {result.name: result for result in results}, left


@pytest.mark.parametrize("name", KNOWN)
def test_an_escape_attempt_fails(name: str, suite_run: tuple[dict[str, AttemptResult], Holdings]) -> None:
    if KNOWN[name].held_by_group and not cgroup_support().memory:
        pytest.skip(f"it takes a control group: {cgroup_support().missing}")

    result = suite_run[0][name]

    assert result.verdict is Verdict.HELD, result.why


def test_escape_attempts_leave_no_trace(suite_run: tuple[dict[str, AttemptResult], Holdings]) -> None:
    assert suite_run[1] == NOTHING


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_escape_attempts_fail_without_root_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    user = Host(unused_user_id(), tmp_path)
    user.take_ownership(tmp_path)

    done = user.run_freely(sys.executable, "-m", "fairplay", "doctor", "--attack", "--json", within=110)

    results = json.loads(done.out)["attempts"]
    assert [(it["name"], it["why"]) for it in results if it["verdict"] == "got out"] == []
    untried = [it["why"] for it in results if it["verdict"] == "not tried"]
    assert all("control group" in why or "compiler" in why for why in untried), untried
    assert (done.code, len(results), len(results) - len(untried) >= 45) == (0, len(ESCAPE_SUITE), True)


# Successful attempts.


def test_escape_attempts_that_do_no_harm_succeed_without_a_sandbox() -> None:
    names = (
        "reads what is not its own",
        "goes through /proc",
        "opens connections",
        "meets a friend in the network",
        "looks for secrets in its surroundings",
        "signals a friend by file locks",
    )

    results = run_escape_attempts([KNOWN[name] for name in names], sandbox="none")

    assert {result.name: result.verdict for result in results} == dict.fromkeys(names, Verdict.GOT_OUT)


def test_an_escape_attempt_that_lies_about_success_is_detected() -> None:
    """It says that it was refused, but its message arrived, and it knows what it cannot know."""
    turns = {
        "udp heard it": 'socket.socket(2, 2).sendto(b"out", ("127.0.0.1", outside["udp"]))',
        "it knows a file in other": "print(open(f\"{outside['directory']}/other/kept\").read(), file=sys.stderr)",
        "writable/new is new": "open(f\"{outside['directory']}/writable/new\", 'w')",
        "the times of bot were changed": "os.utime(sys.argv[0])",
    }

    results = run_escape_attempts([bad(f"{turn}\nos._exit(7)", why) for why, turn in turns.items()], sandbox="none")

    assert [(result.why, result.verdict) for result in results] == [(why, Verdict.GOT_OUT) for why in turns]


def test_a_program_that_computes_while_frozen_is_detected() -> None:
    """It is asked, so it is not frozen; but it counts as if the other were. On a busy machine it takes its time."""
    turn = """
import threading
global greeted
threading.Thread(target=burn, daemon=True).start()
greeted = time.monotonic()
while time.process_time() < 0.6 and time.monotonic() < greeted + 15:
    time.sleep(0.05)
rested_or_out(until=time.monotonic() - greeted)
"""
    result = run_attempt(bad(turn))

    assert result.verdict is Verdict.GOT_OUT
    assert result.why.startswith("computed for ")


@pytest.mark.parametrize(
    ("ally", "times"), [(SLEEP_THEN_EXIT, attacking.MAX_TRIES), ("", 1)], ids=["by the clock", "otherwise"]
)
def test_only_timing_failures_are_repeated_on_a_busy_machine(
    ally: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that gets out each time got out."""
    hosted, tried = attacking.match_spec, list[EscapeAttempt]()

    def late(attempt: EscapeAttempt, outside: EscapeTargets, programs: Sequence[Sequence[str]], box: str) -> MatchSpec:
        time.sleep(2 * attacking.MAX_WAKE_DELAY_S)
        tried.append(attempt)
        return hosted(attempt, outside, programs, box)

    monkeypatch.setattr(attacking, "match_spec", late)
    result = run_attempt(bad("got_out('this')", ally=ally))

    assert (result.verdict, len(tried)) == (Verdict.GOT_OUT, times)


def test_a_surviving_process_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process outside has the mark of an attempt in its command, and is there after the match."""
    left: list[subprocess.Popen[bytes]] = []

    def with_survivor(attempt: EscapeAttempt, outside: EscapeTargets) -> list[list[str]]:
        sleeping = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", outside.marker]
        left.append(subprocess.Popen(sleeping))
        return written(attempt, outside)

    written = attacking.write_programs
    monkeypatch.setattr(attacking, "write_programs", with_survivor)
    try:
        result = run_attempt(KNOWN["kills itself"])
    finally:
        for process in left:
            process.kill()
            process.wait()

    assert (result.verdict, result.why) == (Verdict.GOT_OUT, "1 of its processes survived the match")


def test_an_attempt_that_gets_out_or_does_not_end_as_expected_is_not_counted_as_held() -> None:
    out = [bad(f"os._exit({ESCAPED_EXIT_CODE})"), bad("got_out('this')"), bad("pass")]
    early = [bad("nothing.of.this"), replace(KNOWN["kills itself"], fault=Fault.TIMED_OUT)]

    *results, ended, crashed = run_escape_attempts([*out, *early])

    assert Verdict.HELD not in {result.verdict for result in results}
    assert {ended.verdict, crashed.verdict} == {Verdict.NOT_TRIED}
    assert ended.why.startswith("it did not end as expected: the program ended with exit code 1")


def test_escape_attempts_in_c_are_skipped_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "cc" else f"/usr/bin/{name}")

    result = run_attempt(KNOWN["mounts"])

    assert (result.verdict, result.why) == (Verdict.NOT_TRIED, "this machine has no C compiler (cc)")
