"""Test specs, and matches that are played from them, one and many, in this process and in others."""

import asyncio
import pickle
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace

from fairplay import BadRequest, Ended, Entrant, Fault, Game, Limits, Started
from fairplay.core.errors import HostFault
from fairplay.core.events import Ejected, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import Evidence
from fairplay.games import GAMES, register
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.rules import Rules
from fairplay.hosting.run import run, run_async
from fairplay.hosting.spec import MatchSpec, Outcome, TurnSummary
from fairplay.journal.options import Durability
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.players.process import ProgramConnection
from fairplay.sandbox import sandboxed_command
from fairplay.sandbox.cgroup import ControlGroup, cgroup_support
from tests.cli.command import run_fairplay
from tests.games.external_games import forget_external_games
from tests.hosting.specs import (
    SEED,
    EventCollector,
    both_ways,
    count_turns,
    journal_files,
    make_spec,
    run_awaited,
)
from tests.journal_files import read_lines
from tests.kit import countdown
from tests.kit.countdown import EXPECTED_ERROR, FIXED_NEXT, GAME_ADDRESS, PLAYER_ADDRESS
from tests.players.machine import needs_strict
from tests.players.programs import current_holdings, is_cleaned_up
from tests.tournament.players import Listener
from tests.tournament.small_tournaments import MISBEHAVING_PLAYERS

__all__ = ["forget_external_games"]

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


