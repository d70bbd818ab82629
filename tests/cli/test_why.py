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
from fairplay.core.events import Ejected, Fault
from fairplay.core.match import Match
from fairplay.core.messages import Evidence, Failed, TakeTurn
from fairplay.core.roles import Record
from fairplay.diagnosis.ejection_explanation import MAX_EVIDENCE_LINES
from fairplay.games import game_info
from fairplay.games.q import Place, Placement, Q
from fairplay.journal.ejection_report import EjectionReport, clauses
from fairplay.journal.record import Journal
from fairplay.journal.verification import read_legal
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.testing.hostile import HOSTILE_PLAYERS
from tests.cli.command import (
    DAMAGE_MESSAGES,
    damage_journal,
    forge_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)
from tests.journal.journals import (
    GAME,
    SEED,
    first_action,
    good_then,
    play_illegal_action,
    read_lines,
    record_match,
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


def bot(directory: Path, name: str, source: str) -> str:
    path = directory / name
    path.write_text(source)
    return str(path)


def evidence_of(report: Any) -> list[str]:
    """What is known, in words."""
    return describe_evidence(msgspec.convert(report["evidence"], Evidence))


def test_why_explains_an_ejection(tmp_path: Path) -> None:
    still = Journal(tmp_path, clock=lambda: 0.0, now=lambda: 1.7e9)
    path = played(
        tmp_path,
        [first_action, good_then(1, play_illegal_action)],
        partial(still.begin, players=("random", "./my bot.py")),
    )
    view = read_legal(path).match_after(3).view(1)
    board = game_info("fish").text(view, ("player-1", "player-2")).split("\n")

    shown = "\n".join(f"    {line}".rstrip() for line in board)
    assert told(path) == TOLD.format(board=shown, path=path)


def test_of_a_match_without_ejections_there_is_one_line(tmp_path: Path) -> None:
    assert told(record_journal(tmp_path)) == "no player was ejected\n"
    assert told(record_journal(tmp_path), "--seat", "0") == "ann, seat 0, was not ejected\n"
    assert told(record_journal(tmp_path), "--json") == ""


@pytest.mark.parametrize(("name", "game"), KINDS.values())
def test_why_explains_every_kind_of_ejection(name: str, game: str, tmp_path: Path) -> None:
    path = kicked(tmp_path, name, game)
    recorded, bad = read_legal(path), HOSTILE_PLAYERS[name]

    words = told(path, "--seat", "0")

    [one] = data(path, "--seat", "0")
    flat = " ".join(words.split())
    fault = bad.fault.value.replace("_", " ")
    assert words.startswith(f"Bad was ejected from a match of {game}: {fault} ({bad.moment.value})\n")
    assert f"why {one['why']}" in flat
    assert all(line in flat for line in evidence_of(one))
    assert all(f"\n    {line}".rstrip() in words for line in one["text"].split("\n"))
    assert [f"    {command}" for command in one["commands"]] == words.splitlines()[-len(one["commands"]) :]
    if one["clause"]:
        assert f"rule {one['clause']} {clauses(game)[one['clause']]}" in flat
        assert json.dumps(one["answer"], separators=(",", ":")) in words
    if bad.moment is Moment.TURN:
        assert json.dumps(one["legal"]["example"], separators=(",", ":")) in words
        assert one["text"] == game_info(game).text(recorded.game.unpack(one["shown"]), recorded.opening.names)


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.FLOOD])
def test_why_explains_faults_of_remote_players(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = LocalChannel.ask

    def fail(channel: LocalChannel, message: Any) -> Any:
        return Failed(fault, "so it is", 2.5) if isinstance(message, TakeTurn) else ask(channel, message)

    monkeypatch.setattr(LocalChannel, "ask", fail)
    path, _ = record_match(tmp_path, [first_action, first_action])

    words = told(path, "--seat", "0")

    assert f"fault     {fault.value}: " in words
    assert "; it took 2.50 s\n" in words


def test_why_explains_all_ejections_in_order(tmp_path: Path) -> None:
    shy, crash = bot(tmp_path, "shy.py", SHY), bot(tmp_path, "crash.py", CRASHES)
    path = record_journal(tmp_path, "ann=greedy", f"bob={crash}", f"cyd={shy}")

    words = told(path)

    assert words.index("cyd was ejected") < words.index("bob was ejected")
    assert [one["name"] for one in data(path)] == ["cyd", "bob"]
    assert "RuntimeError: so many people\n" in words.partition("bob was ejected")[0]
    assert "RuntimeError: a bad day\n" in words.partition("bob was ejected")[2]


def test_why_shows_the_exit_code_and_stderr_of_a_program(tmp_path: Path) -> None:
    crash = bot(tmp_path, "crash.py", f"print('loading')\n{CRASHES}")
    path = record_journal(tmp_path, "ann=greedy", f"bob={crash}", "--limit", "4")

    words = told(path).splitlines()

    [one] = data(path)
    said = [line.strip() for line in evidence_of(one)]
    assert "  why       the program ended with exit code 1" in words
    assert "  rule      no rule was broken" in words
    assert said[0].startswith("limit 4.000 s, taken 0.")
    assert said[1:4] == [
        "the program ended with exit code 1; its stderr ends with:",
        "loading",
        "Traceback (most recent call last):",
    ]
    assert said[-1] == "RuntimeError: a bad day"
    assert " ".join("\n".join(words).partition("  evidence  ")[2].split()).startswith(" ".join(" ".join(said).split()))


def test_why_explains_a_file_without_a_player(tmp_path: Path) -> None:
    broken = bot(tmp_path, "broken.py", UNREADABLE)
    path = record_journal(tmp_path, "ann=greedy", f"bob={broken}")

    words = told(path)

    why = f"{broken} cannot be loaded: SyntaxError: expected ':' ({broken}, line 1)"
    assert words.startswith("bob was ejected from a match of fish: crashed (greeting)\n")
    assert why in " ".join(words.split())


def test_the_name_of_a_player_that_was_not_ejected_moves_no_terminal(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob=random")

    assert told(path, "--seat", "0") == "\N{REPLACEMENT CHARACTER}[2Jann, seat 0, was not ejected\n"


@pytest.mark.parametrize(("seat", "name"), [("0", "ann"), ("1", "bob"), ("bob", "bob")])
def test_one_seat_can_be_asked_for_by_number_or_name(seat: str, name: str, tmp_path: Path) -> None:
    crash = bot(tmp_path, "crash.py", CRASHES)
    path = record_journal(tmp_path, f"ann={crash}", f"bob={crash}", "cyd=greedy")

    assert told(path, "--seat", seat).count("was ejected") == 1
    assert [one["name"] for one in data(path, "--seat", seat)] == [name]
    assert told(path, "--seat", "2") == "cyd, seat 2, was not ejected\n"


@pytest.mark.parametrize("seat", ["3", "-1", "dan", ""])
def test_an_unknown_seat_is_refused(seat: str, tmp_path: Path) -> None:
    assert "there is no seat " in refusal_line(run_fairplay("why", str(record_journal(tmp_path)), "--seat", seat))


@needs_strict
def test_the_commands_show_it_again(tmp_path: Path) -> None:
    sources = {"cheats": CHEATS, "shy": SHY, "sulks": SULKS, "crashes": CRASHES, "broken": UNREADABLE}
    for name, source in nonempty(sources.items()):
        mine = bot(tmp_path, f"{name} it's me.py", source)
        path = record_journal(tmp_path, "ann=greedy", f"bob={mine}", "cyd=random")

        [one] = data(path)
        done = [run_fairplay(*shlex.split(command)[1:]) for command in one["commands"]]

        assert [shlex.split(command)[1] for command in one["commands"]] == (
            ["debug", "why-not"] if name == "cheats" else ["debug"] if name == "crashes" else ["debug", "replay"]
        )
        assert done[0].code == 0, done  # it is the same as in the record
        if name == "cheats":
            assert (done[1].code, done[1].out.partition("\n")[0]) == (1, f"no: {one['why']}")
        elif name == "broken":
            assert " cannot be loaded: SyntaxError: expected ':' (" in done[0].out
        elif name != "crashes":
            assert done[1].code == 0, done


def test_a_record_that_does_not_say_who_played_says_so(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])

    words = told(path)

    assert "player-2, seat 1, its address is not in the record\n" in words
    assert "--seat 1 --turn 1 PLAYER\n" in words


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("-bot.py", "--sandbox strict -- -bot.py"),
        ("- bot.py", "--sandbox strict -- '- bot.py'"),
        ("./a=b.py", "--sandbox strict player=./a=b.py"),
        ("exec:node bot.js", "--sandbox strict 'exec:node bot.js'"),
        ("lookahead:2", "lookahead:2"),
        ("greedy:./bot", "--sandbox strict greedy:./bot"),  # a path, and nobody of the server
        ("greedy:bot.py", "--sandbox strict greedy:bot.py"),
        ("nobody", "PLAYER"),
        ("py:evil:Bot", "PLAYER"),
        ("py:evil:Bot.py", "PLAYER"),
        ("py:./evil", "PLAYER"),
        ("tcp:4000", "PLAYER"),
        ("ws:host/bot.py", "PLAYER"),
        (f"./{'x' * MAX_PRINTED_CHARS}", "PLAYER"),
    ],
)
def test_an_address_is_never_taken_for_something_else(address: str, shown: str, tmp_path: Path) -> None:
    path = played(
        tmp_path, [first_action, play_illegal_action], partial(Journal(tmp_path).begin, players=("random", address))
    )

    assert data(path)[0]["commands"][0] == f"fairplay debug {path} --seat 1 --turn 1 {shown}"


