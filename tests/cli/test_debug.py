"""Test `fairplay debug`: a player gets the recorded messages of a seat, and its answers are compared."""

import json
import re
from pathlib import Path

import pytest

from fairplay import Acted
from fairplay.core.match import Match
from fairplay.core.messages import TakeTurn
from fairplay.games import game_info
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.terminal import text
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.transcript import transcript
from fairplay.referee.referee import Referee
from tests.cli.command import (
    LEGAL_BOT,
    damage_journal,
    record_journal,
    refusal_line,
    run_fairplay,
)
from tests.cli.debugging import (
    COUNTING_BOT,
    EXCHANGING_BOT,
    FAILING_TURNS,
    PLAYERS_BY_GAME,
    connection_lines,
    recorded_match,
    recorded_turns,
    verdict_lines,
    write_bot,
)
from tests.cli.test_play import SEATED
from tests.journal.journals import GAME, first_action
from tests.nonempty import nonempty


def recorded_actions(path: Path, seat: int) -> list[str]:
    return [str(fact.action) for fact in read_journal(path).facts if isinstance(fact, Acted) and fact.seat == seat]


@pytest.mark.parametrize("game", PLAYERS_BY_GAME)
def test_built_in_players_answer_as_they_did_and_each_turn_is_shown_as_the_seat_saw_it(
    game: str, tmp_path: Path
) -> None:
    path = recorded_match(tmp_path, game, *PLAYERS_BY_GAME[game])
    recorded = read_journal(path)

    for seat, address in enumerate(PLAYERS_BY_GAME[game]):
        done = run_fairplay("debug", str(path), "--seat", str(seat), address)

        *lines, last = verdict_lines(done)
        turns = [one for one in transcript(recorded, seat) if isinstance(one.message, TakeTurn)]
        assert (done.code, done.err) == (0, "")
        assert [line.partition(":")[0] for line in lines] == [f"turn {one.turn}" for one in turns]
        assert all(line.endswith("; the same as in the record") for line in lines)
        assert last == f"{len(turns)} turn{'' if len(turns) == 1 else 's'}: all the same as in the record"

        for one in nonempty(turns) if seat == 1 else ():
            done = run_fairplay("debug", str(path), "--seat", "1", "--turn", str(one.turn), address)

            fact = recorded.facts[one.facts]
            assert isinstance(fact, Acted) and isinstance(one.message, TakeTurn)
            board = game_info(game).text(one.message.view, recorded.opening.names)
            head = f"turn {one.turn} of {recorded.opening.names[1]} (seat 1), after {one.facts} facts"
            assert (done.code, done.err) == (0, "")
            assert f"{head}\n\n{board}\n\nanswers: {fact.action}\nlegal\ntook " in done.out
            assert done.out.endswith("s\nthe same as in the record\n")


def test_all_that_goes_over_the_line_is_shown_as_it_comes(tmp_path: Path) -> None:
    source = COUNTING_BOT.format(third=FAILING_TURNS["a crash"]).replace(
        "self.turns += 1", "self.turns += 1; print('turn', self.turns)"
    )
    address = write_bot(tmp_path, f"print('\\x1b[2Jhello')\n{source}")
    path = record_journal(tmp_path, f"ann={write_bot(tmp_path, LEGAL_BOT, 'good.py')}", "bob=random")
    actions = recorded_actions(path, 0)
    view = next(one.message.view for one in transcript(read_journal(path), 0) if isinstance(one.message, TakeTurn))

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", "3", address)

    line = connection_lines(done)
    asked = [json.loads(one[2:]) for one in line if one.startswith("> ")]
    replies = [json.loads(one[2:]) for one in line if one.startswith("< ")]
    assert [one["type"] for one in asked] == ["hello", "start", *["take_turn"] * 3, "goodbye"]
    assert asked[2]["view"] == GAME.pack(view)
    assert [one["nonce"] for one in replies] == [one["nonce"] for one in asked[:4]]
    assert replies[2]["answer"] == {"type": "place", "at": [0, 0]}
    assert "".join(one[0] for one in line).startswith(">|<><>|<>|<>||")
    assert [one for one in line if one.startswith("| ")][:4] == ["| \ufffd[2Jhello", "| turn 1", "| turn 2", "| turn 3"]
    assert line[-2] == "| RuntimeError: a bad day"
    assert (asked[-1]["fault"], asked[-1]["why"]) == ("crashed", "the program ended with exit code 1")
    assert all(one.isprintable() for one in done.out.split("\n"))
    assert [one for one in verdict_lines(done) if one.startswith(("turn", "fails", "Runtime"))] == [
        f"turn 1: answers: {actions[0]}, legal; the same as in the record",
        f"turn 2: answers: {actions[1]}, legal; the same as in the record",
        "turn 3 of ann (seat 0), after 4 facts",
        "fails: crashed, the program ended with exit code 1",
        "RuntimeError: a bad day",
    ]


