"""Try out fairplay debug: a player hears again what a seat heard, and its answers are held against the record."""

import re
from functools import partial
from pathlib import Path

import pytest

from fairplay import Acted, Ejected, Fault, Journal, Match, Referee, TakeTurn
from fairplay.games import title
from fairplay.games.fish.draw import text
from fairplay.games.fish.examples import EXAMPLES
from fairplay.journal.replay import read
from fairplay.journal.transcript import transcript
from tests.cli.command import BROKEN, GOOD, complaint, fairplay, in_process, journal, refusal, script, spoil
from tests.cli.test_play import NO_PLAYERS
from tests.journal.journals import GAME, crash, first
from tests.journals_at import newest
from tests.some import some

TABLES = {
    "fish": ("random", "greedy", "lookahead:1", "random"),
    "tsuro": ("first", "second", "third", "random", "survivor"),
    "q": ("random", "dag", "ldasg", "best"),
}

# What a bot does on its third turn, after two good ones.
THIRD = {
    "an illegal action": "return {'type': 'place', 'at': [99, 99]}",
    "a crash": "raise RuntimeError('a bad day')",
    "an exit": "import sys; sys.exit(3)",
    "nonsense": "return 'junk'",
}

# What is said of it in this process, and in a record of a program.
REASONS = {
    "an illegal action": ("rule 3.2: there is no tile at [99, 99]", "rule 3.2: there is no tile at [99, 99]"),
    "a crash": ("raised RuntimeError", "the program ended with exit code 1"),
    "an exit": ("raised SystemExit", "the program ended with exit code 3"),
    "nonsense": ("the answer is not an action of this game", "the answer is not an action of this game"),
}

COUNTS = """
from fairplay.games.fish import Fish

class Player:
    def __init__(self):
        self.turns = 0

    def take_turn(self, view):
        self.turns += 1
        if self.turns == 3:
            {third}
        return next(Fish().actions(view))
"""

# Plays like somebody of the house, and writes down what it hears.
SPY = """
from pathlib import Path
from fairplay.games import title

pack = title({game!r}).rules().pack

def hear(*message):
    with Path({log!r}).open("a") as log:
        print(*message, file=log)

class Player:
    def __init__(self):
        self.strategy = title({game!r}).house[{house!r}].make("", bytes(32))

    def start(self, seat, names, view):
        hear("start", seat, names, pack(view))

    def take_turn(self, view):
        hear("take_turn", pack(view))
        {trick}
        return self.strategy(view)

    def tell(self, news):
        hear("tell", {news})

    def end(self, result):
        hear("end", result.ranking, result.seed, result.receipt)
"""

NEWS = """
from fairplay.games.q import Exchange

class Player:
    def take_turn(self, view):
        return Exchange()

    def tell(self, news):
        {how}
"""


def recorded_match(directory: Path, game: str, *players: str, sandbox: str = "auto") -> Path:
    done = fairplay("play", game, *players, "--seed", "3", "--sandbox", sandbox, "--journal", str(directory))
    assert done.code == 0, done
    (path,) = directory.glob("*.jsonl")
    return path


def bot(directory: Path, source: str, name: str = "bot.py") -> str:
    path = directory / name
    path.write_text(source)
    return str(path)


def spy(game: str, house: str, log: Path, trick: str = "pass", *, news: str = "news") -> str:
    return SPY.format(log=str(log), game=game, house=house, trick=trick, news=news)


def turns_of(path: Path, seat: int) -> int:
    return sum(isinstance(one.message, TakeTurn) for one in transcript(read(path), seat))


@pytest.mark.parametrize("game", TABLES)
def test_house_players_answer_as_they_did_on_every_turn_in_every_seat(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *TABLES[game])

    for seat, address in enumerate(TABLES[game]):
        done = fairplay("debug", str(path), "--seat", str(seat), address)

        *lines, last = done.out.splitlines()
        turns = turns_of(path, seat)
        assert (done.code, done.err) == (0, "")
        assert [line.partition(":")[0] for line in lines] == [f"turn {turn}" for turn in range(1, turns + 1)]
        assert all(line.endswith("; the same as in the record") for line in lines)
        assert last == f"{turns} turn{'' if turns == 1 else 's'}: all the same as in the record"