HOSTILE = [
    "$(touch caught)",
    "`touch caught`",
    "; touch caught;",
    "'; touch caught; '",
    "\n'; touch caught; '",  # which ends the quotes of a shell that does not know $'...'
    "\n$(touch caught)",
    "\\'\n; touch caught; '",
    "\x1b[2J\n touch caught\n",
    "\u202e'$(touch caught)'",
    '"$(touch caught)"',
    "!touch",
]


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("part", HOSTILE)
def test_no_shell_runs_what_an_address_says(part: str, shell: str, tmp_path: Path) -> None:
    address = f"./{part}.py"
    path = played(
        tmp_path, [first_action, play_illegal_action], partial(Journal(tmp_path).begin, players=("random", address))
    )

    for command in nonempty(data(path)[0]["commands"]):
        assert command.isprintable()
        pasted = ["fairplay() { printf '%s\\0' \"$@\"; }", f"{command}; echo"]
        done = subprocess.run([shell, "-c", "\n".join(pasted)], cwd=tmp_path, capture_output=True, check=True)
        words = done.stdout.decode(errors="surrogateescape").split("\0")
        if words[0] == "debug" and (shell == "bash" or part.isprintable()):
            assert words[-2] == address
        assert not (tmp_path / "caught").exists()


def test_a_file_is_never_taken_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])
    path.rename(tmp_path / "-f.jsonl")
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


