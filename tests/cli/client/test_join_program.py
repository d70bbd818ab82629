"""Test `fairplay join` with programs, good and bad, over real connections; no process is left behind."""

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairplay.cli.client.joining import describe_rank
from fairplay.cli.client.playing import ProgramReporter
from fairplay.core.events import Fault, Result
from fairplay.players.process import PIPE_READ_BYTES
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from tests.cli.command import INSTALLED_COMMAND, CommandResult, run_script, start_process
from tests.cli.test_join import LISTEN, Host, Script, goodbye, hello
from tests.players.fake_server import RECEIPT, TURN, ClientConnection, FakeServer
from tests.players.machine import needs_strict
from tests.players.programs import processes_marked

AMPLE = Limits(move=60.0, start_up=60.0)
BOT = """
import json, os, sys, time

def say(text):
    print(text, file=sys.stderr, flush=True)

def hello():
    return None

def turn(view):
    free = [[r, c] for r, row in enumerate(view["board"]) for c, fish in enumerate(row) if fish]
    taken = [at for player in view["players"] for at in player["penguins"]]
    return {"type": "place", "at": next(at for at in free if at not in taken)}

def reply(nonce, answer):
    os.write(1, json.dumps({"nonce": nonce, "answer": answer}).encode() + b"\\n")

def ended():
    pass

BODY
for text in sys.stdin.buffer:
    line = json.loads(text)
    if line["type"] == "goodbye":
        say(f"goodbye: {line['why']}")
    elif line["type"] == "closing":
        say(f"receipt: {line['receipt']['seq']}")
    elif line["type"] == "changed":
        say("changed")
    else:
        answer = hello() if line["type"] == "hello" else turn(line["view"]) if line["type"] == "take_turn" else None
        reply(line["nonce"], answer)
ended()
"""


MakeBot = Callable[..., str]


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[MakeBot]:
    """Make a program that puts penguins wherever it can, but for what a test wants; it has ended with the test."""
    file = tmp_path / "program"

    def make(body: str = "") -> str:
        file.write_text(BOT.replace("BODY", body))
        return f"exec:{sys.executable} -I -S {file}"

    yield make
    assert end_of(str(file))


def end_of(words: str) -> bool:
    """Wait until no process has these words on its command line."""
    until = time.monotonic() + 60.0
    while (left := processes_marked(words)) and time.monotonic() < until:
        time.sleep(0.05)
    return left == []


def against_greedy(
    player: str, *options: str, scheme: str = "", limits: Limits | None = None
) -> tuple[CommandResult, Result]:
    with Host(LISTEN[scheme]("0"), limits=limits) as host:
        done = run_script("join", f"{scheme}{host.listener.address}", player, *options)
    return done, host.result


def said(done: CommandResult) -> list[str]:
    return [line.removeprefix("fairplay: ") for line in done.err.splitlines()]


# Good ones.


@pytest.mark.parametrize("scheme", LISTEN)
def test_a_program_plays_at_a_remote_host(scheme: str) -> None:
    plain = Path(__file__).parents[3] / "examples" / "bots" / "fish_plain.py"

    done, result = against_greedy(f"exec:{sys.executable} {plain}", "--name", "ann", scheme=scheme)

    connected, seated, ranked = said(done)
    assert (done.code, done.out, result.ejected) == (0, "", ())
    assert connected.startswith(f"connected to {scheme}127.0.0.1:")
    assert seated == "playing fish as ann in seat 0"
    assert re.fullmatch(r"ranked \d of 2(, tied)?", ranked)


@pytest.mark.parametrize(
    ("options", "label", "name"), [((), "", "bot"), (("--name", "ann"), "", "ann"), ((), "ann=", "ann")]
)
def test_a_program_has_its_own_name_unless_another_is_given(
    options: tuple[str, ...], label: str, name: str, bot: MakeBot
) -> None:
    named = bot("def hello(): return {'name': 'bot', 'token': 'secret'}")
    with Script(hello(), stay=2.0) as host:
        run_script("join", host.address, f"{label}{named}", *options)

    assert host.heard == [wire.encode({"nonce": "1", "answer": {"name": name}})]


