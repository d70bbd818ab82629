"""Test that a program sees only those files of the host that its command names."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.sandbox import concealed_files as directories
from fairplay.sandbox.concealed_files import JOURNAL_PREFIX, find_concealed_files, is_journal
from fairplay.sandbox.visible_files import normalize_path
from tests.cli.command import run_fairplay
from tests.nonempty import nonempty
from tests.players.machine import needs_strict
from tests.players.sandbox_hosts import Host, ProgramResult, host

__all__ = ["host"]
SECRET = "the-seed-is-4711"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


def write(path: Path, text: str = SECRET, mode: int = 0o644) -> Path:
    """A file, with the directories around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def spy(path: Path, home: Path, first_line: str = "#!/bin/sh") -> Path:
    """A program that names all files in the host's directory in which it can read the secret, by whatever links."""
    return write(path, f"{first_line}\ngrep -RslD skip 'the-s[e]ed' {home} | sort\necho looked\n", 0o755)


def saw(done: ProgramResult) -> list[str]:
    """The files that it names."""
    *files, last = done.out.splitlines() or [""]
    assert (last, done.err) == ("looked", ""), done
    return files


def refusal(done: ProgramResult) -> str:
    """Why the command was refused, in one line."""
    assert (done.code, done.out) == (1, ""), done
    first, _, why = done.err.partition("refused: ")
    assert (first, why.count("\n")) == ("", 1), done
    return why.strip()


# Whose files they are.


def test_a_named_file_is_visible_alone_and_under_its_name(host: Host) -> None:
    bot = spy(host.home / "bots" / "bob", host.home)
    spy(host.home / "bot", host.home)
    book = str(write(host.home / "bots" / "book.txt"))
    more = str(write(host.home / "bots" / "more" / "book.txt"))
    write(host.home / ".ssh" / "id", mode=0o600)

    assert saw(host.run("./bob", cwd=bot.parent)) == []
    for words in ([str(bot)], ["sh", "bots/bob"], ["./bot"], ["bots/../bot"], ["./bots/../bots/../bot"]):
        assert saw(host.run(*words)) == []
    assert saw(host.run("bots/bob", "bots/book.txt")) == [book]
    assert saw(host.run("bots/bob", "bots")) == [book, more]
    assert saw(host.run("./bob", "./more/../more", cwd=bot.parent)) == [more]


def test_links_in_named_paths_are_the_same_inside(host: Host) -> None:
    store = host.home / "store" / "deep"
    write(store / "bob" / "book.txt", "hello")
    (host.home / "a").mkdir()
    (host.home / "a" / "bots").symlink_to("../b/bots")
    (host.home / "b").mkdir()
    (host.home / "b" / "bots").symlink_to(store)
    (host.home / "book").symlink_to("a/bots/bob/book.txt")

    for name in ("a/bots/bob/book.txt", f"{host.home}/b/bots/bob/book.txt", "book", "b/../a/bots/bob/../bob/book.txt"):
        assert host.run("cat", name) == ProgramResult(0, "hello", "")
    assert host.run("ls", "a/bots/bob") == ProgramResult(0, "book.txt\n", "")


def test_a_home_directory_is_refused(host: Host) -> None:
    write(host.home / ".ssh" / "id", mode=0o600)

    why = refusal(host.run("ls", ".", cwd=host.home))

    assert why.startswith(f"a program may not see {host.home}: it is your home directory; keep the program in a")


@pytest.mark.parametrize("word", ["/", "/etc", "/proc", "/proc/self/cwd", "/dev", "/dev/stdin", "/tmp", "/sys/kernel"])
def test_shared_directories_in_a_command_stay_invisible(word: str, host: Host) -> None:
    write(host.home / "secret")

    look = f"test ! -e /etc/passwd && test ! -e /dev/kmsg && test ! -e /sys && ls {host.home}"

    assert host.run("sh", "-c", look, word) == ProgramResult(0, "", "")


# Journals.


