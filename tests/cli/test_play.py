"""Test `fairplay play`: its output, its records, and its ejections."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.messages import Evidence
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.render.evidence import describe_evidence
from fairplay.terminal.matches import MAX_FAILURE_LINES
from tests.cli.command import (
    LEGAL_BOT,
    SMALL_BOARD,
    CommandResult,
    make_in_process_player,
    refusal_line,
    run_fairplay,
    run_script,
    strip_scores,
)
from tests.match_ids import fixed_match_id, without_id

SEATED = f"{LEGAL_BOT}\nclass Player:\n    take_turn = staticmethod(take_turn)\n"
NO_TILE = "illegal (turn), rule 3.2: there is no tile at [99, 99]"
NOTHING = "malformed (turn), the answer is None (null in JSON): take_turn must return an action"
BOTS = {  # and what is said of them if they are in this process, and else
    "cheats": ("def take_turn(view): return {'type': 'place', 'at': [99, 99]}", NO_TILE, NO_TILE),
    "crashes": (
        "def take_turn(view): raise RuntimeError('a bad day')",
        "crashed (turn), raised RuntimeError",
        "crashed (turn), the program ended with exit code 1",
    ),
    "exits": (
        "import sys\ndef take_turn(view): sys.exit(0)",
        "crashed (turn), raised SystemExit",
        "crashed (turn), the program ended with exit code 0",
    ),
    "says nothing": ("def take_turn(view): pass", NOTHING, NOTHING),
    "fails at the start": (
        f"{SEATED}    def start(self, *_): raise ValueError",
        "crashed (greeting), raised ValueError",
        "crashed (greeting), the program ended with exit code 1",
    ),
    "fails at the end": (
        f"{SEATED}    def end(self, result): 1 / 0",
        "crashed (end), raised ZeroDivisionError",
        "crashed (end), the program ended with exit code 1",
    ),
}
NO_PLAYERS = {  # files that hold none, and what is said of each
    "": "{bot} defines no player: neither a class Player nor a function take_turn",
    "def take_turn(view)\n    pass": "{bot} cannot be loaded: SyntaxError: expected ':' ({bot}, line 1)",
    "import sys\nsys.exit(0)": "{bot} cannot be loaded: SystemExit:  (bot.py, line 2)",
    "class Player:\n    def __init__(self): 1 / 0": (
        "{bot} cannot be loaded: ZeroDivisionError: division by zero (bot.py, line 2)"
    ),
    "player = 3": "{bot} is not a player: it has no method take_turn(view)",
    "raise RuntimeError('\\x1b[2J\\n2')": "{bot} cannot be loaded: RuntimeError: \ufffd[2J\ufffd2 (bot.py, line 1)",
}


def events(done: CommandResult) -> list[dict[str, Any]]:
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


def write_bot(directory: Path, source: str) -> str:
    path = directory / "bot.py"
    path.write_text(source + "\n")
    return str(path)


def test_quiet_prints_only_the_ranking_and_who_was_ejected(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, BOTS["cheats"][0])
    arguments = ("play", "fish", "ann=greedy", f"bob={bot}", "cyd=random", *SMALL_BOARD, "--seed", "7")

    whole, quiet = run_fairplay(*arguments).out.splitlines(), run_fairplay(*arguments, "--quiet").out.splitlines()
    alone = run_fairplay("play", "fish", *[f"a={bot}"] * 2, "--quiet")

    assert whole[0].startswith("match: ")
    assert whole[1] == "at the table: ann, bob, cyd"
    assert sum(" places a penguin at " in line for line in whole) == 6
    assert any(" moves from " in line for line in whole)
    assert quiet == whole[-3:]
    assert [line[:3] for line in quiet[:2]] == ["1. ", "2. "]
    assert quiet[2] == f"bob (0) is out: {NO_TILE}"
    assert alone.out == f"no player is left to be ranked\na (0) is out: {NO_TILE}\na-2 (0) is out: {NO_TILE}\n"


def lines_of_facts(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()[2:-1]


def test_the_journal_is_legal_and_holds_what_was_asked_for(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "games"

    options = ("--set", "rows=3", "--seed", "7", "--journal", str(directory))
    done = run_fairplay("play", "fish", "ann=greedy", "lookahead:1", *options)

    (path,) = directory.iterdir()
    actions = [fact["action"] for fact in (json.loads(line)["fact"] for line in lines_of_facts(path))]
    told = events(run_fairplay("play", "fish", "ann=greedy", "lookahead:1", *options[:4], "--events"))
    assert (told[0]["type"], told[-1]["type"]) == ("started", "ended")
    assert [event["action"] for event in told[1:-1]] == actions
    opening, heads = read_journal(path).opening, read_journal(path).heads
    receipt = f"receipt: {len(heads) - 1}:{heads[-1]} (covers the result)"
    assert done.out.splitlines()[-2:] == [f"journal: {path}", receipt]
    assert verify(read_journal(path)).names == opening.names == ("ann", "lookahead:1")
    assert opening.players == ("greedy", "lookahead:1")
    assert (opening.seed, opening.guessable) == (seed_from_text("7").hex(), True)
    assert opening.parameters["rows"] == 3


def test_parameters_and_ages_are_taken() -> None:
    values = {"rows": 5, "columns": 6, "fish": 3, "holes": 4, "colours": "random", "cramped": True}
    settings = [f"--set={name}={value}" for name, value in values.items()]

    told = events(run_fairplay("play", "fish", "ann=random", "bob=random", "--ages", "30,7", *settings, "--events"))

    assert told[0]["parameters"] == values
    assert told[0]["names"] == ["bob", "ann"]  # the youngest goes first
    board = [fish for row in told[0]["view"]["board"] for fish in row]
    assert (len(board), board.count(0), board.count(3)) == (30, 4, 26)


@pytest.mark.parametrize("bot", BOTS)
def test_a_misbehaving_player_is_ejected_with_a_public_reason(
    bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, here, there = BOTS[bot]

    for bob, why in (
        (write_bot(tmp_path, source), there),
        (make_in_process_player(source, tmp_path, monkeypatch), here),
    ):
        done = run_fairplay("play", "fish", "ann=greedy", f"bob={bob}", *SMALL_BOARD)

        assert (done.code, done.err) == (0, "")
        assert f"\nbob is out: {why}\n" in done.out  # when it happens
        assert strip_scores(done.out).count(f"bob is out: {why}") == 2  # and in the result
        assert "ann" in done.out.partition("1. ")[2] + done.out.partition("2. ")[2]


@pytest.mark.parametrize("source", NO_PLAYERS)
def test_a_file_that_holds_no_player_is_out_at_the_greeting_and_its_host_reads_why(source: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, source)

    done = run_fairplay("play", "fish", "greedy", f"bob={bot}", *SMALL_BOARD, "--quiet")

    why = f"    bob: fairplay.bot: {NO_PLAYERS[source].format(bot=bot)}"
    assert (done.code, done.err) == (0, "")
    out = "bob is out: crashed (greeting), the program ended with exit code 2"
    assert strip_scores(done.out)[:2] == ["1. greedy", out]
    assert done.out.splitlines()[-1] == why
    assert "Traceback" not in done.out


def test_the_host_sees_the_stderr_of_a_crashing_player(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, f"print('loading')\n{BOTS['crashes'][0]}")

    options = ("--quiet", "--journal", str(tmp_path / "games"))
    done = run_fairplay("play", "fish", "greedy", f"bob={bot}", *SMALL_BOARD, *options)

    (path,) = (tmp_path / "games").iterdir()
    _, out, clocks, *said, last, _, _ = done.out.splitlines()
    assert out == "bob (0) is out: crashed (turn), the program ended with exit code 1"
    assert clocks.startswith("    bob: limit 5.000 s, taken 0.")
    assert said[:4] == [
        "    bob: the program ended with exit code 1; its stderr ends with:",
        "    bob: loading",
        "    bob: Traceback (most recent call last):",
        f'    bob:   File "{bot}", line 2, in take_turn',  # without what is ours
    ]
    assert last == "    bob: RuntimeError: a bad day"
    (evidence,) = [entry["evidence"] for entry in map(json.loads, lines_of_facts(path)) if "evidence" in entry]
    known = describe_evidence(msgspec.convert(evidence, Evidence))
    assert [line.removeprefix("    bob: ") for line in (clocks, *said, last)] == known


def test_of_much_that_a_crashing_player_said_the_end_is_shown_and_moves_no_terminal(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, f"for line in range(30): print('\\x1b[2J', line)\n{BOTS['crashes'][0]}")

    done = run_fairplay("play", "fish", "greedy", f"bob={bot}", *SMALL_BOARD, "--quiet")

    said = [line for line in done.out.splitlines() if line.startswith("    bob: ")]
    assert len(said) == MAX_FAILURE_LINES
    assert "    bob: \N{REPLACEMENT CHARACTER}[2J 29" in said
    assert said[-1] == "    bob: RuntimeError: a bad day"
    assert "\x1b" not in done.out


def test_the_host_sees_the_exception_of_an_in_process_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loud = "def take_turn(view): raise RuntimeError('\\x1b[2J\\n1. bob')"
    bob = make_in_process_player(loud, tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "\x1b[2Jann=greedy", f"bob={bob}", *SMALL_BOARD, "--quiet")

    assert all(line.isprintable() and not line.startswith("1. bob") for line in done.out.split("\n"))
    *_, why, last = done.out.splitlines()
    assert (why, last) == ("    bob: RuntimeError: �[2J", f"    bob: 1. bob ({bob.split(':')[1]}.py, line 1)")


@pytest.mark.parametrize("option", ["--events", "--quiet"])
def test_prints_of_a_player_do_not_mix_with_the_output(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(bob: str) -> CommandResult:
        with fixed_match_id():
            return run_fairplay("play", "fish", "greedy", f"bob={bob}", *SMALL_BOARD, "--seed", "7", option)

    noisy = f"print('loading')\n{LEGAL_BOT.replace('return', 'print(view); return')}"
    here, there = play(make_in_process_player(noisy, tmp_path, monkeypatch)), play(write_bot(tmp_path, noisy))

    assert here.out == there.out == play(make_in_process_player(LEGAL_BOT, tmp_path, monkeypatch)).out
    assert here.err.startswith("loading\n")
    assert there.err == ""  # it is the program's own affair


@pytest.mark.parametrize("seed", ["", "äöü", "0123456789abcdef" * 4])
def test_the_same_seed_deals_and_plays_the_same_match_in_every_process(seed: str, tmp_path: Path) -> None:
    options = ("--seed", seed, "--set", "holes=random", "--set", "colours=random", "--quiet", "--journal")
    play = ("play", "fish", "random", "lookahead:1", "random", *options)

    run_fairplay(*play, str(tmp_path))
    run_script(*play, str(tmp_path), environment={"PYTHONHASHSEED": "12345"})

    one, two = (read_journal(path) for path in tmp_path.glob("*.jsonl"))
    assert one.facts == two.facts
    assert without_id(one.match_after(None)) == without_id(two.match_after(None))
    whole = len(seed) == 64
    assert (one.opening.seed == seed, one.opening.guessable) == (whole, not whole)


def test_events_are_printed_without_delay(tmp_path: Path) -> None:
    stream = tmp_path / "events.jsonl"
    source = f"""
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    events = Path({str(stream)!r}).read_text().splitlines()
    placed = sum(map(len, view.state.penguins))
    assert len(events) > placed and '"acted"' in events[-1]
    return next(Fish().actions(view))
"""

    with stream.open("w") as file:
        bob = f"bob={write_bot(tmp_path, source)}"
        arguments = ("play", "fish", "greedy", bob, *SMALL_BOARD, "--events", "--sandbox", "none")
        run_script(*arguments, stdout=file, environment={"PYTHONUNBUFFERED": ""})

    assert json.loads(stream.read_text().splitlines()[-1])["ejected"] == []


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "module {module} has no 'take_turn', which 'in-process:{module}:take_turn' needs"),
        ("import sys\nsys.exit(0)", "in-process:{module}:take_turn cannot be loaded: SystemExit"),
    ],
)
def test_a_module_that_holds_no_player_is_refused_in_one_line(
    source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = make_in_process_player(source, tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--journal", str(tmp_path / "games"))

    assert why.format(module=address.split(":")[1]) in refusal_line(done)
    assert not (tmp_path / "games").exists()