@pytest.mark.parametrize("game", TABLES)
def test_each_turn_is_shown_as_the_seat_saw_it(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *TABLES[game])
    recorded = read(path)

    for one in some(transcript(recorded, 1)):
        if isinstance(one.message, TakeTurn):
            done = fairplay("debug", str(path), "--seat", "1", "--turn", str(one.turn), TABLES[game][1])

            fact = recorded.facts[one.facts]
            assert isinstance(fact, Acted)
            board = title(game).text(one.message.view, recorded.opening.names)
            head = f"turn {one.turn} of {recorded.opening.names[1]} (seat 1), after {one.facts} facts"
            tail = f"answers: {fact.action}\nlawful\nthe same as in the record\n"
            assert (done.code, done.out, done.err) == (0, f"{head}\n\n{board}\n\n{tail}", "")


@pytest.mark.parametrize("what", THIRD)
def test_a_player_with_a_memory_fails_again_where_it_failed(what: str, tmp_path: Path) -> None:
    address = bot(tmp_path, COUNTS.format(third=THIRD[what]))
    path = journal(tmp_path, "ann=greedy", f"bob={address}", "cyd=random")
    (ejected,) = [fact for fact in read(path).facts if isinstance(fact, Ejected)]

    one, every = (fairplay("debug", str(path), "--seat", "bob", *turn, address) for turn in (("--turn", "3"), ()))

    assert (one.code, every.code) == (0, 0)
    assert one.out.endswith("\nthe same as in the record\n")
    assert (ejected.why in one.out, ejected.why) == (REASONS[what][0] == REASONS[what][1], REASONS[what][1])
    assert REASONS[what][0] in one.out
    assert every.out.splitlines()[2].startswith("turn 3: ")
    assert every.out.splitlines()[3:] == ["3 turns: all the same as in the record"]


def test_an_illegal_answer_is_shown_with_the_rule_that_it_breaks(tmp_path: Path) -> None:
    address = bot(tmp_path, COUNTS.format(third=THIRD["an illegal action"]))
    path = journal(tmp_path)

    done = fairplay("debug", str(path), "--seat", "0", "--turn", "3", address)

    action = [fact.action for fact in read(path).facts if isinstance(fact, Acted) and fact.seat == 0][2]
    assert done.code == 1
    assert done.out.splitlines()[-3:] == [
        "answers: places a penguin at [99, 99]",
        "not lawful: rule 3.2: there is no tile at [99, 99]",
        f"the record has: {action}",
    ]


