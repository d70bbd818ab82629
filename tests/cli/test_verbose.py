"""Test --verbose: it logs each message to and from players, and nothing is logged without it."""

import logging
import re
from pathlib import Path

import pytest

from fairplay.core.messages import Start, TakeTurn
from fairplay.players.listener import listen_tcp
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from tests.cli.command import run_script
from tests.cli.test_join import Host
from tests.players.scripted_connections import ScriptedConnection, VirtualTimeLoop, reply_with, run_in_virtual_time
from tests.toy import Toy

BOT = Path(__file__).parents[2] / "examples" / "a_player.py"
SMALL = ("--set", "rows=3", "--set", "columns=3")
TIME = r"\d\d:\d\d:\d\d\.\d{3}"


def talk(line: ScriptedConnection) -> None:
    """Say hello to a player, greet it as bob, and let it take a turn."""
    game = Toy()
    view = game.view(game.deal(2, bytes(32)), 1)

    async def ask(loop: VirtualTimeLoop) -> None:
        remote = RemoteChannel(line, game, limits=Limits(move=5.0))
        await remote.hello()
        await remote.ask(Start(1, ("ann", "bob"), view))
        await remote.ask(TakeTurn(view))

    run_in_virtual_time(ask)


def test_each_question_and_reply_is_logged_with_its_time_and_without_tokens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "fairplay")

    secret = {"name": "bob", "token": "bob:secret"}
    replies = ((0.0, reply_with(secret)), (0.0, reply_with(None)), (0.25, reply_with({"type": "pass"})))

    talk(ScriptedConnection(*replies))

    said = [record.getMessage() for record in caplog.records if record.name == "fairplay.players"]
    assert [line.partition(":")[0] for line in said] == [
        "to player",
        "from player after 0.0000 s",
        "to bob",
        "from bob after 0.0000 s",
        "to bob",
        "from bob after 0.2500 s",
    ]
    assert '"type":"take_turn"' in said[4] and '"answer":{"type":"pass"}' in said[5]
    assert "secret" not in caplog.text and '"token":"..."' in said[1]


def test_a_wrong_answer_is_logged_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "fairplay")

    talk(ScriptedConnection((0.0, reply_with(None)), (0.0, reply_with(None)), (0.5, b"\x1b[2Jjunk")))

    last = caplog.records[-1].getMessage()
    assert last == "from bob after 0.5000 s: not a reply: not JSON: \N{REPLACEMENT CHARACTER}[2Jjunk"


def test_play_logs_the_messages_of_a_program_only_if_asked_for() -> None:
    silent = run_script("play", "fish", f"ann={BOT}", "greedy", *SMALL, "--quiet")
    done = run_script("play", "fish", f"ann={BOT}", "greedy", *SMALL, "--quiet", "--verbose")

    assert (silent.code, silent.err, done.code) == (0, "", 0)
    assert re.search(rf'^{TIME} to ann: {{"type":"take_turn".*}}$', done.err, re.MULTILINE)
    assert re.search(rf'^{TIME} from ann after 0\.\d{{4}} s: {{"nonce":.*}}$', done.err, re.MULTILINE)
    assert not re.search(r"^\d\d:\d\d", done.out, re.MULTILINE)


def test_join_logs_what_the_host_says_and_what_the_player_answers() -> None:
    with Host(listen_tcp("0")) as host:
        done = run_script("join", host.listener.address, "greedy", "--name", "ann", "--verbose")

    assert done.code == 0
    assert re.search(rf'^{TIME} from the host: {{"type":"hello".*}}$', done.err, re.MULTILINE)
    assert re.search(rf'^{TIME} to the host: {{"nonce":.*"answer":{{"type":"place".*}}$', done.err, re.MULTILINE)
