"""Test that matches are resumed under the conditions in their records, unless others are given."""

from pathlib import Path
from typing import Any

import pytest

from fairplay import Limits
from fairplay.hosting.conditions import MatchConditions, match_conditions, recorded_conditions, with_people_limit
from fairplay.hosting.records import open_journal, resume_match
from fairplay.hosting.run import run
from fairplay.journal.options import Durability
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import UNLIMITED_S, limits_for_person
from fairplay.referee.referee import deal_match
from fairplay.sandbox import protections
from fairplay.sandbox.cgroup import cgroup_support
from tests.cli.command import CommandResult, refusal_line, run_fairplay
from tests.hosting.specs import SEED, interrupted_journal, make_spec
from tests.journal_files import read_lines
from tests.players.machine import needs_strict

SLEEPS = """
import time

def take_turn(view):
    time.sleep(600)
"""
PLAYS = """
from fairplay.games.fish import Fish

def take_turn(view):
    return next(Fish().actions(view))
"""
STRICTLY = f"namespaces filter limits {'cgroup ' if cgroup_support().memory else ''}freezing"
SHORT = {"move": 0.5, "start_up": 30.0, "arrival": 60.0, "increment": 0.0, "goodbye": 0.25}


def unfinished(directory: Path, source: str = SLEEPS, **conditions: Any) -> Path:
    """A match of a bot against a built-in player, that was interrupted before anything happened."""
    bot = directory / "bot.py"
    bot.write_text(source)
    match = deal_match(make_spec().load_game(), ["bob", "greedy"], SEED)
    options = {"limits": SHORT, "sandbox": "none", **conditions}
    with open_journal(directory / "games", Durability.OFF).begin(
        match, players=(str(bot), "greedy"), **options
    ) as record:
        return record.path


def resumed_lines(path: Path) -> list[tuple[Any, Any]]:
    """The conditions on each line that says that the match goes on."""
    return [(line.get("limits"), line.get("sandbox")) for line in read_lines(path) if line["type"] == "resumed"]


def why(done: CommandResult) -> str:
    """Why the bot was put out."""
    [line] = [line for line in done.out.splitlines() if line.startswith("bob") and " is out: " in line]
    return line.partition(" is out: ")[2]


# Limits.


def test_a_resumed_match_keeps_its_recorded_limit(tmp_path: Path) -> None:
    path = unfinished(tmp_path)

    done = run_fairplay("resume", str(path), "--quiet", "--sandbox", "none")

    assert why(done) == "timed out (turn), no answer within 0.5 s"
    assert resumed_lines(path) == [(None, None)]  # as before
    assert read_journal(path).limits == SHORT
    assert verify(read_journal(path)).turn is None


def test_a_match_resumed_by_the_same_command_keeps_its_recorded_limit(tmp_path: Path) -> None:
    path = unfinished(tmp_path)
    players = (f"bob={tmp_path / 'bot.py'}", "greedy", "--set", "rows=4", "--set", "columns=4")

    done = run_fairplay("play", "fish", *players, "--seed", SEED.hex(), "--journal", str(path.parent), "--quiet")

    assert f"fairplay: resuming {path}\n" in done.err
    assert why(done) == "timed out (turn), no answer within 0.5 s"


def test_a_resumed_spec_without_limits_keeps_the_recorded_limit(tmp_path: Path) -> None:
    path = unfinished(tmp_path)
    spec = make_spec("fish", f"bob={tmp_path / 'bot.py'}", "greedy", id=path.stem, journal=str(path.parent))

    outcome = run(spec)

    assert outcome.result is not None
    assert [out.why for out in outcome.result.ejected] == ["no answer within 0.5 s"]


def test_a_new_limit_on_the_command_line_holds_and_is_recorded(tmp_path: Path) -> None:
    path = unfinished(tmp_path)

    done = run_fairplay("resume", str(path), "--quiet", "--sandbox", "none", "--limit", "0.3,start=30")

    changed = {**SHORT, "move": 0.3}
    assert why(done) == "timed out (turn), no answer within 0.3 s"
    assert resumed_lines(path) == [(changed, None)]
    assert (read_journal(path).opening.limits, read_journal(path).limits) == (SHORT, changed)
    assert verify(read_journal(path)).turn is None


