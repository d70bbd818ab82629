"""Join a house with the command: sign up, stay, come back, and show who one is."""

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
from tests.cli.command import SCRIPT, fairplay, in_process, refusal, script, started
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.players.a_house import FISH, RECEIPT, TURN, Guest, House
from tests.server.guests import AMPLE, served

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
    monkeypatch.setattr(player_side, "FIRST_PAUSE_S", 0.001)
    monkeypatch.delenv("FAIRPLAY_TOKEN", raising=False)


def two_matches(guest: Guest) -> Any:
    said = guest.welcome()
    guest.play()
    guest.play()
    guest.say(wire.suspended("that was all", 0))
    return said


def one_of_two(guest: Guest) -> Any:
    said = guest.welcome()
    guest.play()
    guest.hear()
    return said


MATCH = ["playing fish as ann in seat 0", "ranked 1 of 2", f"receipt: {RECEIPT} (covers the result)"]


def test_it_says_in_short_lines_what_happens() -> None:
    with House(two_matches) as house:
        done = fairplay("join", house.address, "greedy", "--name", "ann", "--game", "fish")

    said = [line.removeprefix("fairplay: ") for line in done.err.splitlines()]
    start = [f"connected to {house.address}", "signed up as ann"]
    assert (done.code, done.out) == (0, "")
    assert said == [*start, *MATCH, *MATCH, "the house hangs up: that was all"]
    assert house.results == [{"name": "ann", "game": "fish"}]


def test_it_leaves_after_so_many_matches() -> None:
    with House(one_of_two) as house:
        done = fairplay("join", house.address, "greedy", "--matches", "1")

    assert done.code == 0
    assert done.err.count("ranked 1 of 2") == 1
    assert house.results == [None]


def test_it_comes_back_in_the_middle_of_a_match() -> None:
    question: list[bytes] = []

    def first(guest: Guest) -> None:
        guest.welcome()
        guest.begin()
        question.append(guest.written(TURN))
        guest.ask(question[0])

    def second(guest: Guest) -> Any:
        said = guest.welcome()
        guest.ask(question[0])
        guest.end()
        guest.say(wire.suspended("enough", 0))
        return said

    with House(first, second) as house:
        done = fairplay("join", house.address, "greedy")

    said = [line.removeprefix("fairplay: ") for line in done.err.splitlines()]
    connected, back = [f"connected to {house.address}", "signed up as ann"], "the line was lost; coming back"
    assert done.code == 0
    assert said == [*connected, MATCH[0], back, *connected, *MATCH[1:], "the house hangs up: enough"]
    assert house.results[1] == {"token": "pass"}


@pytest.mark.parametrize("where", ["file", "environment", "both"])
def test_a_token_comes_from_a_file_or_the_environment_and_is_shown_to_nobody_else(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, options = tmp_path / "token", []
    if where != "file":
        monkeypatch.setenv("FAIRPLAY_TOKEN", CANARY if where == "environment" else "another")
    if where != "environment":
        file.write_text(f"{CANARY}\n")
        options = ["--token-file", str(file)]

    with House(two_matches) as house:
        done = fairplay("join", house.address, "greedy", "--name", "ann", *options)

    assert house.results == [{"name": "ann", "token": CANARY}]
    assert CANARY not in done.err + done.out


def test_the_longest_token_that_there_is_is_taken(tmp_path: Path) -> None:
    file, token = tmp_path / "token", "x" * wire.LONGEST_TOKEN
    file.write_text(token)

    with House(two_matches) as house:
        fairplay("join", house.address, "greedy", "--name", "ann", "--token-file", str(file))

    assert house.results == [{"name": "ann", "token": token}]


@pytest.mark.parametrize(
    "text", ["", " \n", "two words", "x" * 65, "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "a\x1b[2J"]
)
def test_what_is_no_token_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")

    assert refusal(fairplay("join", "127.0.0.1:1", "greedy", "--token-file", str(file))) == f"{file} holds no token"


def test_a_token_without_a_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(CANARY)

    why = refusal(fairplay("join", "127.0.0.1:1", "greedy", "--token-file", str(file)))

    assert why == "a token is of a name: say which, with --name"


def test_a_file_that_is_not_there_has_none() -> None:
    done = fairplay("join", "127.0.0.1:1", "greedy", "--token-file", "/no/such/file")

    assert refusal(done) == "/no/such/file cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--game", "chess"), "there is no game 'chess'"),
        (("--ca", "x", "--wait", "0"), "a file with certificates makes no sense without TLS"),
        (("--sandbox", "none"), "--sandbox makes no sense with greedy, which is no program"),
        *(
            ((option, number), f"Invalid value for '{option}': ")
            for option in ("--wait", "--patience")
            for number in ("nan", "inf", "-1", "1e9")
        ),
    ],
)
def test_what_makes_no_sense_is_refused(options: tuple[str, ...], why: str) -> None:
    assert refusal(fairplay("join", "127.0.0.1:1", "greedy", *options)).startswith(why)


