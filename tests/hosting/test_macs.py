"""Test that only journals with a valid MAC count in directories that others can write to."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import BadRequest
from fairplay.hosting.conditions import match_conditions
from fairplay.hosting.records import open_journal, recorded_outcome
from fairplay.hosting.run import new_match, run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.key import load_key, user_key_file
from fairplay.journal.options import Durability, WithoutMac
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import deal_match
from tests.hosting.specs import SEED, interrupted_journal, make_spec
from tests.journal.forging import forge_journal, rewrite_opening
from tests.players.machine import needs_strict


def awaited(spec: MatchSpec) -> Outcome:
    return asyncio.run(run_async(spec))


both_ways = pytest.mark.parametrize("way", [run, awaited], ids=["played", "awaited"])


@both_ways
def test_a_planted_result_is_not_accepted(way: Any, tmp_path: Path) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    run(replace(spec, key=str(tmp_path / "of another host")))  # it is sound, and of this very spec

    with pytest.raises(WithoutMac, match="was not recorded with your key"):
        way(spec)
    with pytest.raises(WithoutMac, match="was not recorded with your key"):
        recorded_outcome(spec)  # which reads the file again, and it may be another one by then


@both_ways
def test_a_planted_match_is_not_resumed(way: Any, tmp_path: Path) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    match = deal_match(spec.load_game(), spec.labels, SEED, match_id="m")
    Journal(tmp_path).begin(match, players=spec.addresses).close()
    left = (tmp_path / "m.jsonl").read_bytes()

    with pytest.raises(WithoutMac, match="was not recorded with your key"):
        way(spec)

    assert (tmp_path / "m.jsonl").read_bytes() == left


@both_ways
@pytest.mark.parametrize("actions", [5, None], ids=["interrupted", "finished"])
def test_a_directory_with_a_key_of_its_own_can_be_moved_to_another_machine(
    way: Any, actions: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    spec = make_spec(id="m", journal=str(here), key=str(here / "key"))
    whole = run(replace(spec, id="whole"))
    if actions is None:
        run(spec)
    else:
        interrupted_journal(replace(spec, journal=str(here)), actions)
    here.rename(there)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))

    outcome = way(replace(spec, journal=str(there), key=str(there / "key")))

    assert outcome.result is not None
    assert whole.result is not None
    assert outcome.result.ranking == whole.result.ranking
    assert not (tmp_path / "another").exists()  # no other key was needed
    with pytest.raises(WithoutMac):
        way(replace(spec, journal=str(there), key=None))


def test_a_missing_key_is_refused(tmp_path: Path) -> None:
    outcome = run(make_spec(journal=str(tmp_path / "games"), key="/proc/nowhere/key"))

    assert outcome.result is None
    assert outcome.host_fault == "cannot store a journal key in /proc/nowhere/key: No such file or directory"
    with pytest.raises(BadRequest, match="cannot be used as a key: it is not a file"):
        run(make_spec(journal=str(tmp_path / "games"), key=str(tmp_path)))
    assert not (tmp_path / "games").exists()


def test_a_cached_key_is_refused_once_others_may_read_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    load_key(key)
    open_journal(tmp_path, Durability.OFF, str(key))

    key.chmod(0o640)

    with pytest.raises(BadRequest, match=r"other users may access it \(mode 0640\)"):
        open_journal(tmp_path, Durability.OFF, str(key))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_cached_key_is_refused_once_another_user_owns_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    load_key(key)
    open_journal(tmp_path, Durability.OFF, str(key))

    os.chown(key, 12345, 12345)

    with pytest.raises(BadRequest, match="it belongs to another user"):
        open_journal(tmp_path, Durability.OFF, str(key))


def test_forged_conditions_are_not_used(tmp_path: Path) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    path = interrupted_journal(spec)
    forge_journal(path, rewrite_opening(limits={"move": 86400.0}))

    with pytest.raises(WithoutMac):
        run(spec)


SPIES = """
from contextlib import suppress
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    with suppress(OSError):
        if Path({key!r}).read_bytes():
            raise RuntimeError("there it is")
    return next(Fish().actions(view))
"""


@needs_strict
@pytest.mark.parametrize("place", ["key", "games/key"])
def test_no_program_sees_the_key_of_a_directory(place: str, tmp_path: Path) -> None:
    bot, key = tmp_path / "bot.py", tmp_path / place
    bot.write_text(SPIES.format(key=str(key)))
    spec = make_spec("fish", str(bot), "greedy", journal=str(tmp_path / "games"), key=str(key), sandbox="strict")

    load_key(user_key_file())  # there are two then

    outcome, sandbox = run(spec), new_match(spec).conditions.sandbox

    assert outcome.result is not None
    assert outcome.result.ejected == ()
    assert "there it is" in str(run(replace(spec, sandbox="none")).evidence)
    assert sandbox is not None
    assert {spec.key, str(user_key_file().parent)} <= set(sandbox.hidden_paths)


def test_an_ejected_player_of_a_resumed_match_needs_no_program(tmp_path: Path) -> None:
    cheat = tmp_path / "cheat.py"
    cheat.write_text("def take_turn(view):\n    return 7\n")
    spec = make_spec("fish", "greedy", str(cheat), "random", id="m", journal=str(tmp_path / "games"), sandbox="none")
    path = interrupted_journal(spec, actions=3)
    assert [out.seat for out in read_journal(path).match_after(None).ejected] == [1]
    cheat.unlink()

    with pytest.raises(BadRequest, match="there is no Python file"):
        match_conditions(spec.addresses, None, None)
    assert run(spec).result is not None