def test_a_failure_is_shown_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    address = bot(tmp_path, COUNTS.format(third=THIRD["a crash"]))
    path = journal(tmp_path)

    done = fairplay("debug", str(path), "--seat", "0", "--turn", "3", address)

    assert done.code == 1
    assert done.out.splitlines()[-3:-1] == [
        "fails: crashed, raised RuntimeError",
        "RuntimeError: a bad day (bot.py, line 11)",
    ]
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith("    raise RuntimeError('a bad day')\nRuntimeError: a bad day\n")
    assert "src/fairplay" not in done.err  # only what is the player's own


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("an illegal action", "has: places a penguin at [99, 99], and the ejection for it: rule 3.2: there is no tile"),
        ("a crash", "has the ejection: crashed, the program ended with exit code 1, RuntimeError: a bad day"),
        ("an exit", "has the ejection: crashed, the program ended with exit code 3, the program ended with exit code"),
        ("nonsense", "has the ejection: malformed, the answer is not an action of this game, the answer is not what"),
    ],
)
def test_what_the_record_has_instead_may_be_an_ejection(what: str, instead: str, tmp_path: Path) -> None:
    path = journal(tmp_path, "ann=greedy", f"bob={bot(tmp_path, COUNTS.format(third=THIRD[what]))}")

    done = fairplay("debug", str(path), "--seat", "bob", "--turn", "3", "greedy")

    assert done.code == 1
    assert done.out.splitlines()[-1].startswith(f"the record {instead}")
    assert done.out.splitlines()[-2] == "lawful"


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        ("raise RuntimeError('a bad day')", "return 1 / 0", True),
        ("return 'junk'", "return ['junk']", True),
        ("return {'type': 'place', 'at': [99, 99]}", "return {'type': 'place', 'at': [98, 98]}", True),
        (
            "return {'type': 'place', 'at': [99, 99]}",
            "return {'type': 'place', 'at': view.state.penguins[0][0]}",
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
    path = journal(tmp_path, "ann=greedy", f"bob={in_process(COUNTS.format(third=then), tmp_path, monkeypatch)}")
    address = bot(tmp_path, COUNTS.format(third=now))

    one, every = (fairplay("debug", str(path), "--seat", "bob", *turn, address) for turn in (("--turn", "3"), ()))

    verdict = one.out.splitlines()[-1]
    assert (one.code, every.code) == (0, 0) if same else (1, 1)
    assert verdict.startswith("the same " if same else "the record has")
    assert every.out.splitlines()[2].endswith(f"; {verdict}")
    assert every.out.splitlines()[3:] == [f"3 turns: {'all the same as in' if same else '1 different from'} the record"]
    if "98" in now:
        assert verdict == "the same failure as in the record, which has: places a penguin at [99, 99]"


def test_too_late_is_not_the_same_as_an_answer(tmp_path: Path) -> None:
    slow = bot(tmp_path, COUNTS.format(third="import time; time.sleep(1)"))
    path = journal(tmp_path, "ann=greedy", f"bob={slow}", "--limit", "0.5")

    done = fairplay("debug", str(path), "--seat", "bob", "--turn", "3", slow)  # where nobody is timed

    assert done.code == 1
    assert done.out.splitlines()[-2] == "lawful"
    assert done.out.splitlines()[-1].startswith(
        "the record has the ejection: timed out, no answer within 0.5 s, limit 0.500 s, taken 0."
    )


def test_whoever_goes_another_way_is_told_so_and_led_back(tmp_path: Path) -> None:
    path = journal(tmp_path, "ann=greedy", "bob=random")
    address = bot(tmp_path, GOOD)
    turns = turns_of(path, 0)

    every = fairplay("debug", str(path), "--seat", "ann", address)
    last = fairplay("debug", str(path), "--seat", "ann", "--turn", str(turns), address)

    line = re.compile(r"turn \d+: answers: .*; (the same as in the record|the record has: .*)")
    *lines, verdict = every.out.splitlines()
    different = [line for line in lines if not line.endswith("the same as in the record")]
    assert all(line.fullmatch(one) for one in lines)
    assert len(lines) == turns
    assert different
    assert every.code == 1
    assert verdict == f"{turns} turns: {len(different)} different from the record"
    assert last.out.startswith("".join(f"{one}\n" for one in different if not one.startswith(f"turn {turns}:")))


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("raise ValueError('what?')", "fails: crashed, raised ValueError, ValueError: what? (bot.py, line 9)"),
        ("return 'thanks'", "fails: malformed, answered where only an acknowledgement was due"),
    ],
)
def test_a_failure_before_is_told_and_it_goes_on(how: str, line: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, "q", "dag", "ldasg")

    done = fairplay("debug", str(path), "--seat", "0", "--turn", "3", bot(tmp_path, NEWS.format(how=how)))

    told = [one for one in done.out.splitlines() if one.startswith("news")]
    assert [one.partition(f": {line}")[0] for one in told] == ["news after turn 1", "news after turn 2"]
    assert all(one.endswith("; the record has an acknowledgement") for one in told)
    assert done.out.splitlines()[-3:-1] == ["answers: exchanges all tiles", "lawful"]


def test_whoever_failed_at_news_does_so_again(tmp_path: Path) -> None:
    address = bot(tmp_path, NEWS.format(how="raise ValueError('what?')"))
    path = recorded_match(tmp_path, "q", "dag", f"bad={address}", "ldasg")

    again, better = (fairplay("debug", str(path), "--seat", "bad", player) for player in (address, "dag"))

    now = "crashed, raised ValueError, ValueError: what? (bot.py, line 9)"
    then = "crashed, the program ended with exit code 1, ValueError: what?"
    assert again.code == 0
    assert again.out.splitlines()[1:] == [
        f"news after turn 1: fails: {now}; the same as in the record",
        "1 turn: all the same as in the record",
    ]
    assert better.code == 1
    assert f"news after turn 1: acknowledged; the record has the ejection: {then}" in better.out.splitlines()


def test_a_failure_at_the_greeting_is_told(tmp_path: Path) -> None:
    source = (
        f"{GOOD}\nclass Player:\n    def start(self, *_): raise ValueError\n    take_turn = staticmethod(take_turn)"
    )
    path = journal(tmp_path)

    done = fairplay("debug", str(path), "--seat", "0", "--turn", "1", bot(tmp_path, source))

    told, head, *_ = done.out.splitlines()
    assert told.startswith("greeting: fails: crashed, raised ValueError, ")
    assert told.endswith("; the record has an acknowledgement")
    assert head == "turn 1 of ann (seat 0), after 0 facts"