@pytest.mark.parametrize("player", ["tcp:4000", "ws:4000"])
def test_a_player_that_would_come_itself_cannot_join(player: str) -> None:
    why = refusal(fairplay("join", "1", player))

    assert why.startswith(f"'{player}' cannot join a match: it takes a house player, human, ./file.py, exec:")


def test_who_is_turned_away_is_told_why() -> None:
    def meet(guest: Guest) -> None:
        guest.ask(wire.encode(wire.Hello(match="", turn=0, nonce="n", limit=5.0, protocol=1)) + b"\n")
        guest.dismiss()

    with House(meet) as house:
        done = fairplay("join", house.address, "greedy")

    assert done.code == 1
    assert done.err.endswith("fairplay: ejected, illegal: rule 3.2: there is no tile at [9, 9]\n")


def test_a_house_that_is_gone_in_the_middle_of_a_match_is_a_failure() -> None:
    def meet(guest: Guest) -> None:
        guest.welcome(window=0.2)
        guest.begin()

    with House(meet) as house:
        done = fairplay("join", house.address, "greedy")

    assert done.code == 1
    assert "before the end of the match" in done.err.splitlines()[-1]


def put_out(guest: Guest) -> None:
    guest.welcome()
    guest.begin()
    guest.dismiss()


def put_out_after_a_match(guest: Guest) -> None:
    guest.welcome()
    guest.play()
    guest.begin()
    guest.dismiss()


def test_a_house_that_is_gone_after_the_player_was_put_out_is_a_failure() -> None:
    with House(put_out) as house:
        done = fairplay("join", house.address, "greedy", "--wait", "0")

    assert done.code == 1
    assert done.err.splitlines()[-2:] == [
        "fairplay: signing in again",
        f"fairplay: cannot connect to {house.address}: Connection refused",
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

    with House(put_out, put_out, put_out, put_out_after_a_match, put_out) as house:
        fairplay("join", house.address, "greedy", "--wait", "0")

    assert pauses == [0.1, 0.2, 0.4, 0.0, 0.1]


def test_a_player_hears_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = in_process(LISTENER, tmp_path, monkeypatch)
    change = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None)))) + b"\n"

    def meet(guest: Guest) -> Any:
        guest.welcome()
        said = guest.begin()
        guest.say(change + change)
        guest.question(TURN)
        guest.end()
        guest.hear()
        return said

    with House(meet) as house:
        done = fairplay("join", house.address, bot, "--matches", "1")

    assert house.results == [{"changes": True}]
    assert (done.code, done.out) == (0, "changed None\n" * 2)


def test_a_player_that_raises_at_a_change_shows_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising = LISTENER.replace('print("changed", view.seat)', "raise ValueError('oh no')")
    bot = in_process(raising, tmp_path, monkeypatch)
    change = wire.encode(wire.Changed(match="m", view=FISH.pack(FISH.view(FISH.deal(2, bytes(32)), None)))) + b"\n"

    def meet(guest: Guest) -> None:
        guest.welcome()
        guest.begin()
        guest.say(change)
        guest.say(guest.written(TURN))
        assert guest.hear() is None

    with House(meet) as house:
        done = fairplay("join", house.address, bot, "--wait", "0.5")

    [file] = tmp_path.glob("*.py")
    assert done.code == 1
    assert f'{file}", line 9, in changed\n' in done.err
    assert "fairplay: the player raised ValueError\nfairplay: signing in again\n" in done.err


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of one's own, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", key, "-out", pem, "-days", "2", "-subj", "/CN=house"),
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


def test_a_house_with_a_certificate_is_reached_over_tls(certificate: tuple[str, str]) -> None:
    with House(two_matches, tls=encrypting(certificate)) as house:
        done = fairplay("join", f"tls://{house.address}", "greedy", "--name", "ann", "--ca", certificate[0])

    assert (done.code, house.results) == (0, [{"name": "ann"}])
    assert done.err.count("ranked 1 of 2") == 2


