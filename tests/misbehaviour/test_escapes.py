"""Test that every escape attempt fails, and that a successful one would be noticed."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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


def named(name: str) -> EscapeAttempt:
    (attempt,) = (attempt for attempt in ESCAPE_SUITE if attempt.name == name)
    return attempt


def run_attempt(attempt: EscapeAttempt, sandbox: str = "strict") -> AttemptResult:
    (result,) = run_escape_attempts([attempt], sandbox=sandbox)
    return result


def test_there_are_enough_escape_attempts() -> None:
    assert len(ESCAPE_SUITE) >= 45
    assert len({attempt.name for attempt in ESCAPE_SUITE}) == len(ESCAPE_SUITE)
    assert {attempt.fault for attempt in ESCAPE_SUITE} >= {Fault.TIMED_OUT, Fault.CRASHED, Fault.FLOOD, Fault.MALFORMED}
    assert {attempt.language for attempt in ESCAPE_SUITE} == set(Language)


def test_the_documentation_lists_all_escape_attempts() -> None:
    section = (ROOT / "docs" / "sandbox.md").read_text().partition("## What a bot could try")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")][1:]

    shown = [name.strip() for row in rows for name in row[3].split(";") if name.strip()]

    assert sorted(shown) == sorted(attempt.name for attempt in ESCAPE_SUITE)


class SuiteRun(NamedTuple):
    """The results of all attempts, and what they left in this process."""

    results: dict[str, AttemptResult]
    left: Holdings


@pytest.fixture(scope="module")
def suite_run() -> SuiteRun:
    before = current_holdings()
    results = {result.name: result for result in run_escape_attempts(ESCAPE_SUITE)}
    return SuiteRun(results, NOTHING if is_cleaned_up(before) else new_holdings(before))


@pytest.mark.parametrize("attempt", ESCAPE_SUITE, ids=lambda attempt: attempt.name)
def test_an_escape_attempt_fails(attempt: EscapeAttempt, suite_run: SuiteRun) -> None:
    if attempt.held_by_group and not cgroup_support().memory:
        pytest.skip(f"it takes a control group: {cgroup_support().missing}")

    result = suite_run.results[attempt.name]

    assert result.verdict is Verdict.HELD, result.why


def test_escape_attempts_leave_no_trace(suite_run: SuiteRun) -> None:
    assert suite_run.left == NOTHING


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


def assert_held(name: str) -> None:
    """Let one of them suite_run, which is quicker than all."""
    result = run_attempt(named(name))
    assert result.verdict is Verdict.HELD, result.why


def test_no_program_changes_times_or_attributes_of_devices() -> None:
    assert_held("changes times and attributes")


def test_no_figure_in_proc_changes_while_another_program_works() -> None:
    assert_held("reads what a friend does in /proc")


def test_no_program_has_a_terminal() -> None:
    assert_held("takes terminals")


# The meter turns red.


@pytest.mark.parametrize(
    "name",
    [
        "reads what is not its own",
        "goes through /proc",
        "opens connections",
        "meets a friend in the network",
        "looks for secrets in its surroundings",
        "signals a friend by file locks",
    ],
)
def test_an_escape_attempt_succeeds_without_a_sandbox(name: str) -> None:
    """Of those that do no harm, all find what they look for."""
    assert run_attempt(named(name), "none").verdict is Verdict.GOT_OUT


def test_an_escape_attempt_that_lies_about_success_is_detected() -> None:
    """It says that it was refused, but its message arrived, and it knows what it cannot know."""
    heard = EscapeAttempt(
        name="sends",
        tries="a datagram",
        turn='socket.socket(2, 2).sendto(b"out", ("127.0.0.1", outside["udp"]))\nos._exit(7)',
    )
    knows = EscapeAttempt(
        name="reads",
        tries="a file",
        turn="print(open(f\"{outside['directory']}/other/kept\").read(), file=sys.stderr)\nos._exit(7)",
    )
    writes = EscapeAttempt(
        name="writes", tries="a file", turn="open(f\"{outside['directory']}/writable/new\", 'w')\nos._exit(7)"
    )
    touches = EscapeAttempt(name="touches", tries="a file", turn="os.utime(sys.argv[0])\nos._exit(7)")
    results = run_escape_attempts([heard, knows, writes, touches], sandbox="none")

    assert [result.why for result in results] == [
        "udp heard it",
        "it knows a file in other",
        "writable/new is new",
        "the times of bot were changed",
    ]
    assert {result.verdict for result in results} == {Verdict.GOT_OUT}


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
    result = run_attempt(EscapeAttempt(name="burns", tries="it", turn=turn))

    assert result.verdict is Verdict.GOT_OUT
    assert result.why.startswith("computed for ")


@pytest.mark.parametrize(
    ("ally", "times"), [(SLEEP_THEN_EXIT, attacking.MAX_TRIES), ("", 1)], ids=["by the clock", "otherwise"]
)
def test_only_timing_failures_are_repeated_on_a_busy_machine(
    ally: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And who gets out each time got out."""
    hosted, tried = attacking.match_spec, list[EscapeAttempt]()

    def late(
        attempt: EscapeAttempt, outside: EscapeTargets, programs: Sequence[Sequence[str]], sandbox: str
    ) -> MatchSpec:
        time.sleep(2 * attacking.MAX_WAKE_DELAY_S)
        tried.append(attempt)
        return hosted(attempt, outside, programs, sandbox)

    monkeypatch.setattr(attacking, "match_spec", late)
    result = run_attempt(EscapeAttempt(name="bad", tries="it", turn="got_out('this')", ally=ally))

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
        result = run_attempt(named("kills itself"))
    finally:
        for process in left:
            process.kill()
            process.wait()

    assert (result.verdict, result.why) == (Verdict.GOT_OUT, "1 of its processes survived the match")


@pytest.mark.parametrize("turn", [f"os._exit({ESCAPED_EXIT_CODE})", "got_out('this')", "pass"])
def test_an_escape_or_a_normal_match_is_not_counted_as_held(turn: str) -> None:
    assert run_attempt(EscapeAttempt(name="bad", tries="it", turn=turn)).verdict is not Verdict.HELD


def test_an_escape_attempt_that_ends_early_is_not_counted_as_held() -> None:
    result = run_attempt(EscapeAttempt(name="bad", tries="it", turn="nothing.of.this"))

    assert result.verdict is Verdict.NOT_TRIED
    assert result.why.startswith("it did not end as expected: the program ended with exit code 1")


def test_an_escape_attempt_that_crashes_instead_of_timing_out_is_not_counted_as_held() -> None:
    assert run_attempt(replace(named("kills itself"), fault=Fault.TIMED_OUT)).verdict is Verdict.NOT_TRIED


def test_escape_attempts_in_c_are_skipped_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = named("mounts")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "cc" else f"/usr/bin/{name}")

    result = run_attempt(attempt)

    assert (result.verdict, result.why) == (Verdict.NOT_TRIED, "this machine has no C compiler (cc)")
