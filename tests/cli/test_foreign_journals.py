"""Test that only journals with a MAC of our own key are resumed, and that foreign or forged ones run nothing."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay.games.fish import Fish
from fairplay.journal.key import KEY_BYTES, user_key_file
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import read_legal, verify
from fairplay.referee.referee import deal_match
from tests.cli.command import (
    BEST_SANDBOX,
    LEGAL_BOT,
    SMALL_BOARD,
    make_in_process_player,
    refusal_line,
    run_fairplay,
    run_script,
)
from tests.journal.forging import Forgery, forge_journal, rewrite_opening
from tests.journal.journals import Plain, read_lines, seal_lines
from tests.players.machine import needs_strict

PLAY = ("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--quiet")
GAME = Fish(rows=4, columns=4)
THEIRS = bytes(range(32))  # a seed that the attacker knows


def foreign_refusal(path: Path, *players: str) -> str:
    named = f"; it names these players: {', '.join(players)}" if players else ""
    return (
        f"{path} was not recorded with your key, or was changed or renamed since; "
        f"to resume it anyway: fairplay resume {path} --trust{named}"
    )


def foreign_journal(directory: Path, *players: str, names: tuple[str, ...] = ("ann", "bob"), **options: Any) -> Path:
    """A sound journal that a stranger wrote, without our key."""
    with Journal(directory).begin(deal_match(GAME, names, THEIRS), players=players, **options) as record:
        return record.path


def cut(path: Path, lines: int) -> Path:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    return path


def own(directory: Path, *options: str, lines: int = 8) -> Path:
    """A match of PLAY that was begun here and interrupted."""
    assert run_fairplay(*PLAY, *options, "--journal", str(directory)).code == 0
    (path,) = directory.glob("*.jsonl")
    return cut(path, lines)


def program(directory: Path) -> tuple[str, Path]:
    """The address of a player that leaves a trace when it is run, and the trace."""
    bot, trace = directory / "bot.py", directory / "trace"
    bot.write_text(f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n{LEGAL_BOT}")
    return str(bot), trace


# What a stranger's journal names.


@pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])
def test_a_foreign_journal_runs_nothing_unless_it_is_trusted(place: tuple[str, ...], tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", bot, "greedy")
    left, resume = path.read_bytes(), ("resume", str(path), *place, "--sandbox", "none", "--quiet")

    assert refusal_line(run_fairplay(*resume)) == foreign_refusal(path, bot)
    assert not trace.exists()
    assert path.read_bytes() == left

    assert run_fairplay(*resume, "--trust").code == 0
    assert trace.exists()


@pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])
def test_a_damaged_foreign_journal_is_refused_as_not_ours(place: tuple[str, ...], tmp_path: Path) -> None:
    path = foreign_journal(tmp_path / "games", "greedy", "greedy")
    path.write_bytes(path.read_bytes().replace(b"ann", b"ANN", 1))

    assert refusal_line(run_fairplay("resume", str(path), *place)) == foreign_refusal(path)


def test_the_refusal_of_a_foreign_journal_lists_no_clients_of_a_server(tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, "client:ann", "greedy")

    assert refusal_line(run_fairplay("resume", str(path))) == foreign_refusal(path)


@pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])
def test_a_name_in_a_trusted_journal_is_not_taken_for_a_player(place: tuple[str, ...], tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", names=(bot, "greedy"))

    done = run_fairplay("resume", str(path), *place, "--trust", "--sandbox", "none", "--quiet")

    assert "the record does not name the players" in refusal_line(done)
    assert not trace.exists()


@pytest.mark.parametrize("trust", [(), ("--trust",)])
@pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])
def test_no_record_makes_us_import_anything(
    place: tuple[str, ...], trust: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = make_in_process_player(LEGAL_BOT, tmp_path, monkeypatch)
    path = foreign_journal(tmp_path / "games", player, "greedy")

    why = refusal_line(run_fairplay("resume", str(path), *place, *trust))

    no_import = (
        f"{path}: this record names {player}, and nothing is imported because a record names it; "
        "repeat the command that began the match, or name the players to begin a branch"
    )
    assert why == (no_import if trust else foreign_refusal(path, player))
    assert player.split(":")[1] not in sys.modules


def test_an_in_process_player_is_loaded_by_its_command_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = make_in_process_player(LEGAL_BOT, tmp_path, monkeypatch)
    play = ("play", "fish", player, "greedy", *SMALL_BOARD, "--quiet", "--journal", str(tmp_path))
    assert run_fairplay(*play).code == 0
    (path,) = tmp_path.glob("*.jsonl")
    cut(path, 8)

    assert "nothing is imported because a record names it" in refusal_line(run_fairplay("resume", str(path)))
    assert run_fairplay("resume", str(path), player, "greedy", "--quiet").code == 0  # as a branch
    assert run_fairplay(*play).err == f"fairplay: resuming {path}\n"


def test_a_branch_runs_only_players_of_the_command_line(tmp_path: Path) -> None:
    cheat, (bot, trace) = tmp_path / "cheat.py", program(tmp_path)
    cheat.write_text("def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}\n")
    players = (f"ann={bot}", f"bob={cheat}", "cyd=greedy")
    assert (
        run_fairplay("play", "fish", *players, *SMALL_BOARD, "--sandbox", "none", "--journal", str(tmp_path)).code == 0
    )
    (path,) = tmp_path.glob("*.jsonl")
    lines = read_lines(path)
    path.write_bytes(seal_lines([{**lines[0], "players": [bot, "exec:/nowhere/bot", f"exec:{bot}"]}, *lines[1:]]))
    trace.unlink()

    done = run_fairplay("resume", str(path), "--at", "4", "random", "greedy", "--quiet")

    assert [out.seat for out in read_journal(path).match_after(4).ejected] == [1]
    assert (done.code, done.err) == (0, "")
    assert not trace.exists()


# What play goes on with.


def test_a_foreign_match_is_not_resumed_and_a_new_one_starts(tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, "greedy", "random", random_seed=True)
    left = path.read_bytes()

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    (new,) = set(tmp_path.glob("*.jsonl")) - {path}
    assert (done.code, done.err) == (0, f"fairplay: a new match begins: {foreign_refusal(path)}\n")
    assert read_journal(new).opening.seed != THEIRS.hex()
    assert path.read_bytes() == left
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0
    assert verify(read_journal(path)).turn is None


def test_of_many_foreign_matches_one_is_named(tmp_path: Path) -> None:
    first, *_ = [foreign_journal(tmp_path, "greedy", "random", random_seed=True) for _ in range(3)]

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert done.err == f"fairplay: a new match begins: {foreign_refusal(first)} (2 more like that)\n"


def test_our_own_match_is_resumed_beside_a_foreign_one(tmp_path: Path) -> None:
    path = own(tmp_path)
    foreign_journal(tmp_path, "greedy", "random", random_seed=True, limits=None)

    assert run_fairplay(*PLAY, "--journal", str(tmp_path)).err == f"fairplay: resuming {path}\n"


def test_a_damaged_foreign_match_does_not_stop_a_new_one(tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, "greedy", "random", random_seed=True)
    path.write_bytes(path.read_bytes() + b"junk\n")

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert (done.code, done.err) == (0, f"fairplay: a new match begins: {foreign_refusal(path)}\n")


# Journals that were begun here, and changed by somebody without the key.


def appended(**line: Any) -> Forgery:
    return lambda lines: [*lines, {"type": "fact", "seq": 0, "at": 1.0, "took": 0.0, **line}]


def another_move(lines: list[Plain]) -> list[Plain]:
    """Another place for the last penguin that was put, which is just as legal."""
    taken = [line["fact"]["action"]["at"] for line in lines if line["type"] == "fact"]
    at = next([row, column] for row in range(4) for column in range(2) if [row, column] not in taken)
    last = lines[-1]
    return [*lines[:-1], {**last, "fact": {**last["fact"], "action": {**last["fact"]["action"], "at": at}}}]


OUT = {"type": "ejected", "seat": 0, "fault": "gone", "moment": "turn", "why": "gone"}
RESUMED = {"type": "resumed", "fairplay": "0", "epoch": 2, "sandbox": "none"}
FORGERIES: dict[str, Callable[[list[Plain]], list[Plain]]] = {
    "players": rewrite_opening(players=["greedy", "exec:evil"]),
    "names": lambda lines: [{**line, "names": ["ann", "eve"]} if "names" in line else line for line in lines],
    "limits": rewrite_opening(limits={"move": 86400.0}),
    "sandbox": rewrite_opening(sandbox="none"),
    "random seed": rewrite_opening(random_seed=False),
    "another move": another_move,
    "an ejection": lambda lines: [*lines[:2], {**lines[2], "fact": {**OUT, "fault": "gone"}, "shown": None}],
    "a resumption with another sandbox": appended(**RESUMED),
    "no MAC": lambda lines: [{name: value for name, value in line.items() if name != "mac"} for line in lines],
    "no MAC on the last line": lambda lines: [*lines[:-1], {n: v for n, v in lines[-1].items() if n != "mac"}],
    "MACs of other lines": lambda lines: [{**line, "mac": lines[0]["mac"]} for line in lines],
}


@pytest.mark.parametrize("how", FORGERIES)
def test_whatever_is_changed_without_the_key_is_not_ours_any_more(how: str, tmp_path: Path) -> None:
    path = own(tmp_path, lines=4)
    forge_journal(path, FORGERIES[how])
    left = path.read_bytes()

    assert refusal_line(run_fairplay("resume", str(path))).startswith(foreign_refusal(path))
    run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert path.read_bytes() == left
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_another_move_would_have_been_legal(tmp_path: Path) -> None:
    """Or else it would not be the mark that refuses it."""
    path = own(tmp_path, lines=4)
    facts = read_journal(path).facts
    forge_journal(path, another_move)

    assert read_legal(path).facts != facts
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0


def test_a_copy_under_another_name_is_not_ours(tmp_path: Path) -> None:
    path = own(tmp_path)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(cut(path, 1).read_bytes())
    path.unlink()

    assert refusal_line(run_fairplay("resume", str(copy))) == foreign_refusal(copy)
    assert (
        run_fairplay(*PLAY, "--journal", str(tmp_path)).err
        == f"fairplay: a new match begins: {foreign_refusal(copy)}\n"
    )


def test_lines_of_two_of_our_own_do_not_make_a_third(tmp_path: Path) -> None:
    one, two = own(tmp_path / "one", "--seed", "7"), own(tmp_path / "two", "--seed", "7")
    one.write_bytes(seal_lines([read_lines(one)[0], *read_lines(two)[1:]]))

    assert refusal_line(run_fairplay("resume", str(one))) == foreign_refusal(one)


def test_a_journal_that_was_trusted_once_is_ours_from_then_on(tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, "greedy", "random")
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0
    whole = read_journal(path)
    cut(path, len(whole.heads) - 3)

    assert run_fairplay("resume", str(path), "--quiet").code == 0
    assert read_journal(path).facts == whole.facts


# Branches of a stranger's journal.


def test_a_branch_is_ours_from_its_first_line_that_was_not_copied(tmp_path: Path) -> None:
    parent = foreign_journal(tmp_path / "theirs", "exec:evil", "exec:evil")
    branch = ("resume", str(parent), "greedy", "random", "--journal", str(tmp_path / "ours"), "--quiet")
    assert run_fairplay(*branch).code == 0
    (path,) = (tmp_path / "ours").glob("*.jsonl")
    whole = path.read_bytes().splitlines(keepends=True)

    for lines, code in ((1, 2), (2, 0), (5, 0)):
        path.write_bytes(b"".join(whole[:lines]))
        assert run_fairplay("resume", str(path), "--quiet").code == code


def test_the_conditions_of_the_parent_are_not_those_of_a_branch(tmp_path: Path) -> None:
    parent = foreign_journal(tmp_path / "theirs", "greedy", "random")
    forge_journal(parent, appended(**RESUMED, limits={"move": 86400.0}))
    bot, _ = program(tmp_path)
    branch = ("resume", str(parent), bot, "random", "--limit", "9", "--sandbox", "none", "--quiet")

    assert run_fairplay(*branch, "--journal", str(tmp_path / "ours")).code == 0

    (path,) = (tmp_path / "ours").glob("*.jsonl")
    recorded = read_journal(path)
    assert recorded.limits == recorded.opening.limits
    assert recorded.limits is not None
    assert recorded.limits["move"] == 9.0
    assert (read_journal(parent).sandbox, recorded.sandbox) == ("none", recorded.opening.sandbox)


# The key.


def test_the_key_is_made_when_it_is_first_needed_and_is_in_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    assert run_fairplay(*PLAY).code == 0
    assert not user_key_file().exists()

    path = own(tmp_path / "games")
    key = (tmp_path / "state" / "fairplay" / "key").read_bytes()
    assert len(key) == KEY_BYTES
    assert (user_key_file().stat().st_mode & 0o777, user_key_file().parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list(user_key_file().parent.iterdir()) == [user_key_file()]
    assert key not in path.read_bytes()
    assert key.hex() not in path.read_text()


def test_another_key_does_not_recognise_a_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = own(tmp_path / "games")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of somebody else"))

    assert refusal_line(run_fairplay("resume", str(path))) == foreign_refusal(path)


def spoil_key(how: str, file: Path) -> str:
    """Make a key that cannot be relied on, and say why."""
    file.parent.mkdir(parents=True)
    match how:
        case "open to all":
            file.write_bytes(bytes(32))
            file.chmod(0o644)
            return "other users may access it (mode 0644); set its mode to 0600"
        case "a link":
            other = file.with_name("other")
            other.write_bytes(bytes(32))
            other.chmod(0o600)
            file.symlink_to(other)
            return "it is a link"
        case "a pipe":
            os.mkfifo(file, 0o600)
        case "a directory":
            file.mkdir(0o700)
        case "of somebody else":
            file.write_bytes(bytes(32))
            file.chmod(0o600)
            os.chown(file, 12345, 12345)
            return "it belongs to another user"
        case _:
            file.write_bytes(b"short")
            file.chmod(0o600)
            return "it has 5 bytes, not 32"
    return "it is not a file"


@pytest.mark.parametrize("how", ["open to all", "a link", "a pipe", "a directory", "of somebody else", "short"])
def test_a_key_that_cannot_be_relied_on_is_refused(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "of somebody else" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    why = spoil_key(how, user_key_file())

    path = foreign_journal(tmp_path / "theirs", "greedy", "random")
    games = ("--journal", str(tmp_path / "games"))

    for command in ((*PLAY, *games), ("resume", str(path)), ("resume", str(path), "random", "greedy", *games)):
        assert refusal_line(run_fairplay(*command)) == f"{user_key_file()} cannot be used as a key: {why}"
    assert not (tmp_path / "games").exists()
    assert run_fairplay("resume", str(path), "random", "greedy", "--quiet").code == 0  # where nobody needs it


def test_a_branch_says_that_it_is_recorded_without_a_mark(tmp_path: Path) -> None:
    branch = ("resume", str(own(tmp_path)), "greedy", "random", "--journal", str(tmp_path / "new"), "--quiet")

    done = run_script(*branch, environment={"XDG_STATE_HOME": "/proc/nowhere"})

    assert done.code == 0
    assert done.err.startswith(
        "fairplay: the match is recorded WITHOUT A MAC, so that it can be resumed only with --trust"
    )


def test_where_no_key_can_be_kept_matches_are_played_all_the_same(tmp_path: Path) -> None:
    nowhere = {"XDG_STATE_HOME": "/proc/nowhere"}
    warning = (
        "fairplay: the match is recorded WITHOUT A MAC, so that it can be resumed only with --trust: "
        "cannot store a journal key in /proc/nowhere/fairplay/key: No such file or directory\n"
    )
    play = (*PLAY, "--journal", str(tmp_path))

    done = run_script(*play, environment=nowhere)

    assert (done.code, done.err) == (0, warning)
    (path,) = tmp_path.glob("*.jsonl")
    assert "mark" not in json.loads(path.read_text().splitlines()[0])
    cut(path, 5)
    assert refusal_line(run_script("resume", str(path), environment=nowhere)) == foreign_refusal(path)
    done = run_script("resume", str(path), "--trust", "--quiet", environment=nowhere)
    assert (done.code, done.err) == (0, warning)
    assert run_script(*PLAY, environment=nowhere).err == ""  # nothing is recorded, so nobody needs a mark


READS_THE_KEY = """
from contextlib import suppress
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    with suppress(OSError):
        if Path({key!r}).read_bytes():
            raise RuntimeError("there it is")
    return next(Fish().actions(view))
"""


@needs_strict
def test_no_program_in_a_sandbox_sees_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "bots" / "state"))
    bot = tmp_path / "bots" / "bot.py"
    bot.parent.mkdir()
    bot.write_text(READS_THE_KEY.format(key=str(user_key_file())))
    play = ("play", "fish", str(bot), "greedy", *SMALL_BOARD, "--quiet", "--journal", str(tmp_path / "games"))

    free, shut_in = run_fairplay(*play, "--sandbox", "none"), run_fairplay(*play, *BEST_SANDBOX)

    assert "there it is" in free.out
    assert " is out: " not in shut_in.out
    assert shut_in.code == 0
