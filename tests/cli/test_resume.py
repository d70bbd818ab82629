"""Test `fairplay resume`."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fairplay.journal.append_file import Disk
from fairplay.journal.record import REAL_DISK
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import (
    DAMAGE_MESSAGES,
    SMALL_BOARD,
    damage_journal,
    damage_message,
    record_journal,
    refusal_line,
    run_fairplay,
)
from tests.players.machine import needs_strict

FAILS_TO_SIT_DOWN = """
class Player:
    def start(self, seat, names, view):
        raise RuntimeError("no")
"""


def branch(path: Path, directory: Path, *arguments: str) -> Path:
    done = run_fairplay("resume", str(path), *arguments, "--journal", str(directory), "--quiet")
    assert done.code == 0, done
    (made,) = directory.glob("*.jsonl")
    return made


@pytest.mark.parametrize("at", [0, 1, 7, 12, None])
def test_the_same_players_go_on_as_they_would_have(at: int | None, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    place = () if at is None else ("--at", str(at))

    made = branch(path, tmp_path / "branch", "greedy", "random", *place)

    assert read_journal(made).facts == read_journal(path).facts
    assert verify(read_journal(made)).result == verify(read_journal(path)).result


def test_a_branch_has_the_facts_before_it_and_names_its_parent(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    made = branch(path, tmp_path / "branch", "--at", "9", "random", "eve=greedy")

    parent, opening = read_journal(path), read_journal(made).opening
    assert opening.parent is not None
    assert (opening.parent.match, opening.parent.facts) == (parent.opening.match, 9)
    assert opening.match == made.stem != path.stem
    assert read_journal(made).facts[:9] == parent.facts[:9]
    assert read_journal(made).facts != parent.facts
    assert (opening.names, opening.players) == (("ann", "eve"), ("random", "greedy"))
    verify(read_journal(made))


def test_a_branch_from_the_beginning_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")
    before = path.read_bytes()

    done = run_fairplay("resume", str(path), "--at", "0", "--quiet")

    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == before


def test_a_player_that_fails_at_the_greeting_of_a_branch_is_ejected_legally(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    bot = tmp_path / "bot.py"
    bot.write_text(FAILS_TO_SIT_DOWN + "    def take_turn(self, view):\n        return None\n")

    made = branch(path, tmp_path / "branch", "--at", "9", "random", str(bot))

    final = verify(read_journal(made))
    assert [(ejected.seat, ejected.moment.value) for ejected in final.ejected] == [(1, "greeting")]


def test_a_torn_tail_is_gone_for_good_before_anything_is_written_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or else after a power cut the tail might be there again, with half of what was written over it."""
    path = damage_journal(record_journal(tmp_path), "torn")
    done: list[str] = []

    def noted(name: str) -> None:
        real = getattr(REAL_DISK, name)

        def call(disk: Disk, file: int, *arguments: Any) -> Any:
            if os.path.samestat(os.fstat(file), path.stat()):
                done.append(name)
            return real(file, *arguments)

        monkeypatch.setattr(Disk, name, call)

    for name in ("truncate", "sync", "write"):
        noted(name)

    assert run_fairplay("resume", str(path), "--quiet").code == 0

    at = done.index("truncate")
    assert "write" not in done[:at]
    assert done[at : at + 3] == ["truncate", "sync", "write"]
    assert verify(read_journal(path)).result.ejected == ()


