"""Test answers shortly before the deadline, which eject no player, and shortly after it, which are recorded."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.messages import Failed, Tell
from fairplay.diagnosis.ejection_explanation import explain_ejection
from fairplay.games.fish import Fish
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.record import Journal
from fairplay.journal.verification import read_legal
from fairplay.players.address import built_in_strategy
from fairplay.players.listener import listening_socket
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.transport import event_loop
from fairplay.transport.connection import Connection
from fairplay.transport.sockets import accept_tcp
from tests.journal_files import read_lines
from tests.players.programs import running
from tests.toy import Toy

LIMIT_S = 1.0
PLAYERS, ANSWERS = 200, 5
PLAYER = """
import asyncio, json, sys, time

limit, slowest = float(sys.argv[2]), 0.0

async def play():
    global slowest
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    while line := await reader.readline():
        asked = time.monotonic()
        await asyncio.sleep(0.95 * limit)
        writer.write(json.dumps({"nonce": json.loads(line)["nonce"], "answer": None}).encode() + b"\\n")
        slowest = max(slowest, time.monotonic() - asked)
    writer.close()

async def all_of_them():
    await asyncio.gather(*(play() for _ in range(int(sys.argv[3]))))
    print(json.dumps(slowest))

asyncio.run(all_of_them())
"""


def test_a_thousand_answers_at_95_percent_of_the_limit_are_all_in_time() -> None:
    async def host() -> tuple[list[Failed], int, float]:
        with listening_socket("127.0.0.1", 0) as listener:
            listener.setblocking(False)
            port, loop = listener.getsockname()[1], asyncio.get_running_loop()
            words = (sys.executable, "-c", PLAYER, str(port), str(LIMIT_S), str(PLAYERS))
            players = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
            remotes = []
            for _ in range(PLAYERS):
                connection, _ = await loop.sock_accept(listener)
                remotes.append(RemoteChannel(await accept_tcp(connection), Toy(), limits=Limits(move=LIMIT_S)))
            failed, answered = list[Failed](), 0

            async def ask(remote: RemoteChannel) -> None:
                nonlocal answered
                for number in range(ANSWERS):
                    answer = await remote.ask(Tell(number))
                    if isinstance(answer, Failed):
                        failed.append(answer)
                        break
                    answered += 1
                await remote.close(None)

            await asyncio.gather(*map(ask, remotes))
            said, _ = await players.communicate()
            return failed, answered, json.loads(said)

    failed, answered, slowest = asyncio.run(host())

    if failed and slowest > 0.97 * LIMIT_S:
        pytest.skip(f"the machine is too busy: a player took {slowest:.3f} s of {LIMIT_S} s by its own clock")
    assert (failed, answered) == ([], PLAYERS * ANSWERS)


LATE = """
import json, sys, time

for text in sys.stdin:
    line = json.loads(text)
    if line["type"] == "take_turn":
        time.sleep(line["limit"] + SECONDS)
    if "nonce" in line:
        print(json.dumps({"nonce": line["nonce"], "answer": None}), flush=True)
"""
OVER_TCP = """
import socket, sys

with socket.create_connection(("127.0.0.1", int(sys.argv.pop(1)))) as line:
    sys.stdin, sys.stdout = line.makefile("r"), line.makefile("w")
    exec(sys.argv[1])
"""


async def play_match(late_player: Connection, directory: Path) -> list[dict[str, Any]]:
    """What is on record of a match in which the player in seat 1 of 3 answers its first turn too late."""
    game = Fish(rows=4, columns=5)
    others = [AsyncLocalChannel(LocalChannel(built_in_strategy("fish", "random", bytes(32)), game)) for _ in range(2)]
    late = RemoteChannel(late_player, game, limits=Limits(move=0.3))
    match = deal_match(game, ("ann", "bob", "cyd"), bytes(32))
    with Journal(directory).begin(match) as record:
        await play_async(match, [others[0], late, others[1]], record)
    return read_lines(record.path)


async def play_late(way: str, seconds: float, directory: Path) -> list[dict[str, Any]]:
    """What is on record of a match of a late player, as a program or over a connection."""
    code = LATE.replace("SECONDS", str(seconds))
    if way == "program":
        async with running([sys.executable, "-c", code]) as program:
            return await play_match(program, directory)
    with listening_socket("127.0.0.1", 0) as listener:
        words = (sys.executable, "-c", OVER_TCP, str(listener.getsockname()[1]), code)
        player = await asyncio.create_subprocess_exec(*words)
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
        lines = await play_match(await accept_tcp(connection), directory)
        await player.wait()
        return lines


@pytest.mark.alone
@pytest.mark.parametrize("way", ["program", "connection"])
def test_a_late_answer_is_recorded_and_explained_while_the_others_go_on(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in (Connection, ProgramConnection):  # longer than any machine can be busy
        monkeypatch.setattr(kind, "late_answer_timeout_s", 30.0)

    lines = asyncio.run(play_late(way, 1.0, tmp_path))

    types = [line["type"] for line in lines]
    (late,) = [line for line in lines if line["type"] == "late_answer"]
    assert (late["seat"], types[-2:]) == (1, ["late_answer", "result"])
    assert types[-3] == "fact" and "ejected" not in lines[-3]["fact"]["type"]  # another player played on before it came
    assert 0.5 < late["overrun"] < 25.0
    (journal,) = tmp_path.glob("*.jsonl")
    recorded = read_legal(journal)
    (report,) = ejection_reports(recorded)
    assert report.overrun == late["overrun"]
    why = "\n".join(explain_ejection(report, recorded, str(journal)))
    assert f"its answer came {late['overrun']:.3f} s too late" in why


@pytest.mark.alone
@pytest.mark.parametrize("way", ["program", "connection"])
def test_an_answer_that_is_50_ms_late_is_waited_for(way: str, tmp_path: Path) -> None:
    lines = event_loop.run(play_late(way, 0.05, tmp_path))

    (late,) = [line for line in lines if line["type"] == "late_answer"]
    assert 0.03 < late["overrun"] < 0.3
