"""Test that foreign or forged journals are resumed only with --trust, which names their programs before they run."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.chance import seed_commitment
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
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)
from tests.journal.forging import forge_journal, rewrite_opening
from tests.journal.journals import Plain, read_lines, seal_lines

PLAY = ("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--quiet")
GAME = Fish(rows=4, columns=4)
THEIRS = bytes(range(32))  # a seed that the attacker knows


def foreign_refusal(path: Path, *players: str) -> str:
    named = f"; it names these players: {', '.join(players)}" if players else ""
    return (
        f"{path} was not recorded with your key, or was changed or renamed since; "
        f"to resume it anyway: fairplay resume {path} --trust{named}"
    )


def named(path: Path, seat: int, address: str) -> str:
    return f"fairplay: {path} names the player of seat {seat}: {address}\n"


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


in_its_file_and_as_a_branch = pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])

# What a stranger's journal names.


@in_its_file_and_as_a_branch
def test_a_foreign_journal_runs_nothing_unless_it_is_trusted(place: tuple[str, ...], tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", bot, f"exec:/usr/bin/env python3 {bot}")
    left, resume = path.read_bytes(), ("resume", str(path), *place, "--sandbox", "none", "--quiet")
    other = f"'exec:/usr/bin/env python3 {bot}'"

    assert refusal_line(run_fairplay(*resume)) == foreign_refusal(path, bot, other)
    assert not trace.exists()
    assert path.read_bytes() == left

    done = run_fairplay(*resume, "--trust")
    assert (done.code, done.err) == (0, named(path, 0, bot) + named(path, 1, other))
    assert trace.exists()


@in_its_file_and_as_a_branch
def test_a_damaged_foreign_journal_is_refused_as_not_ours(place: tuple[str, ...], tmp_path: Path) -> None:
    """And the refusal lists no clients of a server."""
    path = foreign_journal(tmp_path / "games", "client:ann", "greedy")
    for text in (path.read_bytes(), path.read_bytes().replace(b"ann", b"ANN", 1)):
        path.write_bytes(text)
        assert refusal_line(run_fairplay("resume", str(path), *place)) == foreign_refusal(path)


@in_its_file_and_as_a_branch
def test_a_name_in_a_trusted_journal_is_not_taken_for_a_player(place: tuple[str, ...], tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", names=(bot, "greedy"))

    done = run_fairplay("resume", str(path), *place, "--trust", "--sandbox", "none", "--quiet")

    assert "the record does not name the players" in refusal_line(done)
    assert not trace.exists()


@pytest.mark.parametrize("trust", [(), ("--trust",)])
@in_its_file_and_as_a_branch
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
    path = cut(record_journal(tmp_path, player, "greedy", "--seed", "7"), 8)

    assert "nothing is imported because a record names it" in refusal_line(run_fairplay("resume", str(path)))
    assert run_fairplay("resume", str(path), player, "greedy", "--quiet").code == 0  # as a branch
    assert run_fairplay(*play, "--seed", "7").err == f"fairplay: resuming {path}\n"


def test_a_branch_runs_only_players_of_the_command_line(tmp_path: Path) -> None:
    cheat, (bot, trace) = tmp_path / "cheat.py", program(tmp_path)
    cheat.write_text("def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}\n")
    path = record_journal(tmp_path, f"ann={bot}", f"bob={cheat}", "cyd=greedy", "--sandbox", "none")
    lines = read_lines(path)
    path.write_bytes(seal_lines([{**lines[0], "players": [bot, "exec:/nowhere/bot", f"exec:{bot}"]}, *lines[1:]]))
    trace.unlink()

    done = run_fairplay("resume", str(path), "--at", "4", "random", "greedy", "--quiet")

    assert [out.seat for out in read_journal(path).match_after(4).ejected] == [1]
    assert (done.code, done.err) == (0, "")
    assert not trace.exists()


# What play goes on with.


def test_a_foreign_match_is_not_resumed_and_a_new_one_starts(tmp_path: Path) -> None:
    path, damaged = (foreign_journal(tmp_path, "greedy", "random", random_seed=True) for _ in range(2))
    damaged.write_bytes(damaged.read_bytes() + b"junk\n")
    left = path.read_bytes()

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    (new,) = set(tmp_path.glob("*.jsonl")) - {path, damaged}
    assert (done.code, done.err) == (0, f"fairplay: a new match begins: {foreign_refusal(path)} (1 more like that)\n")
    assert read_journal(new).opening.seed != THEIRS.hex()
    assert path.read_bytes() == left
    cut(new, 8)
    assert run_fairplay(*PLAY, "--journal", str(tmp_path)).err == f"fairplay: resuming {new}\n"
    assert run_fairplay("resume", str(path), "--trust", "--quiet").code == 0
    assert verify(read_journal(path)).turn is None


# Journals that were begun here, and changed by somebody without the key.


def another_move(lines: list[Plain]) -> list[Plain]:
    """Another place for the last penguin that was put, which is just as legal."""
    taken = [line["fact"]["action"]["at"] for line in lines if line["type"] == "fact"]
    at = next([row, column] for row in range(4) for column in range(2) if [row, column] not in taken)
    last = lines[-1]
    return [*lines[:-1], {**last, "fact": {**last["fact"], "action": {**last["fact"]["action"], "at": at}}}]


OUT = {"type": "ejected", "seat": 0, "fault": "gone", "moment": "turn", "why": "gone"}
RESUMED = {"type": "resumed", "seq": 0, "at": 1.0, "took": 0.0, "fairplay": "0", "epoch": 2, "sandbox": "none"}
FORGERIES: dict[str, Callable[[list[Plain]], list[Plain]]] = {
    "players": rewrite_opening(players=["greedy", "exec:evil"]),
    "another move": another_move,
    "an ejection": lambda lines: [*lines[:2], {**lines[2], "fact": OUT, "shown": None}],
    "a resumption with another sandbox": lambda lines: [*lines, RESUMED],
    "no MAC": lambda lines: [{name: value for name, value in line.items() if name != "mac"} for line in lines],
    "no MAC on the last line": lambda lines: [*lines[:-1], {n: v for n, v in lines[-1].items() if n != "mac"}],
    "MACs of other lines": lambda lines: [{**line, "mac": lines[0]["mac"]} for line in lines],
}


@pytest.mark.parametrize("how", FORGERIES)
def test_whatever_is_changed_without_the_key_is_not_ours_any_more(how: str, tmp_path: Path) -> None:
    path = own(tmp_path, lines=4)
    facts = read_journal(path).facts
    forge_journal(path, FORGERIES[how])
    left = path.read_bytes()

    assert refusal_line(run_fairplay("resume", str(path))).startswith(foreign_refusal(path))
    run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert path.read_bytes() == left
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    if how == "another move":  # it would have been legal, so it is the MAC that refuses it
        assert read_legal(path).facts != facts


def test_a_copy_under_another_name_is_not_ours(tmp_path: Path) -> None:
    copy = cut(own(tmp_path), 1).rename(tmp_path / "copy.jsonl")

    assert refusal_line(run_fairplay("resume", str(copy))) == foreign_refusal(copy)
    begun = run_fairplay(*PLAY, "--journal", str(tmp_path))
    assert begun.err == f"fairplay: a new match begins: {foreign_refusal(copy)}\n"


# Branches of a stranger's journal.


def test_a_branch_is_ours_from_its_first_line_that_was_not_copied(tmp_path: Path) -> None:
    """And so is a journal that was trusted once."""
    parent = foreign_journal(tmp_path / "theirs", "greedy", "random")
    branch = ("resume", str(parent), "greedy", "random", "--journal", str(tmp_path / "ours"), "--quiet")
    assert run_fairplay(*branch).code == 0
    assert run_fairplay("resume", str(parent), "--trust", "--quiet").code == 0
    (path,) = (tmp_path / "ours").glob("*.jsonl")
    whole = path.read_bytes().splitlines(keepends=True)

    for lines, code in ((1, 2), (2, 0), (5, 0)):
        path.write_bytes(b"".join(whole[:lines]))
        assert run_fairplay("resume", str(path), "--quiet").code == code
    assert run_fairplay("resume", str(cut(parent, 8)), "--quiet").code == 0


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
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of somebody else"))
    assert refusal_line(run_fairplay("resume", str(path))) == foreign_refusal(path)


def test_a_key_that_cannot_be_relied_on_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    key, sound, path = user_key_file(), tmp_path / "sound", foreign_journal(tmp_path / "theirs", "greedy", "random")
    games = ("--journal", str(tmp_path / "games"))
    key.parent.mkdir(parents=True)
    sound.write_bytes(bytes(KEY_BYTES))
    sound.chmod(0o600)
    cases: list[tuple[str, Callable[[], object]]] = [
        ("it is a link", lambda: key.symlink_to(sound)),
        ("it is not a file", lambda: os.mkfifo(key, 0o600)),
        ("it has 5 bytes, not 32", lambda: os.truncate(shutil.copy2(sound, key), 5)),
    ]
    if os.geteuid() == 0:
        cases.append(("it belongs to another user", lambda: os.chown(shutil.copy2(sound, key), 12345, 12345)))

    for why, make in cases:
        make()
        for command in ((*PLAY, *games), ("resume", str(path)), ("resume", str(path), "random", "greedy", *games)):
            assert refusal_line(run_fairplay(*command)) == f"{key} cannot be used as a key: {why}"
        assert run_fairplay("resume", str(path), "random", "greedy", "--quiet").code == 0  # where nobody needs it
        key.unlink()
    assert not (tmp_path / "games").exists()


def test_where_no_key_can_be_kept_matches_are_played_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    warning = (
        "fairplay: the match is recorded WITHOUT A MAC, so that it can be resumed only with --trust: "
        "cannot store a journal key in /proc/nowhere/fairplay/key: No such file or directory\n"
    )

    done = run_fairplay(*PLAY, "--journal", str(tmp_path))

    assert (done.code, done.err) == (0, warning)
    (path,) = tmp_path.glob("*.jsonl")
    assert "mac" not in json.loads(path.read_text().splitlines()[0])
    assert refusal_line(run_fairplay("resume", str(cut(path, 5)))) == foreign_refusal(path)
    done = run_fairplay("resume", str(path), "--trust", "--quiet")
    assert (done.code, done.err) == (0, warning)
    assert run_fairplay(*PLAY).err == ""  # nothing is recorded, so nobody needs a key
    branch = run_fairplay("resume", str(path), "--at", "3", "--journal", str(tmp_path / "new"), "--trust", "--quiet")
    assert (branch.code, branch.err) == (0, warning)


ESCAPES = "\x1b[2J\x1b]0;title\x07\u202e\nfairplay: all is well"


def test_a_program_is_named_before_it_is_run(tmp_path: Path) -> None:
    """The program copies what was said so far."""
    said, seen = tmp_path / "said", tmp_path / "seen"
    path = foreign_journal(tmp_path / "games", f"exec:/bin/cp {said} {seen}", "greedy")

    with said.open("w") as err:
        run_script("resume", str(path), "--trust", "--sandbox", "none", "--quiet", stderr=err)

    assert seen.read_text() == named(path, 0, f"'exec:/bin/cp {said} {seen}'")


@pytest.mark.parametrize(("recorded", "named"), [("exec:/bin/false", ("greedy", "greedy")), ("lookahead:1", ())])
def test_players_of_the_command_line_and_built_in_ones_are_not_said_to_be_named_by_the_journal(
    recorded: str, named: tuple[str, ...], tmp_path: Path
) -> None:
    path = foreign_journal(tmp_path / "games", recorded, "greedy")

    done = run_fairplay("resume", str(path), *named, "--trust", "--quiet", *BEST_SANDBOX)

    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_no_command_of_a_journal_moves_the_terminal(trust: tuple[str, ...], tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, f"exec:/bin/echo '{ESCAPES}'", "greedy", names=(ESCAPES, "bob"))

    done = run_fairplay("resume", str(path), *trust, *BEST_SANDBOX)

    for line in (done.out + done.err).splitlines():
        assert line.isprintable()
        assert not line.startswith("fairplay: all is well")
    assert r"exec:/bin/echo \x27\x1b[2J" in done.err


def test_a_port_of_a_trusted_journal_is_named_before_it_is_opened(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp:127.0.0.1:{taken.getsockname()[1]}"
        path = foreign_journal(tmp_path, address, "greedy")
        left = path.read_bytes()

        done = run_fairplay("resume", str(path), "--trust", "--quiet")

    assert done.code == 2
    assert done.err.startswith(named(path, 0, address) + "fairplay: cannot listen")
    assert path.read_bytes() == left


INVALID: dict[str, Any] = {
    "a module": (["in-process:this:s", "greedy"], "nothing is imported because a record names it"),
    "a client of a server": (["client:ann", "greedy"], "cannot be seated from here"),
    "no player": (["nobody", "greedy"], "fish has no player 'nobody'"),
    "no program": (["exec:/nowhere/bot", "greedy"], "there is no program '/nowhere/bot'"),
    "a NUL": (["exec:/bin/echo \0", "greedy"], "it contains a NUL byte"),
    "too few players": (["greedy"], "the record does not name the players"),
    "a search that never ends": (["lookahead:99", "greedy"], "lookahead looks 1 to 9 turns ahead"),
}


@pytest.mark.parametrize("how", INVALID)
def test_invalid_values_in_a_trusted_journal_are_refused_and_its_file_is_kept(how: str, tmp_path: Path) -> None:
    players, why = INVALID[how]
    path = foreign_journal(tmp_path, *players)
    left = path.read_bytes()

    done = run_fairplay("resume", str(path), "--trust")

    assert (done.code, done.out) == (2, "")
    assert why in done.err.splitlines()[-1]
    assert path.read_bytes() == left


@pytest.mark.parametrize("limits", [{"move": 1e300}, {"goodbye": -1.0}])
def test_limits_beyond_a_day_are_refused_though_the_journal_is_trusted(limits: Any, tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", bot, "greedy", limits=limits)

    assert "line 1: invalid limits" in refusal_line(run_fairplay("resume", str(path), "--trust", *BEST_SANDBOX))
    assert not trace.exists()


def test_an_id_that_leads_out_of_a_directory_writes_nothing_there(tmp_path: Path) -> None:
    bot, _ = program(tmp_path)
    path, out = foreign_journal(tmp_path / "games", bot, "greedy"), tmp_path / "out"
    forge_journal(path, rewrite_opening(match="../../escaped", commitment=seed_commitment(THEIRS, "../../escaped")))
    resume = ("resume", str(path), "--trust", *BEST_SANDBOX)

    refused = run_script(*resume, "--pictures", str(out / "pictures"))
    done = run_fairplay(*resume, "--quiet", "--bot-logs", str(out / "logs"))

    assert refused.code == 2
    assert "'../../escaped' is not a match id" in refused.err
    assert done.code == 0
    assert {found.parent for found in tmp_path.rglob("*escaped*")} == {out / "logs" / "ann"}
