"""Test `fairplay debug` with --in-process, for debuggers, and with --play-on, which continues a match differently."""

import signal
from functools import partial
from pathlib import Path

import pytest

from fairplay import Acted, Ejected
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import Referee
from tests.cli.command import (
    INSTALLED_COMMAND,
    LEGAL_BOT,
    damage_journal,
    make_in_process_player,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.cli.debugging import (
    COUNTING_BOT,
    FAILING_TURNS,
    PLAYERS_BY_GAME,
    connection_lines,
    recorded_match,
    verdict_lines,
    write_bot,
    write_spying_bot,
)
from tests.journal.journals import GAME, first_action
from tests.journal_files import newest_journal


def test_a_player_with_a_memory_fails_again_and_shows_where(tmp_path: Path) -> None:
    address = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["a crash"]))
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", address, "--in-process")

    assert done.code == 0
    assert verdict_lines(done)[-3:] == [
        "fails: crashed, raised RuntimeError",
        "RuntimeError: a bad day (bot.py, line 11)",
        "the same as in the record",
    ]
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith("    raise RuntimeError('a bad day')\nRuntimeError: a bad day\n")
    assert "src/fairplay" not in done.err  # only what is the player's own


def test_no_player_in_this_process_has_a_time_limit_in_debug(tmp_path: Path) -> None:
    slow = write_bot(tmp_path, COUNTING_BOT.format(third="import time; time.sleep(0.4)"))
    path = record_journal(tmp_path, "ann=greedy", f"bob={slow}", "--limit", "0.2")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", slow, "--in-process")

    assert done.code == 1
    assert verdict_lines(done)[-2] == "legal"
    assert verdict_lines(done)[-1].startswith(
        "the record has the ejection: timed out, no answer within 0.2 s, limit 0.200 s"
    )