def test_the_same_limit_on_the_command_line_changes_nothing(tmp_path: Path) -> None:
    path = unfinished(tmp_path)

    done = run_fairplay("resume", str(path), "--quiet", "--sandbox", "none", "--limit", "0.5,start=30")

    assert why(done) == "timed out (turn), no answer within 0.5 s"
    assert resumed_lines(path) == [(None, None)]


def test_a_limit_that_was_changed_holds_from_then_on(tmp_path: Path) -> None:
    path = unfinished(tmp_path)
    run_fairplay("resume", str(path), "--quiet", "--sandbox", "none", "--limit", "0.3,start=30")
    until = [line["type"] for line in read_lines(path)].index("fact")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:until]))  # it was interrupted again

    done = run_fairplay("resume", str(path), "--quiet", "--sandbox", "none")

    assert why(done) == "timed out (turn), no answer within 0.3 s"
    assert resumed_lines(path) == [({**SHORT, "move": 0.3}, None), (None, None)]


def test_invalid_limits_in_a_record_are_a_bad_journal(tmp_path: Path) -> None:
    path = unfinished(tmp_path, limits={"move": -1.0})

    assert refusal_line(run_fairplay("resume", str(path))).startswith(f"{path}: line 1: invalid limits: ")


def test_without_recorded_or_given_limits_the_default_holds(tmp_path: Path) -> None:
    recorded = read_journal(unfinished(tmp_path, limits=None))

    assert (
        recorded_conditions(recorded, recorded.opening.players, None, "none", [str(tmp_path)]).limits == DEFAULT_LIMITS
    )


# Sandboxes.


@pytest.fixture
def nobody_can_be_shut_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no bubblewrap")


@pytest.mark.usefixtures("nobody_can_be_shut_in")
def test_a_match_with_a_strict_sandbox_is_not_resumed_where_there_is_none(tmp_path: Path) -> None:
    path = unfinished(tmp_path, PLAYS, sandbox="strict")
    left = path.read_bytes()

    assert refusal_line(run_fairplay("resume", str(path))).startswith("there is no bubblewrap")
    assert path.read_bytes() == left


@pytest.mark.usefixtures("nobody_can_be_shut_in")
def test_a_match_with_a_strict_sandbox_is_resumed_without_one_if_asked_for_and_that_is_recorded(tmp_path: Path) -> None:
    path = unfinished(tmp_path, PLAYS, sandbox="strict")

    done = run_fairplay("resume", str(path), "--quiet", "--sandbox", "none")

    [seated] = [line for line in read_lines(path) if line["type"] == "seated"]
    assert (done.code, done.err) == (0, "")
    assert resumed_lines(path) == [(None, "none")]
    assert seated["enforced"] == ["limits", ""]
    assert (read_journal(path).opening.sandbox, read_journal(path).sandbox) == ("strict", "none")


@needs_strict
def test_a_recorded_strict_sandbox_stays_strict(tmp_path: Path) -> None:
    path = unfinished(tmp_path, PLAYS, sandbox="strict", limits={**SHORT, "move": 30.0})

    done = run_fairplay("resume", str(path), "--quiet")

    [seated] = [line for line in read_lines(path) if line["type"] == "seated"]
    assert (done.code, resumed_lines(path)) == (0, [(None, None)])
    assert seated["enforced"] == [STRICTLY, ""]
    assert verify(read_journal(path)).ejected == ()


@needs_strict
def test_a_match_without_a_sandbox_is_resumed_in_one_where_possible(tmp_path: Path) -> None:
    path = unfinished(tmp_path, PLAYS, limits={**SHORT, "move": 30.0})

    assert run_fairplay("resume", str(path), "--quiet").code == 0

    [seated] = [line for line in read_lines(path) if line["type"] == "seated"]
    assert (resumed_lines(path), seated["enforced"]) == ([(None, "strict")], [STRICTLY, ""])


@needs_strict
@pytest.mark.parametrize(("on_record", "named"), [("strict", "none"), ("none", "strict")])
def test_a_given_sandbox_overrides_the_recorded_one(on_record: str, named: str, tmp_path: Path) -> None:
    recorded = read_journal(unfinished(tmp_path, sandbox=on_record))

    conditions = recorded_conditions(recorded, recorded.opening.players, None, named, [str(tmp_path)])

    assert conditions.sandbox is not None
    assert conditions.sandbox.level.value == named


