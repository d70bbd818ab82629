"""Test --bot-logs: the stderr of programs is logged in matches, tournaments, checks and by `fairplay join`."""

import re
import sys
from pathlib import Path

import pytest

from fairplay.players.listener import listen_tcp
from tests.cli.command import SMALL_BOARD, run_fairplay, run_script
from tests.cli.test_join import Host, hello
from tests.cli.tournament_files import write_tournament_file
from tests.players.fake_server import ClientConnection, FakeServer
from tests.players.machine import needs_strict

PLAYER = """
import sys
from fairplay.games.fish import Fish

class Player:
    turns = 0

    def take_turn(self, view):
        self.turns += 1
        print("turn", self.turns, file=sys.stderr)
        BODY
        return next(Fish().actions(view))
"""


def bot(directory: Path, body: str = "pass", name: str = "bot.py") -> str:
    """The address of a bot that says on stderr which of its turns it is."""
    (directory / name).write_text(PLAYER.replace("BODY", body))
    return str(directory / name)


def journals_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.jsonl"))


def logs_of(directory: Path, who: str) -> dict[str, str]:
    """The logs of a player by match."""
    return {path.stem: path.read_text() for path in sorted((directory / who).glob("*.log"))}


def marks_and_words(log: str) -> list[str]:
    """Which turns were marked, and what was said, in order."""
    return re.findall(r"^(?:-- )?turn \d+", log, re.MULTILINE)


def in_step(log: str) -> bool:
    """Is behind every mark of a turn what was said on it?"""
    found = marks_and_words(log)
    expected = [words for turn in range(1, len(found) // 2 + 1) for words in (f"-- turn {turn}", f"turn {turn}")]
    return bool(found) and found == expected


def test_a_healthy_bot_is_heard_turn_by_turn(tmp_path: Path) -> None:
    play = ("play", "fish", f"ann={bot(tmp_path)}", "greedy", f"bob={bot(tmp_path)}", *SMALL_BOARD, "--seed", "1")
    plain = run_fairplay(*play, "--quiet", "--journal", str(tmp_path / "plain"))
    journals = ("--journal", str(tmp_path / "games"))
    done = run_fairplay(*play, "--quiet", *journals, "--bot-logs", str(tmp_path / "logs"))

    logs = [logs_of(tmp_path / "logs", who) for who in ("ann", "bob")]
    [journal] = journals_in(tmp_path / "games")
    assert (plain.code, done.code) == (0, 0)
    assert [list(one) for one in logs] == [[journal.stem]] * 2
    assert all(in_step(log) for one in logs for log in one.values())
    assert [line for line in done.out.splitlines() if line.startswith("bot log: ")] == [
        f"bot log: {tmp_path}/logs/{who}/{journal.stem}.log" for who in ("ann", "bob")
    ]
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {"ann", "bob"}  # nobody else is a program
    varying = r'"(at|took|match|hash|mac|commitment)":("[^"]*"|[\d.e-]+)'
    contents = {re.sub(varying, "", path.read_text()) for path in (journal, *journals_in(tmp_path / "plain"))}
    assert len(contents) == 1  # nothing of it is in the journal


def test_a_log_that_cannot_be_kept_is_not_named_and_the_match_is_played(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "bob").touch()  # where a directory should be

    done = run_fairplay(
        *("play", "fish", f"ann={bot(tmp_path)}", f"bob={bot(tmp_path)}", *SMALL_BOARD, "--quiet"),
        *("--bot-logs", str(logs)),
    )

    [match] = logs_of(logs, "ann")
    named = [line for line in done.out.splitlines() if line.startswith("bot log: ")]
    assert done.code == 0
    assert named == [f"bot log: {logs}/ann/{match}.log"]


def test_the_turn_on_which_why_says_that_it_crashed_is_the_last_one_marked(tmp_path: Path) -> None:
    crash = bot(tmp_path, "self.turns == 3 and sys.exit('a bad day')")
    run_fairplay(
        *("play", "fish", f"ann={crash}", "greedy", *SMALL_BOARD, "--quiet"),
        *("--journal", str(tmp_path / "games"), "--bot-logs", str(tmp_path / "logs")),
    )

    [journal] = journals_in(tmp_path / "games")
    [log] = logs_of(tmp_path / "logs", "ann").values()
    assert "on turn 3 of its own" in run_fairplay("why", str(journal)).out
    assert marks_and_words(log)[-2:] == ["-- turn 3", "turn 3"]
    assert re.search(r"turn 3\na bad day\n-- ejected, crashed: the program ended with exit code 1, [\d.]+ s\n$", log)


def test_a_resumed_match_continues_its_bot_log_and_a_branch_has_its_own(tmp_path: Path) -> None:
    words = ("play", "fish", f"ann={bot(tmp_path)}", "greedy", *SMALL_BOARD, "--quiet", "--seed", "1")
    kept = ("--journal", str(tmp_path / "games"), "--bot-logs", str(tmp_path / "logs"))
    run_fairplay(*words, *kept)
    [journal] = journals_in(tmp_path / "games")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:7]))

    for going_on in ((*words, *kept), ("resume", str(journal), "--bot-logs", str(tmp_path / "logs"), "--quiet")):
        journal.write_bytes(b"".join(lines[:7]))
        assert run_fairplay(*going_on).code == 0

    [log] = logs_of(tmp_path / "logs", "ann").values()
    assert log.count("-- hello, ") == 3

    branch = ("resume", str(journal), bot(tmp_path), "greedy", "--at", "3", "--quiet")
    assert run_fairplay(*branch, "--bot-logs", str(tmp_path / "branch")).code == 0
    [log] = logs_of(tmp_path / "branch", "ann").values()
    assert "\nturn 1\n" in log


