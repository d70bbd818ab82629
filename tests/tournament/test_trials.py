"""Check bots before a tournament: in parallel, each reported at once, and only once in spite of interruptions."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.tournament.events import BotChecked, BotChecksBegan, PlayerEjected, RoundBegan
from fairplay.tournament.layout import LOG_FILE
from fairplay.tournament.running.directory_run import run_in_directory
from fairplay.tournament.running.runners import Runner, WorkerQueue, inline_runner
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import BotCheckPolicy, Penalty, TournamentSpec
from tests.nonempty import nonempty
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    EventCollector,
    make_tournament,
    run_small_tournament,
)

STEADY = f"{MISBEHAVING_PLAYERS}FirstActionPlayer"


class Interrupting(EventCollector):
    """Presses Ctrl-C when so many bots were tried."""

    def __init__(self, bots: int) -> None:
        super().__init__()
        self._bots = bots

    def observe(self, event: Any) -> None:
        super().observe(event)
        if len(self.events_of(BotChecked)) == self._bots:
            raise KeyboardInterrupt


def tournament_with(*players: str, bot_check: BotCheckPolicy = BotCheckPolicy.WARN) -> TournamentSpec:
    return make_tournament(*players, format=RoundRobin(games=2), bot_check=bot_check)


def test_trials_that_were_made_before_an_interruption_are_not_made_again(tmp_path: Path) -> None:
    tournament, again = (
        tournament_with(f"ann={STEADY}", f"bob={MISBEHAVING_PLAYERS}Crasher", f"cyd={STEADY}"),
        EventCollector(),
    )
    with pytest.raises(KeyboardInterrupt):
        run_in_directory(tournament, tmp_path, inline_runner, [Interrupting(2)])

    final = run_in_directory(tournament, tmp_path, inline_runner, [again])

    assert again.events_of(BotChecksBegan) == [BotChecksBegan(("cyd",))]
    assert {name: bool(why) for name, why in final.bot_failures.items()} == {"ann": False, "bob": True, "cyd": False}


def test_a_file_may_be_edited_as_long_as_only_trials_were_made(tmp_path: Path) -> None:
    tournament = tournament_with(f"ann={STEADY}", f"bob={STEADY}")
    with pytest.raises(KeyboardInterrupt):
        run_in_directory(tournament, tmp_path, inline_runner, [Interrupting(1)])
    edited = replace(tournament, parameters={"rows": 3, "columns": 4})

    assert run_in_directory(edited, tmp_path, inline_runner).finished

    with pytest.raises(BadRequest, match="belongs to another tournament"):
        run_in_directory(tournament, tmp_path, inline_runner)


def test_a_refused_bot_is_checked_again_and_leaves_no_files(tmp_path: Path) -> None:
    tournament = tournament_with(f"ann={STEADY}", f"bob={MISBEHAVING_PLAYERS}Crasher", bot_check=BotCheckPolicy.REFUSE)
    directory = tmp_path / "cups" / "cup"

    for _ in range(2):
        collector = EventCollector()
        with pytest.raises(BadRequest, match="not ready to play: bob"):
            run_in_directory(tournament, directory, inline_runner, [collector])
        assert "bob" in collector.events_of(BotChecksBegan)[0].bots
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_failed_before_an_interruption_is_refused_when_the_tournament_is_started_again(
    tmp_path: Path,
) -> None:
    tournament = tournament_with(
        f"ann={STEADY}", f"bob={MISBEHAVING_PLAYERS}Crasher", f"cyd={STEADY}", bot_check=BotCheckPolicy.REFUSE
    )
    with pytest.raises(KeyboardInterrupt):
        run_in_directory(tournament, tmp_path, inline_runner, [Interrupting(2)])

    with pytest.raises(BadRequest, match="not ready to play: bob"):
        run_in_directory(tournament, tmp_path, inline_runner)


def test_each_bot_check_is_reported_before_the_next_one() -> None:
    tried: list[str] = []

    for done in nonempty(inline_runner().map(tried.append, "abc")):
        assert done is None or done[0] == tried[-1]


def test_a_slow_bot_delays_no_other_bot_check() -> None:
    others, done = Event(), list[str]()

    def tried(bot: str) -> str:
        if bot == "slow":
            assert others.wait(60)
        return bot

    with Runner([WorkerQueue(lambda: ThreadPoolExecutor(1)) for _ in range(2)]) as runner:
        for one in runner.map(tried, ["slow", "b", "c", "d", "e"]):
            if one is not None:
                done.append(one[0])
                if len(done) == 4:
                    others.set()

    assert done[-1] == "slow"


def test_ejections_before_an_interruption_are_counted_in_the_resumed_round(tmp_path: Path) -> None:
    tournament, collector = (
        make_tournament(f"bad={MISBEHAVING_PLAYERS}Cheat", "random", format=RoundRobin(games=4)),
        EventCollector(),
    )
    counted, _ = run_small_tournament(tournament, tmp_path)
    log = tmp_path / LOG_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the last match, and the end

    run_small_tournament(tournament, tmp_path, observers=[collector])

    assert len(counted) == 4
    assert [(len(event.counted), event.ejections) for event in collector.events_of(RoundBegan)] == [(3, 3)]


def test_ejections_from_void_attempts_before_an_interruption_are_counted_too(tmp_path: Path) -> None:
    players, collector = (f"bad={MISBEHAVING_PLAYERS}Cheat", "random"), EventCollector()
    tournament = make_tournament(*players, format=RoundRobin(games=1), default_penalty=Penalty.REPLAY)
    run_small_tournament(tournament, tmp_path)
    log = tmp_path / LOG_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))  # the attempt that counts, and the end

    run_small_tournament(tournament, tmp_path, observers=[collector])

    (began,) = collector.events_of(RoundBegan)
    assert (began.counted, began.discarded_attempts, began.ejections) == ((), 2, 2)


def test_a_program_that_cannot_start_is_reported_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def take_turn(view:\n")
    tournament, collector = (
        make_tournament(f"bad={tmp_path}/bot.py", "random", format=RoundRobin(games=1), sandbox="none"),
        EventCollector(),
    )

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


def test_a_tournament_that_is_refused_leaves_no_directory_behind(tmp_path: Path) -> None:
    tournament = make_tournament("ann=greedy", f"bob=exec:{tmp_path / 'none'}", sandbox="none")

    with pytest.raises(BadRequest, match="none"):
        run_in_directory(tournament, tmp_path / "cups" / "autumn", inline_runner)

    assert list(tmp_path.iterdir()) == []