def test_methods_may_be_missing_or_none(tmp_path: Path) -> None:
    source = f"{GOOD}\nclass Player:\n    start = None\n    take_turn = staticmethod(take_turn)"
    path = journal(tmp_path, "ann=greedy", f"bob={bot(tmp_path, source)}")

    assert fairplay("debug", str(path), "--seat", "bob", bot(tmp_path, source)).code == 0


@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize(("game", "house"), [("fish", "greedy"), ("tsuro", "survivor"), ("q", "dag")])
def test_the_messages_are_exactly_those_that_the_player_got(
    game: str, house: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    news = "news" if where == "here" else "list(news)"  # for a tuple is a list in JSON
    spies = [spy(game, house, tmp_path / f"live{seat}.txt", news=news) for seat in range(3)]
    if where == "here":
        players = [in_process(source, tmp_path, monkeypatch) for source in spies]
    else:
        players = [bot(tmp_path, source, f"live{seat}.py") for seat, source in enumerate(spies)]
    path = recorded_match(tmp_path, game, *players, sandbox="none")  # so that they can write it down

    for seat in range(3):
        live = (tmp_path / f"live{seat}.txt").read_text().splitlines()
        turns = [number for number, line in enumerate(live, 1) if line.startswith("take_turn")]

        for turn, heard in [((), len(live)), *((("--turn", str(n + 1)), turns[n]) for n in (0, 1, 2, len(turns) - 1))]:
            log = tmp_path / f"again{seat}-{heard}.txt"
            log.write_text("")
            again = bot(tmp_path, spy(game, house, log, news=news), f"{log.stem}.py")
            assert fairplay("debug", str(path), "--seat", str(seat), *turn, again).code == 0
            assert log.read_text().splitlines() == live[:heard]
    assert game != "q" or any(line.startswith("tell") for line in live)


def interrupted(
    directory: Path, monkeypatch: pytest.MonkeyPatch, log: Path, *, turns: int, third: str = "pass"
) -> tuple[Path, str]:
    """A match of Q that is interrupted on a turn of bob's, and resumed; and who bob is, both times."""
    marker = directory / "interrupted"
    trick = (
        f"self.turns = getattr(self, 'turns', 0) + 1\n        if self.turns > {turns} and not Path({str(marker)!r})"
        f".exists():\n            Path({str(marker)!r}).touch()\n            raise KeyboardInterrupt\n"
        f"        if self.turns == 3:\n            {third}"
    )
    bob = in_process(spy("q", "dag", log, trick), directory, monkeypatch)
    players = ("ann=ldasg", f"bob={bob}", "cyd=random")
    play = ("play", "q", *players, "--seed", "3", "--journal", str(directory))
    assert fairplay(*play).code == 130
    (path,) = directory.glob("*.jsonl")
    assert fairplay(*play, "--quiet").code == 0
    return path, bob


def test_a_resumed_match_is_heard_again_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "live.txt"
    path, bob = interrupted(tmp_path, monkeypatch, log, turns=2)
    live = log.read_text().splitlines()
    log.write_text("")

    done = fairplay("debug", str(path), "--seat", "bob", bob)

    again = log.read_text().splitlines()
    resumed = [number for number, line in enumerate(live) if line.startswith("start")][1]
    assert done.code == 0
    assert done.out.count("the match was interrupted here, and resumed: the player is opened anew\n") == 1
    assert live[resumed - 1].startswith("take_turn")  # which was never answered, and was put again
    assert again == live[: resumed - 1] + live[resumed:]


def test_whoever_sat_down_anew_has_no_memory_of_what_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "live.txt"
    path, bob = interrupted(tmp_path, monkeypatch, log, turns=2, third="raise RuntimeError('too much')")

    done = fairplay("debug", str(path), "--seat", "bob", "--turn", "5", bob)

    assert done.code == 0
    assert done.out.startswith("the match was interrupted here, and resumed: the player is opened anew\nturn 5 of bob")
    where = f"{bob.split(':')[1]}.py, line 25"
    assert done.out.endswith(f"RuntimeError: too much ({where})\nthe same as in the record\n")


def test_a_branch_is_heard_by_whoever_came_later_as_well(tmp_path: Path) -> None:
    parent = journal(tmp_path, "ann=greedy", "bob=random")
    done = fairplay("resume", str(parent), "--at", "6", "random", "random", "--journal", str(tmp_path / "branch"))
    (path,) = (tmp_path / "branch").glob("*.jsonl")
    assert done.code == 0

    before, after = (fairplay("debug", str(path), "--seat", "ann", player).out for player in ("greedy", "random"))

    seam = "the match was interrupted here, and resumed: the player is opened anew"
    lines = [line.rpartition("; ")[2] for line in after.splitlines()]
    assert set(lines[lines.index(seam) + 1 : -1]) == {"the same as in the record"}
    assert all(line.endswith("same as in the record") for line in before.partition(seam)[0].splitlines())


def test_a_match_that_was_not_dealt_can_be_debugged_too(tmp_path: Path) -> None:
    match = Match(GAME, EXAMPLES["placing"], ("ann", "bob", "cyd"))
    with Journal(tmp_path).begin(match) as begun:
        Referee().resume(match, [first, first, first], record=begun)

    done = fairplay("debug", str(begun.path), "--seat", "bob", bot(tmp_path, GOOD))

    assert done.code == 0, done


def test_an_unfinished_match_can_be_looked_at_on_the_turn_that_nobody_answered(tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), "unfinished")
    recorded = read(path)
    seat = recorded.at(None).turn
    assert seat == 1

    every = fairplay("debug", str(path), "--seat", "1", "random")
    one = fairplay("debug", str(path), "--seat", "1", "--turn", "3", "random")

    missing = "the record has no answer, for the match was interrupted there"
    assert every.code == 0
    assert every.out.splitlines()[2:] == [f"turn 3: not asked; {missing}", "2 turns: all the same as in the record"]
    assert one.code == 1
    assert text(recorded.at(None).view(1), ("ann", "bob")) in one.out
    assert one.out.splitlines()[-2:] == ["lawful", missing]


