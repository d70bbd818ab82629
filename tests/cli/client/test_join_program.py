"""Test `fairplay join` with programs, good and bad, over real connections; no process is left behind."""

import re
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairplay.cli.client.playing import ProgramReporter
from fairplay.core.events import Fault, Result
from fairplay.players.process import PIPE_READ_BYTES
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from tests.cli.command import INSTALLED_COMMAND, CommandResult, refusal_line, run_script, start_process
from tests.cli.test_join import FISH, LISTEN, Host, Script, goodbye, hello, start
from tests.players.fake_server import RECEIPT, TURN, VIEW, ClientConnection, FakeServer
from tests.players.machine import needs_strict

AMPLE = 60.0  # seconds, which nothing takes
PATIENT = Limits(move=AMPLE, start_up=AMPLE)
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


@pytest.fixture
def mark() -> Iterator[str]:
    """A word of which no other process knows; when the test is over, nobody has it on its command line any more."""
    word = f"mark-{secrets.token_hex(8)}"
    yield word
    until = time.monotonic() + AMPLE
    while (left := running_with(word)) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []


def running_with(word: str) -> list[int]:
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (directory / "cmdline").read_bytes():
                found.append(int(directory.name))
        except OSError:
            continue
    return found


def bot(directory: Path, mark: str, body: str = "") -> str:
    """The address of a program that puts penguins wherever it can, but for what a test wants of it."""
    file = directory / "program"
    file.write_text(BOT.replace("BODY", body))
    return f"exec:{sys.executable} -I -S {file} {mark}"


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


@pytest.mark.parametrize("kind", ["file", "directory", "program"])
def test_whatever_play_takes_for_a_program_can_join(kind: str, tmp_path: Path) -> None:
    source = "from fairplay.games.fish import Fish\n\ndef take_turn(view):\n    return next(Fish().actions(view))\n"
    path = tmp_path / "bot.py"
    path.write_text(source)
    address = str(path if kind == "file" else tmp_path)
    if kind == "program":
        path = tmp_path / "bot"
        path.write_text(f"#!{sys.executable}\nfrom fairplay.bot import run\n{source}\nrun(take_turn)\n")
        path.chmod(0o755)
        address = str(path)

    done, result = against_greedy(address)

    assert (done.code, result.ejected) == (0, ())


@pytest.mark.parametrize(
    ("options", "label", "name"),
    [((), "", "bot"), (("--name", "ann"), "", "ann"), ((), "ann=", "ann")],
    ids=["its own", "an option", "a label"],
)
def test_a_program_has_its_own_name_unless_another_is_given(
    options: tuple[str, ...], label: str, name: str, tmp_path: Path, mark: str
) -> None:
    named = bot(tmp_path, mark, "def hello(): return {'name': 'bot', 'token': 'secret'}")
    with Script(hello(), stay=2.0) as host:
        run_script("join", host.address, f"{label}{named}", *options)

    assert host.heard == [wire.encode({"nonce": "1", "answer": {"name": name}})]


def test_a_program_receives_nonces_and_limits_of_the_host(tmp_path: Path, mark: str) -> None:
    nosy = bot(tmp_path, mark, "def hello(): say(text.decode())")

    with Script(hello(limit=7.25, nonce="odd one", tomorrow={"new": [1]}), stay=0.2) as host:
        done = run_script("join", host.address, nosy)

    assert hello(limit=7.25, nonce="odd one", tomorrow={"new": [1]}).decode() in done.err


def test_the_stderr_of_a_program_is_shown_without_control_codes(tmp_path: Path, mark: str) -> None:
    chatty = bot(tmp_path, mark, "say('thinking\\x1b[2J')\nos.write(2, b'\\xff\\x00 no end')")

    done, _ = against_greedy(chatty)

    assert "thinking\N{REPLACEMENT CHARACTER}[2J\n" in done.err
    assert "\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} no end" in done.err
    assert "\x1b" not in done.err


