"""Test that remote players get a receipt for the result, which cannot harm the match."""

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fairplay import Limits
from fairplay.hosting.run import run
from fairplay.hosting.spec import Outcome
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import check_receipt, describe_coverage, parse_receipt
from tests.hosting.specs import make_spec

BOT = """
import json, os, sys, time

def replies(line):
    answer = choose(line["view"]) if line["type"] == "take_turn" else None
    print(json.dumps({"nonce": line["nonce"], "answer": answer}), flush=True)

def heard(line):
    with open(sys.argv[2], "a") as file:
        file.write(json.dumps(line) + "\\n")

def choose(view):
    taken = [penguin for player in view["players"] for penguin in player["penguins"]]
    return {"type": "place", "at": next([n // 4, n % 4] for n in range(8) if [n // 4, n % 4] not in taken)}

kind = sys.argv[1]
for text in sys.stdin:
    line = json.loads(text)
    if kind != "closes its stdin":
        heard(line)
    assert kind != "fails" or line["type"] != "closing"
    while kind == "talks" and line["type"] == "closing":
        print("and another thing", flush=True)
    replies(line)
    if kind == "stays" and line["type"] == "end":
        time.sleep(600)
    if kind == "closes its stdin" and line["type"] == "end":
        os.close(0)
        time.sleep(0.05)
        break
heard("end of input")
"""


def played(kind: str, directory: Path, *, goodbye: float = 5) -> tuple[Outcome, list[Any]]:
    """A match with a program of this kind, which ejects no player, and what the program has written down."""
    program, notes = directory / "bot.py", directory / "notes"
    program.write_text(BOT)
    address = shlex.join([sys.executable, "-I", "-S", str(program), kind, str(notes)])
    limits, games = Limits(move=30, start_up=30, goodbye=goodbye), str(directory / "games")
    full = {"rows": 2, "columns": 4}  # as soon as two players have placed their penguins
    outcome = run(
        make_spec(
            "fish", f"ann=exec:{address}", "greedy", parameters=full, sandbox="none", limits=limits, journal=games
        )
    )
    assert outcome.result is not None and outcome.result.ejected == ()
    return outcome, [json.loads(line) for line in notes.read_text().splitlines()]


def test_the_last_message_to_a_program_is_a_receipt_for_the_result(tmp_path: Path) -> None:
    outcome, heard = played("listens", tmp_path)

    *_, end, closing, after = heard
    assert (end["type"], closing["type"], after) == ("end", "closing", "end of input")
    recorded = read_journal(str(outcome.journal))
    for told, covers in ((end["result"]["receipt"], "not the result"), (closing["receipt"], "the result too")):
        receipt = parse_receipt(f"{told['seq']}:{told['head']}")
        check_receipt(recorded, receipt)
        assert describe_coverage(recorded, receipt).endswith(covers)


def test_a_program_that_cannot_take_the_receipt_is_neither_ejected_nor_killed(tmp_path: Path) -> None:
    (tmp_path / "deaf").mkdir()

    assert played("closes its stdin", tmp_path / "deaf")[1] == ["end of input"]
    assert played("fails", tmp_path)[1][-1]["type"] == "closing"


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["stays", "talks"])
def test_a_program_that_does_not_end_is_waited_for_no_longer_with_a_receipt(kind: str, tmp_path: Path) -> None:
    since = time.monotonic()

    outcome, _ = played(kind, tmp_path, goodbye=2)

    assert time.monotonic() - since - outcome.took < 1.0  # all of it is waited for before the match is over
    assert outcome.took < 2 + 1.5