@pytest.mark.parametrize("game", TABLES)
def test_the_match_goes_on_with_the_players_of_the_record(game: str, tmp_path: Path) -> None:
    path = recorded_match(tmp_path, game, *TABLES[game])
    replayed = fairplay("replay", str(path)).out.splitlines()

    done = fairplay("debug", str(path), "--seat", "1", "--turn", "1", TABLES[game][1], "--play-on")

    before, _, after = done.out.partition("\n\nthe match goes on from turn 1, and is not recorded\n")
    facts = len(read(path).facts) - 1
    assert (done.code, done.err) == (0, "")
    assert before.endswith("the same as in the record")
    assert after.splitlines()[1].startswith("at the table: ")
    assert after.splitlines()[-facts:] == replayed[-facts:]
    assert list(tmp_path.iterdir()) == [path]


def test_whoever_is_left_alone_needs_no_others_to_go_on(tmp_path: Path) -> None:
    match = Referee().run(GAME, [first, crash], names=["ann", "bob"], record=Journal(tmp_path).begin)
    assert len(match.ejected) == 1

    start = ("debug", str(newest(tmp_path)), "--seat", "ann", "--turn", "3", bot(tmp_path, GOOD), "--play-on")

    assert fairplay(*start).code == 0
    assert refusal(fairplay(*start, "random")) == "others still at the table: 0, but named behind PLAYER: 1"


def test_the_match_goes_on_with_others_in_the_order_of_the_seats(tmp_path: Path) -> None:
    path = journal(tmp_path, "ann=greedy", "bob=random", "cyd=random")
    cheat = bot(tmp_path, "def take_turn(view): return 'junk'")

    done = fairplay("debug", str(path), "--seat", "bob", "--turn", "2", "random", "--play-on", "eve=greedy", cheat)

    assert done.code == 0
    assert "\nat the table: eve, bob, cyd\n" in done.out
    assert "\ncyd is out: malformed (turn), the answer is not an action of this game\n" in done.out
    assert done.out.splitlines()[-1].startswith("    cyd: the answer could not be read: ")


def test_the_ejected_stay_out_when_the_match_goes_on(tmp_path: Path) -> None:
    cheat = bot(tmp_path, "def take_turn(view): return 'junk'")
    path = journal(tmp_path, f"ann={cheat}", "bob=random", "cyd=greedy")
    start = ("debug", str(path), "--seat", "2", "--turn", "2", "greedy", "--play-on")

    assert fairplay(*start).code == 0
    assert fairplay(*start, "random").code == 0
    assert refusal(fairplay(*start, "random", "random")) == "others still at the table: 1, but named behind PLAYER: 2"


