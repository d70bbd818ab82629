"""Test `fairplay serve`: what it refuses, what its help shows, and how many spectators it lets in."""

import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairplay.cli.serve import serve
from fairplay.server.serving import GC_THRESHOLD_OBJECTS
from tests.cli.command import INSTALLED_COMMAND, refusal_line, run_fairplay, run_script, start_process
from tests.cli.server_process import TIMEOUT_S, running_server
from tests.nonempty import nonempty

SERVING = Path(__file__).parents[3] / "docs" / "serving.md"
FISH = ("fish", "--port", "0", "--set", "rows=4", "--set", "columns=4")


def examples() -> list[str]:
    """The command lines in the help for which no file is needed."""
    found = [line.strip().partition("    ")[0] for line in (serve.help or "").splitlines()]
    return [line for line in found if line.startswith("fairplay serve") and "--" not in line.split()[2]]


def test_a_directory_takes_one_server_at_a_time(tmp_path: Path) -> None:
    with running_server(*FISH, "--dir", tmp_path / "kept") as server:
        why = refusal_line(run_script("serve", *FISH, "--dir", str(tmp_path / "kept"), timeout=TIMEOUT_S))
        assert server.stop() == 0
    with running_server(*FISH, "--dir", tmp_path / "kept") as server:
        assert server.stop() == 0

    assert why == f"another server uses {tmp_path / 'kept'}: stop it, or choose another --dir"


@pytest.mark.parametrize(
    ("option", "there"), [("--port", False), ("--port", True), ("--web", False), ("--websocket", False)]
)
def test_a_port_that_is_taken_is_refused_and_a_directory_that_was_there_stays(
    option: str, there: bool, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    if there:
        kept.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_fairplay("serve", *FISH, option, str(port), "--dir", str(kept))

    assert done.code == 2
    assert done.err.endswith(f"fairplay: cannot listen at 127.0.0.1:{port}: Address already in use\n")
    assert list(tmp_path.iterdir()) == [kept] * there


def test_the_examples_in_the_help_are_understood(tmp_path: Path) -> None:
    lines = examples()

    assert len(lines) == 3
    for line in nonempty(lines):
        options = ("--dir", str(tmp_path), "--tls", "no", "where")  # which is looked at behind everything else
        assert refusal_line(run_fairplay(*shlex.split(line)[1:], *options)).startswith(
            "cannot use no and where for TLS: "
        ), line


def test_watch_says_that_no_match_is_played(tmp_path: Path) -> None:
    with running_server(*FISH, "--dir", tmp_path / "kept") as server:
        both = [start_process([INSTALLED_COMMAND, "watch", server.place, *options]) for options in ((), ("--json",))]
        try:
            said = [stream.readline() for stream in (both[0].stderr, both[1].stdout) if stream is not None]
        finally:
            for one in both:
                one.kill()
                one.communicate()
        assert server.stop() == 0

    assert said == [f"fairplay: no match is played at {server.place} now; waiting for one\n", '{"type":"idle"}\n']


@pytest.mark.parametrize("scheme", ["tls", "wss"])
def test_players_come_in_over_tls_with_a_certificate_as_the_docs_make_one(scheme: str, tmp_path: Path) -> None:
    [line] = re.findall(r"^    (openssl .*)$", SERVING.read_text(), re.MULTILINE)
    subprocess.run(shlex.split(line), cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT_S)
    certificate, key = tmp_path / "server.pem", tmp_path / "key.pem"
    options = ("--fill", "random", "--max", "2", "--wait", "0.1", "--limit", "60", "--websocket", "0")

    with running_server(*FISH, "--tls", certificate, key, "--dir", tmp_path / "kept", *options) as server:
        tcp, websocket = re.findall(r"127\.0\.0\.1:(\d+)", "".join(server.told))
        place = f"{scheme}://localhost:{tcp if scheme == 'tls' else websocket}"
        joined = run_script("join", place, "greedy", "--matches", "1", "--ca", str(certificate), timeout=TIMEOUT_S)
        assert joined.code == 0, joined
        until = time.monotonic() + TIMEOUT_S
        while "ENDED" not in (status := run_fairplay("status", place, "--ca", str(certificate))).out:
            assert time.monotonic() < until, status  # who played hears of it first
        assert server.stop() == 0


def test_a_server_collects_garbage_seldom_and_freezes_older_objects() -> None:
    code = """
import gc
from fairplay.cli.serving.server import run_until_stopped

async def serving():
    print(gc.get_threshold()[0], gc.get_freeze_count() > 10_000)

run_until_stopped(serving())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == f"{GC_THRESHOLD_OBJECTS} True\n"
