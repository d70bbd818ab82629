"""Test `fairplay course serve`: invalid options, its output while it waits, and interrupts."""

import os
import pty
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from fairplay.course.commands.serve import choose_settings, describe_new_journals, list_journals
from fairplay.course.dialects.servers import SERVERS
from fairplay.terminal.server_output import TerminalOutput
from fairplay.tournament.layout import LOG_FILE
from tests.cli.command import INSTALLED_COMMAND, accept_ctrl_c, refusal_line, run_fairplay, start_process
from tests.cli.test_interrupted import every_interruption

SOON = 20.0  # seconds, which no test needs
FISH, TSURO, Q = ((game, "--port", "0") for game in ("fish", "tsuro", "q"))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((*Q, "--max", "9"), "q is for 2 to 4 players, not for 2 to 9"),
        ((*Q, "--min", "1"), "q is for 2 to 4 players, not for 1 to 4"),
        ((*Q, "--min", "5", "--max", "5"), "q is for 2 to 4 players, not for 5"),
        ((*Q, "--min", "5"), "--min 5 is more than the course's --max 4"),
        ((*FISH, "--max", "3"), "the course's --min 5 is more than --max 3"),
        ((*FISH, "--min", "12"), "--min 12 is more than the course's --max 10"),
        ((*TSURO, "--min", "3", "--max", "2"), "--min 3 is more than --max 2"),
        ((*TSURO, "--max", "0"), "Invalid value for '--max': 0 is not in the range 1<=x<=10000."),
        *(
            ((*Q, option, number), f"Invalid value for '{option}': ")
            for option in ("--wait", "--turn")
            for number in ("0", "-1", "nan", "inf", "86401", "x")
        ),
        ((*TSURO, "--waiting-periods", "0"), "Invalid value for '--waiting-periods': "),
        (("fish", "--port", "65536"), "Invalid value for '--port': "),
        (("fish",), "Missing option '--port'."),
        (("--port", "0"), "Missing argument 'GAME'. Choose from fish, tsuro, q"),
        ((*FISH, "--web", "0"), "No such option '--web'."),
        (("chess", "--port", "0"), "there is no course of 'chess'; there is fish, tsuro, q"),
        ((*FISH, "--host", "nowhere.invalid"), "cannot listen at nowhere.invalid:0: "),
        ((*FISH, "--journal", "/proc/there"), "cannot write journals in /proc/there: "),
        ((*FISH, "--journal", "/proc"), "cannot write journals in /proc: "),
        ((*Q, "--journal", "/dev/null"), "cannot write journals in /dev/null: "),
    ],
)
def test_invalid_options_of_a_course_server_are_refused_before_it_listens(
    options: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal_line(run_fairplay("course", "serve", *options)).startswith(why)


@pytest.mark.parametrize("place", [".", "matches"], ids=["one game", "a tournament"])
def test_an_interrupted_course_says_where_to_see_what_was_played(place: str, tmp_path: Path) -> None:
    (tmp_path / "matches").mkdir()
    (tmp_path / place / "old.jsonl").touch()
    before = list_journals(str(tmp_path))
    nothing_new = describe_new_journals(str(tmp_path), before)

    (tmp_path / place / "new.jsonl").touch()

    assert nothing_new == ""
    assert describe_new_journals(str(tmp_path), before).endswith(
        f"to see what was recorded: fairplay library list {tmp_path}"
    )


def test_a_course_may_be_served_for_an_exact_number_of_clients() -> None:
    rules = choose_settings(SERVERS["q"].rules, {"least": 2, "most": 2})

    assert (rules.least, rules.most) == (2, 2)


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        why = refusal_line(run_fairplay("course", "serve", "fish", "--port", str(port)))

    assert why == f"cannot listen at 127.0.0.1:{port}: Address already in use"


def told_port(line: str) -> int:
    [port] = re.findall(r" at \S+:(\d+) \(this machine only; for others: --host 0\.0\.0\.0\)", line)
    return int(port)


@contextmanager
def serving(*options: str, start: Callable[[], None] = accept_ctrl_c) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A server as a process of its own, and its port."""
    with start_process([INSTALLED_COMMAND, "course", "serve", "--port", "0", *options], start=start) as server:
        assert server.stderr is not None
        try:
            yield server, told_port(server.stderr.readline())
        finally:
            server.kill()


@contextmanager
def signed_up(port: int, *names: str) -> Iterator[list[socket.socket]]:
    """Clients that say their names, and answer to nothing."""
    with ExitStack() as leaving:
        clients = []
        for name in names:
            clients.append(leaving.enter_context(socket.create_connection(("127.0.0.1", port), SOON)))
            clients[-1].sendall(f'"{name}"\n'.encode())
        yield clients


def test_where_there_is_no_terminal_lines_say_who_came_and_how_long_it_waits() -> None:
    with (
        serving("q", "--min", "3", "--wait", "1", "--waiting-periods", "2") as (server, port),
        signed_up(port, "ann") as (ann,),
    ):
        assert server.stderr is not None
        first = server.stderr.readline()
        again = server.stderr.readline()
        with signed_up(port, "bob"):
            out, rest = server.communicate(timeout=SOON)
        assert ann.recv(1) == b""

    assert re.fullmatch(r"fairplay: ann has signed up: 1 of 3 to 4 players, [01] s left\n", first)
    assert again == "fairplay: waiting once more: 1 of 3 to 4 players, 1 s left\n"
    second, end = rest.splitlines()
    assert re.fullmatch(r"fairplay: bob has signed up: 2 of 3 to 4 players, [01] s left", second)
    assert (end, out, server.returncode) == ("fairplay: not enough players: 2 signed up, 3 are needed", "[[],[]]\n", 0)


def test_on_a_terminal_a_line_counts_down() -> None:
    pid, terminal = pty.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
        os.execve(INSTALLED_COMMAND, ["fairplay", "course", "serve", *FISH, "--wait", "60"], env)
    shown, deadline = "", time.monotonic() + SOON

    def until(pattern: str) -> None:
        nonlocal shown
        while not re.search(pattern, shown):
            assert time.monotonic() < deadline, shown
            shown += os.read(terminal, 65536).decode()

    try:
        until(r"waiting 60 s for 5 to 10 players at \S+ .*\r\n")
        with signed_up(told_port(shown.split("\r\n")[0]), "ann"):
            until(r"fairplay: ann has signed up: 1 of 5 to 10 players, \d+ s left\r\n")
            until(r"\r\x1b\[2K1 of 5 to 10 players, \d+ s left")
            os.write(terminal, b"\x03")  # Ctrl-C
            with suppress(OSError):  # which says that nobody has it open any more
                until("something else")
    finally:
        os.close(terminal)  # which ends it, if nothing else has
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert code == 130
    assert shown.endswith("fairplay: interrupted\r\n")
    assert " 0 s left" not in shown
    assert "\x1b[?25h" in shown  # the cursor is back


def begun(directory: Path, server: "subprocess.Popen[str]") -> list[Path]:
    """The journals of the matches that have begun, once there is one."""
    deadline = time.monotonic() + SOON
    while not (found := [path for path in directory.rglob("*.jsonl") if path.name != LOG_FILE]):
        assert time.monotonic() < deadline and server.poll() is None
        time.sleep(0.01)
    return found


@every_interruption
def test_journals_from_before_an_interruption_are_kept(
    start: Callable[[], None], kind: signal.Signals, tmp_path: Path
) -> None:
    directory = tmp_path / "cup"
    options = ("fish", "--max", "5", "--journal", str(directory))
    with serving(*options, start=start) as (server, port), signed_up(port, *"abcde") as clients:
        for client in clients:
            assert client.recv(4096) == b'["start",[true]]\n'
            client.sendall(b'"void"')
        journals = begun(directory, server)
        server.send_signal(kind)
        out, err = server.communicate(timeout=SOON)
        for client in clients:
            while client.recv(4096):
                pass

    assert (server.returncode, out) == (130, "")
    assert err.endswith(
        "\nfairplay: interrupted, and the clients are disconnected; "
        f"to see what was recorded: fairplay library list {directory}\n"
    )
    kept = {path: path.read_bytes() for path in directory.rglob("*.jsonl")}
    assert set(kept) >= {*journals, directory / LOG_FILE}
    assert "unfinished" in run_fairplay("library", "list", str(directory)).out
    assert "unfinished after fact 0" in refusal_line(run_fairplay("verify", str(journals[0])))
    assert "there is a tournament in" in refusal_line(run_fairplay("course", "serve", "--port", "0", *options))
    assert "cannot be seated from here" in refusal_line(run_fairplay("resume", str(journals[0]), "--trust"))
    assert {path: path.read_bytes() for path in kept} == kept


def test_another_game_of_q_goes_beside_one_that_was_interrupted(tmp_path: Path) -> None:
    options, files = ("q", "--max", "2", "--journal", str(tmp_path)), list[Path]()
    for number in (1, 2):
        with serving(*options) as (server, port), signed_up(port, "ann", "bob"):
            files = list(tmp_path.glob("*.jsonl"))
            while len(files) < number:
                files = begun(tmp_path, server)
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=SOON)
        assert err.endswith(f"recorded: fairplay library list {tmp_path}\n")

    assert len(files) == 2
    with serving(*options) as (server, _):
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=SOON)[1] == "\nfairplay: interrupted\n"  # nothing has begun


def test_a_name_of_a_client_moves_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalOutput().tell("\x1b[2Jann has signed up")

    assert capsys.readouterr().err == "fairplay: \N{REPLACEMENT CHARACTER}[2Jann has signed up\n"
