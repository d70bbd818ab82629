"""Test matches that are played from specs, one and many, in this process and in others."""

import asyncio
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace

from fairplay import BadRequest, Ended, Event, Fault, Started
from fairplay.core.errors import HostFault
from fairplay.core.match import Match
from fairplay.games import GAMES
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome, TurnSummary
from fairplay.journal.options import Durability
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.players.process import ProgramConnection
from fairplay.sandbox import sandboxed_command
from fairplay.sandbox.cgroup import ControlGroup, cgroup_support
from tests.hosting.specs import SEED, EventCollector, count_turns, journal_files, make_spec, write_module
from tests.journal_files import read_lines
from tests.nonempty import nonempty
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, current_holdings, is_cleaned_up, new_holdings

BOT = Path(__file__).parents[2] / "examples" / "a_player.py"

POOL = """
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

from fairplay.hosting.run import run

if __name__ == "__main__":
    specs = pickle.load(sys.stdin.buffer)
    with ProcessPoolExecutor(2) as pool:
        pickle.dump(list(pool.map(run, specs)), sys.stdout.buffer)
"""
OBSERVER = """
from pathlib import Path

class Writer:
    def observe(self, event, match):
        with Path({path!r}).open("a") as file:
            print(type(event).__name__, match.id, file=file)
"""
PLAYER = """
from fairplay.games.fish import Fish

heard = []

class Player:
    def take_turn(self, view):
        return next(Fish().actions(view))

    def end(self, result):
        heard.append(result)
"""
CRASHES = "def take_turn(view): raise RuntimeError('what it said')\n"


def awaited(spec: MatchSpec, observers: Any = ()) -> Outcome:
    return asyncio.run(run_async(spec, observers))


each_game = pytest.mark.parametrize("game", GAMES)
both_ways = pytest.mark.parametrize("way", [run, awaited], ids=["played", "awaited"])