def test_the_player_keeps_its_memory_when_the_match_goes_on(tmp_path: Path) -> None:
    address = bot(tmp_path, COUNTS.format(third="print('third')") + "\n    def start(self, *_): print('hello')\n")
    path = journal(tmp_path)

    done = fairplay("debug", str(path), "--seat", "0", "--turn", "3", address, "--play-on")

    said = [line for line in done.out.splitlines() if line in ("hello", "third")]
    assert said == ["hello", "third", "hello"]
    assert done.err == ""


def test_what_a_player_prints_comes_where_it_prints_it(tmp_path: Path) -> None:
    address = bot(tmp_path, GOOD.replace("return", "print('thinking')\n    return"))
    path = journal(tmp_path, f"ann={address}", "bob=greedy")

    done = fairplay("debug", str(path), "--seat", "ann", "--turn", "2", address)

    lines = done.out.splitlines()
    assert (lines[0], lines[-4], done.err) == ("thinking", "thinking", "")


def test_a_breakpoint_stops_where_it_stands(tmp_path: Path) -> None:
    path = journal(tmp_path)
    address = bot(tmp_path, COUNTS.format(third="breakpoint()"))
    start = ("debug", str(path), "--seat", "ann", "--turn", "3", address)

    done = script(*start, input="p 'turns:', self.turns\nc\n")
    left = script(*start, input="q\n")

    assert "(Pdb) ('turns:', 3)\n" in done.out
    assert done.err == ""
    assert (left.code, left.err) == (130, "\nfairplay: interrupted\n")


