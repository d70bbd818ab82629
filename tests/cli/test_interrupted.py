"""Test interrupts at odd moments: while the command is loaded, in the background, or waits for a player or host."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.cli.options.interrupts import interrupt_on_sigterm
from tests.cli.command import INSTALLED_COMMAND, INTERRUPTIONS, ignore_ctrl_c, start_process
from tests.python_path import python_path

every_interruption = pytest.mark.parametrize(("start", "kind"), INTERRUPTIONS.values(), ids=INTERRUPTIONS)


def ignored(process: int) -> set[signal.Signals]:
    """What never reaches a process, as the kernel has it."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    masks = [int(line.split()[1], 16) for line in status if line.startswith(("SigIgn:", "SigBlk:"))]
    assert len(masks) == 2
    return {number for number in signal.Signals if (masks[0] | masks[1]) >> (number - 1) & 1}


@pytest.mark.parametrize(
    ("how", "verb", "module"),
    [("the script", "games", "msgspec"), ("python -m", "games", "click"), ("the script", "library", "sqlite3")],
)
def test_while_it_is_loaded_ctrl_c_ends_it_with_one_line(how: str, verb: str, module: str, tmp_path: Path) -> None:
    command = [INSTALLED_COMMAND] if how == "the script" else [sys.executable, "-m", "fairplay_command"]
    there = tmp_path / "there"
    os.mkfifo(there)
    (tmp_path / f"{module}.py").write_text(f"import time\nopen({str(there)!r}, 'w').close()\ntime.sleep(60)\n")

    with start_process([*command, verb], env={**os.environ, "PYTHONPATH": python_path(tmp_path)}) as process:
        there.read_text()  # which waits until the module is being loaded
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (130, "", "fairplay: interrupted\n")


@every_interruption
def test_a_host_that_waits_for_a_player_can_be_interrupted(start: Callable[[], None], kind: signal.Signals) -> None:
    with start_process([INSTALLED_COMMAND, "play", "fish", "greedy", "tcp:0"], start=start) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("fairplay: waiting for 1 at tcp://")
        assert (signal.SIGINT in ignored(process.pid)) == (start is ignore_ctrl_c)
        process.send_signal(kind)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (130, "", "\nfairplay: interrupted\n")


@every_interruption
def test_a_player_that_waits_for_a_host_can_be_interrupted(start: Callable[[], None], kind: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as host:
        place = f"127.0.0.1:{host.getsockname()[1]}"
        with start_process([INSTALLED_COMMAND, "join", place, "greedy"], start=start) as process:
            line, _ = host.accept()
            assert process.stderr is not None
            assert process.stderr.readline() == f"fairplay: connected to {place}\n"
            process.send_signal(kind)
            _, err = process.communicate(timeout=30)
        line.close()

    assert (process.returncode, err) == (130, "\nfairplay: interrupted\n")


def test_an_ignored_sigterm_stays_ignored(tmp_path: Path) -> None:
    def stubborn() -> None:
        ignore_ctrl_c()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    with start_process([INSTALLED_COMMAND, "play", "fish", "greedy", "tcp:0"], start=stubborn) as process:
        assert process.stderr is not None
        process.stderr.readline()
        known = ignored(process.pid)
        process.kill()

    assert {signal.SIGINT, signal.SIGTERM} <= known


def test_after_an_interruption_signals_are_what_they_were_too() -> None:
    before = signal.getsignal(signal.SIGTERM)
    sigint = signal.signal(signal.SIGINT, signal.SIG_IGN)

    with pytest.raises(KeyboardInterrupt), interrupt_on_sigterm():
        signal.raise_signal(signal.SIGTERM)

    after, mask = signal.signal(signal.SIGINT, sigint), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGTERM) is before
    assert (after, signal.SIGINT in mask) == (signal.SIG_IGN, False)


def test_a_ctrl_c_that_is_ignored_is_not_heard_at_the_end_either(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    monkeypatch.setattr(signal, "default_int_handler", lambda number, _: heard.append(number))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    with interrupt_on_sigterm():
        signal.raise_signal(signal.SIGINT)

    after = signal.signal(signal.SIGINT, before)
    assert (heard, after) == ([], signal.SIG_IGN)