@pytest.mark.parametrize("how", ["play", "tournament"])
def test_in_a_tournament_every_player_has_a_directory_for_all_its_matches(how: str, tmp_path: Path) -> None:
    ann, bob, logs = bot(tmp_path, name="ann.py"), bot(tmp_path, name="bob.py"), tmp_path / "logs"
    if how == "play":
        table = ("fish", f"ann={ann}", f"bob={bob}", *SMALL_BOARD)
        words = ["play", *table, "--games", "2", "--out", str(tmp_path / "cup")]
    else:
        players = f'[{{ name = "ann", player = "{ann}" }}, {{ name = "bob", player = "{bob}" }}]'
        format = '{ kind = "round-robin", games = 2 }'
        words = ["tournament", str(write_tournament_file(tmp_path, players=players, format=format))]

    done = run_script(*words, "--bot-logs", str(logs), "--quiet", "--jobs", "2")

    assert done.code == 0, done
    matches = [path.stem for path in journals_in(tmp_path / "cup" / "matches")]
    assert f"bot logs: {logs}, with a directory for each player that is a program" in done.out
    assert len(matches) == 2
    for who in ("ann", "bob"):
        found = logs_of(logs, who)
        assert sorted(found) == sorted(matches)
        assert [match for match, log in found.items() if not in_step(log) or log.count("-- hello") != 1] == []


def test_logs_of_a_tournament_that_is_not_kept_are_named_too(tmp_path: Path) -> None:
    words = ("play", "fish", f"ann={bot(tmp_path)}", "greedy", *SMALL_BOARD, "--games", "1", "--jobs", "1", "--quiet")

    done = run_fairplay(*words, "--bot-logs", str(tmp_path / "logs"))

    assert f"bot logs: {tmp_path}/logs, with a directory for each player that is a program" in done.out.splitlines()
    assert len(logs_of(tmp_path / "logs", "ann")) == 1


def test_a_check_keeps_a_log_of_every_trial(tmp_path: Path) -> None:
    done = run_fairplay("check-bot", "fish", f"ann={bot(tmp_path)}", "--bot-logs", str(tmp_path / "logs"))

    logs = logs_of(tmp_path / "logs", "ann")
    assert (done.code, done.out.splitlines()[-1]) == (0, f"bot logs: {tmp_path}/logs/ann")
    assert {"start", "game-1", "game-2", "game-3", "position-stuck"} <= set(logs)
    assert in_step(logs["game-2"])
    assert logs["start"].count("-- hello") == 3
    built_in = run_fairplay("check-bot", "fish", "greedy", "--bot-logs", str(tmp_path / "logs"))
    assert (built_in.code, built_in.out.splitlines()[-1]) == (0, "ready to play")


def test_a_joining_player_keeps_its_own_bot_log(tmp_path: Path) -> None:
    with Host(listen_tcp("0")) as host:
        options = ("--name", "ann", "--bot-logs", str(tmp_path / "logs"))
        done = run_script("join", host.listener.address, bot(tmp_path), *options)

    assert done.code == 0
    assert in_step(logs_of(tmp_path / "logs", "ann")["m"])
    assert "turn 1" not in done.err
    assert f"fairplay: the stderr of the program is in {tmp_path}/logs/ann" in done.err.splitlines()


def joined_with(address: str, player: str, logs: Path) -> list[str]:
    """What is said of a player that fails, and of which logs are kept."""
    done = run_script("join", address, player, "--name", "ann", "--bot-logs", str(logs))
    assert (done.code, done.out) == (1, "")
    return done.err.splitlines()[1:]


def test_a_program_that_does_not_start_is_explained_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("import sys\nsys.exit('no book here')\n")

    def meet(guest: ClientConnection) -> None:
        guest.send(hello())
        assert guest.receive() is None

    with FakeServer(meet) as host:
        lines = joined_with(host.address, f"exec:{sys.executable} {tmp_path / 'broken'}", tmp_path / "logs")

    assert host.results == [None]
    assert lines[:3] == [
        "fairplay: the player failed, crashed: the program ended with exit code 1",
        "fairplay:     the program ended with exit code 1; its stderr ends with:",
        "fairplay:     no book here",
    ]
    assert "is in" not in "\n".join(lines)
    assert list((tmp_path / "logs").rglob("*.log")) == []


def test_a_program_that_fails_later_has_a_bot_log(tmp_path: Path) -> None:
    with Host(listen_tcp("0")) as host:
        lines = joined_with(host.listener.address, bot(tmp_path, "sys.exit('a bad day')"), tmp_path / "logs")

    assert "fairplay:     a bad day" in lines
    assert lines[-1] == f"fairplay: the stderr of the program is in {tmp_path}/logs/ann"
    assert "a bad day\n" in logs_of(tmp_path / "logs", "ann")["m"]


@needs_strict
@pytest.mark.parametrize("verb", ["play", "join"])
def test_no_program_sees_the_logs_of_others(verb: str, tmp_path: Path) -> None:
    bots = tmp_path / "bots"
    bots.mkdir()
    (bots / "logs" / "bob").mkdir(parents=True)
    (bots / "logs" / "bob" / "old.log").write_text("canary")
    look = "import glob; print([open(path).read() for path in glob.glob(f'{sys.argv[1]}/**/*.log', recursive=True)])"
    bot(bots, look)

    if verb == "play":
        run_fairplay("play", "fish", f"ann={bots}", "greedy", *SMALL_BOARD, "--quiet", "--bot-logs", str(bots / "logs"))
    else:
        with Host(listen_tcp("0")) as host:
            run_fairplay("join", host.listener.address, f"ann={bots}", "--bot-logs", str(bots / "logs"))

    [log] = logs_of(bots / "logs", "ann").values()
    assert in_step(log)
    assert "canary" not in log
    assert "[]\n" in log