JOURNAL = f'{JOURNAL_PREFIX.decode()}"seed":"{SECRET}"}}\n'


def test_real_journals_begin_with_the_expected_bytes(tmp_path: Path) -> None:
    run_fairplay("play", "tsuro", "first", "first", "first", "--journal", str(tmp_path))

    (journal,) = tmp_path.glob("*.jsonl")
    assert journal.read_bytes().startswith(JOURNAL_PREFIX)


@pytest.mark.parametrize(
    ("named", "hidden"),
    [
        ("real/bots", "link/bots/games"),
        ("link/bots", "other/games"),
        ("other", "real/bots/games"),
        ("other", "other/games"),
    ],
)
def test_concealed_files_are_concealed_under_every_name(named: str, hidden: str, host: Host) -> None:
    bot = spy(host.home / "real" / "bots" / "bob", host.home)
    write(bot.parent / "games" / "secret")
    (host.home / "link").symlink_to("real")
    (host.home / "other").symlink_to(host.home / "link" / "bots")

    done = host.run(f"{named}/bob", named, "real/bots", "other", hidden=[host.home / hidden])

    assert saw(done) == []


def test_journals_in_a_named_directory_are_invisible_also_with_other_names(host: Host) -> None:
    bot = spy(host.home / "bob" / "bot", host.home)
    names = ("old.jsonl", "games/a.jsonl", "games/a.jsonl.bak", "deep/er/.a.jsonl.swp")
    for name in (*names, "games/.index.sqlite", "games/.index.sqlite-wal"):
        write(bot.parent / name)
    journal = write(host.home / "games" / "a.jsonl", JOURNAL)
    write(bot.parent / "games" / "renamed.txt", JOURNAL)
    write(bot.parent / "games" / "readme.txt", "hello")
    (bot.parent / "hard").hardlink_to(journal)
    (bot.parent / "soft").symlink_to(journal)
    (bot.parent / "all").symlink_to(journal.parent)
    (bot.parent / "up").symlink_to("..")

    assert saw(host.run("bob/bot", "bob")) == []
    assert saw(host.run("bob/bot", "bob", hidden=[journal.parent])) == []


def test_a_named_journal_is_refused(host: Host) -> None:
    write(host.home / "games" / "a.jsonl")
    (host.home / "a.txt").symlink_to(write(host.home / "games" / "b", JOURNAL))

    for name in ("games/a.jsonl", "a.txt"):
        assert refusal(host.run("cat", name)) == f"{host.home / name} is a journal, and no program may see one"


def test_a_directory_in_which_journals_are_written_is_refused(host: Host) -> None:
    bot = spy(host.home / "bob" / "bot", host.home)
    write(bot.parent / "inner" / "data")

    assert saw(host.run("bob/bot", hidden=[bot.parent])) == []
    assert saw(host.run("bob/bot", "bob/inner", hidden=[bot.parent])) == [f"{bot.parent}/inner/data"]
    among = write(bot.parent / "games" / "among" / "data")
    write(among.parent.parent / "secret")
    inside = host.run("bob/bot", "bob", "bob/games/among", hidden=[bot.parent / "games"])
    assert saw(inside) == [str(among), f"{bot.parent}/inner/data"]
    assert "journals are written there" in refusal(host.run("bob/bot", "bob", hidden=[bot.parent]))


@needs_strict
@as_root
def test_a_concealed_directory_is_concealed_at_its_other_mounts(tmp_path: Path) -> None:
    bot = spy(tmp_path / "bob" / "bot", tmp_path)
    write(tmp_path / "games" / "secret")
    (tmp_path / "bob" / "mounted").mkdir()
    inner = f"mount --bind games bob/mounted && cat bob/mounted/secret && exec {sys.executable} -c"
    text = (
        "import subprocess; from fairplay.sandbox.protections import *;"
        f"words = wrap_command(['{bot}', 'bob'], SandboxPolicy(SandboxLevel.STRICT, hidden_paths=('games',)));"
        "subprocess.run(words, check=True)"
    )
    words = ["unshare", "--mount", "sh", "-c", f'{inner} "{text}"']

    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == f"{SECRET}looked\n"