def test_a_flood_on_stderr_is_cut(tmp_path: Path, mark: str) -> None:
    flood = "def hello():\n    for _ in range(20000): say('x')\nplace = turn\n"
    later = "def turn(view):\n    say('later')\n    return place(view)"

    done, _ = against_greedy(bot(tmp_path, mark, flood + later))

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

BAD_AT_HELLO = {
    "crashes at once": ("sys.exit(3)", "crashed: the program ended with exit code 3"),
    "crashes at hello": ("def hello(): raise SystemExit(4)", "crashed: the program ended with exit code 4"),
    "prints bytes": ("def hello(): os.write(1, b'\\xff\\n')", "malformed: not a reply: not UTF-8"),
}
BAD = {
    "crashes on its turn": ("def turn(view): os._exit(5)", "crashed: the program ended with exit code 5"),
    "is killed": ("def turn(view): os.kill(os.getpid(), 9)", "crashed: the program was killed by signal 9"),
    "prints": ("def turn(view): os.write(1, b'hm\\n')", "malformed: not a reply: not JSON"),
    "answers what nobody asked": (
        "def turn(view): reply('7-7', None)",
        "malformed: a reply to a question that was never asked",
    ),
    "answers again and again": (
        "def turn(view):\n    for _ in range(40): reply(first, None)\n"
        "def hello():\n    global first\n    first = line['nonce']",
        "flood: answered old questions again and again",
    ),
    "says too much": ("def turn(view): os.write(1, b'x' * 9000)", "flood: sent more than 8192 bytes at once"),
}


@pytest.mark.parametrize("how", BAD)
def test_a_failure_of_a_program_is_reported(how: str, tmp_path: Path, mark: str) -> None:
    body, why = BAD[how]

    done, result = against_greedy(bot(tmp_path, mark, body), limits=PATIENT)

    assert failures(done) == [f"the player failed, {why}"]
    assert [one.fault for one in result.ejected] == [Fault.GONE]


def test_an_unfinished_line_of_stderr_is_shown_before_the_failure(tmp_path: Path, mark: str) -> None:
    done, _ = against_greedy(bot(tmp_path, mark, "def turn(view):\n    os.write(2, b'no end')\n    os._exit(5)"))

    lines = done.err.splitlines()
    assert lines.index("no end") < lines.index(
        "fairplay: the player failed, crashed: the program ended with exit code 5"
    )


@pytest.mark.parametrize("how", BAD_AT_HELLO)
def test_a_failure_of_a_program_before_its_seat_is_reported(how: str, tmp_path: Path, mark: str) -> None:
    body, why = BAD_AT_HELLO[how]

    with Host(LISTEN[""]("0"), limits=PATIENT) as host:
        done = run_script("join", host.listener.address, bot(tmp_path, mark, body))
        host.give_up()

    assert failures(done) == [f"the player failed, {why}"]


def failures(done: CommandResult) -> list[str]:
    """What a command that failed says of the player."""
    assert done.code == 1
    return [line for line in said(done) if line.startswith("the player failed, ")]


def test_a_program_that_prints_gets_advice(tmp_path: Path, mark: str) -> None:
    done, _ = against_greedy(bot(tmp_path, mark, "def turn(view): os.write(1, b'hm\\n')"))

    assert said(done)[-1] == "    stdout got something other than a reply: 'hm'; print to stderr instead"


def test_a_program_that_ends_at_hello_is_advised_to_read_stdin(tmp_path: Path, mark: str) -> None:
    with Host(LISTEN[""]("0"), limits=PATIENT) as host:
        done = run_script("join", host.listener.address, bot(tmp_path, mark, "sys.exit(0)"))
        host.give_up()

    assert said(done)[-1].startswith("    read stdin until it ends; ")


