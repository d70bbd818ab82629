"""Test --bot-logs: the stderr of programs is logged in matches, tournaments, checks and by `fairplay join`."""

import re
import sys
from itertools import cycle
from pathlib import Path

import pytest

from fairplay.players import process
from fairplay.players.bot_log import MAX_FIRST_BYTES, MAX_LAST_BYTES
from fairplay.players.listener import listen_tcp
from fairplay.protocol import wire
from tests.cli.command import SMALL_BOARD, refusal_line, run_fairplay, run_script
from tests.cli.test_join import Host, Script, hello
from tests.players.fake_server import FISH, ClientConnection, FakeServer
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
    done = run_fairplay(
        *("play", "fish", f"ann={bot(tmp_path)}", "greedy", f"bob={bot(tmp_path)}", *SMALL_BOARD, "--quiet"),
        *("--journal", str(tmp_path / "games"), "--bot-logs", str(tmp_path / "logs")),
    )

    logs = [logs_of(tmp_path / "logs", who) for who in ("ann", "bob")]
    [journal] = journals_in(tmp_path / "games")
    assert done.code == 0
    assert [list(one) for one in logs] == [[journal.stem]] * 2
    assert all(in_step(log) for one in logs for log in one.values())
    assert [line for line in done.out.splitlines() if line.startswith("bot log: ")] == [
        f"bot log: {tmp_path}/logs/{who}/{journal.stem}.log" for who in ("ann", "bob")
    ]
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {"ann", "bob"}  # nobody else is a program
    assert run_fairplay("verify", str(journal)).code == 0


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


def test_nothing_of_it_is_in_the_journal(tmp_path: Path) -> None:
    address, journals = bot(tmp_path), []
    for number, options in enumerate(((), ("--bot-logs", str(tmp_path / "logs")))):
        directory = tmp_path / f"games{number}"
        run_fairplay(
            "play", "fish", address, "greedy", *SMALL_BOARD, "--seed", "1", "--journal", str(directory), *options
        )
        [path] = journals_in(directory)
        journals.append(re.sub(r'"(at|took|match|hash|mac|commitment)":("[^"]*"|[\d.e-]+)', "", path.read_text()))

    assert journals[0] == journals[1]


FLOODS = {
    "lines": "[print('x' * 70, file=sys.stderr) for _ in range(5000)]",
    "junk": "sys.stderr.buffer.write(bytes(range(256)) * 1500)",
    "escapes": "sys.stderr.write('\\x1b[2J\\x1b]0;title\\x07' * 20000)",
}


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_fills_no_disk_and_moves_no_terminal(kind: str, tmp_path: Path) -> None:
    done = run_fairplay(
        *("play", "fish", f"ann={bot(tmp_path, FLOODS[kind])}", "greedy", *SMALL_BOARD, "--quiet"),
        *("--bot-logs", str(tmp_path / "logs")),
    )

    [path] = (tmp_path / "logs" / "ann").iterdir()
    text = path.read_text()
    assert done.code == 0 and "is out" not in done.out
    assert path.stat().st_size < MAX_FIRST_BYTES + MAX_LAST_BYTES + 200
    assert text.startswith("-- hello, ") and re.search(r"-- end, [\d.]+ s\n", text)
    assert "bytes left out" in text
    assert all(sign.isprintable() or sign in "\n\t" for sign in text)


def test_a_turn_is_marked_behind_all_that_was_said_before_it_on_a_busy_machine_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STDERR_READ_INTERVAL_S", 3600.0)  # the event loop has no time to read stderr
    much = bot(tmp_path, "print('x' * 20000, file=sys.stderr); print('turn', self.turns, file=sys.stderr)")

    run_fairplay(
        *("play", "fish", f"ann={much}", "greedy", *SMALL_BOARD, "--quiet", "--bot-logs", str(tmp_path / "logs"))
    )

    [log] = logs_of(tmp_path / "logs", "ann").values()
    kept = marks_and_words(log.partition("bytes left out")[0])
    assert len(kept) > 9
    assert kept == [f"{mark}turn {turn // 3 + 1}" for turn, mark in zip(range(len(kept)), cycle(["-- ", "", ""]))]


def test_a_resumed_match_continues_its_bot_log(tmp_path: Path) -> None:
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


def test_a_branch_keeps_logs_too(tmp_path: Path) -> None:
    recorded, logs = tmp_path / "games", tmp_path / "logs"
    run_fairplay("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--quiet", "--journal", str(recorded))
    [journal] = journals_in(recorded)

    done = run_fairplay(
        "resume", str(journal), bot(tmp_path), "greedy", "--at", "3", "--bot-logs", str(logs), "--quiet"
    )

    [log] = logs_of(logs, "ann").values()
    assert done.code == 0
    assert "\nturn 1\n" in log


