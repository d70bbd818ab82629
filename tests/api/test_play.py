"""Test `fairplay.play` with every form of every argument, its results, and their journals."""

import asyncio
import functools
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from examples.games.tic_tac_toe import TicTacToe
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
    ("game", "seed"),
    [
        ("fish(rows=4, columns=4)", 7),
        (" fish( rows = 4 ,columns=4 )", "7"),
        ("fish(columns=4,rows='4')", seed_from_text("7")),
        (FISH, seed_from_text("7").hex()),
    ],
)
def test_a_game_is_a_text_or_a_value_and_a_seed_a_number_a_text_or_bytes(game: Any, seed: Any) -> None:
    result = fp.play(game, PLAYERS, seed=seed)

    assert (result.match.game, result.seed) == (FISH, seed_from_text("7").hex())
    assert result.scores == fp.play(FISH, PLAYERS, seed=7).scores


def test_a_game_is_a_name_and_a_seed_that_is_not_given_is_drawn() -> None:
    one, other = (fp.play("tsuro", ["first"] * 3) for _ in range(2))

    assert one.match.game == Tsuro()
    assert one.seed != other.seed


def test_players_of_every_kind_sit_at_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = write_bot(tmp_path)
    monkeypatch.chdir(tmp_path)

    result = fp.play(FISH, ["greedy", first, Last(), bot], seed=7, sandbox="none")
    by_name = fp.play(FISH, {"ann": Path("my_bot.py"), "bob": "./my_bot.py"}, seed=7, sandbox="none", limits=20)

    assert result.names == ("greedy", "first", "Last", str(bot))
    assert result.ejected == {}
    assert [result.turns[name].count > 0 for name in result.names] == [True] * 4
    assert (by_name.names, by_name.ejected) == (("ann", "bob"), {})


@pytest.mark.parametrize(
    ("players", "names"),
    [
        (["greedy", "ann=greedy", fp.Entrant("greedy", "bob")], ("greedy", "ann", "bob")),
        (["in-process:tests.api.fish_players:first", first], ("in-process:tests.api.fish_players:first", "first")),
        ([Last(), lambda view: first(view), functools.partial(first)], ("Last", "player-2", "player-3")),
        ({"ann": "greedy", "bob": first, "cyd": fp.Entrant("random", "dan")}, ("ann", "bob", "cyd")),
        ((first, first), ("first", "first-2")),
    ],
)
def test_players_are_named_by_what_they_are_or_as_in_a_dict(players: Any, names: tuple[str, ...]) -> None:
    result = fp.play(FISH, players, seed=7)

    assert (result.names, result.ejected) == (names, {})


def test_ages_seat_the_players_and_a_function_keeps_its_own_seat() -> None:
    result = fp.play(FISH, {"ann": "greedy", "cheat": Cheat(), "bob": first}, seed=7, ages=[30, 40, 20])

    assert result.names == ("bob", "ann", "cheat")
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


class OwnRules(Rules, frozen=True):
    """Rules that exist in this process alone."""


class FailingRules(Rules, frozen=True):
    def check_lay(self, view: TsuroView, lay: Lay) -> None:
        raise ZeroDivisionError


def test_a_game_with_rules_of_this_process_is_played_and_recorded_by_players_here(tmp_path: Path) -> None:
    game = Tsuro(size=5, rules=OwnRules())

    result = fp.play(game, ["first"] * 3, seed=7, journal=tmp_path)

    assert result.journal is not None and fp.verify(result.journal, game=game)[0].ranking == result.ranking


def test_a_game_of_this_process_is_not_for_programs(tmp_path: Path) -> None:
    class HiddenFish(Fish, frozen=True):
        name = "hidden-fish"

    bot = write_bot(tmp_path)
    with pytest.raises(fp.BadRequest, match="cannot be sent to another process"):
        fp.play(Tsuro(rules=OwnRules()), ["first", "first", bot], sandbox="none")
    with pytest.raises(fp.BadRequest, match="cannot import hidden-fish, which is defined in this process alone"):
        fp.play(HiddenFish(rows=4, columns=4), [first, bot], sandbox="none")


def test_a_fault_of_the_host_is_raised() -> None:
    with pytest.raises(fp.HostFault, match="ZeroDivisionError"):
        fp.play(Tsuro(size=5, rules=FailingRules()), ["first"] * 3)


def test_a_seed_that_can_be_guessed_is_warned_of_where_a_program_could_profit(tmp_path: Path) -> None:
    fp.play("q", ["dag", lambda view: None], seed=7)  # who are trusted

    with pytest.warns(UserWarning, match="this seed can be guessed"):
        fp.play("q", ["dag", write_bot(tmp_path)], seed=7, sandbox="none")


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
    assert play(FISH, ["greedy", first], seed=7).scores == fp.play(FISH, ["greedy", first], seed=7).scores


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


def interrupting_once() -> Callable[[View], Place]:
    """A player that presses Ctrl-C at its third turn, the first time only."""
    turns: Iterator[int] = iter(range(1000))

    def choose(view: View) -> Place:
        if next(turns) == 2:
            raise KeyboardInterrupt
        action: Place = first(view)
        return action

    return choose