def test_the_stderr_of_a_program_is_shown_without_control_codes(bot: MakeBot) -> None:
    done, _ = against_greedy(bot("say('thinking\\x1b[2J')\nos.write(2, b'\\xff\\x00 no end')"))

    assert "thinking\N{REPLACEMENT CHARACTER}[2J\n" in done.err
    assert "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} no end" in done.err
    assert "\x1b" not in done.err


def test_a_flood_on_stderr_is_cut(bot: MakeBot) -> None:
    flood = "def hello():\n    for _ in range(20000): say('x')\nplace = turn\n"
    later = "def turn(view):\n    say('later')\n    return place(view)"

    done, _ = against_greedy(bot(flood + later))

    assert said(done).count("x") == 500
    assert said(done).count("further output of the program on stderr is left out") == 1
    assert "later" in said(done)


def test_a_line_without_end_is_shown_once_it_is_long(capsys: pytest.CaptureFixture[str]) -> None:
    onlooker = ProgramReporter()

    onlooker.show_stderr(b"x" * PIPE_READ_BYTES)
    before = capsys.readouterr().err
    onlooker.show_stderr(b"x")
    after = capsys.readouterr().err

    assert (before, after[:3]) == ("", "xxx")


# Bad ones.

BAD = {
    "crashes": ("def turn(view): os._exit(5)", "crashed: the program ended with exit code 5"),
    "prints": ("def turn(view): os.write(1, b'hm\\n')", "malformed: not a reply: not JSON"),
    "says too much": ("def turn(view): os.write(1, b'x' * 9000)", "flood: sent more than 8192 bytes at once"),
}


@pytest.mark.parametrize("how", BAD)
def test_a_failure_of_a_program_is_reported(how: str, bot: MakeBot) -> None:
    body, why = BAD[how]

    done, result = against_greedy(bot(body), limits=AMPLE)

    assert done.code == 1
    assert f"the player failed, {why}" in said(done)
    assert [one.fault for one in result.ejected] == [Fault.GONE]
    if how == "prints":
        assert said(done)[-1] == "    stdout got something other than a reply: 'hm'; print to stderr instead"


def test_an_unfinished_line_of_stderr_is_shown_before_the_failure(bot: MakeBot) -> None:
    done, _ = against_greedy(bot("def turn(view):\n    os.write(2, b'no end')\n    os._exit(5)"))

    lines = said(done)
    assert lines.index("no end") < lines.index("the player failed, crashed: the program ended with exit code 5")


def test_a_program_that_ends_at_hello_is_advised_to_read_stdin(bot: MakeBot) -> None:
    with Host(LISTEN[""]("0"), limits=AMPLE) as host:
        done = run_script("join", host.listener.address, bot("sys.exit(0)"))
        host.give_up()

    assert done.code == 1
    assert "the player failed, crashed: the program ended with exit code 0" in said(done)
    assert said(done)[-1].startswith("    read stdin until it ends; ")


@pytest.mark.parametrize(
    ("says", "pause", "last"),
    [
        ((hello(limit=0.1),), 3.0, "the connection was lost: no message came for 0.6 s before the end of the match"),
        ((hello(limit=3600.0),), 0.5, "the host closed the connection before the end of the match"),
        ((hello(limit=3600.0), goodbye(Fault.GONE, "go away")), 0.3, "ejected, gone: go away"),
    ],
    ids=["is silent", "hangs up", "says goodbye"],
)
def test_the_host_is_heard_while_the_program_thinks(
    says: tuple[bytes, ...], pause: float, last: str, bot: MakeBot
) -> None:
    hangs = bot("def hello(): time.sleep(3600)")

    with Script(*says, pause=pause) as host:
        done = run_script("join", host.address, hangs, "--idle-timeout", "0.5")

    assert (done.code, said(done)[-1]) == (1, last)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_command_ends_the_program(number: signal.Signals, bot: MakeBot, tmp_path: Path) -> None:
    hangs = bot("def hello():\n    say('thinks')\n    time.sleep(3600)")

    with Script(hello(limit=3600.0), stay=1.0) as host:
        command = start_process([INSTALLED_COMMAND, "join", host.address, hangs])
        assert command.stderr is not None
        while "thinks" not in command.stderr.readline():
            assert command.poll() is None
        assert processes_marked(f"{tmp_path}/program\0")
        command.send_signal(number)
        command.communicate()

    assert command.returncode == (-number if number == signal.SIGKILL else 130)


