"""Check real programs before a tournament, with its limits and sandbox, in threads and processes."""

import multiprocessing
import shlex
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.sandbox.policy import SandboxLevel
from fairplay.testing import hostile_programs
from fairplay.tournament.running.bot_checks import bots_to_check, check_entrant, make_bot
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec
from tests.players.programs import PYTHON, current_holdings, is_cleaned_up, new_holdings

EXAMPLES = Path(__file__).parents[3] / "examples"
READY = Entrant(f"exec:{shlex.join([*PYTHON, str(EXAMPLES / 'bots' / 'fish_plain.py')])}", "ready")


def doing(deed: str, at: str, name: str) -> Entrant:
    """A program that plays well until then."""
    return Entrant(f"exec:{shlex.join([*PYTHON, hostile_programs.__file__, deed, at])}", name)


def tournament_of(*players: Entrant, start_up: float = 30.0) -> TournamentSpec:
    return TournamentSpec(
        game="fish",
        players=players,
        format=RoundRobin(),
        seed=bytes(32),
        parameters={"rows": 4, "columns": 6, "fish": "random"},
        limits=Limits(move=3.0, start_up=start_up),
        sandbox="none",
    )


def junk(directory: Path) -> Entrant:
    """A bot that answers nothing when it is asked."""
    path = directory / "junk.py"
    path.write_text("def take_turn(view):\n    return None\n")
    return Entrant(str(path), "a junk:bot")  # a name that NAME=PLAYER could not have


def test_neither_built_in_players_nor_players_that_join_are_checked(tmp_path: Path) -> None:
    bot = junk(tmp_path)

    tournament = tournament_of(
        Entrant("lookahead:2", "ann"), Entrant("tcp:4000", "bob"), bot, Entrant("in-process:a:B", "cyd"), READY
    )

    assert [one.name for one in bots_to_check(tournament)] == [bot.name, "cyd", "ready"]


def test_programs_are_checked_in_the_threads_of_a_pool(tmp_path: Path) -> None:
    bot, before = junk(tmp_path), current_holdings()
    tournament = tournament_of(READY, bot)

    with ThreadPoolExecutor(2) as pool:
        ready, bad = pool.map(lambda one: check_entrant(tournament, tournament.game, one), tournament.players)

    assert ready == ""
    assert bad.startswith("game 1 (rows=4, columns=6), seat 0 of 2, with greedy: malformed, the answer is None (null ")
    assert bad.isprintable()
    assert is_cleaned_up(before), new_holdings(before)


def test_programs_are_checked_in_the_processes_of_a_pool() -> None:
    bot = doing("exits with 1", "hello", "broken")
    tournament = tournament_of(READY, bot)

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(check_entrant, tournament, tournament.game, bot).result(60)

    assert there == "start: crashed, the program ended with exit code 1: RuntimeError: a bad day"
    assert there == check_entrant(tournament, tournament.game, bot)


def test_the_limits_are_those_of_the_tournament() -> None:
    silent = doing("sleeps", "hello", "silent")

    assert (
        check_entrant(tournament_of(READY, silent, start_up=0.3), "fish", silent)
        == "start: timed out, no answer within 0.3 s"
    )


@pytest.mark.parametrize("pondering", [True, False])
def test_a_bot_is_checked_with_the_sandbox_of_the_tournament(pondering: bool) -> None:
    tournament = replace(tournament_of(READY), pondering=pondering)

    sandbox = make_bot(tournament, READY).conditions.sandbox

    assert sandbox is not None
    assert (sandbox.level, sandbox.pondering) == (SandboxLevel.NONE, pondering)


def test_a_missing_program_cannot_be_checked(tmp_path: Path) -> None:
    gone = Entrant(f"{tmp_path}/nobody.py", "nobody")

    with pytest.raises(BadRequest, match="there is no Python file"):
        check_entrant(tournament_of(READY, gone), "fish", gone)
