"""Test `fairplay.play` with every form of every argument."""

import asyncio
import functools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from fairplay.core.chance import seed_from_text
from fairplay.games.fish import Fish, Place
from fairplay.games.fish.view import View
from fairplay.games.tsuro import Lay, Rules, Tsuro
from fairplay.games.tsuro import View as TsuroView
from tests.api.fish_players import FISH, Cheat, CountingObserver, Last, first, write_bot
from tests.architecture.test_import import HEAVY, loaded_by
from tests.cli.command import start_process

PLAYERS = ["greedy", "random"]


@pytest.mark.parametrize(
    "game",
    ["fish(rows=4, columns=4)", " fish( rows = 4 ,columns=4 )", "fish(columns=4,rows='4')", FISH],
    ids=["text", "text with spaces", "text with a number as text", "value"],
)
def test_a_game_is_a_text_or_a_value(game: Any) -> None:
    result = fp.play(game, PLAYERS, seed=7)

    assert result.match.game == FISH
    assert result.scores == fp.play(FISH, PLAYERS, seed=7).scores


def test_a_game_is_a_name() -> None:
    assert fp.play("tsuro", ["first"] * 3, seed=7).match.game == Tsuro()


@pytest.mark.parametrize("seed", [7, "7", seed_from_text("7"), seed_from_text("7").hex()])
def test_a_seed_is_an_integer_a_text_or_bytes(seed: Any) -> None:
    assert fp.play(FISH, PLAYERS, seed=seed).seed == seed_from_text("7").hex()


def test_a_seed_that_is_not_given_is_drawn() -> None:
    assert fp.play(FISH, PLAYERS).seed != fp.play(FISH, PLAYERS).seed


def test_players_of_every_kind_sit_at_one_table(tmp_path: Path) -> None:
    bot = write_bot(tmp_path)

    result = fp.play(FISH, ["greedy", first, Last(), bot], seed=7, sandbox="none")

    assert result.names == ("greedy", "first", "Last", str(bot))
    assert result.ejected == {}
    assert [result.turns[name].count > 0 for name in result.names] == [True] * 4


@pytest.mark.parametrize(
    ("player", "name"),
    [
        ("greedy", "greedy"),
        ("ann=greedy", "ann"),
        (fp.Entrant("greedy", "ann"), "ann"),
        ("in-process:tests.api.fish_players:first", "in-process:tests.api.fish_players:first"),
        (first, "first"),
        (Last(), "Last"),
        (lambda view: first(view), "player-1"),
        (functools.partial(first), "player-1"),
    ],
)
def test_a_player_in_a_list_is_named_by_what_it_is(player: Any, name: str) -> None:
    result = fp.play(FISH, [player, "random"], seed=7)

    assert result.names == (name, "random")
    assert result.ejected == {}


def test_players_in_a_dict_have_its_names() -> None:
    players = {"ann": "greedy", "bob": first, "cyd": fp.Entrant("random", "dan")}

    assert fp.play(FISH, players, seed=7).names == ("ann", "bob", "cyd")


def test_players_of_one_name_are_numbered() -> None:
    assert fp.play(FISH, [first, first], seed=7).names == ("first", "first-2")


def test_a_tuple_of_players_will_do() -> None:
    assert fp.play(FISH, ("greedy", first), seed=7).names == ("greedy", "first")


def test_a_program_is_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bot(tmp_path)
    monkeypatch.chdir(tmp_path)

    result = fp.play(FISH, {"ann": Path("my_bot.py"), "bob": "./my_bot.py"}, seed=7, sandbox="none", limits=20)

    assert (result.names, result.ejected) == (("ann", "bob"), {})


def test_ages_seat_the_players() -> None:
    younger = fp.play(FISH, {"ann": "greedy", "bob": "random"}, seed=7, ages=[40, 30])

    assert younger.names == ("bob", "ann")


def test_a_function_keeps_its_own_seat_when_ages_reorder_the_players() -> None:
    result = fp.play(FISH, {"ann": "greedy", "cheat": Cheat(), "bob": first}, seed=7, ages=[10, 30, 20])

    assert result.names == ("ann", "bob", "cheat")
    assert list(result.ejected) == ["cheat"]