@pytest.mark.parametrize("in_loop", [False, True], ids=["script", "notebook"])
def test_an_interrupted_match_leaves_a_journal_from_which_the_same_call_resumes(in_loop: bool, tmp_path: Path) -> None:
    play = play_in_a_loop if in_loop else fp.play
    players = {"ann": interrupting_once(), "bob": write_bot(tmp_path)}
    options: dict[str, Any] = {"seed": 7, "sandbox": "none", "journal": tmp_path / "journal"}
    with pytest.raises(KeyboardInterrupt):
        play(FISH, players, **options)
    (unfinished,) = (tmp_path / "journal").glob("*.jsonl")
    assert fp.read_journal(unfinished).closing is None

    another, resumed = play(FISH, players, **options), play(FISH, players, **options, resume=True)

    assert another.journal != unfinished == resumed.journal
    assert resumed.scores == another.scores == fp.play(FISH, {"ann": first, "bob": first}, seed=7).scores


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
    assert fp.register_game(type(game)) == "defined-twice"
    assert fp.make_game("defined-twice(rows=4)", columns=4) == type(game)(rows=4, columns=4)


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


@pytest.fixture
def result(tmp_path: Path) -> fp.MatchResult:
    return fp.play(FISH, {"ann": first, "bob": Last(), "cyd": Cheat()}, seed=7, journal=tmp_path)


def test_a_result_tells_all_by_name(result: fp.MatchResult, tmp_path: Path) -> None:
    ann, bob = (result.scores[name] for name in ("ann", "bob"))
    ranking = f"1. ann {ann}, 2. bob {bob}" if ann > bob else f"1. bob {bob}, 2. ann {ann}"

    assert result.names == ("ann", "bob", "cyd")
    assert set().union(*result.ranking) == {"ann", "bob"}
    assert result.winners == result.ranking[0]
    assert result.scores == dict(zip(result.names, result.match.result.scores or (), strict=True))
    assert list(result.ejected) == ["cyd"]
    assert result.journal is not None and result.journal.parent == tmp_path
    assert result.receipt is not None and result.turns["cyd"].count == 1
    assert result.took > 0
    assert repr(result) == (
        f"<MatchResult of fish: {ranking}, cyd 0 ejected (malformed), journal {str(result.journal)!r}>"
    )
    assert (result._repr_svg_() or "").startswith("<svg")
    assert pickle.loads(pickle.dumps(result)) == result


def test_an_ejection_tells_fault_reason_and_evidence() -> None:
    def crash(view: Any) -> Any:
        raise ValueError("no idea")

    def stubborn(view: Any) -> Any:
        return {"type": "place", "at": [0, 0]}

    crashed = fp.play(FISH, {"ann": first, "bob": crash}, seed=7).ejected["bob"]
    illegal = fp.play(FISH, {"ann": stubborn, "bob": stubborn}, seed=7).ejected["bob"]

    assert (crashed.fault, crashed.reason, crashed.moment) == (fp.Fault.CRASHED, "raised ValueError", fp.Moment.TURN)
    assert [line.partition(" (")[0] for line in crashed.evidence] == ["ValueError: no idea"]
    assert illegal.fault is fp.Fault.ILLEGAL
    assert illegal.clause and illegal.clause in illegal.reason


def test_a_game_may_have_no_scores_and_a_match_no_winners() -> None:
    plain = fp.play(TicTacToe(), {"ann": "lookahead", "bob": "random"}, seed=7)
    cheats = fp.play("fish(rows=3, columns=3, fish=1)", {"\x1b[2J\n": Cheat(), "b" * 100: Cheat()}, seed=7)

    assert plain.scores == {}
    assert repr(plain) == "<MatchResult of tic-tac-toe: 1. ann, 2. bob>"
    assert cheats.ranking == [] or cheats.ranking == [set()]
    assert set(cheats.ejected) == {"\x1b[2J\n", "b" * 100}
    assert cheats.winners == set()
    assert repr(cheats).isprintable()
    assert len(repr(cheats)) < 250


def test_show_prints_board_and_ranking(result: fp.MatchResult, capsys: pytest.CaptureFixture[str]) -> None:
    result.show()

    shown = capsys.readouterr().out
    assert f". ann ({result.scores['ann']})" in shown
    assert "cyd (0) is out: malformed (turn), the answer is not an action of this game" in shown
    assert "\x1b" not in shown


def test_journals_can_be_verified_with_receipts_and_seen_after_any_fact(result: fp.MatchResult, tmp_path: Path) -> None:
    other = fp.play(FISH, [first, first], seed=7, journal=tmp_path)
    assert result.journal and result.receipt and other.journal and other.receipt

    again, recorded = fp.verify(result.journal, other.journal), fp.read_journal(str(result.journal))

    for one, it in zip(again, (result, other), strict=True):
        assert (one.ranking, one.scores, one.journal) == (it.ranking, it.scores, it.journal)
        assert list(one.ejected) == list(it.ejected)
    assert recorded.match_after(None).state == result.match.state
    assert recorded.match_after(0).state == FISH.deal(3, bytes.fromhex(result.seed or ""))
    assert fp.verify(result.journal, receipt=result.receipt) == fp.verify(result.journal, receipt=str(result.receipt))
    with pytest.raises(fp.BadRequest, match="the receipt does not fit"):
        fp.verify(result.journal, receipt=other.receipt)
    result.journal.write_bytes(result.journal.read_bytes().replace(b'"seat":1', b'"seat":0', 1))
    with pytest.raises(fp.BadRequest, match=rf"{result.journal.name}: line \d+ .*: the hash does not fit"):
        fp.verify(result.journal)


def test_what_programs_write_on_stderr_is_kept(tmp_path: Path) -> None:
    bot = write_bot(tmp_path)
    bot.write_text(f"import sys\nprint('hello', file=sys.stderr)\n{bot.read_text()}")

    fp.play(FISH, {"ann": bot, "bob": first}, seed=7, sandbox="none", bot_logs=tmp_path / "logs")

    assert ["hello\n" in path.read_text() for path in (tmp_path / "logs").rglob("*") if path.is_file()] == [True]