def test_a_file_that_cannot_be_read_is_taken_for_a_journal() -> None:
    unreadable = Path("/proc/self/mem")  # a file that can be opened, but has nothing at its beginning
    with unreadable.open("rb", buffering=0) as file, pytest.raises(OSError, match="Input/output error"):
        file.read(1)

    assert is_journal(unreadable)
    assert not is_journal("/proc/self/maps")


def test_a_directory_of_many_journals_is_concealed_as_one(tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path / "bob" / "games" / f"{number}.jsonl")

    assert set(find_concealed_files(tmp_path / "bob", set())) == {tmp_path / "bob" / "games"}
    write(tmp_path / "bob" / "games" / "bot")
    with pytest.raises(BadRequest, match=r"too many journals among the files in .*: keep them in another directory"):
        set(find_concealed_files(tmp_path / "bob", set()))


def test_a_huge_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directories, "MAX_SCANNED_ENTRIES", 10)
    for number in range(11):
        write(tmp_path / str(number % 2) / str(number))

    with pytest.raises(BadRequest, match=r"there are more than 10 files in .*: name a smaller directory"):
        set(find_concealed_files(tmp_path, set()))


# What its own files say.


@pytest.mark.parametrize("option", ["-u ", "A="])
def test_the_first_line_of_a_script_makes_nothing_visible(option: str, host: Host) -> None:
    opponent = write(host.home / "ann" / "bin" / "bot", "#!/bin/sh\n", 0o755)
    write(opponent.parent / "book")
    write(opponent.parent.parent / "book", mode=0o600)
    bot = spy(host.home / "bob", host.home, f"#!/usr/bin/env -S {option}{opponent} /bin/sh")

    assert saw(host.run(str(bot))) == []


@pytest.mark.parametrize(
    "first_line", ["SNAKE --hiss", "/usr/bin/env SNAKE", "/usr/bin/env -S SNAKE -x", "/usr/bin/env snake"]
)
def test_an_invisible_interpreter_is_refused(first_line: str, host: Host) -> None:
    snake = write(host.home / "snakes" / "bin" / "snake", "#!/bin/sh\n", 0o755)
    spy(host.home / "bob", host.home, "#!" + first_line.replace("SNAKE", str(snake)))

    why = refusal(host.run("./bob", path=f"{snake.parent}:"))

    called = snake if "SNAKE" in first_line else "snake"
    assert why == f"bob calls {called}, which programs do not see: name it in the command, as in exec:'snake bob'"


@pytest.mark.parametrize(
    "first_line",
    ["#!/bin/sh", "#! /usr/bin/env sh", "#!/usr/bin/env -S sh -e", f"#!{sys.executable}", "#!/usr/bin/env python"],
)
def test_interpreters_of_the_system_and_our_own_are_visible(first_line: str, host: Host) -> None:
    write(host.home / "bob", f"{first_line}\n{'import_ = 1' if 'python' in first_line else 'true'}\n", 0o755)

    assert host.run("./bob") == ProgramResult(0, "", "")


def test_a_program_in_its_directory_replaces_no_tool_of_ours(host: Host) -> None:
    bot = write(host.home / "bob" / "bot", "#!/bin/sh\nulimit -n; id -u\n", 0o755)
    for tool in ("prlimit", "choom", "unshare", "sh", "stat", "setpriv"):
        write(bot.parent / tool, '#!/bin/dash\nwhile [ "$1" != "--" ]; do shift; done; shift; exec "$@"\n', 0o755)
    bot.parent.chmod(0o777)

    for words in (("bob/bot",), ("bob/bot", "bob")):
        done = host.run(*words)
        most, user = done.out.split()
        assert (most, user != "0", done.err) == ("256", True, "")
    assert host.run("./bot", ".", cwd=bot.parent).out.split()[0] == "256"


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_links_in_its_directory_lead_nowhere(mode: int, host: Host) -> None:
    bot = spy(host.home / "bob" / "bot", host.home)
    write(host.home / "ann" / "book")
    (bot.parent / "file").symlink_to("../ann/book")
    (bot.parent / "directory").symlink_to(host.home / "ann")
    (bot.parent / "home").symlink_to("..")
    (bot.parent / "inside").symlink_to("bot")
    bot.parent.chmod(mode)
    host.take_ownership(bot.parent)

    assert saw(host.run("bob/bot", "bob")) == []
    assert host.run("cat", "bob/inside", "bob", "bob").out == bot.read_text()