def in_pool(specs: list[MatchSpec], directory: Path) -> list[Outcome]:
    script = directory / "pool.py"
    script.write_text(POOL)
    done = subprocess.run([sys.executable, script], input=pickle.dumps(specs), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return list(pickle.loads(done.stdout))


@pytest.mark.parametrize("game", GAMES)
def test_a_spec_plays_the_same_match_sync_async_and_in_a_worker_process(game: str, tmp_path: Path) -> None:
    specs = [make_spec(game, id="a-match", journal=str(tmp_path / where)) for where in ("here", "awaited", "pool")]
    (tmp_path / "writers.py").write_text(f"""
class Writer:
    def observe(self, event, match):
        with open({str(tmp_path / "heard")!r}, "a") as file:
            print(type(event).__name__, file=file)
""")

    outcomes = [run(specs[0]), run_awaited(specs[1])]
    outcomes += in_pool([replace(specs[2], observers=("py:writers:Writer",))], tmp_path)

    recorded = [read_journal(f"{spec.journal}/a-match.jsonl") for spec in specs]
    assert count_turns(outcomes[0]) == len(recorded[0].facts) > 5
    assert [one.facts for one in recorded] == [recorded[0].facts] * 3
    assert (tmp_path / "heard").read_text().split() == ["Started", *["Acted"] * len(recorded[0].facts), "Ended"]
    for outcome, one, spec in zip(outcomes, recorded, specs, strict=True):
        assert outcome.result is not None and outcomes[0].result is not None
        assert (outcome.id, outcome.names, outcome.host_fault, outcome.evidence) == ("a-match", spec.labels, "", ())
        assert outcome.journal == f"{spec.journal}/a-match.jsonl"
        assert [turns.count for turns in outcome.turns] == [turns.count for turns in outcomes[0].turns]
        assert outcome.took > 0
        assert verify(one, outcome.result.receipt).result == replace(outcomes[0].result, receipt=None)


def test_concurrent_matches_in_one_loop_have_their_own_journals(tmp_path: Path) -> None:
    games = [list(GAMES)[number % 3] for number in range(20)]
    specs = [make_spec(game, seed=None, journal=str(tmp_path), sync=Durability.ALWAYS) for game in games]
    listening = EventCollector()

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(*(run_async(spec, [listening]) for spec in specs))

    outcomes = asyncio.run(all_at_once())

    heard = [type(event) for event in listening.events]
    assert heard[: heard.index(Ended)].count(Started) == 20  # none had to wait for the end of another
    assert sorted(outcome.journal or "" for outcome in outcomes) == [str(path) for path in journal_files(specs[0])]
    for game, outcome in zip(games, outcomes, strict=True):
        recorded = read_journal(outcome.journal or "")
        assert (recorded.opening.game, recorded.opening.match) == (game, outcome.id)
        assert outcome.result is not None
        assert verify(recorded, outcome.result.receipt).result == replace(outcome.result, receipt=None)


@both_ways
def test_a_match_may_leave_evidence_but_no_files(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    outcome = way(make_spec("fish", "ann=greedy", f"bob={MISBEHAVING_PLAYERS}Crasher"))

    assert (outcome.journal, outcome.host_fault, outcome.result.receipt) == (None, "", None)
    assert list(tmp_path.iterdir()) == []
    assert [(out.seat, out.fault) for out in outcome.result.ejected] == [(1, Fault.CRASHED)]
    ((seat, evidence),) = outcome.evidence
    assert seat == 1 and "enough" in evidence.detail
    assert "enough" not in repr(outcome.result)


@both_ways
@pytest.mark.parametrize("player", ["random", "exec:cat"])
def test_an_unwritable_journal_is_a_host_fault(way: Any, player: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    listening, directory = EventCollector(), str(tmp_path / "file" / "games")  # which not even root can create
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
def test_a_journal_that_cannot_open_is_a_host_fault(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = make_spec(id="m", journal=str(tmp_path))
    (tmp_path / "m.jsonl").write_bytes(b"")

    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("fairplay.journal.append_file.Disk.open", fail)

    outcome = way(spec)

    assert (outcome.result, outcome.id, outcome.names) == (None, "m", spec.labels)
    assert outcome.host_fault == f"the journal {tmp_path / 'm.jsonl'} cannot be opened: Input/output error"


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
        run_awaited(replace(spec, journal=str(directory)))

    assert list(tmp_path.glob("**/*.jsonl")) == []


@pytest.mark.parametrize("sealed", [True, False])
def test_the_seed_of_a_sealed_spec_is_hidden(sealed: bool, tmp_path: Path) -> None:
    fed, listening = list[str](), EventCollector()
    spec = make_spec("fish", f"{MISBEHAVING_PLAYERS}Listener", "random", sealed=sealed, journal=str(tmp_path))

    outcome = run(spec, [EventFeed(fed.append), listening])

    [ended] = [event for event in listening.events if isinstance(event, Ended)]
    told = Listener.heard[-1]
    assert outcome.result is not None
    for result in (outcome.result, ended.result, told):
        assert result.seed == (None if sealed else SEED.hex())
    shown = msgspec.json.encode(outcome).decode(), repr(outcome), "".join(fed), repr(listening.events), repr(told)
    for text in shown:
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


def test_a_host_fault_while_players_sit_down_is_no_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        await asyncio.sleep(0)
        raise HostFault("the machine is full")

    monkeypatch.setattr(ProgramConnection, "start", fail)
    (tmp_path / "bot.py").write_text("def take_turn(view):\n    return None")

    outcome = run_awaited(make_spec("fish", f"{tmp_path}/bot.py", "tcp:0"))

    assert (outcome.result, outcome.host_fault) == (None, "the machine is full")


def test_run_with_a_program_inside_an_event_loop_names_run_async(tmp_path: Path) -> None:
    spec = make_spec("fish", "greedy", str(BOT), sandbox="none", journal=str(tmp_path / "games"))

    async def cell_of_a_notebook() -> tuple[str, Outcome]:
        assert run(make_spec("fish", "greedy", "random")).result is not None  # who play in this process
        with pytest.raises(BadRequest) as refused:
            run(spec)
        return str(refused.value), await run_async(spec)

    why, outcome = asyncio.run(cell_of_a_notebook())

    assert why.endswith("write `await run_async(spec)` instead of `run(spec)`")
    assert outcome.result is not None and len(journal_files(spec)) == 1


@pytest.mark.usefixtures("forget_external_games")
@both_ways
def test_a_match_is_resumed_once_its_rules_are_fixed(way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(GAME_ADDRESS)
    spec = MatchSpec(game="countdown", entrants=(Entrant(PLAYER_ADDRESS),) * 2, id="m", journal=str(tmp_path))

    broken = way(spec)
    facts = len(read_journal(tmp_path / "m.jsonl").facts)
    monkeypatch.setattr(countdown, "NEXT", FIXED_NEXT)
    mended = way(spec)
    names = verify(read_journal(tmp_path / "m.jsonl")).names
    monkeypatch.setattr(countdown, "NEXT", {})
    undealt = way(replace(spec, journal=str(tmp_path / "games")))

    assert (broken.result, broken.host_fault) == (None, f"countdown cannot be played: {EXPECTED_ERROR}")
    assert facts == 2
    assert mended.result is not None and (mended.host_fault, mended.result.ejected) == ("", ())
    assert len(names) == 2
    assert undealt.result is None
    assert undealt.host_fault.startswith("countdown cannot be played: ValueError(")
    assert not (tmp_path / "games").exists()


@pytest.mark.usefixtures("forget_external_games")
def test_an_exception_of_the_rules_is_located_in_one_line(tmp_path: Path) -> None:
    done = run_fairplay("play", "--game", GAME_ADDRESS, "random", "random", "--quiet", "--journal", str(tmp_path))

    [path] = tmp_path.glob("*.jsonl")
    on = f"to go on with the match: fairplay resume {path} --game {GAME_ADDRESS}"
    assert (done.code, done.out) == (3, "")
    assert done.err == f"fairplay: countdown cannot be played: {EXPECTED_ERROR}; {on}\n"


ALL = make_spec(
    "fish",
    "ann=greedy",
    "tcp:4000",
    id="a-match",
    guessable=True,
    sealed=True,
    limits=Limits(move=2.0, bank=60.0),
    sandbox="strict",
    pondering=True,
    journal="games",
    key="games/key",
    bot_logs="logs",
    hidden=("games/notes",),
    sync=Durability.ALWAYS,
    observers=("py:module:Name",),
)
OUT = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")
OUTCOME = Outcome(
    id="a-match",
    names=("ann", "bob"),
    result=Result((frozenset({0}),), (OUT,), seed=SEED.hex(), receipt=Receipt(7, "0f" * 32)),
    host_fault="the disk is full",
    journal="games/a-match.jsonl",
    evidence=((1, Evidence("what it said")),),
    turns=(TurnSummary(2, 0.5, 0.25),),
    took=0.5,
)


class Own(Rules, frozen=True):
    """Custom rules."""


@pytest.mark.parametrize("value", [ALL, OUTCOME], ids=["spec", "outcome"])
def test_every_field_of_a_spec_survives_pickle_and_json(value: Any) -> None:
    default = {field.name: field.default for field in msgspec.structs.fields(value)}

    assert all(getattr(value, name) != default[name] for name in default)  # or this would say nothing of the field
    assert pickle.loads(pickle.dumps(value)) == value
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


@pytest.mark.parametrize(
    "game",
    [Fish(rows=4), Fish(fish=2, holes="random"), Tsuro.with_tiles(cycle(range(35)), seats=3, size=5), Q(q_bonus=3)],
    ids=["fish", "fish with holes", "tsuro with tiles from an iterator", "q"],
)
def test_a_spec_is_made_from_a_game_object(game: Game[Any, Any, Any]) -> None:
    players = {"fish": "greedy", "tsuro": "random", "q": "dag"}
    entrants = [Entrant(players[game.name], f"player-{seat}") for seat in range(game.seats[0])]

    spec = MatchSpec.from_game(game, entrants, seed=SEED, sealed=True)

    assert spec.load_game() == game
    assert (spec.entrants, spec.seed, spec.sealed) == (tuple(entrants), SEED, True)
    assert pickle.loads(pickle.dumps(spec)).load_game() == game
    assert run(spec).result is not None


UNSENDABLE: dict[str, tuple[dict[str, Any], str]] = {
    "rules": ({"rules": Own()}, "rule"),
    "rules and a board": ({"size": 5, "rules": Own()}, "rule"),
    "an endless iterator": ({"size": 5, "tiles": cycle(range(35))}, "an iterator of this process"),
    "a short iterator": ({"size": 5, "tiles": iter([3, 1])}, "an iterator of this process"),
    "a generator": ({"size": 5, "tiles": (tile for tile in range(35))}, "an iterator of this process"),
}


@pytest.mark.parametrize(("parameters", "why"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_a_game_with_parts_of_this_process_cannot_be_sent_to_another(parameters: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRequest, match=rf"this game of tsuro cannot be sent to another process: .*{why}"):
        MatchSpec.from_game(Tsuro(**parameters), [Entrant("random")] * 3)
