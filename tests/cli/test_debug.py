"""Test `fairplay debug`: a player gets the recorded messages of a seat, and its answers are compared."""

import json
import re
from pathlib import Path

import pytest

from fairplay import Acted, Ejected, Fault
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
    DAMAGE_MESSAGES,
    LEGAL_BOT,
    damage_journal,
    damage_message,
    make_in_process_player,
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
    write_spying_bot,
)
from tests.cli.test_play import NO_PLAYERS
from tests.journal.journals import GAME, first_action
from tests.nonempty import nonempty


@pytest.mark.parametrize("game", PLAYERS_BY_GAME)
def test_built_in_players_answer_as_they_did_on_every_turn_in_every_seat(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *PLAYERS_BY_GAME[game])

    for seat, address in enumerate(PLAYERS_BY_GAME[game]):
        done = run_fairplay("debug", str(path), "--seat", str(seat), address)

        *lines, last = verdict_lines(done)
        turns = recorded_turns(path, seat)
        assert (done.code, done.err) == (0, "")
        assert [line.partition(":")[0] for line in lines] == [f"turn {turn}" for turn in range(1, turns + 1)]
        assert all(line.endswith("; the same as in the record") for line in lines)
        assert last == f"{turns} turn{'' if turns == 1 else 's'}: all the same as in the record"


@pytest.mark.parametrize("game", PLAYERS_BY_GAME)
def test_each_turn_is_shown_as_the_seat_saw_it(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *PLAYERS_BY_GAME[game])
    recorded = read_journal(path)

    for one in nonempty(transcript(recorded, 1)):
        if isinstance(one.message, TakeTurn):
            done = run_fairplay("debug", str(path), "--seat", "1", "--turn", str(one.turn), PLAYERS_BY_GAME[game][1])

            fact = recorded.facts[one.facts]
            assert isinstance(fact, Acted)
            board = game_info(game).text(one.message.view, recorded.opening.names)
            head = f"turn {one.turn} of {recorded.opening.names[1]} (seat 1), after {one.facts} facts"
            assert (done.code, done.err) == (0, "")
            assert f"{head}\n\n{board}\n\nanswers: {fact.action}\nlegal\ntook " in done.out
            assert done.out.endswith("s\nthe same as in the record\n")


# How the referee puts it.
REASONS = {
    "an illegal action": "not legal: rule 3.2: there is no tile at [99, 99]",
    "a crash": "fails: crashed, the program ended with exit code 1",
    "an exit": "fails: crashed, the program ended with exit code 3",
    "nonsense": "fails: malformed, the answer is not an action of this game",
}


@pytest.mark.parametrize("what", FAILING_TURNS)
def test_a_player_with_a_memory_fails_again_where_it_failed(what: str, tmp_path: Path) -> None:
    address = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS[what]))
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}", "cyd=random")
    (ejected,) = [fact for fact in read_journal(path).facts if isinstance(fact, Ejected)]

    one, every = (run_fairplay("debug", str(path), "--seat", "bob", *turn, address) for turn in (("--turn", "3"), ()))

    assert (one.code, every.code) == (0, 0)
    assert REASONS[what].endswith(ejected.why)
    assert REASONS[what] in verdict_lines(one)
    assert verdict_lines(one)[-1] == "the same as in the record"
    assert verdict_lines(every)[2].startswith("turn 3: ")
    assert REASONS[what] in verdict_lines(every)[2]
    assert verdict_lines(every)[3:] == ["3 turns: all the same as in the record"]
    assert "  legal     " in one.out
    assert "  legal     " in every.out


def test_an_illegal_answer_is_shown_with_the_rule_that_it_breaks(tmp_path: Path) -> None:
    address = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["an illegal action"]))
    path = record_journal(tmp_path)

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", "3", address)

    action = [fact.action for fact in read_journal(path).facts if isinstance(fact, Acted) and fact.seat == 0][2]
    assert done.code == 1
    assert verdict_lines(done)[-3:] == [
        "answers: places a penguin at [99, 99]",
        "not legal: rule 3.2: there is no tile at [99, 99]",
        f"the record has: {action}",
    ]


