"""Test that resumed matches keep the conditions in their records, unless others are given."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fairplay import Fault, Limits
from fairplay.core.events import Acted
from fairplay.core.messages import Failed, TakeTurn
from fairplay.diagnosis.recorded_then_live import RecordedAnswers, RecordedThenLive
from fairplay.games.fish import Place
from fairplay.hosting.conditions import MatchConditions, match_conditions, recorded_conditions, with_people_limit
from fairplay.hosting.records import open_journal, resume_match
from fairplay.hosting.run import run
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.journal.options import Durability
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import UNLIMITED_S, limits_for_person
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.sandbox import protections
from fairplay.sandbox.cgroup import cgroup_support
from tests.cli.command import LEGAL_BOT, refusal_line, run_fairplay, run_script
from tests.hosting.specs import SEED, interrupted_journal, make_spec
from tests.journal.forging import forge_journal
from tests.journal.journals import GAME, Plain, first_action, record_match
from tests.journal_files import read_lines
from tests.players.machine import needs_strict

STRICTLY = f"namespaces filter limits {'cgroup ' if cgroup_support().memory else ''}freezing"
SHORT = {"move": 0.5, "start_up": 30.0, "arrival": 60.0, "increment": 0.0, "goodbye": 0.25}


def unfinished(
    directory: Path, source: str = "import time\n\ndef take_turn(view):\n    time.sleep(600)\n", **conditions: Any
) -> Path:
    """A match of a bot against a built-in player, that was interrupted before anything happened."""
    bot = directory / "bot.py"
    bot.write_text(source)
    match = deal_match(make_spec().load_game(), ["bob", "greedy"], SEED)
    options = {"limits": SHORT, "sandbox": "none", **conditions}
    with open_journal(directory / "games", Durability.OFF).begin(match, players=(str(bot), "greedy"), **options) as it:
        return it.path


def resume(path: Path, *options: str) -> list[tuple[str, str]]:
    """Resume a match by the command; who was ejected, and why."""
    done = run_fairplay("resume", str(path), "--quiet", *options)
    assert (done.code, done.err) == (0, "")
    return [(out.fault.value, out.why) for out in verify(read_journal(path)).ejected]


def timed_out(seconds: float) -> list[tuple[str, str]]:
    return [("timed_out", f"no answer within {seconds} s")]


def resumed_lines(path: Path) -> list[tuple[Any, Any]]:
    """The conditions on each line that says that the match goes on."""
    return [(line.get("limits"), line.get("sandbox")) for line in read_lines(path) if line["type"] == "resumed"]


def test_a_resumed_match_keeps_its_recorded_limit(tmp_path: Path) -> None:
    path = unfinished(tmp_path)
    spec = make_spec("fish", f"bob={tmp_path / 'bot.py'}", "greedy", id=path.stem, journal=str(path.parent))
    left = path.read_bytes()

    for options in (("--sandbox", "none"), ("--sandbox", "none", "--limit", "0.5,start=30")):  # which is as before
        path.write_bytes(left)
        assert resume(path, *options) == timed_out(0.5)
        assert resumed_lines(path) == [(None, None)]
        assert read_journal(path).limits == SHORT
    path.write_bytes(left)
    run(spec)
    assert [out.why for out in verify(read_journal(path)).ejected] == ["no answer within 0.5 s"]


def test_recorded_limits_are_checked_and_may_be_missing(tmp_path: Path) -> None:
    invalid, unlimited = unfinished(tmp_path, limits={"move": -1.0}), read_journal(unfinished(tmp_path, limits=None))

    assert refusal_line(run_fairplay("resume", str(invalid))).startswith(f"{invalid}: line 1: invalid limits: ")
    kept = recorded_conditions(unlimited, unlimited.opening.players, None, "none", [str(tmp_path)])
    assert kept.limits == DEFAULT_LIMITS


def test_a_limit_that_was_changed_is_recorded_and_holds_from_then_on(tmp_path: Path) -> None:
    path, changed = unfinished(tmp_path), {**SHORT, "move": 0.3}

    assert resume(path, "--sandbox", "none", "--limit", "0.3,start=30") == timed_out(0.3)
    assert resumed_lines(path) == [(changed, None)]
    assert (read_journal(path).opening.limits, read_journal(path).limits) == (SHORT, changed)
    until = [line["type"] for line in read_lines(path)].index("fact")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:until]))  # it was interrupted again
    assert resume(path, "--sandbox", "none") == timed_out(0.3)
    assert resumed_lines(path) == [(changed, None), (None, None)]


def test_a_strict_sandbox_is_left_out_only_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no bubblewrap")
    path = unfinished(tmp_path, LEGAL_BOT, sandbox="strict")
    left = path.read_bytes()

    assert refusal_line(run_fairplay("resume", str(path))).startswith("there is no bubblewrap")
    assert path.read_bytes() == left

    assert resume(path, "--sandbox", "none") == []
    [seated] = [line for line in read_lines(path) if line["type"] == "seated"]
    assert resumed_lines(path) == [(None, "none")]
    assert seated["enforced"] == ["limits", ""]
    assert (read_journal(path).opening.sandbox, read_journal(path).sandbox) == ("strict", "none")


@needs_strict
@pytest.mark.parametrize(("recorded", "new"), [("strict", None), ("none", "strict")])
def test_a_match_is_resumed_in_a_strict_sandbox_where_possible(recorded: str, new: str | None, tmp_path: Path) -> None:
    path = unfinished(tmp_path, LEGAL_BOT, sandbox=recorded, limits={**SHORT, "move": 30.0})

    assert resume(path) == []
    [seated] = [line for line in read_lines(path) if line["type"] == "seated"]
    assert resumed_lines(path) == [(None, new)]
    assert seated["enforced"] == [STRICTLY, ""]


def test_local_players_have_no_limits_and_network_players_no_sandbox() -> None:
    here = match_conditions(["greedy", "in-process:module:Name"], Limits(move=1.0), "none")
    remote = match_conditions(["greedy", "tcp:4000"], Limits(move=1.0, bank=9.0), "strict")

    assert here == MatchConditions(None, None)
    assert here.journal_fields == {"limits": None, "sandbox": ""}
    assert (remote.sandbox, remote.journal_fields["sandbox"]) == (None, "")
    assert {name: remote.journal_fields["limits"][name] for name in ("move", "bank")} == {"move": 1.0, "bank": 9.0}
    assert "first_move" not in remote.journal_fields["limits"]  # which was not asked for


@needs_strict
@pytest.mark.parametrize("pondering", [True, False])
def test_the_conditions_of_a_match_are_recorded_and_hold_when_it_is_resumed(pondering: bool, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(LEGAL_BOT)
    limits = Limits(move=30.0, first_move=31.0, start_up=32.0)
    conditions: dict[str, Any] = {"limits": limits, "sandbox": "strict", "pondering": pondering}
    spec = make_spec("fish", str(tmp_path / "bot.py"), "greedy", journal=str(tmp_path / "games"), **conditions)
    path = interrupted_journal(spec, actions=3)

    assert resume(path) == []

    opening, *lines = read_lines(path)
    assert opening["limits"] == match_conditions(spec.addresses, limits, "strict").journal_fields["limits"]
    assert opening["limits"]["first_move"] == 31.0
    assert (opening["sandbox"], opening.get("pondering", False)) == ("strict", pondering)
    enforced = [line["enforced"][0] for line in lines if line["type"] == "seated"]
    assert enforced == [STRICTLY.removesuffix(" freezing") if pondering else STRICTLY] * 2


def test_programs_of_a_resumed_match_see_neither_journals_nor_logs(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(LEGAL_BOT)
    games, logs = str(tmp_path / "games"), str(tmp_path / "logs")
    path = interrupted_journal(
        make_spec("fish", str(tmp_path / "bot.py"), "greedy", sandbox="none", journal=games), actions=3
    )

    prepared = resume_match(path, None, None, open_journal(games, Durability.OFF), bot_logs=logs)
    prepared.open_record.close()

    assert prepared.conditions.sandbox is not None and {games, logs} <= set(prepared.conditions.sandbox.hidden_paths)


def test_people_have_a_limit_only_if_one_was_given() -> None:
    assert match_conditions(["human", "greedy"], None, None).limits is None
    beside_a_guest = match_conditions(["human", "tcp:0"], None, None).limits
    assert beside_a_guest is not None and limits_for_person(beside_a_guest).move == UNLIMITED_S
    assert with_people_limit(Limits(move=3.0), ["human", "tcp:0"]) == Limits(move=3.0, people=3.0)
    assert with_people_limit(Limits(move=3.0, people=60.0), ["human"]) == Limits(move=3.0, people=60.0)
    assert with_people_limit(Limits(move=3.0), ["greedy", "tcp:0"]) == Limits(move=3.0)


def used_up(lines: list[Plain]) -> list[Plain]:
    """That the first turn of each seat took a minute."""
    first = [next(line for line in lines if line["type"] == "fact" and line["fact"]["seat"] == seat) for seat in (0, 1)]
    return [{**line, "took": 60.0} if line in first else line for line in lines]


def assert_bank_is_used_up(path: Path) -> None:
    (out,) = verify(read_journal(path)).ejected
    assert (out.seat, out.fault, out.why) == (0, Fault.TIMED_OUT, "the bank of 60 s for all turns is used up")


def test_a_resumed_program_has_the_rest_of_its_bank_and_one_in_a_branch_a_full_bank(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(LEGAL_BOT)
    bank, players = Limits(move=30.0, bank=60.0, start_up=30.0), (f"ann={tmp_path}/bot.py", "bob=random")
    spec = make_spec("fish", *players, limits=bank, sandbox="none", journal=str(tmp_path / "games"))
    path = interrupted_journal(spec, actions=4)
    forge_journal(path, used_up)
    options = ("--sandbox", "none", "--quiet")

    assert run_fairplay("resume", str(path), *spec.addresses, "--journal", str(tmp_path / "branch"), *options).code == 0
    assert run_fairplay("resume", str(path), "--trust", *options).code == 0

    assert_bank_is_used_up(path)
    (branch,) = (tmp_path / "branch").glob("*.jsonl")
    assert read_journal(branch).limits == read_journal(path).limits
    assert verify(read_journal(branch)).ejected == ()


def test_a_resumed_person_has_the_rest_of_its_bank(tmp_path: Path) -> None:
    path = interrupted_journal(make_spec("fish", "ann=greedy", "bob=random", journal=str(tmp_path)), actions=4)
    changes = {"players": ["human", "random"], "limits": {"move": 30.0, "bank": 60.0, "people": 30.0}}
    forge_journal(path, lambda lines: [{**lines[0], **changes}, *used_up(lines[1:])])

    done = run_script("resume", str(path), "--trust", "--quiet", stdin=subprocess.DEVNULL)

    assert done.code == 0, done
    assert_bank_is_used_up(path)


class FailsToSitDown:
    turns = 0

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        raise RuntimeError("not here")

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        return first_action(view)


def test_a_player_that_fails_at_the_greeting_of_a_resumed_match_is_not_asked_to_move(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    recorded = read_journal(path)
    match, player = recorded.match_after(0), FailsToSitDown()
    prompter = RecordedAnswers(recorded, 0, match)
    prompter.write(Acted(0, Place((99, 99))), None, None)  # so that the record says nothing of what comes now
    understudy = RecordedThenLive(0, prompter, AsyncLocalChannel(LocalChannel(player, GAME, lambda: 0.0)))

    answer = asyncio.run(understudy.ask(TakeTurn(match.view(0))))

    assert isinstance(answer, Failed)
    assert (answer.fault, player.turns) == (Fault.CRASHED, 0)