BAD_DAY, CHEATS = FAILING_TURNS["a crash"], FAILING_TURNS["an illegal action"]
EXITS, JUNK, PLAYS = FAILING_TURNS["an exit"], FAILING_TURNS["nonsense"], "pass"
SAME = "the same as in the record"


@pytest.mark.parametrize(
    ("then", "now", "shown", "verdict"),
    [
        (BAD_DAY, BAD_DAY, "fails: crashed, the program ended with exit code 1", SAME),
        (BAD_DAY, "return 1 / 0", "fails: crashed, the program ended with exit code 1", "the same "),
        (EXITS, EXITS, "fails: crashed, the program ended with exit code 3", SAME),
        (JUNK, "return ['junk']", "fails: malformed, the answer is not an action of this game", "the same "),
        (CHEATS, CHEATS, "not legal: rule 3.2: there is no tile at [99, 99]", SAME),
        (
            CHEATS,
            "return {'type': 'place', 'at': [98, 98]}",
            "not legal: rule 3.2: there is no tile at [98, 98]",
            "the same failure as in the record, which has: places a penguin at [99, 99]",
        ),
        (
            CHEATS,
            "return {'type': 'place', 'at': next(iter(view.penguins))}",
            "not legal: rule 3.3: ",
            "the record has: places a penguin at [99, 99], and the ejection for it: rule 3.2: there is no tile",
        ),
        (CHEATS, JUNK, "fails: malformed, ", "the record has: places a penguin at [99, 99], and the ejection for it: "),
        (
            BAD_DAY,
            JUNK,
            "fails: malformed, ",
            "the record has the ejection: crashed, the program ended with exit code 1",
        ),
        (
            EXITS,
            PLAYS,
            "legal",
            "the record has the ejection: crashed, the program ended with exit code 3, the program",
        ),
        (JUNK, PLAYS, "legal", "the record has the ejection: malformed, the answer is not an action of this game, the"),
    ],
)
def test_failures_are_the_same_if_fault_and_rule_are(
    then: str, now: str, shown: str, verdict: str, tmp_path: Path
) -> None:
    bob = write_bot(tmp_path, COUNTING_BOT.format(third=then), "then.py")
    path = record_journal(tmp_path, "ann=greedy", f"bob={bob}")
    address = write_bot(tmp_path, COUNTING_BOT.format(third=now))

    one, every = (run_fairplay("debug", str(path), "--seat", "bob", *turn, address) for turn in (("--turn", "3"), ()))

    lines, all_lines = verdict_lines(one), verdict_lines(every)
    same = verdict.startswith("the same")
    assert (one.code, every.code) == ((0, 0) if same else (1, 1))
    assert any(line.startswith(shown) for line in lines)
    assert ("  legal     " in one.out) == (now != PLAYS)
    assert lines[-1].startswith(verdict)
    assert all_lines[2].startswith("turn 3: ") and all_lines[2].endswith(f"; {lines[-1]}")
    assert all_lines[3:] == [f"3 turns: {'all the same as in' if same else '1 different from'} the record"]


