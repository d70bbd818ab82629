"""Test that remote players get a receipt for the result, which cannot harm the match."""

import json
import sys
import threading
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fairplay import Entrant, Limits
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import check_receipt, describe_coverage, parse_receipt
from tests.cli.command import run_script
from tests.cli.test_join import free_port

FULL = {"rows": 2, "columns": 4}  # as soon as two players have placed their penguins
PLAYS = """
import json, os, sys, time

def replies(line):
    answer = choose(line["view"]) if line["type"] == "take_turn" else None
    print(json.dumps({"nonce": line["nonce"], "answer": answer}), flush=True)

def heard(line):
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps(line) + "\\n")

def choose(view):
    taken = [penguin for player in view["players"] for penguin in player["penguins"]]
    return {"type": "place", "at": next([n // 4, n % 4] for n in range(8) if [n // 4, n % 4] not in taken)}
"""
OLD = """
for text in sys.stdin:
    line = json.loads(text)
    heard(line)
    replies(line)
heard("end of input")
"""
DEAF = """
for text in sys.stdin:
    line = json.loads(text)
    replies(line)
    if line["type"] == "end":
        break
os.close(0)
time.sleep(0.05)
heard("ended by itself")
"""
PROUD = """
for text in sys.stdin:
    line = json.loads(text)
    heard(line)
    assert line["type"] != "closing"
    replies(line)
"""
STUCK = """
for text in sys.stdin:
    line = json.loads(text)
    replies(line)
    if line["type"] == "end":
        time.sleep(600)
"""
EAGER = """
for text in sys.stdin:
    line = json.loads(text)
    while line["type"] == "closing":
        print("and another thing", flush=True)
    replies(line)
"""


def played(body: str, directory: Path, *, goodbye: float = 5) -> tuple[Outcome, list[Any]]:
    """What comes of a match with this program, and what it has written down."""
    program, notes = directory / "bot.py", directory / "notes"
    program.write_text(PLAYS + body)
    address = f"exec:{sys.executable} -I -S {program} {notes}"
    spec = MatchSpec(
        game="fish",
        entrants=(Entrant(address, "ann"), Entrant("greedy", "bob")),
        parameters=FULL,
        seed=bytes(32),
        sandbox="none",
        limits=Limits(move=30, start_up=30, goodbye=goodbye),
        journal=str(directory / "games"),
    )
    outcome = run(spec)
    return outcome, [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []


def test_the_last_message_to_a_program_is_a_receipt_for_the_result(tmp_path: Path) -> None:
    outcome, heard = played(OLD, tmp_path)

    assert outcome.result is not None and outcome.result.ejected == ()
    *_, end, closing, after = heard
    assert (end["type"], closing["type"], after) == ("end", "closing", "end of input")
    recorded = read_journal(str(outcome.journal))
    for told, covers in ((end["result"]["receipt"], "not the result"), (closing["receipt"], "the result too")):
        receipt = parse_receipt(f"{told['seq']}:{told['head']}")
        check_receipt(recorded, receipt)
        assert describe_coverage(recorded, receipt).endswith(covers)


def test_a_program_that_has_closed_its_stdin_may_still_end_by_itself(tmp_path: Path) -> None:
    outcome, heard = played(DEAF, tmp_path)

    assert outcome.result is not None and outcome.result.ejected == ()
    assert heard == ["ended by itself"]


def test_a_program_that_cannot_take_the_receipt_is_not_ejected(tmp_path: Path) -> None:
    outcome, heard = played(PROUD, tmp_path)

    assert outcome.result is not None and outcome.result.ejected == ()
    assert heard[-1]["type"] == "closing"


@pytest.mark.alone
@pytest.mark.parametrize("body", [STUCK, EAGER])
def test_a_program_that_does_not_end_is_waited_for_no_longer_with_a_receipt(body: str, tmp_path: Path) -> None:
    since = time.monotonic()

    outcome, _ = played(body, tmp_path, goodbye=2)

    assert outcome.result is not None and outcome.result.ejected == ()
    assert time.monotonic() - since - outcome.took < 1.0  # all of it is waited for before the match is over
    assert outcome.took < 2 + 1.5


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_a_player_that_joins_is_shown_the_receipt(scheme: str, tmp_path: Path) -> None:
    port, player = free_port(), tmp_path / "player.py"
    player.write_text(
        dedent("""
            from fairplay.games.fish import Fish

            class Player:
                def take_turn(self, view):
                    return next(Fish(rows=2, columns=4).actions(view))

                def closing(self, receipt):
                    raise ValueError(f"no thanks, I have {receipt}")
        """)
    )
    spec = MatchSpec(
        game="fish",
        entrants=(Entrant(f"{scheme}:{port}", "ann"), Entrant("greedy", "bob")),
        parameters=FULL,
        seed=bytes(32),
        limits=Limits(move=30, start_up=30, arrival=60),
        journal=str(tmp_path / "games"),
    )
    outcomes: list[Outcome] = []
    host = threading.Thread(target=lambda: outcomes.append(run(spec)))
    host.start()
    done = run_script("join", f"{scheme}://127.0.0.1:{port}", str(player))
    host.join()

    (outcome,) = outcomes
    assert outcome.result is not None
    assert done.code == 0, done
    assert f"receipt: {outcome.result.receipt} (covers the result)\n" in done.err
    assert f"no thanks, I have {outcome.result.receipt}" in done.err
