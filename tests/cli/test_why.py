"""Test `fairplay why`."""

import json
import shlex
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay import Moment
from fairplay.core.events import Fault
from fairplay.core.match import Match
from fairplay.core.messages import Evidence, Failed
from fairplay.core.roles import Record
from fairplay.diagnosis.ejection_explanation import MAX_EVIDENCE_LINES
from fairplay.games import game_info
from fairplay.games.q import Place, Placement, Q
from fairplay.journal.ejection_report import clauses
from fairplay.journal.record import Journal
from fairplay.journal.verification import read_legal
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.testing.hostile import HOSTILE_PLAYERS
from tests.cli.command import (
    record_journal,
    run_fairplay,
)
from tests.journal.journals import (
    GAME,
    SEED,
    first_action,
    good_then,
    play_illegal_action,
    read_lines,
    seal_lines,
)
from tests.journal.test_ejection_report import kicked
from tests.journal_files import newest_journal
from tests.nonempty import nonempty
from tests.players.machine import needs_strict
from tests.testing.test_hostile import SEATINGS

CHEATS = """
from fairplay.games.fish import Fish

class Player:
    turns = 0

    def take_turn(self, view):
        self.turns += 1
        return next(Fish().actions(view)) if self.turns < 3 else {"type": "place", "at": [99, 99]}
"""
SHY = """
class Player:
    def take_turn(self, view): return None
    def start(self, *_): raise RuntimeError("so many people")
"""
SULKS = CHEATS.replace("< 3", "< 99") + "\n    def end(self, result): raise RuntimeError('a bad loser')\n"
CRASHES = "def take_turn(view): raise RuntimeError('a bad day')\n"
UNREADABLE = "def take_turn(view)\n    pass\n"

KINDS = {  # one of each fault at each moment of each game, and all that cheat
    (game, bad.fault, bad.moment, name if bad.fault is Fault.ILLEGAL else ""): (name, game)
    for name, game in SEATINGS
    for bad in [HOSTILE_PLAYERS[name]]
}

TOLD = """\
player-2 was ejected from a match of fish: illegal (turn)

  player    player-2, seat 1, ./my bot.py
  when      on turn 2 of its own
            after fact 3: player-1 places a penguin at [0, 2]
            2023-11-14 22:13:20 UTC; it took 0 µs
  fault     illegal: an action that breaks a rule
  why       rule 3.2: there is no tile at [99, 99]
  rule 3.2  A penguin is placed on a tile of the board, with any number of fish.
  answer    player-2 places a penguin at [99, 99]
            {{"type":"place","at":[99,99]}}
  evidence  none
  legal     13 answers, such as: player-2 places a penguin at [0, 3]
            {{"type":"place","at":[0,3]}}

What player-2 was shown:

{board}

To see it again:

    fairplay debug {path} --seat 1 --turn 2 --sandbox strict './my bot.py'
    fairplay why-not fish --view {path} --at 3 '{{"type":"place","at":[99,99]}}'
"""


def told(path: Path, *arguments: str) -> str:
    done = run_fairplay("why", str(path), *arguments)
    assert (done.code, done.err) == (0, ""), done
    assert all(line.isprintable() for line in done.out.split("\n"))
    return done.out


def data(path: Path, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told(path, "--json", *arguments).splitlines()]


def played(directory: Path, players: list[Any], begin: Callable[[Match[Any, Any, Any]], Record]) -> Path:
    """The journal of a match."""
    Referee().run(GAME, players, seed=SEED, record=begin)
    return newest_journal(directory)


def cheated(directory: Path, *players: str) -> Path:
    """The journal of a match in which the second player cheats on its first turn."""
    return played(directory, [first_action, play_illegal_action], partial(Journal(directory).begin, players=players))


def bot(directory: Path, name: str, source: str) -> str:
    path = directory / name
    path.write_text(source)
    return str(path)


def flat(text: str) -> str:
    return " ".join(text.split())


def evidence_of(report: Any) -> list[str]:
    """What is known, in words."""
    return describe_evidence(msgspec.convert(report["evidence"], Evidence))


def test_why_explains_an_ejection(tmp_path: Path) -> None:
    begin = partial(Journal(tmp_path, clock=lambda: 0.0, now=lambda: 1.7e9).begin, players=("random", "./my bot.py"))
    path = played(tmp_path, [first_action, good_then(1, play_illegal_action)], begin)
    view = read_legal(path).match_after(3).view(1)
    board = game_info("fish").text(view, ("player-1", "player-2")).split("\n")

    shown = "\n".join(f"    {line}".rstrip() for line in board)
    assert told(path) == TOLD.format(board=shown, path=path)