@pytest.mark.parametrize("how", ["play", "tournament"])
def test_in_a_tournament_every_player_has_a_directory_for_all_its_matches(how: str, tmp_path: Path) -> None:
    ann, bob, logs = bot(tmp_path, name="ann.py"), bot(tmp_path, name="bob.py"), tmp_path / "logs"
    if how == "play":
        words = [
            "play",
            "fish",
            f"ann={ann}",
            f"bob={bob}",
            *SMALL_BOARD,
            "--games",
            "2",
            "--out",
            str(tmp_path / "cup"),
        ]
    else:
        players = "\n".join(
            f'[[players]]\nname = "{name}"\nplayer = "{address}"' for name, address in (("ann", ann), ("bob", bob))
        )
        settings = (
            'game = "fish"\nbot_check = "skip"\nparameters = { rows = 4, columns = 4 }\nformat = { kind = "round-robin"'
        )
        (tmp_path / "cup.toml").write_text(f"{settings}, games = 2 }}\n{players}\n")
        words = ["tournament", str(tmp_path / "cup.toml")]

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


def test_a_check_of_a_player_that_is_no_program_names_no_logs(tmp_path: Path) -> None:
    done = run_fairplay("check-bot", "fish", "greedy", "--bot-logs", str(tmp_path / "logs"))

    assert (done.code, done.out.splitlines()[-1]) == (0, "ready to play")


def test_a_joining_player_keeps_its_own_bot_log(tmp_path: Path) -> None:
    with Host(listen_tcp("0")) as host:
        done = run_script(
            *("join", host.listener.address, bot(tmp_path), "--name", "ann", "--bot-logs", str(tmp_path / "logs"))
        )

    assert done.code == 0
    assert in_step(logs_of(tmp_path / "logs", "ann")["m"])
    assert "turn 1" not in done.err
    assert f"fairplay: the stderr of the program is in {tmp_path}/logs/ann" in done.err.splitlines()


def joined_with(address: str, player: str, logs: Path) -> list[str]:
    """What is said of a player that fails, and of which logs are kept."""
    done = run_script("join", address, player, "--name", "ann", "--bot-logs", str(logs))
    assert (done.code, done.out) == (1, "")
    return done.err.splitlines()[1:]


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_that_does_not_start_is_explained_without_a_log(code: int, tmp_path: Path) -> None:
    (tmp_path / "broken").write_text(f"import sys\nprint('no book here', file=sys.stderr)\nsys.exit({code})\n")

    def meet(guest: ClientConnection) -> None:
        guest.send(hello())
        assert guest.receive() is None

    with FakeServer(meet) as host:
        lines = joined_with(host.address, f"exec:{sys.executable} {tmp_path / 'broken'}", tmp_path / "logs")

    assert host.results == [None]
    assert lines[:3] == [
        f"fairplay: the player failed, crashed: the program ended with exit code {code}",
        f"fairplay:     the program ended with exit code {code}; its stderr ends with:",
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


def test_at_a_server_the_log_of_an_earlier_match_is_named(tmp_path: Path) -> None:
    player = bot(tmp_path)

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.play()
        Path(player).write_text("import nowhere_at_all")
        guest.send(wire.encode_hello(FISH, match_id="m2", nonce="x", limit=60.0))
        assert guest.receive() is None

    with FakeServer(meet, ClientConnection.sign_in) as server:  # where it says that it leaves
        lines = joined_with(server.address, player, tmp_path / "logs")

    assert server.results[0] is None
    assert any("No module named 'nowhere_at_all'" in line for line in lines)
    assert lines[-1] == f"fairplay: the stderr of the program is in {tmp_path}/logs/ann"
    assert list(logs_of(tmp_path / "logs", "ann")) == ["m"]


def test_whatever_a_host_adds_to_a_goodbye_it_is_heard(tmp_path: Path) -> None:
    odd = wire.encode({"type": "goodbye", "match": "m", "fault": "gone", "why": "go away", "clause": "", "turn": "abc"})

    with Script(hello(), odd + b"\n") as host:
        lines = joined_with(host.address, bot(tmp_path), tmp_path / "logs")

    assert lines[-1] == "fairplay: ejected, gone: go away"


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


@pytest.mark.parametrize("verb", [("play", "fish", "greedy", "random"), ("check-bot", "fish", "greedy")])
def test_a_directory_that_is_none_is_refused(verb: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert "is a file" in refusal_line(run_fairplay(*verb, "--bot-logs", str(tmp_path / "file")))
    assert "Not a directory" in refusal_line(run_fairplay(*verb, "--bot-logs", str(tmp_path / "file" / "below")))


def test_join_refuses_bot_logs_for_players_that_are_no_programs() -> None:
    done = run_fairplay("join", "127.0.0.1:1", "greedy", "--bot-logs", "/tmp")

    assert refusal_line(done) == "--bot-logs cannot be used with greedy, which is not a program"