def test_an_illegal_action_is_reported_by_the_host(tmp_path: Path, mark: str) -> None:
    cheat = bot(tmp_path, mark, "def turn(view): return {'type': 'place', 'at': [99, 99]}")

    done, result = against_greedy(cheat)

    assert done.code == 1
    assert "goodbye: rule 3.2: there is no tile at [99, 99]" in said(done)
    assert said(done)[-1] == "ejected, illegal: rule 3.2: there is no tile at [99, 99]"
    assert [one.fault for one in result.ejected] == [Fault.ILLEGAL]


def test_a_hanging_program_is_ejected_by_the_host(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def turn(view): time.sleep(3600)")

    done, result = against_greedy(hangs, limits=Limits(move=0.5, start_up=20.0))

    assert done.code == 1
    assert said(done)[-1] == "ejected, timed out: no answer within 0.5 s"
    assert [one.fault for one in result.ejected] == [Fault.TIMED_OUT]


def test_a_host_that_never_says_anything_more_is_given_up_while_the_program_hangs(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def hello(): time.sleep(3600)")

    with Script(hello(limit=0.1), stay=3.0) as host:
        done = run_script("join", host.address, hangs, "--idle-timeout", "0.5")

    assert done.code == 1
    assert said(done)[-1] == "the connection was lost: no message came for 0.6 s before the end of the match"


def test_a_host_that_hangs_up_ends_the_program_in_the_middle_of_a_thought(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def hello(): time.sleep(3600)")

    with Script(hello(limit=3600.0), stay=0.5) as host:
        done = run_script("join", host.address, hangs)

    assert done.code == 1
    assert said(done)[-1] == "the host closed the connection before the end of the match"


def test_a_goodbye_is_heard_in_the_middle_of_a_thought(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def hello(): time.sleep(3600)")

    with Script(hello(limit=3600.0), goodbye(Fault.GONE, "go away"), pause=0.3) as host:
        done = run_script("join", host.address, hangs)

    assert (done.code, said(done)[-1]) == (1, "ejected, gone: go away")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not a message of the protocol"),
        (start(), "the host's first message must be hello, not Start"),
        (hello(protocol=99), "the host speaks version 99 of the protocol, and this program version 2"),
    ],
    ids=["no message", "no hello", "another version"],
)
def test_a_host_that_makes_no_sense_is_refused(says: bytes, why: str, tmp_path: Path, mark: str) -> None:
    with Script(says) as host:
        done = run_script("join", host.address, bot(tmp_path, mark))

    assert done.code == 2
    assert said(done)[-1].startswith(why)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_command_ends_the_program(number: signal.Signals, tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def hello():\n    say('thinks')\n    time.sleep(3600)")

    with Script(hello(limit=3600.0), stay=1.0) as host:
        command = start_process([INSTALLED_COMMAND, "join", host.address, hangs])
        assert command.stderr is not None
        while "thinks" not in command.stderr.readline():
            assert command.poll() is None
        assert running_with(mark)
        command.send_signal(number)
        command.communicate()

    assert command.returncode == (-number if number == signal.SIGKILL else 130)


def test_a_referee_that_is_killed_ends_the_program(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "def turn(view):\n    say('thinks')\n    time.sleep(3600)")
    referee = start_process([INSTALLED_COMMAND, "play", "fish", "tcp:0", "greedy", "--limit", "3600,arrival=60"])
    assert referee.stderr is not None
    place = re.search(r"tcp://(\S+)", referee.stderr.readline())
    assert place is not None
    command = start_process([INSTALLED_COMMAND, "join", place[1], hangs])
    assert command.stderr is not None
    while "thinks" not in command.stderr.readline():
        assert command.poll() is None

    referee.kill()
    referee.communicate()

    assert command.communicate(timeout=AMPLE)[1].endswith("before the end of the match\n")
    assert command.returncode == 1


@pytest.mark.parametrize(
    ("player", "options", "why"),
    [
        ("exec:./nothing_there", (), "there is no program './nothing_there'"),
        ("exec:", (), "exec: names no program"),
        ("./nothing.py", (), "there is no Python file ./nothing.py"),
        ("greedy", ("--pondering",), "--pondering cannot be used with greedy, which is not a program"),
        ("ann=greedy", ("--name", "bob"), "the player has two names, ann and (by --name) bob; use one of them"),
    ],
)
def test_join_refuses_invalid_arguments_before_it_connects(player: str, options: tuple[str, ...], why: str) -> None:
    assert refusal_line(run_script("join", "127.0.0.1:1", player, *options)).startswith(why)


# At a server.


def test_every_match_has_a_program_of_its_own(tmp_path: Path, mark: str) -> None:
    life = bot(tmp_path, mark, "say('begins')\ndef ended(): say('ends')")

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
    assert [line for line in said(done) if line in ("begins", "ends", "receipt: 7")] == [
        "begins",
        "receipt: 7",
        "ends",
    ] * 2
    assert server.results == [[[{"name": "ann"}, {"type": "place", "at": [0, 0]}]] * 2]


def test_a_program_need_not_wait_for_a_receipt_that_never_comes(tmp_path: Path, mark: str) -> None:
    life = bot(tmp_path, mark, "def ended(): say('ends')")

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()
        until = time.monotonic() + AMPLE
        while running_with(mark + "\0") and time.monotonic() < until:  # the program, which has it as its last word
            time.sleep(0.05)
        assert time.monotonic() < until
        guest.send(wire.encode_suspended("that was all", 0))

    with FakeServer(meet) as server:
        done = run_script("join", server.address, f"{life} last")

    assert server.results == [None]
    assert (done.code, done.err.count("ends\n")) == (0, 1)


def test_a_program_is_asked_once_however_often_the_line_is_lost(tmp_path: Path, mark: str) -> None:
    slow = bot(
        tmp_path, mark, "say('begins')\nplaced = turn\ndef turn(view):\n    say('asked')\n    return placed(view)"
    )
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
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
        done = run_script("join", server.address, slow)

    assert (done.code, done.err.count("asked\n"), done.err.count("begins\n")) == (0, 1, 1)
    assert server.results[1] == ({"token": "pass"}, {"type": "place", "at": [0, 0]})


def test_a_match_that_begins_again_has_a_new_program(tmp_path: Path, mark: str) -> None:
    hangs = bot(tmp_path, mark, "say('begins')\ndef turn(view): time.sleep(3600)")

    def meet(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.begin()
        guest.send(guest.write_question(TURN))
        guest.begin()
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return "done"

    with FakeServer(meet) as server:
        done = run_script("join", server.address, hangs)

    assert server.results == ["done"]
    assert (done.code, done.err.count("begins\n")) == (0, 2)


def test_a_program_hears_of_changes_if_it_asks_for_them(tmp_path: Path, mark: str) -> None:
    curious = bot(tmp_path, mark, "def hello(): return {'changes': True}")
    change = wire.encode(wire.Changed(match="m", view=FISH.pack(VIEW))) + b"\n"

    def meet(guest: ClientConnection) -> Any:
        guest.sign_in()
        said = guest.begin()
        guest.send(change)
        guest.question(TURN)
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return said

    with FakeServer(meet) as server:
        done = run_script("join", server.address, curious)

    assert server.results == [{"changes": True}]
    assert done.err.count("changed\n") == 1


@needs_strict
def test_a_program_does_not_see_the_token(tmp_path: Path, mark: str) -> None:
    token = tmp_path / "bots" / "token"
    token.parent.mkdir()
    token.write_text("canary")
    thief = bot(token.parent, mark, f"try: say(open({str(token)!r}).read())\nexcept OSError: say('nothing')")

    with FakeServer(lambda guest: (guest.sign_in(window=0.2), guest.begin())) as server:
        done = run_script(
            "join", server.address, f"{thief} {token.parent}", "--name", "ann", "--token-file", str(token)
        )

    assert "playing fish as ann" in done.err
    assert "canary" not in done.err
    assert "nothing\n" in done.err