@pytest.mark.parametrize(
    ("game", "player", "here"),
    [("fish", "greedy", True), ("tsuro", "survivor", True), ("q", "dag", True), ("q", "dag", False)],
)
def test_the_messages_are_exactly_those_that_the_player_got(
    game: str, player: str, here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spy(name: str) -> str:
        source = write_spying_bot(game, player, tmp_path / f"{name}.txt", news="list(news)")
        return (
            make_in_process_player(source, tmp_path, monkeypatch) if here else write_bot(tmp_path, source, f"{name}.py")
        )

    path = recorded_match(tmp_path, game, *map(spy, ("live0", "live1", "live2")), sandbox="none")  # to let them write
    how = ("--in-process",) if here else ("--sandbox", "none")

    for seat in range(3):
        live = (tmp_path / f"live{seat}.txt").read_text().splitlines()
        turns = [number for number, line in enumerate(live, 1) if line.startswith("take_turn")]

        for turn, heard in [((), len(live)), (("--turn", "2"), turns[1]), (("--turn", str(len(turns))), turns[-1])]:
            log = tmp_path / f"again{seat}-{heard}.txt"
            log.write_text("")
            again = write_bot(tmp_path, write_spying_bot(game, player, log, news="list(news)"), f"{log.stem}.py")
            assert run_fairplay("debug", str(path), "--seat", str(seat), *turn, again, *how).code == 0
            assert log.read_text().splitlines() == live[:heard]
    assert game != "q" or any(line.startswith("tell") for line in live)


def test_a_resumed_match_is_heard_again_as_it_was_by_a_new_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bob is interrupted on its third turn, and fails on the third turn after that."""
    log, marker = tmp_path / "live.txt", tmp_path / "interrupted"
    trick = f"""self.turns = getattr(self, "turns", 0) + 1
        if self.turns == 3 and not Path({str(marker)!r}).exists():
            Path({str(marker)!r}).touch()
            raise KeyboardInterrupt
        assert self.turns < 3, "too much"
"""
    bob = make_in_process_player(write_spying_bot("q", "dag", log, trick), tmp_path, monkeypatch)
    play = ("play", "q", "ann=ldasg", f"bob={bob}", "cyd=random", "--seed", "3", "--journal", str(tmp_path))
    assert [run_fairplay(*play).code, run_fairplay(*play, "--quiet").code] == [130, 0]
    (path,), live = tmp_path.glob("*.jsonl"), log.read_text().splitlines()
    log.write_text("")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "5", bob, "--in-process")

    again, said = log.read_text().splitlines(), verdict_lines(done)
    resumed = [number for number, line in enumerate(live) if line.startswith("start")][1]
    assert done.code == 0
    assert said[2] == "the match was interrupted here, and resumed: the player is started again"
    assert said[5].startswith("turn 5 of bob")
    assert said[-2].startswith("AssertionError: too much (")
    assert said[-1] == "the same as in the record"
    assert live[resumed - 1].startswith("take_turn")  # which was never answered, and was put again
    assert again == live[: resumed - 1] + live[resumed:]


def test_prints_of_a_debugged_player_appear_where_they_happen(tmp_path: Path) -> None:
    address = write_bot(tmp_path, LEGAL_BOT.replace("return", "print('thinking')\n    return"))
    path = record_journal(tmp_path, f"ann={address}", "bob=greedy")

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "2", address, "--in-process")

    lines = done.out.splitlines()
    assert (lines[0], lines[-5], done.err) == ("thinking", "thinking", "")


def test_a_breakpoint_stops_where_it_stands(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    address = write_bot(tmp_path, COUNTING_BOT.format(third="breakpoint()"))
    start = ("debug", str(path), "--seat", "ann", "--turn", "3", address, "--in-process")

    done = run_script(*start, input="p 'turns:', self.turns\nc\n")
    left = run_script(*start, input="q\n")

    assert "(Pdb) ('turns:', 3)\n" in done.out
    assert done.err == ""
    assert (left.code, left.err) == (130, "\nfairplay: interrupted\n")


@pytest.mark.parametrize("when", ["on its turn", "while it is loaded"])
def test_ctrl_c_ends_a_player_that_never_comes_back(when: str, tmp_path: Path) -> None:
    on_turn = when == "on its turn"
    hangs = "print('here I am', flush=True)\n            while True: pass"
    source = COUNTING_BOT.format(third=hangs) if on_turn else hangs.replace(" " * 12, "")
    address = write_bot(tmp_path, source)
    words = ["debug", str(record_journal(tmp_path)), "--seat", "0", "--turn", "3", address, "--in-process"]

    with start_process([INSTALLED_COMMAND, *words]) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "here I am\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    where = "" if on_turn else f" while {address} was being loaded"
    assert (process.returncode, err) == (130, f"\nfairplay: interrupted{where}\n")


def test_a_file_that_holds_no_player_is_refused_in_one_line(tmp_path: Path) -> None:
    address = write_bot(tmp_path, "print('hello')\nraise RuntimeError('not today')")

    done = run_fairplay("debug", str(record_journal(tmp_path)), "--seat", "0", address, "--in-process")

    line = refusal_line(done._replace(out=done.out.removeprefix("hello\n")))
    assert line == f"{address} cannot be loaded: RuntimeError: not today (bot.py, line 2)"


@pytest.mark.parametrize("game", PLAYERS_BY_GAME)
def test_a_player_with_the_same_answers_sees_the_same_match(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *PLAYERS_BY_GAME[game])
    replayed = run_fairplay("replay", str(path)).out.splitlines()

    done = run_fairplay("debug", str(path), "--seat", "1", "--turn", "1", PLAYERS_BY_GAME[game][1], "--play-on")

    before, _, after = done.out.partition("\n\nthe match continues from turn 1, and is not recorded\n")
    facts = len(read_journal(path).facts) - 1
    assert (done.code, done.err) == (0, "")
    assert before.endswith("the same as in the record")
    assert after.splitlines()[0].startswith(
        "the others answer as in the record, and from where the match differs they are: "
    )
    assert after.splitlines()[2].startswith("at the table: ")
    assert [line for line in after.splitlines() if not line.startswith("  took ")][-facts:] == replayed[-facts:]
    assert list(tmp_path.iterdir()) == [path]


def test_a_single_remaining_player_plays_on_without_others(tmp_path: Path) -> None:
    cheat = write_bot(tmp_path, "def take_turn(view): return 'junk'")
    path = record_journal(tmp_path, "ann=greedy", f"bob={cheat}")
    start = ("debug", str(path), "--seat", "ann", "--turn", "3", "greedy", "--play-on")

    assert run_fairplay(*start).code == 0
    why = refusal_line(run_fairplay(*start, "random"))
    assert why == "expected 0 players after PLAYER, one for each other seat, not 1"


def test_named_players_take_the_other_seats_in_order(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random", "cyd=random", "--seed", "1")  # bob answered otherwise
    other = write_bot(tmp_path, LEGAL_BOT, "other.py")
    cheat = write_bot(tmp_path, "def take_turn(view): return 'junk'")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "2", other, "--play-on", "eve=greedy", cheat)

    assert done.code == 1
    assert "\nat the table: eve, bob, cyd\n" in done.out
    assert "\ncyd is out: malformed (turn), the answer is not an action of this game\n" in done.out
    assert any(line.startswith("    cyd: the answer is not what was asked for") for line in done.out.splitlines())

    start = ("debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on")
    same_names = run_fairplay(*start, "eve=random", "eve=random")
    assert (same_names.code, same_names.err) == (0, "")
    assert "\nat the table: ann, eve, eve-2\n" in same_names.out


def test_the_player_is_neither_greeted_nor_asked_twice(tmp_path: Path) -> None:
    source = COUNTING_BOT.format(third="print('third')") + "\n    def start(self, *_): print('hello')\n"
    path = record_journal(tmp_path)

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", "3", write_bot(tmp_path, source), "--play-on")

    assert [line for line in connection_lines(done) if line in ("| hello", "| third")] == ["| hello", "| third"]
    assert done.err == ""


def others_of(path: Path, *arguments: str) -> tuple[list[str], list[str]]:
    """What cyd does when a match goes on, and what it did on record."""
    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "3", *arguments, "--play-on")
    assert "the match continues" in done.out, done
    then = [str(fact.action) for fact in read_journal(path).facts if isinstance(fact, Acted) and fact.seat == 1]
    return [line[4:] for line in done.out.splitlines() if line.startswith("cyd ")], then


def test_the_others_answer_from_the_record_until_the_match_differs(tmp_path: Path) -> None:
    mine = write_bot(tmp_path, LEGAL_BOT)
    path = record_journal(tmp_path, "ann=greedy", f"cyd={mine}")
    (tmp_path / "bot.py").unlink()  # so that nobody can run it
    other = COUNTING_BOT.format(third="return list(Fish().actions(view))[-1]")

    same, then = others_of(path, "greedy")
    different, _ = others_of(path, write_bot(tmp_path, other, "other.py"))

    assert same[: len(then) - 2] == then[2:]
    assert different
    assert different != then[2:]


def test_a_player_that_was_ejected_later_is_ejected_again(tmp_path: Path) -> None:
    cheat = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["a crash"]))
    path = record_journal(tmp_path, "ann=greedy", f"bob={cheat}", "cyd=random")
    Path(cheat).unlink()
    (ejected,) = [fact for fact in read_journal(path).facts if isinstance(fact, Ejected)]
    start = ("debug", str(path), "--seat", "ann", "--turn")

    done, later = (run_fairplay(*start, turn, "greedy", "--play-on") for turn in ("1", "4"))

    assert (done.code, later.code) == (0, 0)
    assert f"\nbob is out: crashed (turn), {ejected.why}\n" in done.out
    assert "bob is out" not in later.out.partition("at the table")[2].partition("1. ")[0]  # where it was out before


def test_a_match_plays_on_beyond_the_end_of_its_record(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on")

    assert done.code == 0
    assert "\n1. " in done.out


def test_a_record_without_players_plays_on_with_built_in_ones(tmp_path: Path) -> None:
    for players in ((), ("greedy", "tcp:4000"), ("greedy", "py:nobody:Bot")):
        begin = partial(Journal(tmp_path).begin, players=players)
        Referee().run(GAME, [first_action, first_action], names=["ann", "bob"], seed=bytes(32), record=begin)
        bot, path = write_bot(tmp_path, LEGAL_BOT), str(newest_journal(tmp_path))

        done = run_fairplay("debug", path, "--seat", "ann", "--turn", "1", bot, "--play-on")

        assert done.code == 0, done
        assert "from where the match differs they are: bob=random\n" in done.out
