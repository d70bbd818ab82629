"""Test that players keep their own time when matches with a time bank are resumed or branched."""

import subprocess
from pathlib import Path

from fairplay import Fault
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol.limits import Limits
from tests.cli.command import LEGAL_BOT, run_fairplay, run_script
from tests.hosting.specs import interrupted_journal, make_spec
from tests.journal.forging import forge_journal
from tests.journal.journals import Plain

BANK = Limits(move=30.0, bank=60.0, start_up=30.0)


def used_up(lines: list[Plain]) -> list[Plain]:
    """That the first turn of each seat took a minute."""
    first = [next(line for line in lines if line["type"] == "fact" and line["fact"]["seat"] == seat) for seat in (0, 1)]
    return [{**line, "took": 60.0} if line in first else line for line in lines]


def program_with_an_empty_bank(directory: Path) -> tuple[MatchSpec, Path]:
    """A program's match with a bank, interrupted when the bank was empty, and its journal."""
    bot = directory / "bot.py"
    bot.write_text(LEGAL_BOT)
    spec = make_spec("fish", f"ann={bot}", "bob=random", limits=BANK, sandbox="none", journal=str(directory / "games"))
    path = interrupted_journal(spec, actions=4)
    forge_journal(path, used_up)
    return spec, path


def test_a_resumed_program_has_the_rest_of_its_bank(tmp_path: Path) -> None:
    _, path = program_with_an_empty_bank(tmp_path)

    assert run_fairplay("resume", str(path), "--trust", "--sandbox", "none", "--quiet").code == 0

    (out,) = verify(read_journal(path)).ejected
    assert (out.seat, out.fault, out.why) == (0, Fault.TIMED_OUT, "the bank of 60 s for all turns is used up")


def test_a_branch_begins_with_a_full_bank(tmp_path: Path) -> None:
    spec, path = program_with_an_empty_bank(tmp_path)
    branch = ("--journal", str(tmp_path / "branch"), "--sandbox", "none", "--quiet")

    assert run_fairplay("resume", str(path), *spec.addresses, *branch).code == 0

    (made,) = (tmp_path / "branch").glob("*.jsonl")
    assert read_journal(made).limits == read_journal(path).limits
    assert verify(read_journal(made)).ejected == ()


def test_a_resumed_person_has_the_rest_of_its_bank(tmp_path: Path) -> None:
    path = interrupted_journal(make_spec("fish", "ann=greedy", "bob=random", journal=str(tmp_path)), actions=4)
    limits = {"move": 30.0, "bank": 60.0, "people": 30.0}
    forge_journal(
        path, lambda lines: [{**lines[0], "players": ["human", "random"], "limits": limits}, *used_up(lines[1:])]
    )

    done = run_script("resume", str(path), "--trust", "--quiet", stdin=subprocess.DEVNULL)

    assert done.code == 0, done
    (out,) = verify(read_journal(path)).ejected
    assert (out.seat, out.fault, out.why) == (0, Fault.TIMED_OUT, "the bank of 60 s for all turns is used up")