def in_pool(specs: list[MatchSpec], directory: Path) -> list[Outcome]:
    """What comes of these specs in the processes of a pool; the pool has a process of its own."""
    script = directory / "pool.py"
    script.write_text(POOL)
    done = subprocess.run([sys.executable, script], input=pickle.dumps(specs), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    outcomes: list[Outcome] = pickle.loads(done.stdout)
    return outcomes


def lasting(outcome: Outcome) -> Outcome:
    """What is the same whenever and wherever a match is played."""
    assert outcome.result is not None
    turns = tuple(TurnSummary(turns.count) for turns in outcome.turns)
    return replace(outcome, took=0.0, journal=None, turns=turns, result=replace(outcome.result, receipt=None))


# What comes of it.


@each_game
def test_a_spec_plays_the_same_match_sync_async_and_in_a_worker_process(game: str, tmp_path: Path) -> None:
    specs = [make_spec(game, id="a-match", journal=str(tmp_path / where)) for where in ("here", "awaited", "pool")]

    here, awaited = run(specs[0]), asyncio.run(run_async(specs[1]))
    [there] = in_pool(specs[2:], tmp_path)

    recorded = [read_journal(tmp_path / where / "a-match.jsonl") for where in ("here", "awaited", "pool")]
    assert lasting(here) == lasting(awaited) == lasting(there)
    assert count_turns(here) == len(recorded[0].facts) > 5
    assert (here.id, here.host_fault, here.evidence) == ("a-match", "", ())
    assert [one.facts for one in recorded] == [recorded[0].facts] * 3
    assert [one.journal for one in (here, awaited, there)] == [f"{spec.journal}/a-match.jsonl" for spec in specs]
    for outcome, one in zip((here, awaited, there), recorded, strict=True):
        assert outcome.result is not None
        assert outcome.took > 0
        assert verify(one, outcome.result.receipt).result == replace(outcome.result, receipt=None)


def test_concurrent_matches_in_one_loop_have_their_own_journals(tmp_path: Path) -> None:
    games = [list(GAMES)[number % 3] for number in range(20)]
    specs = [make_spec(game, seed=None, journal=str(tmp_path), sync=Durability.ALWAYS) for game in games]
    heard: list[type[Event]] = []

    class Watching:
        def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
            heard.append(type(event))

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(*(run_async(spec, [Watching()]) for spec in specs))

    outcomes = asyncio.run(all_at_once())

    assert heard[: heard.index(Ended)].count(Started) == 20  # none had to wait for the end of another
    assert sorted(outcome.journal or "" for outcome in outcomes) == [str(path) for path in journal_files(specs[0])]
    for game, outcome in zip(games, outcomes, strict=True):
        recorded = read_journal(outcome.journal or "")
        assert (recorded.opening.game, recorded.opening.match) == (game, outcome.id)
        assert outcome.result is not None
        assert verify(recorded, outcome.result.receipt).result == replace(outcome.result, receipt=None)


@both_ways
def test_without_a_journal_nothing_is_written_and_there_is_no_receipt(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    outcome = way(make_spec())

    assert (outcome.journal, outcome.result.receipt) == (None, None)
    assert list(tmp_path.iterdir()) == []


@both_ways
def test_a_fault_of_a_player_is_in_the_result_and_what_it_said_is_in_the_evidence(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write_module(tmp_path, CRASHES, "take_turn", monkeypatch)

    outcome = way(make_spec("fish", "ann=greedy", f"bob={bad}"))

    assert outcome.host_fault == ""
    assert [(out.seat, out.fault) for out in outcome.result.ejected] == [(1, Fault.CRASHED)]
    assert [seat for seat, _ in outcome.evidence] == [1]
    assert "what it said" in outcome.evidence[0][1].detail
    assert "what it said" not in repr(outcome.result)


# Observers.


@both_ways
def test_given_observers_receive_the_match_and_the_receipt(way: Any, tmp_path: Path) -> None:
    listening = EventCollector()

    outcome = way(make_spec(journal=str(tmp_path)), [listening])

    assert outcome.result.receipt is not None
    assert listening.events[-1] == Ended(outcome.result)
    assert isinstance(listening.events[0], Started)


def test_an_observer_given_by_address_receives_the_match_where_it_is_played(tmp_path: Path) -> None:
    (tmp_path / "writers.py").write_text(OBSERVER.format(path=str(tmp_path / "heard")))
    specs = [make_spec(id=name, observers=("py:writers:Writer",)) for name in ("one", "two")]

    outcomes = in_pool(specs, tmp_path)

    heard = (tmp_path / "heard").read_text().splitlines()
    for outcome in nonempty(outcomes):
        mine = [line.split()[0] for line in heard if line.endswith(f" {outcome.id}")]
        assert mine == ["Started", *["Acted"] * count_turns(outcome), "Ended"]


# Faults of the host.


def in_the_way(tmp_path: Path) -> str:
    """A directory that cannot be created, not even by root."""
    (tmp_path / "file").write_text("in the way")
    return str(tmp_path / "file" / "games")


@both_ways
@pytest.mark.parametrize("player", ["random", "exec:cat"])
def test_an_unwritable_journal_is_a_host_fault(way: Any, player: str, tmp_path: Path) -> None:
    listening, directory = EventCollector(), in_the_way(tmp_path)
    spec = make_spec("fish", "ann=greedy", f"bob={player}", id="m", journal=directory, sandbox="none")

    outcome = way(spec, [listening])

    why = f"cannot write journals in {directory}: Not a directory"
    assert outcome == Outcome(id="m", names=("ann", "bob"), result=None, host_fault=why)
    assert listening.events == []


@both_ways
def test_a_host_fault_ejects_no_player_and_keeps_the_journal(way: Any, tmp_path: Path) -> None:
    tiles = list(range(14))
    spec = make_spec("tsuro", parameters={"size": 5, "tiles": tiles}, journal=str(tmp_path))

    outcome = way(spec)

    [path] = journal_files(spec)
    assert outcome.host_fault == "the tiles have run out after 14: the match cannot go on"
    assert (outcome.result, outcome.evidence, outcome.journal) == (None, (), str(path))
    assert count_turns(outcome) == len(read_journal(path).facts) > 0
    assert {line["fact"]["type"] for line in read_lines(path) if line["type"] == "fact"} == {"acted"}


@both_ways
def test_a_journal_that_cannot_be_reopened_is_a_host_fault(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    (tmp_path / "m.jsonl").write_bytes(b"")

    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("fairplay.journal.append_file.Disk.open", fail)

    outcome = way(spec)

    assert (outcome.result, outcome.id, outcome.names) == (None, "m", spec.labels)
    assert outcome.host_fault == f"the journal {tmp_path / 'm.jsonl'} cannot be opened: Input/output error"


# What makes no sense.

BAD: dict[str, tuple[MatchSpec, str]] = {
    "game": (replace(make_spec(), game="chess"), "chess"),
    "player": (make_spec("fish", "greedy", "nobody"), "fish has no player 'nobody'"),
    "parameter of a player": (make_spec("fish", "greedy", "lookahead:x"), "'x'"),
    "program": (make_spec("fish", "greedy", "exec:no-such-program"), "there is no program 'no-such-program'"),
    "file": (make_spec("fish", "greedy", "./nobody.py"), "there is no Python file ./nobody.py"),
    "port": (make_spec("fish", "greedy", "tcp:nowhere"), "nowhere"),
    "parameter": (make_spec(parameters={"depth": 3}), "fish has no parameter 'depth'"),
    "value": (make_spec(parameters={"rows": "many"}), "rows"),
    "board": (make_spec(parameters={"rows": 1, "columns": 1}), "too small"),
    "no players": (replace(make_spec(), entrants=()), "fish is for 2 to 4 players, not for 0"),
    "too many players": (make_spec("fish", *["greedy"] * 5), "fish is for 2 to 4 players, not for 5"),
    "id": (make_spec(id="a match"), "'a match' is not a match id"),
    "id of a file in another directory": (make_spec(id="../m"), r"'\.\./m' is not a match id"),
    "long id": (make_spec(id="x" * 65), "is not a match id"),
    "seed": (make_spec(seed=b"seven"), "a seed has 32 bytes, not 5"),
    "sandbox": (make_spec("fish", "greedy", "exec:cat", sandbox="leaky"), "there is no sandbox 'leaky'"),
    "half a character": (make_spec("fish", "greedy", "ann\ud800=random"), "half a character"),
    "observer without a scheme": (make_spec(observers=("Reporter",)), "'Reporter' names no observer"),
    "observer that is nowhere": (make_spec(observers=("py:nobody_there:Bot",)), "No module named 'nobody_there'"),
    "observer without a name": (make_spec(observers=("py:json",)), "'py:json' names no observer"),
    "observer that its module lacks": (make_spec(observers=("py:json:Nobody",)), "module json has no 'Nobody'"),
    "observer that is none": (make_spec(observers=("py:json:dumps",)), "has no method observe"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_spec_is_a_bad_request_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    spec, why = BAD[name]
    directory = tmp_path / "games"

    with pytest.raises(BadRequest, match=why):
        run(replace(spec, journal=str(directory)))
    with pytest.raises(BadRequest, match=why):
        asyncio.run(run_async(replace(spec, journal=str(directory))))

    assert list(tmp_path.glob("**/*.jsonl")) == []


def test_an_id_cannot_name_a_file_outside_of_the_directory(tmp_path: Path) -> None:
    outside = make_spec(id="m", journal=str(tmp_path))
    run(outside)
    path = tmp_path / "m.jsonl"
    torn = path.read_bytes()[:-10]
    path.write_bytes(torn)
    (tmp_path / "games").mkdir()

    with pytest.raises(BadRequest, match="is not a match id"):
        run(make_spec(id="../m", journal=str(tmp_path / "games")))

    assert path.read_bytes() == torn


# Seals.


@pytest.mark.parametrize("sealed", [True, False])
def test_the_seed_of_a_sealed_spec_is_not_revealed(
    sealed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, fed, listening = write_module(tmp_path, PLAYER, "Player", monkeypatch), list[str](), EventCollector()
    spec = make_spec("fish", address, "random", sealed=sealed, journal=str(tmp_path))

    outcome = run(spec, [EventFeed(fed.append), listening])

    [ended] = [event for event in listening.events if isinstance(event, Ended)]
    [told] = sys.modules[address.split(":")[1]].heard
    assert outcome.result is not None
    for result in (outcome.result, ended.result, told):
        assert result.seed == (None if sealed else SEED.hex())
    for text in (
        msgspec.json.encode(outcome).decode(),
        repr(outcome),
        "".join(fed),
        repr(listening.events),
        repr(told),
    ):
        assert (SEED.hex() in text) is not sealed
    opening, *_, last = read_lines(journal_files(spec)[0])
    assert (opening.get("sealed", False), opening["seed"]) == (sealed, SEED.hex())
    assert ("seed" in last["result"]) is not sealed
    assert verify(read_journal(journal_files(spec)[0]), outcome.result.receipt).result.seed == outcome.result.seed


@needs_strict
@pytest.mark.skipif(not cgroup_support().memory, reason=f"there are no control groups here: {cgroup_support().missing}")
@pytest.mark.parametrize(
    ("which", "why"),
    [
        ("memory.limit_in_bytes", "the sandbox of a program could not be started"),
        ("cgroup.freeze", "cannot freeze or thaw a program"),
    ],
)
def test_a_missing_sandbox_is_a_host_fault_and_not_the_players(
    which: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(memory: int, processes: int) -> ControlGroup | None:
        group = ControlGroup.make(memory, processes)
        assert group is not None
        tidied = [directory for directory in group._directories if (directory / which).exists()]
        if not tidied:
            group.close()
            pytest.skip(f"no group has {which} here")
        for directory in tidied:
            directory.rmdir()  # as another process might
        return group

    monkeypatch.setattr(sandboxed_command, "ControlGroup", Mock(make=make))
    (tmp_path / "bot.py").write_text("def take_turn(view):\n    return None")

    before = current_holdings()

    outcome = run(make_spec("fish", f"{tmp_path}/bot.py", "greedy", sandbox="strict"))

    assert outcome.result is None
    assert why in outcome.host_fault
    assert is_cleaned_up(before)


def test_a_host_fault_while_players_are_seated_is_not_a_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        await asyncio.sleep(0)
        raise HostFault("the machine is full")

    monkeypatch.setattr(ProgramConnection, "start", fail)
    (tmp_path / "bot.py").write_text("def take_turn(view):\n    return None")

    outcome = asyncio.run(run_async(make_spec("fish", f"{tmp_path}/bot.py", "tcp:0")))

    assert (outcome.result, outcome.host_fault) == (None, "the machine is full")


# Sitting down early.


@pytest.mark.parametrize("called_off", [False, True], ids=["played", "called off"])
def test_seated_players_wait_for_the_event_ready(called_off: bool, tmp_path: Path) -> None:
    before, heard = current_holdings(), EventCollector()
    spec = make_spec("fish", str(BOT), "random", id="m", journal=str(tmp_path))

    async def main() -> Outcome | None:
        ready = asyncio.Event()
        match = asyncio.create_task(run_async(spec, [heard], ready=ready))
        await asyncio.to_thread(becomes_true, lambda: new_holdings(before).children > 0)
        await asyncio.sleep(0.5)
        assert (heard.events, list(tmp_path.glob("*.jsonl"))) == ([], [])
        if called_off:
            match.cancel()
            with pytest.raises(asyncio.CancelledError):
                await match
            return None
        ready.set()
        return await match

    outcome = asyncio.run(main())

    assert (outcome is None) == called_off
    assert bool(heard.events) != called_off
    assert is_cleaned_up(before)
    assert count_turns(run(spec)) > 0  # it goes on, or is its own answer


def test_run_with_a_program_inside_an_event_loop_names_run_async(tmp_path: Path) -> None:
    spec = make_spec("fish", "greedy", str(BOT), sandbox="none", journal=str(tmp_path / "games"))

    async def cell_of_a_notebook() -> tuple[str, Outcome]:
        with pytest.raises(BadRequest) as refused:
            run(spec)
        return str(refused.value), await run_async(spec)

    why, outcome = asyncio.run(cell_of_a_notebook())

    assert why.endswith("write `await run_async(spec)` instead of `run(spec)`")
    assert outcome.result is not None
    assert len(journal_files(spec)) == 1


def test_run_inside_an_event_loop_plays_players_of_this_process() -> None:
    async def cell_of_a_notebook() -> Outcome:
        return run(make_spec("fish", "greedy", "random"))

    assert asyncio.run(cell_of_a_notebook()).result is not None
