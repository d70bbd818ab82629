"""Test `fairplay debug --play-on`: a recorded match continues differently, without players that only it names."""

from functools import partial
from pathlib import Path

import pytest

from fairplay import Acted, Ejected
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import Referee
from tests.cli.command import LEGAL_BOT, record_journal, refusal_line, run_fairplay
from tests.cli.debugging import (
    COUNTING_BOT,
    FAILING_TURNS,
    PLAYERS_BY_GAME,
    connection_lines,
    recorded_match,
    write_bot,
)
from tests.journal.journals import GAME, crash_on_turn, first_action
from tests.journal_files import newest_journal


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
    match = Referee().run(GAME, [first_action, crash_on_turn], names=["ann", "bob"], record=Journal(tmp_path).begin)
    assert len(match.ejected) == 1

    start = (
        "debug",
        str(newest_journal(tmp_path)),
        "--seat",
        "ann",
        "--turn",
        "3",
        write_bot(tmp_path, LEGAL_BOT),
        "--play-on",
    )

    assert run_fairplay(*start).code == 0
    assert (
        refusal_line(run_fairplay(*start, "random"))
        == "expected 0 players after PLAYER, one for each other seat, not 1"
    )


def test_named_players_take_the_other_seats_in_order(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random", "cyd=random", "--seed", "1")  # bob answered otherwise
    other = write_bot(tmp_path, LEGAL_BOT, "other.py")
    cheat = write_bot(tmp_path, "def take_turn(view): return 'junk'")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "2", other, "--play-on", "eve=greedy", cheat)

    assert done.code == 1
    assert "\nat the table: eve, bob, cyd\n" in done.out
    assert "\ncyd is out: malformed (turn), the answer is not an action of this game\n" in done.out
    assert any(line.startswith("    cyd: the answer is not what was asked for") for line in done.out.splitlines())


def test_players_with_one_name_get_distinct_names_when_playing_on(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random", "cyd=random")

    done = run_fairplay(
        "debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on", "eve=random", "eve=random"
    )

    assert (done.code, done.err) == (0, "")
    assert "\nat the table: ann, eve, eve-2\n" in done.out


def test_ejected_players_stay_out_when_playing_on(tmp_path: Path) -> None:
    cheat = write_bot(tmp_path, "def take_turn(view): return 'junk'")
    path = record_journal(tmp_path, f"ann={cheat}", "bob=random", "cyd=greedy")
    start = ("debug", str(path), "--seat", "2", "--turn", "2", "greedy", "--play-on")

    assert run_fairplay(*start).code == 0
    assert run_fairplay(*start, "random").code == 0
    assert (
        refusal_line(run_fairplay(*start, "random", "random"))
        == "expected 1 players after PLAYER, one for each other seat, not 2"
    )


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

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on")

    assert done.code == 0
    assert f"\nbob is out: crashed (turn), {ejected.why}\n" in done.out


def test_a_match_plays_on_beyond_the_end_of_its_record(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7]))

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on")

    assert done.code == 0
    assert "\n1. " in done.out


def test_a_record_without_players_plays_on_with_built_in_ones(tmp_path: Path) -> None:
    for players in ((), ("greedy", "tcp:4000"), ("greedy", "py:nobody:Bot")):
        begin = partial(Journal(tmp_path).begin, players=players)
        Referee().run(GAME, [first_action, first_action], names=["ann", "bob"], seed=bytes(32), record=begin)
        start = (
            "debug",
            str(newest_journal(tmp_path)),
            "--seat",
            "ann",
            "--turn",
            "1",
            write_bot(tmp_path, LEGAL_BOT),
            "--play-on",
        )

        done = run_fairplay(*start)

        assert done.code == 0, done
        assert "from where the match differs they are: bob=random\n" in done.out


@pytest.mark.parametrize("other", ["tcp:4000", "ws:4000"])
def test_playing_on_waits_for_no_pause(other: str, tmp_path: Path) -> None:
    start = ("debug", str(record_journal(tmp_path)), "--seat", "0", "--turn", "1", "greedy", "--play-on", other)

    assert refusal_line(run_fairplay(*start)) == f"{other} cannot be debugged: name a program that can be started here"


@pytest.mark.parametrize("other", ["in-process:nobody:Bot", "tcp:4000", "human"])
def test_the_others_are_refused_also_where_the_player_is_loaded_into_this_process(other: str, tmp_path: Path) -> None:
    mine = write_bot(tmp_path, LEGAL_BOT)
    start = (
        "debug",
        str(record_journal(tmp_path)),
        "--seat",
        "0",
        "--turn",
        "1",
        mine,
        "--in-process",
        "--play-on",
        other,
    )

    why = refusal_line(run_fairplay(*start))

    assert why.startswith((f"{other} would be loaded into this process", f"{other} cannot be debugged"))