def test_a_number_is_a_seat_and_only_then_a_name(tmp_path: Path) -> None:
    path = journal(tmp_path, "1=greedy", "0=random", "7=greedy")

    heads = [fairplay("debug", str(path), "--seat", seat, "--turn", "1", "random").out for seat in ("0", "1", "7")]

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
        (("--seat", "0", "\udcff"), "'\\udcff' is no text in UTF-8"),
        (("--seat", "0", "greedy", "random"), "other players are for a match that goes on: write --play-on, "),
        (("--seat", "0", "greedy", "--play-on"), "--play-on goes on from a turn: write --turn N"),
        (("--seat", "0", "--turn", "1", "greedy", "--play-on", "greed"), "fish has no player 'greed'; it has "),
        (("--seat", "0", "--turn", "1", "greedy", "--play-on", "=x"), "'=x' names no player; write NAME=PLAYER"),
        (
            ("--seat", "0", "--turn", "1", "greedy", "--play-on", "random", "random"),
            "others still at the table: 1, but named behind PLAYER: 2",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(arguments: tuple[str, ...], why: str, tmp_path: Path) -> None:
    path = journal(tmp_path)

    assert refusal(fairplay("debug", str(path), *arguments)).startswith(why)


ELSEWHERE = ["exec:./bot.py", "exec:", "tcp:4000", "tcp:host:4000", "ws:4000", "./bot", "/bin/true", "bots/bot.js"]


@pytest.mark.parametrize("address", ELSEWHERE)
def test_only_players_in_this_process_are_debugged(address: str, tmp_path: Path) -> None:
    start = ("debug", str(journal(tmp_path)), "--seat", "0")
    addresses = (("bob=" + address,), ("--turn", "1", address), ("--turn", "1", "greedy", "--play-on", address))

    said = {refusal(fairplay(*start, *rest)) for rest in addresses}

    ours = "a house player, ./file.py or py:module:Name"
    assert said == {f"{address} is elsewhere, and debug takes players in this process: {ours}"}


def test_nor_does_a_match_go_on_with_players_of_the_record_that_are_elsewhere(tmp_path: Path) -> None:
    begin = partial(Journal(tmp_path).begin, players=("greedy", "tcp:4000"))
    Referee().run(GAME, [first, first], names=["ann", "bob"], seed=bytes(32), record=begin)
    start = ("debug", str(newest(tmp_path)), "--seat", "ann", "--turn", "1", "greedy", "--play-on")

    assert refusal(fairplay(*start)).startswith("tcp:4000 is elsewhere, and debug takes players in this process: ")
    assert "bob" in fairplay(*start, "random").out.rpartition("\n1. ")[2]


@pytest.mark.parametrize("source", NO_PLAYERS)
def test_a_file_that_holds_no_player_is_refused_in_one_line(source: str, tmp_path: Path) -> None:
    address = bot(tmp_path, source)

    done = fairplay("debug", str(journal(tmp_path)), "--seat", "0", address)

    line = refusal(done._replace(out=done.out.removeprefix("hello\n")))
    assert line == NO_PLAYERS[source].format(bot=address)


def test_a_turn_that_never_came_is_refused(tmp_path: Path) -> None:
    path = journal(tmp_path)
    turns = turns_of(path, 0)

    done = fairplay("debug", str(path), "--seat", "0", "--turn", str(turns + 1), "greedy")

    assert refusal(done) == f"ann had only {turns} turns, so there is no turn {turns + 1}"


def test_who_failed_the_farewell_had_all_its_turns(tmp_path: Path) -> None:
    source = (
        f"{GOOD}\nclass Player:\n    def end(self, result): raise ValueError\n    take_turn = staticmethod(take_turn)"
    )
    address = bot(tmp_path, source)
    path = journal(tmp_path, "ann=greedy", f"bob={address}")
    turns = turns_of(path, 1)

    late = fairplay("debug", str(path), "--seat", "bob", "--turn", "99", address)
    every = fairplay("debug", str(path), "--seat", "bob", address)

    assert refusal(late) == f"bob had only {turns} turns, so there is no turn 99"
    assert every.code == 0
    assert every.out.splitlines()[-2].startswith(f"farewell after turn {turns}: fails: crashed, raised ValueError, ")


def test_a_turn_after_an_ejection_is_refused(tmp_path: Path) -> None:
    crash = bot(tmp_path, COUNTS.format(third=THIRD["a crash"]))
    news = bot(tmp_path, NEWS.format(how="raise ValueError"), "news.py")
    fish = journal(tmp_path / "fish", "ann=greedy", f"bob={crash}")
    q = recorded_match(tmp_path / "q", "q", "dag", f"bad={news}", "dag")

    assert refusal(fairplay("debug", str(fish), "--seat", "bob", "--turn", "5", "greedy")) == (
        "bob was ejected (turn 3), so there is no turn 5: crashed, the program ended with exit code 1"
    )
    assert refusal(fairplay("debug", str(q), "--seat", "bad", "--turn", "2", "dag")) == (
        "bad was ejected (news after turn 1), so there is no turn 2: crashed, the program ended with exit code 1"
    )


def test_a_record_that_names_no_players_goes_on_only_with_others(tmp_path: Path) -> None:
    Referee().run(GAME, [first, first], names=["ann", "bob"], seed=bytes(32), record=Journal(tmp_path).begin)
    start = ("debug", str(newest(tmp_path)), "--seat", "ann", "--turn", "1", bot(tmp_path, GOOD), "--play-on")

    why = refusal(fairplay(*start))

    assert why == "the record does not say who played, so name the other players behind --play-on"
    assert fairplay(*start, "random").code == 0


@pytest.mark.parametrize("how", BROKEN)
def test_no_broken_journal_is_debugged(how: str, tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), how)

    assert refusal(fairplay("debug", str(path), "--seat", "0", "greedy")) == complaint(path, how)


def test_nothing_in_a_journal_reaches_a_terminal_raw(tmp_path: Path) -> None:
    path = journal(tmp_path, "\x1b[2Jann=greedy", "bob\n1. bob=random")

    shown = fairplay("debug", str(path), "--seat", "0", "--turn", "2", "random").out

    assert all(line.isprintable() for line in shown.split("\n"))
    assert "no seat" in refusal(fairplay("debug", str(path), "--seat", "bob", "random"))


def test_the_help_says_how_to_start_in_the_debugger() -> None:
    assert "python -m pdb -m fairplay debug" in fairplay("debug", "--help").out


def test_the_bots_of_these_tests_fail_in_different_ways(tmp_path: Path) -> None:
    faults = set()
    for what, third in THIRD.items():
        directory = tmp_path / what
        directory.mkdir()
        path = journal(directory, "greedy", bot(directory, COUNTS.format(third=third)))
        faults |= {fact.fault for fact in read(path).facts if isinstance(fact, Ejected)}

    assert faults == {Fault.ILLEGAL, Fault.CRASHED, Fault.MALFORMED}
