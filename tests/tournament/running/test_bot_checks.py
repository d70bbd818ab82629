"""Check bots before a tournament: on its conditions, in parallel, and only once in spite of interruptions."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.sandbox.policy import SandboxLevel
from fairplay.testing import hostile_programs
from fairplay.tournament.events import BotChecked, BotChecksBegan, PlayerEjected, RoundBegan
from fairplay.tournament.layout import LOG_FILE
from fairplay.tournament.running.bot_checks import bots_to_check, check_entrant, make_bot
from fairplay.tournament.running.directory_run import run_in_directory
from fairplay.tournament.running.runners import Runner, WorkerQueue, inline_runner
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import BotCheckPolicy, Penalty, TournamentSpec
from tests.nonempty import nonempty
from tests.players.programs import PYTHON, current_holdings, is_cleaned_up, new_holdings
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    Calling,
    EventCollector,
    make_tournament,
    run_small_tournament,
)

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


def test_bots_are_checked_in_the_threads_of_a_pool(tmp_path: Path) -> None:
    (tmp_path / "junk.py").write_text("def take_turn(view):\n    return None\n")
    junk = Entrant(str(tmp_path / "junk.py"), "a junk:bot")  # a name that NAME=PLAYER could not have
    others = Entrant("lookahead:2", "ann"), Entrant("tcp:4000", "bob"), Entrant("in-process:a:B", "cyd")
    tournament, before = tournament_of(READY, junk), current_holdings()

    with ThreadPoolExecutor(2) as pool:
        ready, bad = pool.map(lambda one: check_entrant(tournament, tournament.game, one), tournament.players)

    assert [one.name for one in bots_to_check(tournament_of(*others, junk, READY))] == ["cyd", junk.name, "ready"]
    assert ready == ""
    assert bad.startswith("game 1 (rows=4, columns=6), seat 0 of 2, with greedy: malformed, the answer is None (null ")
    assert bad.isprintable()
    assert is_cleaned_up(before), new_holdings(before)


@pytest.mark.parametrize("pondering", [True, False])
def test_bots_are_checked_on_the_conditions_of_the_tournament(pondering: bool, tmp_path: Path) -> None:
    silent, gone = doing("sleeps", "hello", "silent"), Entrant(f"{tmp_path}/nobody.py", "nobody")
    tournament = tournament_of(READY, silent, start_up=0.3)

    sandbox = make_bot(replace(tournament, pondering=pondering), READY).conditions.sandbox

    assert sandbox is not None and (sandbox.level, sandbox.pondering) == (SandboxLevel.NONE, pondering)
    assert check_entrant(tournament, "fish", silent) == "start: timed out, no answer within 0.3 s"
    with pytest.raises(BadRequest, match="there is no Python file"):
        check_entrant(tournament, "fish", gone)


def tournament_with(*names: str, bot_check: BotCheckPolicy = BotCheckPolicy.WARN) -> TournamentSpec:
    """A tournament of steady players; the one that is called bob crashes."""
    kinds = {"bob": "Crasher"}
    players = (f"{name}={MISBEHAVING_PLAYERS}{kinds.get(name, 'FirstActionPlayer')}" for name in names)
    return make_tournament(*players, format=RoundRobin(games=2), bot_check=bot_check)


def interrupt(tournament: TournamentSpec, directory: Path, bots: int) -> None:
    """Press Ctrl-C when so many bots were checked."""
    checked = EventCollector()

    def press(event: BotChecked) -> None:
        checked.observe(event)
        if len(checked.events) == bots:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_directory(tournament, directory, inline_runner, [Calling(BotChecked, press)])


def test_trials_that_were_made_before_an_interruption_are_not_made_again(tmp_path: Path) -> None:
    tournament, again = tournament_with("ann", "bob", "cyd"), EventCollector()
    edited = replace(tournament, parameters={"rows": 3, "columns": 4})
    interrupt(tournament, tmp_path / "cup", 2)
    interrupt(tournament, tmp_path / "edited", 2)

    final = run_in_directory(tournament, tmp_path / "cup", inline_runner, [again])

    assert again.events_of(BotChecksBegan) == [BotChecksBegan(("cyd",))]
    assert {name: bool(why) for name, why in final.bot_failures.items()} == {"ann": False, "bob": True, "cyd": False}
    with pytest.raises(BadRequest, match="belongs to another tournament"):
        run_in_directory(edited, tmp_path / "cup", inline_runner)
    assert run_in_directory(edited, tmp_path / "edited", inline_runner).finished  # as only trials were made


def test_a_refused_bot_is_checked_again_and_leaves_no_files(tmp_path: Path) -> None:
    tournament = tournament_with("ann", "bob", "cyd", bot_check=BotCheckPolicy.REFUSE)
    missing = make_tournament("ann=greedy", f"bob=exec:{tmp_path / 'none'}", sandbox="none")

    for _ in range(2):
        collector = EventCollector()
        with pytest.raises(BadRequest, match="not ready to play: bob"):
            run_in_directory(tournament, tmp_path / "cups" / "cup", inline_runner, [collector])
        assert "bob" in collector.events_of(BotChecksBegan)[0].bots
    with pytest.raises(BadRequest, match="none"):
        run_in_directory(missing, tmp_path / "cups" / "autumn", inline_runner)
    assert list(tmp_path.iterdir()) == []
    interrupt(tournament, tmp_path, 2)
    with pytest.raises(BadRequest, match="not ready to play: bob"):
        run_in_directory(tournament, tmp_path, inline_runner)


def test_a_slow_bot_delays_no_other_bot_check_and_each_is_reported_at_once() -> None:
    others, done, tried = Event(), list[str](), list[str]()

    def check(bot: str) -> str:
        if bot == "slow":
            assert others.wait(60)
        return bot

    with Runner([WorkerQueue(lambda: ThreadPoolExecutor(1)) for _ in range(2)]) as runner:
        for one in runner.map(check, ["slow", "b", "c", "d", "e"]):
            if one is not None:
                done.append(one[0])
                if len(done) == 4:
                    others.set()

    assert done[-1] == "slow"
    for reported in nonempty(inline_runner().map(tried.append, "abc")):
        assert reported is None or reported[0] == tried[-1]


@pytest.mark.parametrize(("penalty", "games", "began"), [(Penalty.EJECT, 4, (3, 0, 3)), (Penalty.REPLAY, 1, (0, 2, 2))])
def test_ejections_before_an_interruption_are_counted_in_the_resumed_round(
    penalty: Penalty, games: int, began: tuple[int, int, int], tmp_path: Path
) -> None:
    players, collector = (f"bad={MISBEHAVING_PLAYERS}Cheat", "random"), EventCollector()
    tournament = make_tournament(*players, format=RoundRobin(games=games), default_penalty=penalty)
    run_small_tournament(tournament, tmp_path)
    log = tmp_path / LOG_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the last match, or the attempt that counts, and the end

    run_small_tournament(tournament, tmp_path, observers=[collector])

    assert [
        (len(event.counted), event.discarded_attempts, event.ejections) for event in collector.events_of(RoundBegan)
    ] == [began]


def test_a_program_that_cannot_start_is_reported_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def take_turn(view:\n")
    players, collector = (f"bad={tmp_path}/bot.py", "random"), EventCollector()
    tournament = make_tournament(*players, format=RoundRobin(games=1), sandbox="none")

    run_in_directory(replace(tournament, bot_check=BotCheckPolicy.WARN), tmp_path / "cup", inline_runner, [collector])

    (verdict,), (event,) = collector.events_of(BotChecked), collector.events_of(PlayerEjected)
    assert "SyntaxError" in verdict.failure
    assert "SyntaxError" in (event.evidence.stderr or "").splitlines()[-1]


@pytest.mark.parametrize("was_drawn", [True, False])
def test_a_tournament_with_a_chosen_seed_is_not_resumed_without_it(was_drawn: bool, tmp_path: Path) -> None:
    tournament = make_tournament("random", "greedy", format=RoundRobin(games=1))
    drawn, chosen = replace(tournament, seed=None), replace(tournament, seed=bytes(32))
    run_in_directory(drawn if was_drawn else tournament, tmp_path, inline_runner)

    with pytest.raises(BadRequest, match="belongs to another tournament"):
        run_in_directory(chosen if was_drawn else drawn, tmp_path, inline_runner)
    if was_drawn:
        assert run_in_directory(drawn, tmp_path, inline_runner).finished
