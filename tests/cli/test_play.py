"""Test `fairplay play`: its output, its records, and its ejections."""

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.messages import Evidence
from fairplay.core.roles import BuiltInPlayer
from fairplay.games import game_info
from fairplay.games.fish import strategies
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.render.evidence import describe_evidence
from fairplay.terminal.matches import MAX_FAILURE_LINES
from tests.cli.command import (
    INSTALLED_COMMAND,
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

FIELDS = {
    "started": {"type", "match", "game", "parameters", "names", "commitment", "view"},
    "acted": {"type", "name", "seat", "action"},
    "ejected": {"type", "name", "seat", "fault", "moment", "clause", "why"},
    "ended": {"type", "ranking", "ejected", "scores", "seed", "receipt"},
}
SEATED = f"{LEGAL_BOT}\nclass Player:\n    take_turn = staticmethod(take_turn)\n"
BOTS = {  # and what is said of them if they are in this process, and else
    "cheats": (
        "def take_turn(view): return {'type': 'place', 'at': [99, 99]}",
        "illegal (turn), rule 3.2: there is no tile at [99, 99]",
        "illegal (turn), rule 3.2: there is no tile at [99, 99]",
    ),
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
    "talks nonsense": (
        "def take_turn(view): return 'hello'",
        "malformed (turn), the answer is not an action of this game",
        "malformed (turn), the answer is not an action of this game",
    ),
    "says nothing": (
        "def take_turn(view): pass",
        "malformed (turn), the answer is None (null in JSON): take_turn must return an action",
        "malformed (turn), the answer is None (null in JSON): take_turn must return an action",
    ),
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
TALKS_BACK = f"{SEATED}    def end(self, result): return 'unfair!'"
NO_PLAYERS = {  # files that hold none, and what is said of each
    "": "{bot} defines no player: neither a class Player nor a function take_turn",
    "def take_turn(view)\n    pass": "{bot} cannot be loaded: SyntaxError: expected ':' ({bot}, line 1)",
    "print('hello')\nraise RuntimeError('not today')": (
        "{bot} cannot be loaded: RuntimeError: not today (bot.py, line 2)"
    ),
    "import sys\nsys.exit(0)": "{bot} cannot be loaded: SystemExit:  (bot.py, line 2)",
    "class Player:\n    def __init__(self): raise ValueError('no')": (
        "{bot} cannot be loaded: ValueError: no (bot.py, line 2)"
    ),
    "player = 3": "{bot} is not a player: it has no method take_turn(view)",
    "raise RuntimeError('\\x1b[2J\\nline two')": (
        "{bot} cannot be loaded: RuntimeError: \ufffd[2J\ufffdline two (bot.py, line 1)"
    ),
}


def events(done: CommandResult) -> list[dict[str, Any]]:
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


def write_bot(directory: Path, source: str) -> str:
    path = directory / "bot.py"
    path.write_text(source + "\n")
    return str(path)


def test_a_match_is_shown_from_the_table_to_the_ranking() -> None:
    done = run_fairplay("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--seed", "7")

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("match: ")
    assert lines[1] == "at the table: ann, bob"
    assert sum(" places a penguin at " in line for line in lines) == 8
    assert any(" moves from " in line for line in lines)
    assert {lines[-2][:3], lines[-1][:3]} == {"1. ", "2. "}


def test_quiet_prints_only_the_ranking_and_who_was_ejected(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, BOTS["cheats"][0])
    arguments = ("play", "fish", "ann=greedy", f"bob={bot}", "cyd=random", *SMALL_BOARD, "--seed", "7")

    done = run_fairplay(*arguments, "--quiet")

    assert done.code == 0
    assert done.out.splitlines() == run_fairplay(*arguments).out.splitlines()[-3:]
    assert done.out.splitlines()[-1] == f"bob (0) is out: {BOTS['cheats'][2]}"


def test_events_are_what_the_docs_say_and_nothing_else(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, BOTS["crashes"][0])
    options = ("--events", "--seed", "7", "--journal", str(tmp_path / "games"))

    told = events(run_fairplay("play", "fish", "ann=greedy", f"bob={bot}", "cyd=random", *SMALL_BOARD, *options))

    types = [event["type"] for event in told]
    assert [set(event) for event in told] == [FIELDS[kind] for kind in types]
    assert (types[0], types[-1], types.count("ejected")) == ("started", "ended", 1)
    assert set(types[1:-1]) == {"acted", "ejected"}
    assert [{**out, "type": "ejected"} for out in told[-1]["ejected"]] == [told[types.index("ejected")]]
    assert told[0]["names"] == ["ann", "bob", "cyd"]
    assert sorted(name for group in told[-1]["ranking"] for name in group) == ["ann", "cyd"]
    assert "a bad day" not in json.dumps(told)


def test_events_and_the_journal_tell_the_same_facts(tmp_path: Path) -> None:
    told = events(
        run_fairplay("play", "fish", "random", "greedy", *SMALL_BOARD, "--events", "--journal", str(tmp_path))
    )

    (path,) = tmp_path.iterdir()
    recorded = read_journal(path)
    assert [(event["seat"], event["action"]) for event in told[1:-1]] == [
        (fact["seat"], fact["action"]) for fact in (json.loads(line)["fact"] for line in lines_of_facts(path))
    ]
    assert told[0]["view"] == recorded.match_after(0).game.pack(recorded.match_after(0).view(None))


def lines_of_facts(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()[2:-1]


def test_the_journal_is_legal_and_holds_what_was_asked_for(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "games"

    done = run_fairplay(
        "play", "fish", "ann=greedy", "lookahead:1", "--set", "rows=3", "--seed", "7", "--journal", str(directory)
    )

    (path,) = directory.iterdir()
    opening, heads = read_journal(path).opening, read_journal(path).heads
    receipt = f"receipt: {len(heads) - 1}:{heads[-1]} (covers the result)"
    assert done.out.splitlines()[-2:] == [f"journal: {path}", receipt]
    assert verify(read_journal(path)).names == opening.names == ("ann", "lookahead:1")
    assert opening.players == ("greedy", "lookahead:1")
    assert (opening.seed, opening.guessable) == (seed_from_text("7").hex(), True)
    assert opening.parameters["rows"] == 3


def test_a_whole_seed_is_taken_as_it_is(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "greedy", "greedy", "--seed", "0123456789abcdef" * 4, "--journal", str(tmp_path))

    (path,) = tmp_path.iterdir()
    assert (read_journal(path).opening.seed, read_journal(path).opening.guessable) == ("0123456789abcdef" * 4, False)


def test_the_youngest_goes_first() -> None:
    done = run_fairplay("play", "fish", "ann=greedy", "bob=greedy", "cyd=greedy", "--ages", "30,7,20", "--events")

    assert events(done)[0]["names"] == ["bob", "cyd", "ann"]
    assert [event["name"] for event in events(done)[1:4]] == ["bob", "cyd", "ann"]


def test_parameters_are_set() -> None:
    settings = ("rows=5", "columns=6", "fish=3", "holes=4", "colours=random", "cramped=true")

    told = events(run_fairplay("play", "fish", "random", "random", *(f"--set={one}" for one in settings), "--events"))

    assert told[0]["parameters"] == {
        "rows": 5,
        "columns": 6,
        "fish": 3,
        "holes": 4,
        "colours": "random",
        "cramped": True,
    }
    board = [fish for row in told[0]["view"]["board"] for fish in row]
    assert (len(board), board.count(0), board.count(3)) == (30, 4, 26)


def test_names_are_made_distinct_and_labels_are_kept() -> None:
    done = run_fairplay("play", "fish", "random", "random", "ann=random", "random", "--events")

    assert events(done)[0]["names"] == ["random", "random-2", "ann", "random-3"]


def out_of_match(bob: str, why: str) -> None:
    done = run_fairplay("play", "fish", "ann=greedy", f"bob={bob}", *SMALL_BOARD)

    assert (done.code, done.err) == (0, "")
    assert f"\nbob is out: {why}\n" in done.out  # when it happens
    assert strip_scores(done.out).count(f"bob is out: {why}") == 2  # and in the result
    assert "ann" in done.out.partition("1. ")[2] + done.out.partition("2. ")[2]


@pytest.mark.parametrize("bot", BOTS)
def test_a_misbehaving_player_is_ejected_with_a_public_reason(bot: str, tmp_path: Path) -> None:
    source, _, why = BOTS[bot]

    out_of_match(write_bot(tmp_path, source), why)


@pytest.mark.parametrize("bot", BOTS)
def test_a_misbehaving_in_process_player_is_ejected(bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, why, _ = BOTS[bot]

    out_of_match(make_in_process_player(source, tmp_path, monkeypatch), why)


def test_an_in_process_player_that_answers_too_much_is_ejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "malformed (end), answered where only an acknowledgement was due"

    out_of_match(make_in_process_player(TALKS_BACK, tmp_path, monkeypatch), why)


@pytest.mark.parametrize("source", NO_PLAYERS)
def test_a_file_that_holds_no_player_is_out_at_the_greeting_and_its_host_reads_why(source: str, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, source)

    done = run_fairplay("play", "fish", "greedy", f"bob={bot}", *SMALL_BOARD, "--quiet")

    why = f"    bob: fairplay.bot: {NO_PLAYERS[source].format(bot=bot)}"
    assert (done.code, done.err) == (0, "")
    assert strip_scores(done.out)[:2] == [
        "1. greedy",
        "bob is out: crashed (greeting), the program ended with exit code 2",
    ]
    assert done.out.splitlines()[-1] == why
    assert "Traceback" not in done.out


def test_the_host_sees_the_stderr_of_a_crashing_player(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, f"print('loading')\n{BOTS['crashes'][0]}")

    done = run_fairplay(
        "play", "fish", "greedy", f"bob={bot}", *SMALL_BOARD, "--quiet", "--journal", str(tmp_path / "games")
    )

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
    bob = make_in_process_player(BOTS["crashes"][0], tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "greedy", f"bob={bob}", *SMALL_BOARD, "--quiet")

    assert done.out.splitlines()[-1] == f"    bob: RuntimeError: a bad day ({bob.split(':')[1]}.py, line 1)"


def test_a_match_without_remaining_players_has_an_empty_ranking(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, BOTS["cheats"][0])

    done = run_fairplay("play", "fish", f"ann={bot}", f"bob={bot}", *SMALL_BOARD, "--quiet")

    assert done.code == 0
    assert done.out.splitlines() == [
        "no player is left to be ranked",
        f"ann (0) is out: {BOTS['cheats'][2]}",
        f"bob (0) is out: {BOTS['cheats'][2]}",
    ]


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


def test_hostile_labels_reach_no_terminal_raw(tmp_path: Path) -> None:
    bot = write_bot(tmp_path, "def take_turn(view): raise RuntimeError('\\x1b[2J\\n1. bob')")

    done = run_fairplay("play", "fish", "\x1b[2Jann=greedy", f"bob\n1. bob={bot}", *SMALL_BOARD)

    lines = done.out.split("\n")
    assert done.code == 0
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("1. bob") for line in lines)


@pytest.mark.parametrize("seed", ["7", "", "äöü", "0123456789ABCDEF" * 4])
def test_the_same_seed_deals_and_plays_the_same_match(seed: str) -> None:
    arguments = ("play", "fish", "random", "random", "random", "--events", "--seed", seed)

    with fixed_match_id():
        assert run_fairplay(*arguments) == run_fairplay(*arguments)


def test_without_a_seed_every_match_is_another() -> None:
    starts = [events(run_fairplay("play", "fish", "greedy", "greedy", "--events"))[0] for _ in range(5)]
    boards = {json.dumps(start["view"]) for start in starts}

    assert len(boards) == 5


def test_the_same_seed_gives_the_same_facts_in_every_process(tmp_path: Path) -> None:
    for hashes in ("0", "1", "12345"):
        directory = tmp_path / hashes
        options = ("--seed", "7", "--set", "holes=random", "--set", "colours=random", "--journal", str(directory))
        done = run_script(
            "play", "fish", "random", "lookahead:1", "greedy", *options, environment={"PYTHONHASHSEED": hashes}
        )
        assert (done.code, done.err) == (0, "")

    one, two, three = (read_journal(path) for path in sorted(tmp_path.glob("*/*.jsonl")))
    assert one.facts == two.facts == three.facts
    assert without_id(one.match_after(None)) == without_id(two.match_after(None)) == without_id(three.match_after(None))


def test_a_directory_that_cannot_be_written_is_a_fault_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    directory = tmp_path / "file" / "games"

    done = run_fairplay("play", "fish", "random", "random", "--journal", str(directory))

    assert refusal_line(done, 3) == f"cannot read the journals in {directory}: Not a directory"


def test_a_disk_that_fills_up_is_a_fault_of_the_host(tmp_path: Path) -> None:
    def fill_up() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    done = run_script("play", "fish", "random", "random", "--journal", str(tmp_path), preexec_fn=fill_up)

    assert done.code == 3
    assert len(done.err.splitlines()) == 1
    assert "cannot be written: only" in done.err
    assert " is out: " not in done.out


@pytest.mark.parametrize("options", [(), ("--events",), ("--quiet",)])
def test_a_match_continues_when_its_output_is_closed(options: tuple[str, ...], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "wb") as pipe:
        done = run_script("play", "fish", "random", "random", *options, "--journal", str(tmp_path), stdout=pipe)

    assert done.err == ""
    (path,) = tmp_path.iterdir()
    assert verify(read_journal(path)).turn is None


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


def test_output_that_cannot_be_written_is_a_fault_of_the_host() -> None:
    with Path("/dev/full").open("w") as full:
        done = run_script("play", "fish", "random", "random", "--quiet", stdout=full)

    assert refusal_line(done, 3) == "the output cannot be written: No space left on device"


def test_on_a_terminal_the_board_is_in_colour() -> None:
    terminal, end = os.openpty()

    with subprocess.Popen([INSTALLED_COMMAND, "play", "fish", "random", "random", *SMALL_BOARD], stdout=end) as process:
        os.close(end)
        shown = b""
        while chunk := read_terminal(terminal):
            shown += chunk
    os.close(terminal)

    assert process.returncode == 0
    assert b"\x1b[97;41m" in shown


def read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def test_of_built_in_players_with_one_name_each_has_luck_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []
    lucky = game_info("fish").built_in["random"]

    def noted(parameter: str, key: bytes) -> Any:
        keys.append(key)
        return lucky.make(parameter, key)

    monkeypatch.setitem(strategies.BUILT_IN, "lucky", BuiltInPlayer("any legal action, and notes its key", noted))

    for seed in ("7", "7", "8"):
        assert run_fairplay("play", "fish", *["lucky"] * 3, *SMALL_BOARD, "--seed", seed, "--quiet").code == 0

    one, again, other = keys[:3], keys[3:6], keys[6:]
    assert one == again
    assert len({*one, *other, seed_from_text("7"), seed_from_text("8")}) == 8