def test_so_is_one_that_speaks_websocket(certificate: tuple[str, str]) -> None:
    heard: list[Any] = []

    def meet(line: ServerConnection) -> None:
        line.send(wire.encode(wire.Hello(match="", turn=0, nonce="n", limit=5.0, protocol=1)).decode())
        heard.append(line.recv(timeout=10))
        for said in (wire.Welcome(name="ann", window=5.0), wire.Suspended(why="enough", again=0)):
            line.send(wire.encode(said).decode())

    with serve(meet, "127.0.0.1", 0, ssl=encrypting(certificate)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        place = f"127.0.0.1:{server.socket.getsockname()[1]}"
        done = fairplay("join", f"wss://{place}", "greedy", "--name", "ann", "--ca", certificate[0])
        server.shutdown()
        thread.join()

    assert heard == ['{"nonce":"n","answer":{"name":"ann"}}']
    assert done.code == 1
    assert done.err.splitlines() == [
        f"fairplay: connected to wss://{place}",
        "fairplay: signed up as ann",
        "fairplay: the house hangs up: enough",
        "fairplay: the host hung up before there was a match",
    ]


@pytest.mark.parametrize("scheme", ["tls", "wss"])
def test_one_whose_certificate_nobody_trusts_is_refused_at_once(scheme: str, certificate: tuple[str, str]) -> None:
    with House(two_matches, tls=encrypting(certificate)) as house:
        done = fairplay("join", f"{scheme}://{house.address}", "greedy", "--wait", "60")

    assert "certificate" in refusal(done)


def test_what_is_no_file_of_certificates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    for text, why in ((None, "No such file or directory"), ("junk", "")):
        if text is not None:
            file.write_text(text)
        done = fairplay("join", "tls://127.0.0.1:1", "greedy", "--ca", str(file))
        assert refusal(done).startswith(f"{file} has no certificates: {why}")


def test_a_host_without_tls_is_refused() -> None:
    with House(lambda guest: guest.welcome()) as house:
        done = fairplay("join", f"tls://{house.address}", "greedy")

    assert refusal(done).startswith(f"there is no TLS at {house.address}: ")


# People.


def test_people_play_at_a_house_too_and_may_type_while_the_line_is_lost() -> None:
    question: list[bytes] = []

    def first(guest: Guest) -> None:
        guest.welcome()
        guest.begin()
        question.append(guest.written(TURN))
        guest.say(question[0])

    def second(guest: Guest) -> Any:
        guest.welcome()
        answer = guest.ask(question[0])
        guest.end()
        answers = [answer, *guest.play()[1:]]
        guest.say(wire.suspended("enough", 0))
        return answers

    with House(first, second) as house, PseudoTerminal("join", house.address, "human", "--name", "ann") as terminal:
        terminal.until("coming back")
        terminal.until("signed up as ann")
        terminal.type("0,0\n")
        terminal.until("take it back> ")
        terminal.type("\n")
        terminal.until("ranked 1 of 2")
        terminal.until("ann> ")
        terminal.type("1,1\n")
        terminal.until("take it back> ")
        terminal.type("\n")
        terminal.until("ranked 1 of 2")
        terminal.until("enough")
        assert terminal.ended() == 0
        assert terminal.settings == terminal.before

    assert house.results[1] == [{"type": "place", "at": [0, 0]}, {"type": "place", "at": [1, 1]}]


def test_people_that_are_put_out_are_not_signed_in_again() -> None:
    with House(put_out) as house, PseudoTerminal("join", house.address, "human", "--wait", "0") as terminal:
        terminal.until("ejected, illegal")
        assert terminal.ended() == 1
        assert "signing in again" not in terminal.shown


@pytest.mark.parametrize(
    ("user", "name"),
    [("ann", "ann"), ("Zo\u00eb M.", "Zo-M"), ("x" * 30, "x" * wire.LONGEST_NAME), ("\u738b", None)],
)
def test_people_are_called_by_as_much_of_their_name_as_can_be_one_here(
    user: str, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", user)

    assert join.own_name() == name


@pytest.mark.parametrize("error", [KeyError, OSError, ImportError])
def test_people_of_whom_the_machine_knows_nothing_have_no_name(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", unknown)

    assert join.own_name() is None


def test_people_are_told_if_there_is_no_house() -> None:
    done = script("join", "127.0.0.1:1", "human", "--wait", "0", stdin=subprocess.DEVNULL)

    assert refusal(done) == "cannot connect to 127.0.0.1:1: Connection refused"


LONG = """
window = 3600
[[games]]
game = "fish"
max = 2
limits = { move = 3600, first = 3600 }
"""


@pytest.mark.parametrize(("does", "code"), [("time.sleep(3600)", 130), ("time.crash()", 1)])
def test_who_is_stopped_or_crashes_in_a_match_leaves_it_so_that_nobody_waits(
    does: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "house.toml").write_text(LONG)
    (tmp_path / "bot.py").write_text(
        f"import time\ndef take_turn(view):\n    print('thinks', flush=True)\n    {does}\n"
    )
    with served(tmp_path / "kept", "--config", str(tmp_path / "house.toml")) as house:
        join: list[str | Path] = [SCRIPT, "join", house.address, tmp_path / "bot.py", "--matches", "1"]
        bots = [started(join) for _ in range(2)]
        try:
            first = thinker(bots)
            first.send_signal(signal.SIGINT if code == 130 else signal.SIGCONT)
            assert first.wait(AMPLE) == code
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
        ready, *_ = select.select(list(said), [], [], AMPLE)
        assert ready, heard
        for one in ready:
            heard[one] += os.read(one, 4096)
            if b"thinks" in heard[one]:
                return said[one]


def test_a_server_is_told_that_a_person_plays_and_that_a_program_is_none() -> None:
    def meet(guest: Guest) -> Any:
        said = guest.welcome()
        guest.say(wire.suspended("enough", 0))
        return said

    with House(meet, meet) as house:
        fairplay("join", house.address, "human", "--name", "ann")
        fairplay("join", house.address, "greedy", "--name", "bob")

    assert house.results == [{"name": "ann", "person": True}, {"name": "bob"}]