@pytest.mark.parametrize("limits", [fp.Limits(move=0.2), 0.2, "0.2", "move=0.2,start=20"])
def test_limits_hold_for_programs(limits: Any, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ndef take_turn(view):\n    time.sleep(30)\n")

    result = fp.play(FISH, {"slow": slow, "bob": first}, limits=limits, sandbox="none")

    assert result.ejected["slow"].fault is fp.Fault.TIMED_OUT
    assert result.ranking == [{"bob"}]


def test_observers_are_objects_functions_and_addresses() -> None:
    counting, heard = CountingObserver(), list[str]()

    fp.play(
        FISH,
        PLAYERS,
        observers=[
            counting,
            lambda event, match: heard.append(type(event).__name__),
            "py:tests.api.fish_players:CountingObserver",
        ],
    )

    assert counting.kinds == heard
    assert (heard[0], heard[-1]) == ("Started", "Ended")


def test_an_observer_that_raises_is_dropped_and_the_match_is_played(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(event: fp.Event, match: Any) -> None:
        raise RuntimeError("no ink")

    assert fp.play(FISH, PLAYERS, observers=[fail]).ejected == {}
    assert "was dropped: RuntimeError: no ink" in capsys.readouterr().err


class OwnRules(Rules, frozen=True):
    """Rules that exist in this process alone."""

    def check_lay(self, view: TsuroView, lay: Lay) -> None:
        super().check_lay(view, lay)


def test_a_game_with_rules_of_this_process_is_played_and_recorded_by_players_here(tmp_path: Path) -> None:
    game = Tsuro(size=5, rules=OwnRules())

    result = fp.play(game, ["first"] * 3, seed=7, journal=tmp_path)

    assert result.journal is not None
    assert fp.verify(result.journal, game=game)[0].ranking == result.ranking


def test_a_game_with_rules_of_this_process_is_not_for_programs(tmp_path: Path) -> None:
    with pytest.raises(fp.BadRequest, match="cannot be sent to another process"):
        fp.play(Tsuro(rules=OwnRules()), ["first", "first", write_bot(tmp_path)], sandbox="none")


def test_a_game_that_is_defined_in_a_function_is_not_for_programs(tmp_path: Path) -> None:
    class HiddenFish(Fish, frozen=True):
        name = "hidden-fish"

    with pytest.raises(fp.BadRequest, match="cannot import hidden-fish, which is defined in this process alone"):
        fp.play(HiddenFish(rows=4, columns=4), [first, write_bot(tmp_path)], sandbox="none")


def test_no_seed_is_warned_of_where_only_trusted_players_play() -> None:
    fp.play("q", ["dag", lambda view: None], seed=7)


def test_a_fault_of_the_host_is_raised() -> None:
    class Failing(Rules, frozen=True):
        def check_lay(self, view: TsuroView, lay: Lay) -> None:
            raise ZeroDivisionError

    with pytest.raises(fp.HostFault, match="ZeroDivisionError"):
        fp.play(Tsuro(size=5, rules=Failing()), ["first"] * 3)


def test_a_seed_that_can_be_guessed_is_warned_of_where_a_program_could_profit(tmp_path: Path) -> None:
    bot = write_bot(tmp_path)

    with pytest.warns(UserWarning, match="this seed can be guessed"):
        fp.play("q", ["dag", bot], seed=7, sandbox="none")


def play_in_a_loop(*arguments: Any, **options: Any) -> fp.MatchResult:
    async def call() -> fp.MatchResult:
        return fp.play(*arguments, **options)

    return asyncio.run(call())


def await_play(*arguments: Any, **options: Any) -> fp.MatchResult:
    return asyncio.run(fp.play_async(*arguments, **options))


@pytest.mark.parametrize("play", [play_in_a_loop, await_play])
def test_in_a_running_loop_the_same_is_played(play: Callable[..., fp.MatchResult], tmp_path: Path) -> None:
    players = {"ann": "greedy", "bob": first, "cyd": write_bot(tmp_path)}

    there = play(FISH, players, seed=7, sandbox="none", journal=tmp_path / "journal")
    here = fp.play(FISH, players, seed=7, sandbox="none")

    assert (there.scores, there.ranking, there.ejected) == (here.scores, here.ranking, {})
    assert there.journal is not None and fp.verify(there.journal)[0].scores == here.scores


def test_in_a_running_loop_players_of_this_process_play_at_once() -> None:
    assert play_in_a_loop(FISH, ["greedy", first], seed=7).scores == fp.play(FISH, ["greedy", first], seed=7).scores


def test_many_matches_are_awaited_together() -> None:
    async def play_all() -> list[fp.MatchResult]:
        return await asyncio.gather(*(fp.play_async(FISH, PLAYERS, seed=number) for number in range(4)))

    assert [one.seed for one in asyncio.run(play_all())] == [seed_from_text(str(number)).hex() for number in range(4)]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Is there such a process, of which more is left than its exit code?"""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def actions_before(interrupt_at: int, error: type[BaseException]) -> Callable[[View], Place]:
    """A player that raises at its n-th turn, the first time only."""
    turns: Iterator[int] = iter(range(1000))

    def choose(view: View) -> Place:
        if next(turns) == interrupt_at:
            raise error
        action: Place = first(view)
        return action

    return choose


@pytest.mark.parametrize("in_loop", [False, True], ids=["script", "notebook"])
def test_an_interrupted_match_leaves_a_journal_from_which_the_same_call_resumes(in_loop: bool, tmp_path: Path) -> None:
    play = play_in_a_loop if in_loop else fp.play
    players = {"ann": actions_before(2, KeyboardInterrupt), "bob": write_bot(tmp_path)}
    directory = tmp_path / "journal"
    with pytest.raises(KeyboardInterrupt):
        play(FISH, players, seed=7, sandbox="none", journal=directory)
    (unfinished,) = directory.glob("*.jsonl")

    assert fp.read_journal(unfinished).closing is None
    resumed = play(FISH, players, seed=7, sandbox="none", journal=directory, resume=True)

    assert resumed.journal == unfinished
    assert resumed.scores == fp.play(FISH, {"ann": first, "bob": first}, seed=7).scores


def test_without_resume_an_interrupted_match_is_left_alone(tmp_path: Path) -> None:
    players = {"ann": actions_before(2, KeyboardInterrupt), "bob": first}
    with pytest.raises(KeyboardInterrupt):
        fp.play(FISH, players, seed=7, journal=tmp_path)

    fp.play(FISH, players, seed=7, journal=tmp_path)

    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_cancelled_match_leaves_its_players_and_its_journal_in_order(tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ndef take_turn(view):\n    time.sleep(60)\n")
    directory = tmp_path / "journal"

    async def cancel() -> None:
        task = asyncio.create_task(
            fp.play_async(FISH, {"slow": slow, "bob": first}, sandbox="none", journal=directory, limits=60)
        )
        while not list(directory.glob("*.jsonl")):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    (unfinished,) = directory.glob("*.jsonl")
    assert fp.read_journal(unfinished).closing is None


def test_a_game_that_is_defined_again_takes_the_place_of_the_one_before() -> None:
    def define(rows: int) -> type[Fish]:
        class DefinedTwice(Fish, frozen=True):
            name = "defined-twice"
            version = str(rows)

        return DefinedTwice

    for rows in (4, 5):
        game = define(rows)(rows=rows, columns=4)

        assert fp.play(game, [first, first], seed=7).match.game == game
        assert type(fp.make_game("defined-twice", rows=rows, columns=4)) is type(game)


def test_a_game_of_your_own_is_registered_by_its_class() -> None:
    class SmallFish(Fish, frozen=True):
        name = "small-fish"

    assert fp.register_game(SmallFish) == "small-fish"
    assert fp.make_game("small-fish(rows=4)", columns=4) == SmallFish(rows=4, columns=4)
    assert fp.play(SmallFish(rows=4, columns=4), [first, first], seed=7).ejected == {}


@pytest.mark.parametrize("how", ["fp.play", "in_a_loop"])
def test_ctrl_c_while_a_program_thinks_stops_the_match_and_its_programs(how: str, tmp_path: Path) -> None:
    slow, started, directory = tmp_path / "slow.py", tmp_path / "started", tmp_path / "journal"
    slow.write_text(
        "import os, time\nfrom pathlib import Path\ndef take_turn(view):\n"
        f"    Path({str(started)!r}).write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    script = (
        "import asyncio, fairplay as fp\n"
        "async def call(*arguments, **options): return fp.play(*arguments, **options)\n"
        "def in_a_loop(*arguments, **options): return asyncio.run(call(*arguments, **options))\n"
        f"{how}('fish', {{'slow': {str(slow)!r}, 'bob': 'greedy'}}, limits=60, sandbox='none', "
        f"journal={str(directory)!r})\n"
    )
    with start_process([sys.executable, "-c", script]) as process:
        wait_until(lambda: started.exists() and started.read_text() != "")
        pid = int(started.read_text())

        process.send_signal(signal.SIGINT)

        said = process.communicate(timeout=30)[1]
    assert said.rstrip().endswith("KeyboardInterrupt")
    (unfinished,) = directory.glob("*.jsonl")
    assert fp.read_journal(unfinished).closing is None
    wait_until(lambda: not is_running(pid))


def test_a_match_of_players_in_this_process_loads_no_event_loop() -> None:
    loaded = loaded_by("import fairplay\nfairplay.play('fish(rows=3, columns=3)', ['greedy', 'random'])")

    assert "fairplay.app.play" in loaded
    assert loaded & {*HEAVY, "fairplay.hosting.table", "fairplay.sandbox.protections"} == set()