def test_all_that_goes_over_the_line_is_shown_as_it_comes(tmp_path: Path) -> None:
    source = COUNTING_BOT.format(third=FAILING_TURNS["a crash"]).replace(
        "self.turns += 1", "self.turns += 1; print('turn', self.turns)"
    )
    address = write_bot(tmp_path, f"print('\\x1b[2Jhello')\n{source}")
    path = record_journal(tmp_path, f"ann={write_bot(tmp_path, LEGAL_BOT, 'good.py')}", "bob=random")
    actions = [fact.action for fact in read_journal(path).facts if isinstance(fact, Acted) and fact.seat == 0]
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


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("an illegal action", "has: places a penguin at [99, 99], and the ejection for it: rule 3.2: there is no tile"),
        ("a crash", "has the ejection: crashed, the program ended with exit code 1, RuntimeError: a bad day"),
        ("an exit", "has the ejection: crashed, the program ended with exit code 3, the program ended with exit code"),
        ("nonsense", "has the ejection: malformed, the answer is not an action of this game, the answer is not what"),
    ],
)
def test_a_different_answer_is_compared_with_a_recorded_ejection(what: str, instead: str, tmp_path: Path) -> None:
    path = record_journal(
        tmp_path, "ann=greedy", f"bob={write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS[what]))}"
    )

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", "greedy")

    assert done.code == 1
    assert verdict_lines(done)[-1].startswith(f"the record {instead}")
    assert verdict_lines(done)[-2] == "legal"


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        ("raise RuntimeError('a bad day')", "return 1 / 0", True),
        ("return 'junk'", "return ['junk']", True),
        ("return {'type': 'place', 'at': [99, 99]}", "return {'type': 'place', 'at': [98, 98]}", True),
        (
            "return {'type': 'place', 'at': [99, 99]}",
            "return {'type': 'place', 'at': next(iter(view.penguins))}",
            False,
        ),
        ("return {'type': 'place', 'at': [99, 99]}", "return 'junk'", False),
        ("raise RuntimeError('a bad day')", "return 'junk'", False),
        ("raise RuntimeError('a bad day')", "pass", False),
    ],
)
def test_failures_are_the_same_if_fault_and_rule_are(
    then: str, now: str, same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record_journal(
        tmp_path, "ann=greedy", f"bob={make_in_process_player(COUNTING_BOT.format(third=then), tmp_path, monkeypatch)}"
    )
    address = write_bot(tmp_path, COUNTING_BOT.format(third=now))

    one, every = (run_fairplay("debug", str(path), "--seat", "bob", *turn, address) for turn in (("--turn", "3"), ()))

    verdict = verdict_lines(one)[-1]
    assert (one.code, every.code) == (0, 0) if same else (1, 1)
    assert verdict.startswith("the same " if same else "the record has")
    assert verdict_lines(every)[2].endswith(f"; {verdict}")
    assert verdict_lines(every)[3:] == [f"3 turns: {'all the same as in' if same else '1 different from'} the record"]
    if "98" in now:
        assert verdict == "the same failure as in the record, which has: places a penguin at [99, 99]"


SLOW = COUNTING_BOT.format(third="import time; time.sleep(60)")


def test_a_player_that_timed_out_times_out_again_in_debug(tmp_path: Path) -> None:
    slow = write_bot(tmp_path, SLOW)
    path = record_journal(tmp_path, "ann=greedy", f"bob={slow}", "--limit", "0.5")

    again = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", slow)
    sooner = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", slow, "--limit", "0.3")
    better = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", write_bot(tmp_path, LEGAL_BOT))

    assert [done.code for done in (again, sooner, better)] == [0, 0, 1]
    assert "fails: timed out, no answer within 0.5 s" in verdict_lines(again)  # as it is on record
    assert "fails: timed out, no answer within 0.3 s" in verdict_lines(sooner)
    assert verdict_lines(better)[-1].startswith(
        "the record has the ejection: timed out, no answer within 0.5 s, limit 0.500 s"
    )


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


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("raise ValueError('what?')", "crashed, the program ended with exit code 1, ValueError: what?"),
        (
            "return 'thanks'",
            "malformed, answered where only an acknowledgement was due, the answer is not what was asked",
        ),
    ],
)
def test_a_player_that_fails_before_the_turn_is_not_asked_again(how: str, line: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, "q", "dag", "ldasg")
    start = ("debug", str(path), "--seat", "0", write_bot(tmp_path, EXCHANGING_BOT.format(how=how)))

    one, every = run_fairplay(*start, "--turn", "3"), run_fairplay(*start)

    told = [words for words in verdict_lines(one) if words.startswith("news")]
    assert len(told) == 1
    assert told[0].startswith(f"news after turn 1: fails: {line}")
    assert told[0].endswith("; the record has an acknowledgement")
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
    fails = "def start(self, *_): raise ValueError"
    source = f"{LEGAL_BOT}\nclass Player:\n    {fails}\n    take_turn = staticmethod(take_turn)"
    path = record_journal(tmp_path)

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", "1", write_bot(tmp_path, source))

    assert done.code == 1
    assert verdict_lines(done) == [
        "greeting: fails: crashed, the program ended with exit code 1, ValueError; the record has an acknowledgement",
        "turn 1 was not asked: a player that fails is out of the match",
    ]


