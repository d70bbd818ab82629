"""Check that a player plays the same match in this process, as a program and over a network."""

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadRequest, Fault, Moment
from fairplay.games import GAMES, game_info, make_game
from fairplay.hosting.table import Table
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import load_player_file
from fairplay.players.listener import Listener
from fairplay.players.location import Command, ListenAddress, LocalAddress, Location, parse_remote_address
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from tests.hosting.specs import SEED, SMALL_PARAMETERS, play_at_table
from tests.journal_files import read_lines
from tests.players.machine import CAN_BE_STRICT
from tests.players.programs import current_holdings, is_cleaned_up, new_holdings

FISH, GREEDY = make_game("fish", SMALL_PARAMETERS["fish"]), game_info("fish").built_in["greedy"].make("", SEED)
AMPLE = Limits(move=30.0, start_up=30.0)
BOT = """
from fairplay.games import rules_of

class Player:
    def start(self, seat, names, view):
        self.rules, self.turns = rules_of(type(view).__module__.split(".")[2])(), 0

    def take_turn(self, view):
        options = list(zip(range(40), self.rules.actions(view)))
        self.turns += 1
        return options[self.turns * 7 % len(options)][1]
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """An honest player of any game, which remembers how many turns it had."""
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    return path


@contextmanager
def joining_players(bot: Path) -> Iterator[Callable[[str], None]]:
    """What a table has to be told with, so that a player joins wherever it waits for one."""
    joined: list[subprocess.Popen[bytes]] = []

    def tell(text: str) -> None:
        if text.startswith("waiting for"):
            _, count, _, place = text.removeprefix("waiting ").split()
            command = [sys.executable, "-m", "fairplay", "join", place, str(bot)]
            joined.extend(subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(int(count)))

    try:
        yield tell
    finally:
        for process in joined:
            process.communicate(timeout=30)
    assert {process.returncode for process in joined} <= {0}


def places(distance: str, bot: Path, seats: int) -> dict[int, Location]:
    match distance:
        case "here":
            return {seat: LocalAddress(load_player_file(str(bot))) for seat in range(seats)}
        case "program" | "strict program":
            return dict.fromkeys(range(seats), parse_remote_address(str(bot)) or LocalAddress(print))
        case scheme:
            return dict.fromkeys(range(seats), ListenAddress(scheme, "0"))


def played(game: str, distance: str, bot: Path, directory: Path) -> list[Any]:
    rules = make_game(game, SMALL_PARAMETERS[game])
    match = deal_match(rules, ["ann", "bob", "cyd"], SEED)
    sandbox = SandboxPolicy(SandboxLevel.STRICT if distance == "strict program" else SandboxLevel.NONE)
    with (
        joining_players(bot) as tell,
        Journal(directory / distance).begin(match) as record,
        Table(places(distance, bot, 3), limits=AMPLE, sandbox=sandbox, tell=tell) as table,
    ):
        asyncio.run(play_at_table(table, match, record))
    verify(read_journal(record.path))
    return [line["fact"] for line in read_lines(record.path) if line["type"] == "fact"]


@pytest.mark.parametrize("game", GAMES)
def test_players_in_process_as_programs_and_over_tcp_give_the_same_facts(game: str, bot: Path, tmp_path: Path) -> None:
    distances = ["here", "program", "tcp", "ws"]
    if CAN_BE_STRICT:
        distances.append("strict program")

    facts = {distance: played(game, distance, bot, tmp_path) for distance in distances}

    assert len(facts["here"]) > 5
    assert {distance for distance in facts if facts[distance] != facts["here"]} == set()


def test_the_turns_of_a_guest_are_counted_across_a_resumption() -> None:
    guests: dict[int, Location] = {0: LocalAddress(GREEDY), 1: ListenAddress("tcp", "0")}
    heard: list[tuple[str, int]] = []

    async def come(listener: Listener) -> None:
        reader, writer = await asyncio.open_connection(listener.host, listener.port)
        while len(heard) < 3:
            question = json.loads(await reader.readline())
            heard.append((question["type"], question["turn"]))
            writer.write(json.dumps({"nonce": question["nonce"], "answer": None}).encode() + b"\n")
        writer.close()

    async def play(table: Table) -> None:
        coming = asyncio.create_task(come(table.listeners[ListenAddress("tcp", "0")]))
        await play_at_table(table, deal_match(FISH, list("ab"), SEED), took={0: [0.0] * 3, 1: [0.0] * 7})
        await coming

    with Table(guests, limits=AMPLE, tell=lambda text: None) as table:
        asyncio.run(play(table))

    assert heard == [("hello", 0), ("start", 7), ("take_turn", 8)]


@pytest.mark.parametrize("place", [Command(("./missing",)), Command(("no-such-program",)), ListenAddress("tcp", "x")])
def test_a_table_is_refused_before_anything_is_started(place: Location) -> None:
    with Table({0: ListenAddress("tcp", "0")}, tell=print) as table:
        taken = ListenAddress("tcp", str(table.listeners[ListenAddress("tcp", "0")].port))
        with pytest.raises(BadRequest, match="cannot listen"):
            Table({0: ListenAddress("tcp", "127.0.0.1:0"), 1: taken})
        with pytest.raises(BadRequest):
            Table({0: place, 1: ListenAddress("tcp", "0")})


FAILING_PROGRAMS = {
    "exit 3": Fault.CRASHED,
    "kill -9 $$": Fault.CRASHED,
    "sleep 60 & exit 1": Fault.CRASHED,
    "echo junk; sleep 60": Fault.MALFORMED,
}


async def play_with_failing_player(number: int) -> None:
    """Play a match of two good players and a program that fails, or a guest that never comes."""
    kinds: list[tuple[Location, Fault]] = [
        (Command(("sh", "-c", f"read line; {end}")), fault) for end, fault in FAILING_PROGRAMS.items()
    ]
    bad, fault = [*kinds, (ListenAddress("tcp", "0"), Fault.GONE)][number % 5]
    limits = Limits(arrival=0.05) if fault is Fault.GONE else AMPLE
    with Table(
        {0: LocalAddress(GREEDY), 1: bad, 2: LocalAddress(GREEDY)}, limits=limits, tell=lambda text: None
    ) as table:
        final = await play_at_table(table, deal_match(FISH, list("abc"), SEED))
    assert final.turn is None and [out.fault for out in final.ejected] == [fault], final.ejected
    assert fault is not Fault.GONE or final.ejected[0].moment is Moment.GREETING


def test_many_matches_with_ejections_leave_nothing_open() -> None:
    async def play_all() -> None:
        await asyncio.gather(*(play_with_failing_player(number) for number in range(10)))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(play_all())
    before = current_holdings()

    for _ in range(5):
        asyncio.run(play_all())
    gc.collect()

    assert is_cleaned_up(before), new_holdings(before)
