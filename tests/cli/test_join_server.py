"""Test `fairplay join` at a server: sign up, stay for more matches, reconnect, and identify with a token."""

import asyncio
import os
import select
import signal
import ssl
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

from fairplay.cli import join
from fairplay.cli.client import playing
from fairplay.protocol import player_side, wire
from tests.cli.command import (
    INSTALLED_COMMAND,
    make_in_process_player,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.players.fake_server import FISH, RECEIPT, TURN, ClientConnection, FakeServer
from tests.server.guest_threads import TIMEOUT_S, run_server

CANARY = "canary-4f1c9d"
LISTENER = """
from fairplay.games.fish import Fish

class Player:
    def take_turn(self, view):
        return next(Fish(rows=3, columns=4).actions(view))

    def changed(self, view):
        print("changed", view.seat)
"""


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to wait long, and nobody has a token by chance."""
    monkeypatch.setattr(player_side, "FIRST_RECONNECT_INTERVAL_S", 0.001)
    monkeypatch.delenv("FAIRPLAY_TOKEN", raising=False)


def two_matches(guest: ClientConnection) -> Any:
    said = guest.sign_in()
    guest.play()
    guest.play()
    guest.send(wire.encode_suspended("that was all", 0))
    return said


def one_of_two(guest: ClientConnection) -> Any:
    said = guest.sign_in()
    guest.play()
    guest.receive()
    return said


MATCH = ["playing fish as ann in seat 0", "ranked 1 of 2", f"receipt: {RECEIPT} (covers the result)"]


def test_join_reports_a_session_in_short_lines() -> None:
    with FakeServer(two_matches) as server:
        done = run_fairplay("join", server.address, "greedy", "--name", "ann", "--game", "fish")

    said = [line.removeprefix("fairplay: ") for line in done.err.splitlines()]
    start = [f"connected to {server.address}", "signed in as ann"]
    assert (done.code, done.out) == (0, "")
    assert said == [*start, *MATCH, *MATCH, "the server closes the connection: that was all"]
    assert server.results == [{"name": "ann", "game": "fish"}]


def test_join_leaves_after_the_requested_matches() -> None:
    with FakeServer(one_of_two) as server:
        done = run_fairplay("join", server.address, "greedy", "--matches", "1")

    assert done.code == 0
    assert done.err.count("ranked 1 of 2") == 1
    assert server.results == [None]


def test_join_reconnects_in_the_middle_of_a_match() -> None:
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        question.append(guest.write_question(TURN))
        guest.ask(question[0])

    def second(guest: ClientConnection) -> Any:
        said = guest.sign_in()
        guest.ask(question[0])
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return said

    with FakeServer(first, second) as server:
        done = run_fairplay("join", server.address, "greedy")

    said = [line.removeprefix("fairplay: ") for line in done.err.splitlines()]
    connected, back = [f"connected to {server.address}", "signed in as ann"], "connection lost; reconnecting"
    assert done.code == 0
    assert said == [*connected, MATCH[0], back, *connected, *MATCH[1:], "the server closes the connection: enough"]
    assert server.results[1] == {"token": "pass"}


@pytest.mark.parametrize("where", ["file", "environment", "both"])
def test_a_token_comes_from_a_file_or_the_environment_and_is_not_shown(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, options = tmp_path / "token", []
    if where != "file":
        monkeypatch.setenv("FAIRPLAY_TOKEN", CANARY if where == "environment" else "another")
    if where != "environment":
        file.write_text(f"{CANARY}\n")
        options = ["--token-file", str(file)]

    with FakeServer(two_matches) as server:
        done = run_fairplay("join", server.address, "greedy", "--name", "ann", *options)

    assert server.results == [{"name": "ann", "token": CANARY}]
    assert CANARY not in done.err + done.out


def test_the_longest_token_that_there_is_is_taken(tmp_path: Path) -> None:
    file, token = tmp_path / "token", "x" * wire.MAX_TOKEN_CHARS
    file.write_text(token)

    with FakeServer(two_matches) as server:
        run_fairplay("join", server.address, "greedy", "--name", "ann", "--token-file", str(file))

    assert server.results == [{"name": "ann", "token": token}]


@pytest.mark.parametrize(
    "text", ["", " \n", "two words", "x" * 65, "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "a\x1b[2J"]
)
def test_an_invalid_token_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")

    assert (
        refusal_line(run_fairplay("join", "127.0.0.1:1", "greedy", "--token-file", str(file)))
        == f"{file} does not hold a token"
    )


def test_a_token_without_a_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(CANARY)

    why = refusal_line(run_fairplay("join", "127.0.0.1:1", "greedy", "--token-file", str(file)))

    assert why == "a token belongs to a name: add --name NAME"


def test_a_file_that_is_not_there_has_none() -> None:
    done = run_fairplay("join", "127.0.0.1:1", "greedy", "--token-file", "/no/such/file")

    assert refusal_line(done) == "/no/such/file cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--game", "chess"), "there is no game 'chess'"),
        (("--ca", "x", "--wait", "0"), "a file of certificates needs TLS"),
        (("--sandbox", "none"), "--sandbox cannot be used with greedy, which is not a program"),
        *(
            ((option, number), f"Invalid value for '{option}': ")
            for option in ("--wait", "--idle-timeout")
            for number in ("nan", "inf", "-1", "1e9")
        ),
    ],
)
def test_what_makes_no_sense_is_refused(options: tuple[str, ...], why: str) -> None:
    assert refusal_line(run_fairplay("join", "127.0.0.1:1", "greedy", *options)).startswith(why)


@pytest.mark.parametrize("player", ["tcp:4000", "ws:4000"])
def test_a_player_that_would_come_itself_cannot_join(player: str) -> None:
    why = refusal_line(run_fairplay("join", "1", player))

    assert why.startswith(f"'{player}' cannot join a match; use a built-in player, human, ./file.py, exec:")


def test_a_refused_player_hears_why() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.ask(
            wire.encode(wire.Hello(match="", turn=0, nonce="n", limit=5.0, protocol=wire.PROTOCOL_VERSION)) + b"\n"
        )
        guest.dismiss()

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, "greedy")

    assert done.code == 1
    assert done.err.endswith("fairplay: ejected, illegal: rule 3.2: there is no tile at [9, 9]\n")


def test_a_server_that_is_gone_in_the_middle_of_a_match_is_a_failure() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.sign_in(window=0.2)
        guest.begin()

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, "greedy")

    assert done.code == 1
    assert "before the end of the match" in done.err.splitlines()[-1]


def put_out(guest: ClientConnection) -> None:
    guest.sign_in()
    guest.begin()
    guest.dismiss()


def put_out_after_a_match(guest: ClientConnection) -> None:
    guest.sign_in()
    guest.play()
    guest.begin()
    guest.dismiss()


def test_a_server_that_is_gone_after_the_player_was_put_out_is_a_failure() -> None:
    with FakeServer(put_out) as server:
        done = run_fairplay("join", server.address, "greedy", "--wait", "0")

    assert done.code == 1
    assert done.err.splitlines()[-2:] == [
        "fairplay: signing in again",
        f"fairplay: cannot connect to {server.address}: Connection refused",
    ]


def test_a_player_that_is_put_out_of_every_match_signs_in_after_pauses_that_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr(playing, "asyncio", SimpleNamespace(sleep=sleep, get_running_loop=asyncio.get_running_loop))

    with FakeServer(put_out, put_out, put_out, put_out_after_a_match, put_out) as server:
        run_fairplay("join", server.address, "greedy", "--wait", "0")

    assert pauses == [0.1, 0.2, 0.4, 0.0, 0.1]


def test_a_player_hears_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_in_process_player(LISTENER, tmp_path, monkeypatch)
    change = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None)))) + b"\n"

    def meet(guest: ClientConnection) -> Any:
        guest.sign_in()
        said = guest.begin()
        guest.send(change + change)
        guest.question(TURN)
        guest.end()
        guest.receive()
        return said

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, bot, "--matches", "1")

    assert server.results == [{"changes": True}]
    assert (done.code, done.out) == (0, "changed None\n" * 2)


def test_a_player_that_raises_at_a_change_shows_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising = LISTENER.replace('print("changed", view.seat)', "raise ValueError('oh no')")
    bot = make_in_process_player(raising, tmp_path, monkeypatch)
    change = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None)))) + b"\n"

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.send(change)
        guest.send(guest.write_question(TURN))
        assert guest.receive() is None

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, bot, "--wait", "0.5")

    [file] = tmp_path.glob("*.py")
    assert done.code == 1
    assert f'{file}", line 9, in changed\n' in done.err
    assert "fairplay: the player raised ValueError\nfairplay: signing in again\n" in done.err


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of one's own, and its key."""
    directory = tmp_path_factory.mktemp("tls")
    pem, key = str(directory / "cert.pem"), str(directory / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", key, "-out", pem, "-days", "2", "-subj", "/CN=server"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return pem, key


def encrypting(certificate: tuple[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_a_server_with_a_certificate_is_reached_over_tls(certificate: tuple[str, str]) -> None:
    with FakeServer(two_matches, tls=encrypting(certificate)) as server:
        done = run_fairplay("join", f"tls://{server.address}", "greedy", "--name", "ann", "--ca", certificate[0])

    assert (done.code, server.results) == (0, [{"name": "ann"}])
    assert done.err.count("ranked 1 of 2") == 2


def test_a_websocket_server_that_is_no_fairplay_server_is_refused(certificate: tuple[str, str]) -> None:
    heard: list[Any] = []

    def meet(line: ServerConnection) -> None:
        line.send(
            wire.encode(wire.Hello(match="", turn=0, nonce="n", limit=5.0, protocol=wire.PROTOCOL_VERSION)).decode()
        )
        heard.append(line.recv(timeout=10))
        for said in (wire.Welcome(name="ann", reconnect_window=5.0), wire.Suspended(why="enough", retry_after=0)):
            line.send(wire.encode(said).decode())

    with serve(meet, "127.0.0.1", 0, ssl=encrypting(certificate)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        place = f"127.0.0.1:{server.socket.getsockname()[1]}"
        done = run_fairplay("join", f"wss://{place}", "greedy", "--name", "ann", "--ca", certificate[0])
        server.shutdown()
        thread.join()

    assert heard == ['{"nonce":"n","answer":{"name":"ann"}}']
    assert done.code == 1
    assert done.err.splitlines() == [
        f"fairplay: connected to wss://{place}",
        "fairplay: signed in as ann",
        "fairplay: the server closes the connection: enough",
        "fairplay: the host closed the connection before there was a match",
    ]


@pytest.mark.parametrize("scheme", ["tls", "wss"])
def test_a_server_with_an_untrusted_certificate_is_refused_at_once(scheme: str, certificate: tuple[str, str]) -> None:
    with FakeServer(two_matches, tls=encrypting(certificate)) as server:
        done = run_fairplay("join", f"{scheme}://{server.address}", "greedy", "--wait", "60")

    assert "certificate" in refusal_line(done)


def test_an_invalid_file_of_certificates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    for text, why in ((None, "No such file or directory"), ("junk", "")):
        if text is not None:
            file.write_text(text)
        done = run_fairplay("join", "tls://127.0.0.1:1", "greedy", "--ca", str(file))
        assert refusal_line(done).startswith(f"{file} holds no certificates: {why}")


def test_a_host_without_tls_is_refused() -> None:
    with FakeServer(lambda guest: guest.sign_in()) as server:
        done = run_fairplay("join", f"tls://{server.address}", "greedy")

    assert refusal_line(done).startswith(f"there is no TLS at {server.address}: ")


# People.


def test_people_play_at_a_server_too_and_may_type_while_the_line_is_lost() -> None:
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        question.append(guest.write_question(TURN))
        guest.send(question[0])

    def second(guest: ClientConnection) -> Any:
        guest.sign_in()
        answer = guest.ask(question[0])
        guest.end()
        answers = [answer, *guest.play()[1:]]
        guest.send(wire.encode_suspended("enough", 0))
        return answers

    with (
        FakeServer(first, second) as server,
        PseudoTerminal("join", server.address, "human", "--name", "ann") as terminal,
    ):
        terminal.wait_for("reconnecting")
        terminal.wait_for("signed in as ann")
        terminal.type("0,0\n")
        terminal.wait_for("take it back> ")
        terminal.type("\n")
        terminal.wait_for("ranked 1 of 2")
        terminal.wait_for("ann> ")
        terminal.type("1,1\n")
        terminal.wait_for("take it back> ")
        terminal.type("\n")
        terminal.wait_for("ranked 1 of 2")
        terminal.wait_for("enough")
        assert terminal.wait_for_exit() == 0
        assert terminal.settings == terminal.before

    assert server.results[1] == [{"type": "place", "at": [0, 0]}, {"type": "place", "at": [1, 1]}]


def test_people_that_are_put_out_are_not_signed_in_again() -> None:
    with FakeServer(put_out) as server, PseudoTerminal("join", server.address, "human", "--wait", "0") as terminal:
        terminal.wait_for("ejected, illegal")
        assert terminal.wait_for_exit() == 1
        assert "signing in again" not in terminal.visible_text


@pytest.mark.parametrize(
    ("user", "name"),
    [("ann", "ann"), ("Zo\u00eb M.", "Zo-M"), ("x" * 30, "x" * wire.MAX_NAME_CHARS), ("\u738b", None)],
)
def test_people_are_called_by_as_much_of_their_name_as_can_be_one_here(
    user: str, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", user)

    assert join.user_name() == name


@pytest.mark.parametrize("error", [KeyError, OSError, ImportError])
def test_people_of_whom_the_machine_knows_nothing_have_no_name(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", unknown)

    assert join.user_name() is None


def test_a_person_hears_that_there_is_no_server() -> None:
    done = run_script("join", "127.0.0.1:1", "human", "--wait", "0", stdin=subprocess.DEVNULL)

    assert refusal_line(done) == "cannot connect to 127.0.0.1:1: Connection refused"


LONG = """
reconnect_window = 3600
[[games]]
game = "fish"
max = 2
limits = { move = 3600, first = 3600 }
"""


@pytest.mark.parametrize(("does", "code"), [("time.sleep(3600)", 130), ("time.crash()", 1)])
def test_a_stopped_or_crashed_join_gives_up_its_seat_at_once(does: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text(LONG)
    (tmp_path / "bot.py").write_text(
        f"import time\ndef take_turn(view):\n    print('thinks', flush=True)\n    {does}\n"
    )
    with run_server(tmp_path / "kept", "--config", str(tmp_path / "server.toml")) as server:
        join: list[str | Path] = [INSTALLED_COMMAND, "join", server.address, tmp_path / "bot.py", "--matches", "1"]
        bots = [start_process(join) for _ in range(2)]
        try:
            first = thinker(bots)
            first.send_signal(signal.SIGINT if code == 130 else signal.SIGCONT)
            assert first.wait(TIMEOUT_S) == code
            bots.remove(first)
            first.communicate()
            thinker(bots)  # it is the other one's turn
        finally:
            for bot in bots:
                bot.kill()
                bot.communicate()


def thinker(bots: "list[subprocess.Popen[str]]") -> "subprocess.Popen[str]":
    """The one of them whose turn it is, by what it says on stderr."""
    said = {bot.stderr.fileno(): bot for bot in bots if bot.stderr is not None}
    heard = dict.fromkeys(said, b"")
    while True:
        ready, *_ = select.select(list(said), [], [], TIMEOUT_S)
        assert ready, heard
        for one in ready:
            heard[one] += os.read(one, 4096)
            if b"thinks" in heard[one]:
                return said[one]


def test_join_tells_the_server_whether_a_person_plays() -> None:
    def meet(guest: ClientConnection) -> Any:
        said = guest.sign_in()
        guest.send(wire.encode_suspended("enough", 0))
        return said

    with FakeServer(meet, meet) as server:
        run_fairplay("join", server.address, "human", "--name", "ann")
        run_fairplay("join", server.address, "greedy", "--name", "bob")

    assert server.results == [{"name": "ann", "person": True}, {"name": "bob"}]
