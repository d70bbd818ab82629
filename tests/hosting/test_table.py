"""Check that a player plays the same match in this process, as a program and over a network."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
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
from tests.hosting.soak import play_at_table, soak
from tests.journal_files import read_lines
from tests.players.machine import CAN_BE_STRICT
from tests.players.programs import current_holdings, is_cleaned_up, new_holdings

PARAMETERS: dict[str, dict[str, Any]] = {"fish": {"rows": 4, "columns": 4}, "tsuro": {"size": 5}, "q": {}}
SEED = bytes(range(32))
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


class Joining:
    """Lets players join wherever the table waits for one."""

    def __init__(self, bot: Path) -> None:
        self._bot = bot
        self.processes: list[subprocess.Popen[bytes]] = []

    def __call__(self, text: str) -> None:
        if not text.startswith("waiting for"):
            return
        _, count, _, place = text.removeprefix("waiting ").split()
        for _ in range(int(count)):
            command = [sys.executable, "-m", "fairplay", "join", place, str(self._bot)]
            self.processes.append(subprocess.Popen(command, stderr=subprocess.PIPE))


@contextmanager
def joining(bot: Path) -> Iterator[Joining]:
    guests = Joining(bot)
    try:
        yield guests
    finally:
        codes = []
        for process in guests.processes:
            process.communicate(timeout=30)
            codes.append(process.returncode)
        assert set(codes) <= {0}


def places(distance: str, bot: Path, seats: int) -> dict[int, Location]:
    """A table of this player alone."""
    match distance:
        case "here":
            return {seat: LocalAddress(load_player_file(str(bot))) for seat in range(seats)}
        case "program" | "strict program":
            return dict.fromkeys(range(seats), parse_remote_address(str(bot)) or LocalAddress(print))
        case scheme:
            return dict.fromkeys(range(seats), ListenAddress(scheme, "0"))


def played(game: str, distance: str, bot: Path, directory: Path) -> list[Any]:
    """The facts as they stand in the journal."""
    rules = make_game(game, PARAMETERS[game])
    match = deal_match(rules, ["ann", "bob", "cyd"], SEED)
    sandbox = SandboxPolicy(SandboxLevel.STRICT if distance == "strict program" else SandboxLevel.NONE)
    with (
        joining(bot) as guests,
        Journal(directory / distance).begin(match) as record,
        Table(places(distance, bot, 3), limits=AMPLE, sandbox=sandbox, tell=guests) as table,
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


def test_local_and_remote_players_share_a_table(bot: Path, tmp_path: Path) -> None:
    rules = make_game("fish", PARAMETERS["fish"])
    greedy = game_info("fish").built_in["greedy"].make("", SEED)
    mixed: dict[int, Location] = {
        0: LocalAddress(greedy),
        1: parse_remote_address(str(bot)) or LocalAddress(print),
        2: ListenAddress("tcp", "0"),
        3: ListenAddress("ws", "0"),
    }

    with joining(bot) as guests, Table(mixed, limits=AMPLE, tell=guests) as table:
        final = asyncio.run(play_at_table(table, deal_match(rules, list("abcd"), SEED)))

    assert final.ejected == ()
    assert final.turn is None


def test_a_player_that_never_comes_is_gone_at_the_greeting() -> None:
    rules = make_game("fish", PARAMETERS["fish"])
    greedy = game_info("fish").built_in["greedy"].make("", SEED)
    guests: dict[int, Location] = {0: LocalAddress(greedy), 1: ListenAddress("tcp", "0"), 2: LocalAddress(greedy)}

    with Table(guests, limits=Limits(arrival=0.1), tell=lambda text: None) as table:
        final = asyncio.run(play_at_table(table, deal_match(rules, list("abc"), SEED)))

    assert [(out.seat, out.fault, out.moment) for out in final.ejected] == [(1, Fault.GONE, Moment.GREETING)]
    assert final.turn is None


def test_the_turns_of_a_guest_are_counted_across_a_resumption() -> None:
    rules = make_game("fish", PARAMETERS["fish"])
    greedy = game_info("fish").built_in["greedy"].make("", SEED)
    guests: dict[int, Location] = {0: LocalAddress(greedy), 1: ListenAddress("tcp", "0")}
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
        await play_at_table(table, deal_match(rules, list("ab"), SEED), took={0: [0.0] * 3, 1: [0.0] * 7})
        await coming

    with Table(guests, limits=AMPLE, tell=lambda text: None) as table:
        asyncio.run(play(table))

    assert heard == [("hello", 0), ("start", 7), ("take_turn", 8)]


@pytest.mark.parametrize("place", [Command(("./missing",)), Command(("no-such-program",)), ListenAddress("tcp", "x")])
def test_a_table_is_refused_before_anything_is_started(place: Location) -> None:
    with pytest.raises(BadRequest):
        Table({0: place, 1: ListenAddress("tcp", "0")})


def test_a_taken_port_is_refused_and_the_other_listeners_are_closed() -> None:
    with Table({0: ListenAddress("tcp", "0")}, tell=print) as table:
        taken = ListenAddress("tcp", str(table.listeners[ListenAddress("tcp", "0")].port))
        with pytest.raises(BadRequest, match="cannot listen"):
            Table({0: ListenAddress("tcp", "127.0.0.1:0"), 1: taken})


def test_many_matches_with_ejections_leave_nothing_open(tmp_path: Path) -> None:
    soak(40, tmp_path)
    before = current_holdings()

    soak(80, tmp_path)

    assert is_cleaned_up(before), new_holdings(before)
