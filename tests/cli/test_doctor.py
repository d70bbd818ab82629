"""Test `fairplay doctor`: its report on the sandbox and kernels of this machine, and that nothing is left behind."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from fairplay import kernels
from fairplay.cli import doctor
from fairplay.testing.escapes.escape_attempt import EscapeAttempt
from fairplay.testing.escapes.escape_suite import ESCAPE_SUITE
from tests.architecture.test_tree import SOURCE
from tests.cli.command import INSTALLED_COMMAND, refusal_line, run_fairplay, start_process
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, processes_marked

TAME = next(beast for beast in ESCAPE_SUITE if beast.name == "kills itself")
WILD = EscapeAttempt(name="says that it is out", tries="to be believed", turn="got_out('by saying so')")
BROKEN = EscapeAttempt(name="does not begin", tries="nothing", turn="nothing.at.all")


def with_beasts(monkeypatch: pytest.MonkeyPatch, *beasts: EscapeAttempt) -> None:
    monkeypatch.setattr(doctor, "ESCAPE_SUITE", beasts)


@needs_strict
def test_all_that_held_is_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    with_beasts(monkeypatch, TAME)

    done = run_fairplay("doctor", "--attack")

    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(
        r"held       kills itself +to look like a fault of the host \(SIGKILL\)\n\n1 held, 0 GOT OUT, 0 not tried\n",
        done.out,
    )


@needs_strict
@pytest.mark.parametrize(
    ("beast", "shown", "why", "code"),
    [(WILD, "GOT OUT", "by saying so", 1), (BROKEN, "not tried", "it did not end as expected: ", 0)],
    ids=lambda it: it.name if isinstance(it, EscapeAttempt) else "",
)
def test_a_missing_protection_is_listed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, beast: EscapeAttempt, shown: str, why: str, code: int
) -> None:
    with_beasts(monkeypatch, TAME, beast)

    done = run_fairplay("doctor", "--attack")

    lines = done.out.splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith(shown))
    assert done.code == code
    assert lines[at].split(maxsplit=1)[1].endswith(beast.tries)
    assert lines[at + 1].strip().startswith(why)
    assert f"1 {shown}" in lines[-1]


@needs_strict
def test_escape_attempts_are_printed_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    with_beasts(monkeypatch, TAME, WILD)

    done = run_fairplay("doctor", "--attack", "--json")

    told = json.loads(done.out)
    assert (done.code, done.err, told["held"]) == (1, "", False)
    assert [(it["name"], it["verdict"], it["why"]) for it in told["attempts"]] == [
        ("kills itself", "held", ""),
        ("says that it is out", "got out", "by saying so"),
    ]


def test_nothing_is_let_loose_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "why_not_strict", lambda: "there is no strict sandbox here (files: gone)")

    said = refusal_line(run_fairplay("doctor", "--attack"))

    assert said == "there is no strict sandbox here (files: gone); escape attempts are not run without a strict sandbox"


@needs_strict
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_escape_suite_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    with start_process(
        [INSTALLED_COMMAND, "doctor", "--attack"], env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as attacking:
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

    done = subprocess.run(
        [INSTALLED_COMMAND, "doctor", "--json"],
        env={**os.environ, "FAIRPLAY_PURE": pure},
        capture_output=True,
        check=False,
    )

    told = json.loads(done.stdout)
    assert told["kernels"] == (there and not pure)
    assert told["why_no_kernels"] == ("FAIRPLAY_PURE is set" if pure else "" if there else told["why_no_kernels"])