def test_of_a_match_without_ejections_there_is_one_line(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob=random")

    assert told(path) == "no player was ejected\n"
    assert told(path, "--seat", "0") == "\N{REPLACEMENT CHARACTER}[2Jann, seat 0, was not ejected\n"
    assert told(path, "--json") == ""


@pytest.mark.parametrize(("name", "game"), KINDS.values())
def test_why_explains_every_kind_of_ejection(name: str, game: str, tmp_path: Path) -> None:
    path = kicked(tmp_path, name, game)
    recorded, bad = read_legal(path), HOSTILE_PLAYERS[name]

    words = told(path, "--seat", "0")

    [one] = data(path, "--seat", "0")
    fault = bad.fault.value.replace("_", " ")
    assert words.startswith(f"Bad was ejected from a match of {game}: {fault} ({bad.moment.value})\n")
    assert f"why {one['why']}" in flat(words)
    assert all(line in flat(words) for line in evidence_of(one))
    assert all(f"\n    {line}".rstrip() in words for line in one["text"].split("\n"))
    assert [f"    {command}" for command in one["commands"]] == words.splitlines()[-len(one["commands"]) :]
    if one["clause"]:
        assert f"rule {one['clause']} {clauses(game)[one['clause']]}" in flat(words)
        assert json.dumps(one["answer"], separators=(",", ":")) in words
    if bad.moment is Moment.TURN:
        assert json.dumps(one["legal"]["example"], separators=(",", ":")) in words
        assert one["text"] == game_info(game).text(recorded.game.unpack(one["shown"]), recorded.opening.names)


def test_why_explains_all_ejections_in_order(tmp_path: Path) -> None:
    shy, crash = bot(tmp_path, "shy.py", SHY), bot(tmp_path, "crash.py", CRASHES)
    path = record_journal(tmp_path, "ann=greedy", f"bob={crash}", f"cyd={shy}")

    first, ejected, second = told(path).partition("bob was ejected")

    assert first.startswith("cyd was ejected") and ejected
    assert [one["name"] for one in data(path)] == ["cyd", "bob"]
    assert "RuntimeError: so many people\n" in first
    assert "RuntimeError: a bad day\n" in second


def test_why_shows_the_exit_code_and_stderr_of_a_program(tmp_path: Path) -> None:
    crash = bot(tmp_path, "crash.py", f"print('loading')\n{CRASHES}")
    path = record_journal(tmp_path, "ann=greedy", f"bob={crash}", "--limit", "4")

    words = told(path)

    [one] = data(path)
    said = evidence_of(one)
    assert "\n  why       the program ended with exit code 1\n" in words
    assert "\n  rule      no rule was broken\n" in words
    assert said[0].startswith("limit 4.000 s, taken 0.")
    assert said[1].endswith("the program ended with exit code 1; its stderr ends with:")
    assert [line.strip() for line in said[2:4]] == ["loading", "Traceback (most recent call last):"]
    assert said[-1].strip() == "RuntimeError: a bad day"
    assert flat(words.partition("  evidence  ")[2]).startswith(flat(" ".join(said)))


def test_one_seat_can_be_asked_for_by_number_or_name(tmp_path: Path) -> None:
    crash = bot(tmp_path, "crash.py", CRASHES)
    path = record_journal(tmp_path, f"ann={crash}", f"bob={crash}", "cyd=greedy")

    for seat, name in (("0", "ann"), ("1", "bob"), ("bob", "bob")):
        assert told(path, "--seat", seat).count("was ejected") == 1
        assert [one["name"] for one in data(path, "--seat", seat)] == [name]
    assert told(path, "--seat", "2") == "cyd, seat 2, was not ejected\n"


@needs_strict
def test_the_commands_show_it_again(tmp_path: Path) -> None:
    sources = {"cheats": CHEATS, "shy": SHY, "sulks": SULKS, "crashes": CRASHES, "broken": UNREADABLE}
    for name, source in nonempty(sources.items()):
        mine = bot(tmp_path, f"{name} it's me.py", source)
        path = record_journal(tmp_path, "ann=greedy", f"bob={mine}", "cyd=random")

        [one] = data(path)
        commands = [shlex.split(command)[1:] for command in one["commands"]]
        done = [run_fairplay(*command) for command in commands]

        others = {"cheats": ["why-not"], "crashes": []}.get(name, ["replay"])
        assert [command[0] for command in commands] == ["debug", *others]
        assert [each.code for each in done] == [0, *(1 if other == "why-not" else 0 for other in others)], done
        if name == "cheats":
            assert done[1].out.startswith(f"no: {one['why']}\n")
        elif name == "broken":
            why = f"{mine} cannot be loaded: SyntaxError: expected ':' ({mine}, line 1)"
            assert " cannot be loaded: SyntaxError: expected ':' (" in done[0].out
            assert why in flat(told(path))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("-bot.py", "--sandbox strict -- -bot.py"),
        ("./a=b.py", "--sandbox strict player=./a=b.py"),
        ("", "PLAYER"),
        ("exec:node bot.js", "--sandbox strict 'exec:node bot.js'"),
        ("lookahead:2", "lookahead:2"),
        ("greedy:./bot", "--sandbox strict greedy:./bot"),  # a path, and nobody of the server
        ("nobody", "PLAYER"),
        ("py:evil:Bot.py", "PLAYER"),
        ("tcp:4000", "PLAYER"),
        (f"./{'x' * MAX_PRINTED_CHARS}", "PLAYER"),
    ],
)
def test_an_address_is_never_taken_for_something_else(address: str, shown: str, tmp_path: Path) -> None:
    path = cheated(tmp_path, *(("random", address) if address else ()))

    assert data(path)[0]["commands"][0] == f"fairplay debug {path} --seat 1 --turn 1 {shown}"
    assert address or "player-2, seat 1, its address is not in the record\n" in told(path)