def test_an_unfinished_match_is_played_to_its_end(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    whole = read_journal(path).facts
    damage_journal(path, "unfinished")

    made = branch(path, tmp_path / "branch", "greedy", "random")

    assert read_journal(made).facts == whole
    assert verify(read_journal(made))


def test_the_ejected_do_not_sit_down_again(tmp_path: Path) -> None:
    bot = tmp_path / "cheat.py"
    bot.write_text("def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}\n")
    path = record_journal(tmp_path, "ann=greedy", f"bob={bot}", "cyd=random")

    made = branch(path, tmp_path / "branch", "--at", "5", "random", "greedy")

    assert [ejected.seat for ejected in verify(read_journal(made)).ejected] == [1]
    assert read_journal(made).opening.players == ("random", str(bot), "greedy")


def test_a_match_may_have_a_pace_once_its_only_program_is_ejected(tmp_path: Path) -> None:
    bot = tmp_path / "cheat.py"
    bot.write_text("def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}\n")
    path = record_journal(tmp_path, "ann=greedy", f"bob={bot}", "cyd=random")

    early, late = (run_fairplay("resume", str(path), "--at", at, "--pace", "1", "--quiet") for at in ("0", "5"))

    assert refusal_line(early).startswith("--pace is for players in this process")
    assert late.code == 0


def test_an_ejected_player_of_this_process_is_not_imported_for_a_branch(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=in-process:tests.tournament.players:Cheat", "cyd=random")

    made = branch(path, tmp_path / "branch", "--at", "5")

    assert [ejected.seat for ejected in verify(read_journal(made)).ejected] == [1]


def test_events_of_a_resumed_match_start_where_it_continues(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    done = run_fairplay("resume", str(path), "--at", "9", "greedy", "random", "--events")

    types = [json.loads(line)["type"] for line in done.out.splitlines()]
    assert types == ["started", *["acted"] * (len(read_journal(path).facts) - 9), "ended"]


READS_BESIDE_ITSELF = """
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    if Path(__file__).with_name("games").joinpath("notes").is_file():
        raise RuntimeError("there they are")
    return next(Fish().actions(view))
"""


@needs_strict
def test_programs_of_a_branch_see_nothing_of_where_the_journal_of_their_parent_is(tmp_path: Path) -> None:
    bot = tmp_path / "bob" / "bot.py"
    path = record_journal(tmp_path / "bob" / "games")
    (path.parent / "notes").touch()
    bot.write_text(READS_BESIDE_ITSELF)
    branch = ("resume", str(path), "--at", "4", str(bot.parent), "random", "--quiet")

    sandboxed, free = run_fairplay(*branch), run_fairplay(*branch, "--sandbox", "none")

    assert sandboxed.code == 0
    assert " is out: " not in sandboxed.out
    assert "there they are" in free.out


@pytest.mark.parametrize("how", ["a match", "a match that goes on", "a branch"])
def test_every_fact_is_safe_from_a_power_cut_at_once_if_that_is_asked_for(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = ("greedy", "random", "--seed", "7")
    old, new = damage_journal(record_journal(tmp_path / "old", *players), "unfinished"), tmp_path / "new"
    command = {
        "a match": ("play", "fish", *players, *SMALL_BOARD, "--journal", str(new)),
        "a match that goes on": ("resume", str(old)),
        "a branch": ("resume", str(old), "--at", "5", "--journal", str(new)),
    }[how]
    synced: list[int] = []

    def sync(disk: Disk, file: int) -> None:
        synced.append(file)
        os.fsync(file)

    monkeypatch.setattr(Disk, "sync", sync)
    assert run_fairplay(*command, "--sync", "always", "--quiet").code == 0

    path = old if how == "a match that goes on" else next(new.glob("*.jsonl"))
    before = 0 if how == "a match" else 5
    assert len(synced) >= len(read_journal(path).facts) - before


def test_players_of_a_branch_with_the_same_name_get_numbers(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    made = branch(path, tmp_path / "branch", "--at", "3", "bob=greedy", "bob=random")

    assert read_journal(made).opening.names == ("bob", "bob-2")


def test_a_name_of_a_branch_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert refusal_line(run_fairplay("resume", str(path), "\udcff=random", "random")).endswith(" is not valid UTF-8")


def test_too_many_or_too_few_players_are_refused(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert (
        refusal_line(run_fairplay("resume", str(path), "random"))
        == "expected 2 players, one for each seat that was not ejected, not 1"
    )


def test_a_point_beyond_the_end_is_refused(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    done = run_fairplay("resume", str(path), "--at", "1000", "random", "random")

    assert refusal_line(done).startswith("there is no position after 1000 facts")


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_is_resumed(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("resume", str(path), "random", "random")) == damage_message(path, how)