# What is kept of them.


def test_local_players_have_no_limits_and_none_are_recorded() -> None:
    conditions = match_conditions(["greedy", "in-process:module:Name"], Limits(move=1.0), "none")

    assert conditions == MatchConditions(None, None)
    assert conditions.journal_fields == {"limits": None, "sandbox": ""}


def test_network_players_have_limits_and_no_sandbox() -> None:
    conditions = match_conditions(["greedy", "tcp:4000"], Limits(move=1.0, bank=9.0), "strict")

    assert conditions.sandbox is None
    assert conditions.journal_fields["sandbox"] == ""
    assert {name: conditions.journal_fields["limits"][name] for name in ("move", "bank")} == {"move": 1.0, "bank": 9.0}
    assert "first_move" not in conditions.journal_fields["limits"]  # which was not asked for


def test_the_conditions_of_a_match_are_in_its_opening(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(PLAYS)
    limits = Limits(move=30.0, first_move=31.0, start_up=32.0)
    spec = make_spec("fish", str(bot), "greedy", limits=limits, sandbox="none", journal=str(tmp_path / "games"))

    outcome = run(spec)

    opening, seated, *_ = read_lines(Path(outcome.journal or ""))
    assert opening["limits"] == match_conditions(spec.addresses, limits, "none").journal_fields["limits"]
    assert opening["limits"]["first_move"] == 31.0
    assert (opening["sandbox"], seated["enforced"]) == ("none", ["limits", ""])


@needs_strict
def test_pondering_is_recorded_and_decides_whether_programs_are_frozen(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PLAYS)
    command = ("play", "fish", f"bob={tmp_path}/bot.py", "greedy", "--set", "rows=3", "--set", "columns=4", "--quiet")

    for number, options in enumerate(((), ("--pondering",))):
        done = run_fairplay(*command, *options, "--journal", str(tmp_path / f"{number}"))
        assert done.code == 0, done
    (still,), (pondering,) = ([read_lines(path) for path in (tmp_path / f"{it}").glob("*.jsonl")] for it in range(2))

    assert ("pondering" in still[0], still[1]["enforced"][0].split()[-1]) == (False, "freezing")
    assert (pondering[0]["pondering"], "freezing" in pondering[1]["enforced"][0]) == (True, False)


@needs_strict
def test_programs_may_ponder_in_a_resumed_match_if_they_could_before(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PLAYS)
    spec = make_spec("fish", str(tmp_path / "bot.py"), "greedy", pondering=True, journal=str(tmp_path / "games"))
    path = interrupted_journal(spec, actions=3)

    assert run_fairplay("resume", str(path), "--quiet").code == 0

    first, second = (line["enforced"][0] for line in read_lines(path) if line["type"] == "seated")
    assert first == second
    assert "freezing" not in second


def test_programs_of_a_resumed_match_see_neither_journals_nor_logs(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PLAYS)
    games, logs = str(tmp_path / "games"), str(tmp_path / "logs")
    path = interrupted_journal(
        make_spec("fish", str(tmp_path / "bot.py"), "greedy", sandbox="none", journal=games), actions=3
    )

    prepared = resume_match(path, None, None, open_journal(games, Durability.OFF), bot_logs=logs)
    prepared.open_record.close()

    assert prepared.conditions.sandbox is not None
    assert {games, logs} <= set(prepared.conditions.sandbox.hidden_paths)


def test_people_have_a_limit_only_if_one_was_given() -> None:
    assert match_conditions(["human", "greedy"], None, None).limits is None
    beside_a_guest = match_conditions(["human", "tcp:0"], None, None).limits
    assert beside_a_guest is not None and limits_for_person(beside_a_guest).move == UNLIMITED_S
    assert with_people_limit(Limits(move=3.0), ["human", "tcp:0"]) == Limits(move=3.0, people=3.0)
    assert with_people_limit(Limits(move=3.0, people=60.0), ["human"]) == Limits(move=3.0, people=60.0)
    assert with_people_limit(Limits(move=3.0), ["greedy", "tcp:0"]) == Limits(move=3.0)