@pytest.mark.parametrize("link", ["data", "data/book"])
def test_a_link_of_the_program_in_a_named_path_is_refused(link: str, host: Host) -> None:
    write(host.home / "ann" / "book")
    bot = spy(host.home / "bob" / "bot", host.home)
    (bot.parent / link).parent.mkdir(exist_ok=True)
    (bot.parent / link).symlink_to(host.home / ("ann" if link == "data" else "ann/book"))

    for words in (("bob/bot", "bob/data/book"), ("bob/bot", "bob", "bob/data/book")):
        why = refusal(host.run(*words))
        assert why == f"{bot.parent}/data/book leads out of {bot.parent} by a link: write the path to which it leads"


def test_sockets_pipes_and_devices_are_concealed(host: Host) -> None:
    (host.home / "bob").mkdir()
    knock = "import os, socket; os.chdir('bob'); TRY"
    tries = {
        "listener": "socket.socket(socket.AF_UNIX).connect('listener')",
        "pipe": "os.write(os.open('pipe', os.O_RDWR | os.O_NONBLOCK), b'hello')",
    }
    os.mkfifo(host.home / "bob" / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(host.home / "bob" / "listener"))
        listener.listen()
        for name, text in nonempty(tries.items()):
            (host.home / "bob" / name).chmod(0o777)
            words = (sys.executable, "-c", knock.replace("TRY", text), "bob")

            assert host.run_freely(*words).code == 0
            assert host.run(*words).err.splitlines()[-1].startswith(("ConnectionRefused", "PermissionError", "OSError"))


def test_a_pipe_as_a_program_is_refused_without_waiting(host: Host) -> None:
    os.mkfifo(host.home / "bot", 0o777)
    (host.home / "bot").chmod(0o777)

    assert refusal(host.run("./bot")) == "./bot is not a file that can be visible in a sandbox"


# What changes meanwhile.


@pytest.mark.parametrize("what", ["around/bob/bot", "around/bob", "around"])
def test_a_file_replaced_during_the_start_is_refused(what: str, host: Host) -> None:
    bot = spy(host.home / "around" / "bob" / "bot", host.home)
    write(host.home / "secret" / "bob" / "bot", "#!/bin/sh\necho the-seed\n", 0o755)
    for path in (host.home, bot.parent.parent, bot.parent):
        path.chmod(0o777)
    replace = f"mv {what} away && ln -s {host.home / what.replace('around', 'secret')} {what}"

    for words in (("around/bob/bot",), ("around/bob/bot", "around/bob")):
        assert saw(host.run(*words)) == []
        done = host.run(*words, meanwhile=replace)
        assert (done.code, done.out) == (1, "")
        assert done.err == "the files of this program were replaced while it was started\n"
        (host.home / what).unlink()
        (host.home / "away").rename(host.home / what)


def test_a_path_with_dots_keeps_the_link_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "venv").mkdir()
    (tmp_path / "real" / "python").touch()
    (tmp_path / "venv" / "python").symlink_to(tmp_path / "real" / "python")
    monkeypatch.chdir(tmp_path / "real")

    assert normalize_path("../venv/python") == str(tmp_path / "venv" / "python")
    assert normalize_path("../venv/..") == str(tmp_path)
    assert normalize_path("../no such thing") == "../no such thing"