def test_a_player_that_timed_out_times_out_again_in_debug(tmp_path: Path) -> None:
    slow = write_bot(tmp_path, COUNTING_BOT.format(third="import time; time.sleep(60)"))
    path = record_journal(tmp_path, "ann=greedy", f"bob={slow}", "--limit", "0.5")
    start = ("debug", str(path), "--seat", "bob", "--turn", "3")

    again, sooner = run_fairplay(*start, slow), run_fairplay(*start, slow, "--limit", "0.3")
    better = run_fairplay(*start, write_bot(tmp_path, LEGAL_BOT))

    assert [done.code for done in (again, sooner, better)] == [0, 0, 1]
    assert "fails: timed out, no answer within 0.5 s" in verdict_lines(again)  # as it is on record
    assert "fails: timed out, no answer within 0.3 s" in verdict_lines(sooner)
    then = "the record has the ejection: timed out, no answer within 0.5 s, limit 0.500 s"
    assert verdict_lines(better)[-1].startswith(then)


def test_an_answer_that_differs_is_reported_and_the_recorded_one_is_used(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "ann=greedy", "bob=random")
    address = write_bot(tmp_path, LEGAL_BOT)
    turns = recorded_turns(path, 0)

    every = run_fairplay("debug", str(path), "--seat", "ann", address)
    last = run_fairplay("debug", str(path), "--seat", "ann", "--turn", str(turns), address)

    line = re.compile(r"turn \d+: answers: .*, legal; (the same as in the record|the record has: .*)")
    *lines, verdict = verdict_lines(every)
    different = [line for line in lines if not line.endswith("the same as in the record")]
    assert all(line.fullmatch(one) for one in lines)
    assert len(lines) == turns
    assert different
    assert every.code == 1
    assert verdict == f"{turns} turns: {len(different)} different from the record"
    assert verdict_lines(last)[: turns - 1] == lines[:-1]


def test_a_player_that_fails_before_the_turn_is_not_asked_again(tmp_path: Path) -> None:
    path = recorded_match(tmp_path, "q", "dag", "ldasg")
    bot = write_bot(tmp_path, EXCHANGING_BOT.format(how="return 'thanks'"))
    start = ("debug", str(path), "--seat", "0", bot)

    one, every = run_fairplay(*start, "--turn", "3"), run_fairplay(*start)

    [told] = [words for words in verdict_lines(one) if words.startswith("news")]
    assert told.startswith("news after turn 1: fails: malformed, answered where only an acknowledgement was due, the ")
    assert told.endswith("; the record has an acknowledgement")
    assert verdict_lines(one)[-1] == "turn 3 was not asked: a player that fails is out of the match"
    assert verdict_lines(every)[-1] == (
        "1 turn: 2 different from the record; the rest was not asked, as a player that fails is out of the match"
    )
    assert (one.code, every.code) == (1, 1)


def test_a_player_that_failed_at_news_fails_again(tmp_path: Path) -> None:
    address = write_bot(tmp_path, EXCHANGING_BOT.format(how="raise ValueError('what?')"))
    path = recorded_match(tmp_path, "q", "dag", f"bad={address}", "ldasg")

    again, better = (run_fairplay("debug", str(path), "--seat", "bad", player) for player in (address, "dag"))

    then = "crashed, the program ended with exit code 1, ValueError: what?"
    assert again.code == 0
    assert verdict_lines(again)[1:] == [
        f"news after turn 1: fails: {then}; the same as in the record",
        "1 turn: all the same as in the record",
    ]
    assert better.code == 1
    assert f"news after turn 1: acknowledged; the record has the ejection: {then}" in verdict_lines(better)


def test_debug_shows_a_failure_at_the_greeting(tmp_path: Path) -> None:
    raises = write_bot(tmp_path, f"{SEATED}    def start(self, *_): raise ValueError", "raises.py")
    empty = write_bot(tmp_path, "")
    start = ("debug", str(record_journal(tmp_path)), "--seat", "0")

    done, nothing = run_fairplay(*start, "--turn", "1", raises), run_fairplay(*start, empty)

    assert (done.code, nothing.code) == (1, 1)
    fails = "greeting: fails: crashed, the program ended with exit code"
    assert verdict_lines(done) == [
        f"{fails} 1, ValueError; the record has an acknowledgement",
        "turn 1 was not asked: a player that fails is out of the match",
    ]
    why = f"{empty} defines no player: neither a class Player nor a function take_turn"
    assert f"| fairplay.bot: {why}" in connection_lines(nothing)
    assert verdict_lines(nothing)[0].startswith(f"{fails} 2, fairplay.bot: ")
    assert "  advice    name a program that speaks the protocol itself exec:" in nothing.out