def test_why_shows_only_the_hand_of_the_ejected_player(tmp_path: Path) -> None:
    path = kicked(tmp_path, "answers junk", "q")
    match = read_legal(path).match_after(0)

    words, [one] = told(path), data(path)

    assert words.count("    hand  ") == 1
    assert one["shown"]["hand"] == match.game.pack(match.view(0))["hand"]


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
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])
    lines = read_lines(path)
    for line in lines:
        if line["type"] == "fact" and line["fact"]["type"] == "ejected":
            line["evidence"] = {"detail": "\n".join(f"sigh {number}" for number in range(MAX_EVIDENCE_LINES + 10))}
    path.write_bytes(seal_lines(lines))

    words = told(path)

    assert f"sigh {MAX_EVIDENCE_LINES - 1}\n            and 10 more lines: see --json\n" in words
    assert data(path)[0]["evidence"]["detail"].endswith(f"sigh {MAX_EVIDENCE_LINES + 9}")


def test_json_holds_everything(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])

    [one] = data(path)

    assert list(one) == [*EjectionReport.__struct_fields__, "text", "commands"]
    assert (one["game"], one["parameters"]) == ("fish", GAME.parameters())
    assert (one["fault"], one["moment"], one["clause"]) == ("illegal", "turn", "3.2")
    assert one["rule"] == clauses("fish")["3.2"]
    assert one["legal"] == {"count": 15, "example": {"type": "place", "at": [0, 1]}}


def test_why_prints_impossible_times(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])
    path.write_bytes(seal_lines([{**line, "at": 1e300} for line in read_lines(path)]))

    assert "at an invalid time; it took " in told(path)


def test_an_unfinished_match_can_be_asked_about(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))

    assert told(path).startswith("player-2 was ejected ")


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_why_refuses_a_damaged_journal(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("why", str(path))).startswith(f"{path}: ")


def test_why_refuses_a_forged_match(tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    assert refusal_line(run_fairplay("why", str(path))).startswith(f"{path}: line 5: this is not legal: rule 3.3: ")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shown": None}, "this is not what the player was shown"),
        ({"answer": {"type": "place", "at": [0, 1]}}, "this was legal and cannot lead to an ejection"),
        ({"answer": {"type": "place", "at": [0, 0]}}, "this is not how the referee judges it"),
        ({"fact": {"clause": "3.3"}}, "this is not how the referee judges it"),
        ({"fact": {"why": "it was rude"}}, "this is not how the referee judges it"),
    ],
)
def test_no_reason_for_an_ejection_can_be_made_up(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, play_illegal_action])
    lines = read_lines(path)
    [place] = [at for at, fact in enumerate(read_legal(path).facts, 2) if isinstance(fact, Ejected)]
    lines[place] = {**lines[place], **change, "fact": {**lines[place]["fact"], **change.get("fact", {})}}
    path.write_bytes(seal_lines(lines))

    assert refusal_line(run_fairplay("why", str(path))) == f"{path}: line {place + 1}: {why}"


def test_the_script_tells_the_same(tmp_path: Path) -> None:
    crash = bot(tmp_path, "crash.py", CRASHES)
    path = record_journal(tmp_path, "ann=greedy", f"bob={crash}")

    assert run_script("why", str(path)) == run_fairplay("why", str(path))
