"""Test `fairplay join` at a server: sign up, stay for more matches, reconnect, and identify with a token."""

import asyncio
import os
import select
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from fairplay.cli import join
from fairplay.cli.client import playing
from fairplay.protocol import player_side, wire
from tests.cli.command import (
    INSTALLED_COMMAND,
    make_in_process_player,
    refusal_line,
    run_fairplay,
    start_process,
)
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.cli.test_join import FIRST, hello
from tests.players.fake_server import FISH, RECEIPT, TURN, ClientConnection, FakeServer
from tests.server.guest_threads import TIMEOUT_S, run_server

CANARY = "canary-4f1c9d".ljust(wire.MAX_TOKEN_CHARS, "x")
CHANGE = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None)))) + b"\n"


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


MATCH = ["playing fish as ann in seat 0", "ranked 1 of 2", f"receipt: {RECEIPT} (covers the result)"]


def test_join_reports_a_session_in_short_lines() -> None:
    with FakeServer(two_matches) as server:
        done = run_fairplay("join", server.address, "greedy", "--name", "ann", "--game", "fish")

    said = [line.removeprefix("fairplay: ") for line in done.err.splitlines()]
    start = [f"connected to {server.address}", "signed in as ann"]
    assert (done.code, done.out) == (0, "")
    assert said == [*start, *MATCH, *MATCH, "the server closes the connection: that was all"]
    assert server.results == [{"name": "ann", "game": "fish"}]


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


@pytest.mark.parametrize("text", ["", " \n", "two words", "x" * 65, "café", "a\x1b[2J"])
def test_an_invalid_token_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")

    done = run_fairplay("join", "127.0.0.1:1", "greedy", "--token-file", str(file))

    assert refusal_line(done) == f"{file} does not hold a token"


def test_a_refused_player_hears_why() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.ask(hello(game=""))
        guest.dismiss()

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, "greedy")

    assert done.code == 1
    assert done.err.endswith("fairplay: ejected, illegal: rule 3.2: there is no tile at [9, 9]\n")


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


def test_a_player_that_raises_at_a_change_shows_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising = f"{FIRST}\n    def changed(self, view):\n        raise ValueError('oh no')"
    bot = make_in_process_player(raising, tmp_path, monkeypatch)

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.send(CHANGE)
        guest.send(guest.write_question(TURN))
        assert guest.receive() is None

    with FakeServer(meet) as server:
        done = run_fairplay("join", server.address, bot, "--wait", "0.5")

    [file] = tmp_path.glob("*.py")
    assert done.code == 1
    assert f'{file}", line 9, in changed\n' in done.err
    assert "fairplay: the player raised ValueError\nfairplay: signing in again\n" in done.err


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
        for move in ("0,0", "1,1"):
            terminal.type(f"{move}\n")
            terminal.wait_for("take it back> ")
            terminal.type("\n")
            terminal.wait_for("ranked 1 of 2")
            terminal.wait_for("ann> ", "enough")
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
    [
        ("ann", "ann"),
        ("Zoë M.", "Zo-M"),
        ("x" * 30, "x" * wire.MAX_NAME_CHARS),
        ("王", None),
        *((error, None) for error in (KeyError, OSError, ImportError)),  # the machine knows nothing of them
    ],
)
def test_people_are_called_by_as_much_of_their_name_as_can_be_one_here(
    user: str | type[Exception], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", Mock(side_effect=[user]))

    assert join.user_name() == name


LONG = """
reconnect_window = 3600
games = [{ game = "fish", max = 2, limits = { move = 3600, first = 3600 } }]
"""


@pytest.mark.parametrize(("does", "code"), [("time.sleep(3600)", 130), ("time.crash()", 1)])
def test_a_stopped_or_crashed_join_gives_up_its_seat_at_once(does: str, code: int, tmp_path: Path) -> None:
    file, bot = tmp_path / "server.toml", tmp_path / "bot.py"
    file.write_text(LONG)
    bot.write_text(f"import time\ndef take_turn(view):\n    print('thinks', flush=True)\n    {does}\n")
    with run_server(tmp_path / "kept", "--config", str(file)) as server:
        join: list[str | Path] = [INSTALLED_COMMAND, "join", server.address, bot, "--matches", "1"]
        bots = [start_process(join) for _ in range(2)]
        try:
            first = thinker(bots)
            first.send_signal(signal.SIGINT if code == 130 else signal.SIGCONT)
            assert first.wait(TIMEOUT_S) == code
            bots.remove(first)
            first.communicate()
            thinker(bots)  # it is the other one's turn
        finally:
            for one in bots:
                one.kill()
                one.communicate()


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
