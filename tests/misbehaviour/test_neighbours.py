"""Test that greedy programs at eight tables leave enough of the shared resources to others."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.misbehaviour import greedy_programs
from tests.players.sandbox_hosts import Host, host

__all__ = ["host"]  # a fixture
TABLES, SEATS, FORKS = 8, 8, 8
SOURCE = Path(greedy_programs.__file__).with_name("greedy.c")
SMALLEST_PIPE, USUAL_PIPE = 8192, 65536

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")


@pytest.fixture
def left(host: Host, tmp_path: Path) -> dict[str, Any]:
    """What is left for the host, and for one more program."""
    program = tmp_path / "greedy"
    subprocess.run(["cc", "-w", "-O1", "-o", str(program), str(SOURCE)], check=True)
    program.chmod(0o755)
    words = [sys.executable, greedy_programs.__file__, str(program), str(TABLES * SEATS), str(FORKS)]
    done = host.run_freely(*words, within=100)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    assert found["holding"] == TABLES * SEATS
    return found


def test_greedy_programs_leave_the_host_and_their_neighbours_enough(host: Host, left: dict[str, Any]) -> None:
    """Pipes of an ordinary user, which the kernel counts with those of its programs, get smaller, but never fail."""
    own_user = host.user == 0  # then each program has one
    pipes = {"host": left["host"].pop("pipe bytes"), "neighbour": left["neighbour"].pop("pipe bytes")}

    assert left["host"] == {"terminals": 1, "queued signals": 100, "timers": 1, "descriptors in flight": 10}
    assert left["neighbour"]["queued signals"] == 100
    assert left["neighbour"]["descriptors in flight"] == (
        10 if own_user else 0
    )  # no program may, so that none can use them up
    assert pipes == dict.fromkeys(pipes, USUAL_PIPE) or (not own_user and min(pipes.values()) >= SMALLEST_PIPE)