@pytest.mark.parametrize("source", NO_PLAYERS)
def test_debug_explains_a_file_without_a_player(source: str, tmp_path: Path) -> None:
    address = write_bot(tmp_path, source)

    done = run_fairplay("debug", str(record_journal(tmp_path)), "--seat", "0", address)

    assert done.code == 1
    assert f"| fairplay.bot: {NO_PLAYERS[source].format(bot=address)}" in connection_lines(done)
    assert verdict_lines(done)[0].startswith(
        "greeting: fails: crashed, the program ended with exit code 2, fairplay.bot: "
    )
    assert ("  advice    name a program that speaks the protocol itself exec:" in done.out) == (not source)


def test_methods_may_be_missing_or_none(tmp_path: Path) -> None:
    source = f"{LEGAL_BOT}\nclass Player:\n    start = None\n    take_turn = staticmethod(take_turn)"
    path = record_journal(tmp_path, "ann=greedy", f"bob={write_bot(tmp_path, source)}")

    assert run_fairplay("debug", str(path), "--seat", "bob", write_bot(tmp_path, source)).code == 0


@pytest.mark.parametrize(("game", "server"), [("fish", "greedy"), ("tsuro", "survivor"), ("q", "dag")])
def test_the_messages_are_exactly_those_that_the_player_got(game: str, server: str, tmp_path: Path) -> None:
    spies = [write_spying_bot(game, server, tmp_path / f"live{seat}.txt", news="list(news)") for seat in range(3)]
    players = [write_bot(tmp_path, source, f"live{seat}.py") for seat, source in enumerate(spies)]
    path = recorded_match(tmp_path, game, *players, sandbox="none")  # so that they can write it down

    for seat in range(3):
        live = (tmp_path / f"live{seat}.txt").read_text().splitlines()
        turns = [number for number, line in enumerate(live, 1) if line.startswith("take_turn")]

        for turn, heard in [((), len(live)), (("--turn", "2"), turns[1])]:
            log = tmp_path / f"again{seat}-{heard}.txt"
            log.write_text("")
            again = write_bot(tmp_path, write_spying_bot(game, server, log, news="list(news)"), f"{log.stem}.py")
            assert run_fairplay("debug", str(path), "--seat", str(seat), *turn, again, "--sandbox", "none").code == 0
            assert log.read_text().splitlines() == live[:heard]
    assert game != "q" or any(line.startswith("tell") for line in live)


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


def test_a_number_is_a_seat_and_only_then_a_name(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "1=greedy", "0=random", "7=greedy")

    heads = [run_fairplay("debug", str(path), "--seat", seat, "--turn", "1", "random").out for seat in ("0", "1", "7")]

    assert [head.partition(",")[0] for head in heads] == [
        "turn 1 of 1 (seat 0)",
        "turn 1 of 0 (seat 1)",
        "turn 1 of 7 (seat 2)",
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--seat", "2", "greedy"), "there is no seat '2'; there are 0 (ann), 1 (bob)"),
        (("--seat", "-1", "greedy"), "there is no seat '-1'; there are 0 (ann), 1 (bob)"),
        (("--seat", "Ann", "greedy"), "there is no seat 'Ann'; there are 0 (ann), 1 (bob)"),
        (("--seat", "", "greedy"), "there is no seat ''; there are 0 (ann), 1 (bob)"),
        (("greedy",), "Missing option '--seat'."),
        (("--seat", "0"), "Missing argument 'PLAYER'."),
        (("--seat", "0", "--turn", "0", "greedy"), "turns are counted from 1, so there is no turn 0"),
        (("--seat", "0", "--turn", "-3", "greedy"), "turns are counted from 1, so there is no turn -3"),
        (("--seat", "0", "--turn", "x", "greedy"), "Invalid value for '--turn': 'x' is not a valid integer."),
        (("--seat", "0", "--turn", "1", "greed"), "fish has no player 'greed'; it has "),
        (("--seat", "0", "--turn", "1", "./none.py"), "there is no Python file ./none.py"),
        (("--seat", "0", "greed"), "fish has no player 'greed'; it has "),
        (("--seat", "0", "\udcff"), "'\\udcff' is not valid UTF-8"),
        (("--seat", "0", "greedy", "--sandbox", "x"), "Invalid value for '--sandbox': 'x' is not one of "),
        (("--seat", "0", "greedy", "--limit", "x"), "'x' is not a time limit"),
        (("--seat", "0", "greedy", "--in-process"), "greedy cannot be loaded in this process; use ./file.py or py:"),
        (("--seat", "0", "exec:./bot.py x", "--in-process"), "exec:./bot.py x cannot be loaded in this process; use "),
        (("--seat", "0", "./bot", "--in-process"), "./bot cannot be loaded in this process; use ./file.py or py:"),
        (("--seat", "0", "exec:"), "exec: names no program"),
        (("--seat", "0", "./none"), "there is no program './none'"),
        (("--seat", "0", "tcp:4000"), "tcp:4000 cannot be debugged: name a program that can be started here"),
        (
            ("--seat", "0", "bob=ws:host:4000"),
            "ws:host:4000 cannot be debugged: name a program that can be started here",
        ),
        (("--seat", "0", "greedy", "random"), "other players need --play-on: add it, or leave them out"),
        (("--seat", "0", "greedy", "--play-on"), "--play-on needs a turn: add --turn N"),
        (("--seat", "0", "--turn", "1", "greedy", "--play-on", "greed"), "fish has no player 'greed'; it has "),
        (("--seat", "0", "--turn", "1", "greedy", "--play-on", "=x"), "'=x' names no player; write NAME=PLAYER"),
        (("--seat", "0", "--turn", "1", "greedy", "--play-on", "\udcff"), "'\\udcff' is not valid UTF-8"),
        (
            ("--seat", "0", "--turn", "1", "greedy", "--play-on", "random", "random"),
            "expected 1 players after PLAYER, one for each other seat, not 2",
        ),
    ],
)
def test_debug_refuses_impossible_options_in_one_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert refusal_line(run_fairplay("debug", str(path), *arguments)).startswith(why)