HOSTILE = [
    "$(touch caught)`touch caught`; touch caught; !touch",
    "'; touch caught; '",
    "\n'; touch caught; '$(touch caught)",  # which ends the quotes of a shell that does not know $'...'
    "\\'\n; touch caught; '",
    "\x1b[2J\n touch caught\n",
    "\u202e'$(touch caught)'",
    '"$(touch caught)"',
]


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("part", HOSTILE)
def test_no_shell_runs_what_an_address_says(part: str, shell: str, tmp_path: Path) -> None:
    address = f"./{part}.py"
    path = cheated(tmp_path, "random", address)

    for command in nonempty(data(path)[0]["commands"]):
        assert command.isprintable()
        pasted = ["fairplay() { printf '%s\\0' \"$@\"; }", f"{command}; echo"]
        done = subprocess.run([shell, "-c", "\n".join(pasted)], cwd=tmp_path, capture_output=True, check=True)
        words = done.stdout.decode(errors="surrogateescape").split("\0")
        if words[0] == "debug" and (shell == "bash" or part.isprintable()):
            assert words[-2] == address
        assert not (tmp_path / "caught").exists()


def test_a_file_is_never_taken_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cheated(tmp_path).rename(tmp_path / "-f.jsonl")
    monkeypatch.chdir(tmp_path)

    done = run_fairplay("why", "--json", "--", "-f.jsonl")

    assert all(" ./-f.jsonl " in command for command in json.loads(done.out)["commands"])


def test_why_prints_no_control_codes(tmp_path: Path) -> None:
    loud = "def take_turn(view): raise RuntimeError('\\x1b[2J\\u202e a \\n b \\x9b')\n"
    mine = bot(tmp_path, "\x1b[2J.py", loud)
    path = record_journal(tmp_path, "\x1b[2Jann\n=greedy", f"bob\u202e={mine}", f"cyd\x9b\x7f={mine}")

    words, plain_data = told(path), told(path, "--json")

    assert "bob\ufffd was ejected" in words
    assert "$'" in words
    assert plain_data.isascii()
    assert [one["name"] for one in data(path)] == ["bob\u202e", "cyd\x9b\x7f"]


def test_an_answer_without_end_does_not_flood_a_terminal(tmp_path: Path) -> None:
    tiles = tuple(Placement("red star", (0, column)) for column in range(10_000))
    begin = partial(Journal(tmp_path).begin, players=("./flood.py", "random"))
    pass_on = game_info("q").built_in["dag"].make("", bytes(32))
    Referee().run(Q(), [lambda view: Place(tiles), pass_on], seed=SEED, record=begin)
    path = newest_journal(tmp_path)

    words, [one] = told(path), data(path)

    assert max(len(line) for line in words.splitlines()) < MAX_PRINTED_CHARS + 100
    assert len(one["answer"]["tiles"]) == 10_000
    assert one["commands"][1].partition("  #")[0].endswith(" --at 0 -")


def test_why_shortens_long_evidence(tmp_path: Path) -> None:
    path = cheated(tmp_path)
    lines = read_lines(path)
    for line in lines:
        line["at"] = 1e300
        if line["type"] == "fact" and line["fact"]["type"] == "ejected":
            line["evidence"] = {"detail": "\n".join(f"sigh {number}" for number in range(MAX_EVIDENCE_LINES + 10))}
    path.write_bytes(seal_lines(lines))

    words = told(path)

    assert "at an invalid time; it took " in words
    assert f"sigh {MAX_EVIDENCE_LINES - 1}\n            and 10 more lines: see --json\n" in words
    assert data(path)[0]["evidence"]["detail"].endswith(f"sigh {MAX_EVIDENCE_LINES + 9}")


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.FLOOD])
def test_why_explains_faults_of_remote_players(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalChannel, "ask", lambda *_: Failed(fault, "so it is", 2.5))

    words = told(cheated(tmp_path), "--seat", "0")

    assert f"fault     {fault.value}: " in words
    assert "; it took 2.50 s\n" in words