# At a server.


def test_every_match_has_a_program_of_its_own(bot: MakeBot) -> None:
    life = bot("say('begins')\ndef ended(): say('ends')")

    def meet(guest: ClientConnection) -> list[Any]:
        guest.sign_in()
        answers = [guest.play(), guest.play()]
        guest.send(wire.encode_suspended("that was all", 0))
        return answers

    with FakeServer(meet) as server:
        done = run_script("join", server.address, life, "--name", "ann")

    match = ["playing fish as ann in seat 0", "ranked 1 of 2", f"receipt: {RECEIPT} (covers the result)"]
    assert (done.code, said(done)[:2]) == (0, [f"connected to {server.address}", "signed in as ann"])
    assert [line for line in said(done)[2:] if line in match] == match * 2
    lives = [line for line in said(done) if line in ("begins", "ends", "receipt: 7")]
    assert lives == ["begins", "receipt: 7", "ends"] * 2
    assert server.results == [[[{"name": "ann"}, {"type": "place", "at": [0, 0]}]] * 2]


def test_a_program_need_not_wait_for_a_receipt_that_never_comes(bot: MakeBot) -> None:
    life = bot("def ended(): say('ends')")

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()
        assert end_of("program\0last")  # the program, but not its host
        guest.send(wire.encode_suspended("that was all", 0))

    with FakeServer(meet) as server:
        done = run_script("join", server.address, f"{life} last")

    assert server.results == [None]
    assert (done.code, done.err.count("ends\n")) == (0, 1)


def test_a_program_is_asked_once_however_often_the_line_is_lost(bot: MakeBot) -> None:
    """And a match that begins again has a new program."""
    body = "say('begins')\nplaced = turn\ndef turn(view):\n    say('asked')\n    return placed(view)"
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.begin()
        question.append(guest.write_question(TURN))
        guest.ask(question[0])

    def second(guest: ClientConnection) -> Any:
        said = guest.sign_in()
        answer = guest.ask(question[0])
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return said, answer

    with FakeServer(first, second) as server:
        done = run_script("join", server.address, bot(body))

    assert (done.code, done.err.count("asked\n"), done.err.count("begins\n")) == (0, 1, 2)
    assert server.results[1] == ({"token": "pass"}, {"type": "place", "at": [0, 0]})


@needs_strict
def test_a_program_does_not_see_the_token(bot: MakeBot, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("canary")
    thief = bot(f"try: say(open({str(token)!r}).read())\nexcept OSError: say('nothing')")
    options = ("--name", "ann", "--token-file", str(token))

    with FakeServer(lambda guest: (guest.sign_in(window=0.2), guest.begin())) as server:
        done = run_script("join", server.address, f"{thief} {tmp_path}", *options)

    assert "playing fish as ann" in done.err
    assert "canary" not in done.err
    assert "nothing\n" in done.err


@pytest.mark.parametrize(
    ("seat", "words"), [(0, "ranked 1 of 4, tied"), (2, "ranked 3 of 4"), (3, "the match is over")]
)
def test_a_tie_takes_as_many_ranks_as_it_has_players(seat: int, words: str) -> None:
    result = Result((frozenset({0, 1}), frozenset({2})), ())

    assert describe_rank(result, seat, 4).startswith(words)