def test_a_turn_that_never_came_is_refused(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    turns = recorded_turns(path, 0)

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", str(turns + 1), "greedy")

    assert refusal_line(done) == f"ann had only {turns} turns, so there is no turn {turns + 1}"


def test_a_turn_that_never_came_is_refused_without_the_ejection_of_another(tmp_path: Path) -> None:
    path = record_journal(
        tmp_path, "ann=greedy", f"bob={write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS['a crash']))}"
    )
    turns = recorded_turns(path, 0)

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "99", "greedy")

    assert refusal_line(done) == f"ann had only {turns} turns, so there is no turn 99"


def test_a_player_that_failed_at_the_end_had_all_its_turns(tmp_path: Path) -> None:
    fails = "def end(self, result): raise ValueError"
    source = f"{LEGAL_BOT}\nclass Player:\n    {fails}\n    take_turn = staticmethod(take_turn)"
    address = write_bot(tmp_path, source)
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}")
    turns = recorded_turns(path, 1)

    late = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "99", address)
    every = run_fairplay("debug", str(path), "--seat", "bob", address)

    assert refusal_line(late) == f"bob had only {turns} turns, so there is no turn 99"
    assert every.code == 0
    assert verdict_lines(every)[-2].startswith(
        f"end after turn {turns}: fails: crashed, the program ended with exit code 1"
    )


def test_a_turn_after_an_ejection_is_refused(tmp_path: Path) -> None:
    crash = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["a crash"]))
    news = write_bot(tmp_path, EXCHANGING_BOT.format(how="raise ValueError"), "news.py")
    fish = record_journal(tmp_path / "fish", "ann=greedy", f"bob={crash}")
    q = recorded_match(tmp_path / "q", "q", "dag", f"bad={news}", "dag")

    assert refusal_line(run_fairplay("debug", str(fish), "--seat", "bob", "--turn", "5", "greedy")) == (
        "bob was ejected (turn 3), so there is no turn 5: crashed, the program ended with exit code 1"
    )
    assert refusal_line(run_fairplay("debug", str(q), "--seat", "bad", "--turn", "2", "dag")) == (
        "bad was ejected (news after turn 1), so there is no turn 2: crashed, the program ended with exit code 1"
    )


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_is_debugged(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("debug", str(path), "--seat", "0", "greedy")) == damage_message(path, how)


def test_nothing_in_a_journal_reaches_a_terminal_raw(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob\n1. bob=random")

    shown = run_fairplay("debug", str(path), "--seat", "0", "--turn", "2", "random").out

    assert all(line.isprintable() for line in shown.split("\n"))
    assert "no seat" in refusal_line(run_fairplay("debug", str(path), "--seat", "bob", "random"))


def test_the_bots_of_these_tests_fail_in_different_ways(tmp_path: Path) -> None:
    faults = set()
    for what, third in FAILING_TURNS.items():
        directory = tmp_path / what
        directory.mkdir()
        path = record_journal(directory, "greedy", write_bot(directory, COUNTING_BOT.format(third=third)))
        faults |= {fact.fault for fact in read_journal(path).facts if isinstance(fact, Ejected)}

    assert faults == {Fault.ILLEGAL, Fault.CRASHED, Fault.MALFORMED}
