"""Test `fairplay doctor`: its report on the sandbox and kernels of this machine, and that nothing is left behind."""

import json
import os
import signal
from pathlib import Path

import pytest

from fairplay import kernels
from fairplay.cli import doctor
from fairplay.testing.escapes.escape_attempt import EscapeAttempt
from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from tests.architecture.test_tree import SOURCE
from tests.cli.command import INSTALLED_COMMAND, refusal_line, run_fairplay, run_script, start_process
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, processes_marked

TAME = next(beast for beast in ESCAPE_SUITE if beast.name == "kills itself")
WILD = EscapeAttempt(name="says that it is out", tries="to be believed", turn="got_out('by saying so')")
BROKEN = EscapeAttempt(name="does not begin", tries="nothing", turn="nothing.at.all")


@needs_strict
@pytest.mark.parametrize(
    ("beast", "shown", "why", "code"),
    [
        (TAME, "held", "", 0),
        (WILD, "GOT OUT", "by saying so", 1),
        (BROKEN, "not tried", "it did not end as expected: ", 0),
    ],
    ids=lambda it: it.name if isinstance(it, EscapeAttempt) else "",
)
def test_a_missing_protection_is_listed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, beast: EscapeAttempt, shown: str, why: str, code: int
) -> None:
    monkeypatch.setattr(doctor, "ESCAPE_SUITE", (beast,))

    done, data = run_fairplay("doctor", "--attack"), run_fairplay("doctor", "--attack", "--json")

    first, *_, last = done.out.splitlines()
    assert (done.code, done.err) == (data.code, data.err) == (code, "")
    assert first.startswith(shown) and first.endswith(beast.tries)
    assert not why or done.out.splitlines()[1].strip().startswith(why)
    assert f"1 {shown}" in last
    [told] = json.loads(data.out)["attempts"]
    assert (told["name"], told["verdict"]) == (beast.name, shown.lower())
    assert told["why"].startswith(why)
    assert json.loads(data.out)["held"] == (beast is TAME) or beast is BROKEN


def test_nothing_is_let_loose_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "why_no_level", lambda _: "there is no strict sandbox here (files: gone)")

    said = refusal_line(run_fairplay("doctor", "--attack"))

    assert said == "there is no strict sandbox here (files: gone); escape attempts are not run without a sandbox"


@needs_strict
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_escape_suite_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    command: list[str | Path] = [INSTALLED_COMMAND, "doctor", "--attack"]
    with start_process(command, env={**os.environ, "TMPDIR": str(tmp_path)}) as attacking:
        assert attacking.stdout is not None
        assert attacking.stdout.readline()
        attacking.send_signal(number)
        _, err = attacking.communicate(timeout=30)

    assert (attacking.returncode, err.strip()) == (130, "fairplay: interrupted")
    assert becomes_true(lambda: not processes_marked(str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_whether_there_are_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "kernels", None)
    monkeypatch.setattr(kernels, "unavailable_reason", "they were eaten")
    without = run_fairplay("doctor")
    told = json.loads(run_fairplay("doctor", "--json").out)
    monkeypatch.setattr(kernels, "kernels", kernels)

    assert without.out.endswith("\nBuilt-in players use Python, not the kernels in C: they were eaten\n")
    assert (told["kernels"], told["why_no_kernels"]) == (False, "they were eaten")
    assert run_fairplay("doctor").out.endswith("\nBuilt-in players use the kernels in C.\n")


@pytest.mark.parametrize("pure", ["", "1"])
def test_doctor_says_that_python_was_requested(pure: str) -> None:
    there = (SOURCE / "_kernels.abi3.so").exists()

    told = json.loads(run_script("doctor", "--json", environment={"FAIRPLAY_PURE": pure}).out)

    assert told["kernels"] == (there and not pure)
    assert told["why_no_kernels"] == ("FAIRPLAY_PURE is set" if pure else "" if there else told["why_no_kernels"])