def test_a_branch_is_debugged_with_its_later_players(tmp_path: Path) -> None:
    parent = record_journal(tmp_path, "ann=greedy", "bob=random")
    done = run_fairplay("resume", str(parent), "--at", "6", "random", "random", "--journal", str(tmp_path / "branch"))
    (path,) = (tmp_path / "branch").glob("*.jsonl")
    assert done.code == 0

    before, after = (run_fairplay("debug", str(path), "--seat", "ann", player).out for player in ("greedy", "random"))

    seam = "the match was interrupted here, and resumed: the player is started again"
    lines = [line.rpartition("; ")[2] for line in after.splitlines()]
    assert set(lines[lines.index(seam) + 1 : -1]) == {"the same as in the record"}
    assert all(line.endswith("same as in the record") for line in before.partition(seam)[0].splitlines())


def test_a_match_that_was_not_dealt_can_be_debugged_too(tmp_path: Path) -> None:
    match = Match(GAME, EXAMPLES["placing"], ("ann", "bob", "cyd"))
    with Journal(tmp_path).begin(match) as begun:
        Referee().resume(match, [first_action, first_action, first_action], record=begun)

    done = run_fairplay("debug", str(begun.path), "--seat", "bob", write_bot(tmp_path, LEGAL_BOT))

    assert done.code == 0, done


def test_an_unfinished_match_can_be_debugged_at_its_unanswered_turn(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")
    recorded = read_journal(path)
    seat = recorded.match_after(None).turn
    assert seat == 1

    every = run_fairplay("debug", str(path), "--seat", "1", "random")
    one = run_fairplay("debug", str(path), "--seat", "1", "--turn", "3", "random")

    missing = "the record has no answer, as the match was interrupted here"
    assert every.code == 0
    assert verdict_lines(every)[2:] == [f"turn 3: not asked; {missing}", "2 turns: all the same as in the record"]
    assert one.code == 1
    assert text(recorded.match_after(None).view(1), ("ann", "bob")) in one.out
    assert verdict_lines(one)[-2:] == ["legal", missing]


def test_a_turn_that_never_came_is_refused_without_the_ejection_of_another(tmp_path: Path) -> None:
    crash = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["a crash"]))
    news = write_bot(tmp_path, EXCHANGING_BOT.format(how="raise ValueError"), "news.py")
    fish = record_journal(tmp_path / "fish", "ann=greedy", f"bob={crash}")
    q = recorded_match(tmp_path / "q", "q", "dag", f"bad={news}", "dag")
    crashed = "crashed, the program ended with exit code 1"

    for path, seat, turn, why in (
        (fish, "ann", "99", f"ann had only {recorded_turns(fish, 0)} turns, so there is no turn 99"),
        (fish, "bob", "5", f"bob was ejected (turn 3), so there is no turn 5: {crashed}"),
        (q, "bad", "2", f"bad was ejected (news after turn 1), so there is no turn 2: {crashed}"),
    ):
        done = run_fairplay("debug", str(path), "--seat", seat, "--turn", turn, "dag" if path == q else "greedy")
        assert refusal_line(done) == why


def test_a_player_that_failed_at_the_end_had_all_its_turns(tmp_path: Path) -> None:
    address = write_bot(tmp_path, f"{SEATED}    def end(self, result): raise ValueError")
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}")
    turns = recorded_turns(path, 1)

    late = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "99", address)
    every = run_fairplay("debug", str(path), "--seat", "bob", address)

    assert refusal_line(late) == f"bob had only {turns} turns, so there is no turn 99"
    assert every.code == 0
    failure = f"end after turn {turns}: fails: crashed, the program ended with exit code 1"
    assert verdict_lines(every)[-2].startswith(failure)
