"""Write the corpus of this version, with its own commands: journals, tournaments and the directory of a server.

`python -m tests.corpus.write` makes the directory `versions/VERSION` beside this file, unless it is there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairplay.core.version import VERSION

CORPUS = Path(__file__).parent / "versions"
COMMAND = Path(sys.executable).parent / "fairplay"
TIMEOUT_S = 120.0
SMALL_BOARD = ("--set", "rows=4", "--set", "columns=4")
MATCHES = {
    "fish": ("ann=greedy", "bob=random", "cat=greedy", *SMALL_BOARD),
    "tsuro": ("ann=survivor", "bob=random", "cat=first", "--set", "size=5"),
    "q": ("ann=ldasg", "bob=random"),
}
SLOW_MATCH = ("fish", "sampler:20000", "sampler:20000", "--set", "rows=5", "--set", "columns=5")
BOT_THAT_RAISES = "def take_turn(view: object) -> object:\n    raise ValueError('no idea')\n"
BOT_THAT_NEVER_ANSWERS = "import time\n\n\ndef take_turn(view: object) -> None:\n    time.sleep(1000)\n"
TOURNAMENT = """
game = "fish"
seed = "corpus"
parameters = {{ rows = 4, columns = 4 }}
format = {{ kind = "round-robin", table = 2, games = {games} }}
players = [
    {{ name = "ann", player = "greedy" }},
    {{ name = "bob", player = "random" }},
    {{ name = "cat", player = "{third}" }},
]
"""
REMADE = ("lock", "*.html", "*.sqlite*")  # at every start, or for eyes alone


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it took too long")
        time.sleep(0.01)


def is_finished(journal: bytes) -> bool:
    return b'{"type":"result"' in journal


def line_count(directory: Path, pattern: str) -> int:
    """How many lines the files of a directory have."""
    return sum(file.read_bytes().count(b"\n") for file in directory.glob(pattern))


class Writer:
    """The commands that fill the directory of one version."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        environment = os.environ | {"XDG_STATE_HOME": str(directory / "state")}
        self._options: dict[str, Any] = {"env": environment, "cwd": directory, "text": True}

    def write(self) -> None:
        self.write_journals()
        self.write_tournaments()
        self.write_server()
        for name in REMADE:
            for file in self.directory.rglob(name):
                file.unlink()

    def run(self, *arguments: str | Path) -> None:
        done = subprocess.run([COMMAND, *arguments], capture_output=True, timeout=TIMEOUT_S, **self._options)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{arguments}: exit code {done.returncode}: {done.stderr}")

    @contextmanager
    def running(self, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
        """Run a command for as long as this lasts, and kill it then."""
        output: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with subprocess.Popen([COMMAND, *arguments], **output, **self._options) as process:
            try:
                yield process
            finally:
                process.kill()

    def write_journals(self) -> None:
        """A match of each game; one that was interrupted, one that was resumed, a branch, and one with ejections."""
        for game, match in MATCHES.items():
            self.run("play", game, *match, "--journal", f"journals/{game}")
        for name in ("interrupted", "resumed"):
            directory = self.directory / "journals" / name
            with self.running("play", *SLOW_MATCH, "--journal", directory.relative_to(self.directory)):
                wait_until(lambda directory=directory: line_count(directory, "*.jsonl") >= 12)  # type: ignore[misc]
        self.run("resume", self.journal("resumed"))
        branch = ("--at", "9", "greedy", "greedy", "greedy", "--journal", "journals/branch")
        self.run("resume", self.journal("fish"), *branch)
        (self.directory / "raises.py").write_text(BOT_THAT_RAISES)
        (self.directory / "never_answers.py").write_text(BOT_THAT_NEVER_ANSWERS)
        bots = ("ann=greedy", "bob=./raises.py", "cat=./never_answers.py", "dan=greedy")
        limits = ("--limit", "1,start=20", "--journal", "journals/ejections")
        self.run("play", "fish", *bots, *SMALL_BOARD, *limits)

    def journal(self, name: str) -> Path:
        [file] = (self.directory / "journals" / name).glob("*.jsonl")
        return file.relative_to(self.directory)

    def write_tournaments(self) -> None:
        """A tournament that is over, and one that was killed."""
        directory = self.directory / "tournaments"
        directory.mkdir()
        (directory / "finished.toml").write_text(TOURNAMENT.format(games=6, third="random"))
        (directory / "interrupted.toml").write_text(TOURNAMENT.format(games=30, third="sampler:300"))
        self.run("tournament", "tournaments/finished.toml", "--quiet", "--jobs", "1")
        with self.running("tournament", "tournaments/interrupted.toml", "--quiet", "--jobs", "1"):
            wait_until(lambda: line_count(directory / "interrupted", "tournament.jsonl") >= 12)

    def write_server(self) -> None:
        """A server with tokens of two players, whose first match is over, and whose second was cut off with it."""
        for name in ("ann", "bob"):
            self.run("token", name, "--dir", "server", "-o", f"{name}.token")
        options = ("--set", "rows=5", "--set", "columns=5", "--no-guests")
        with self.running("serve", "fish", "--dir", "server", "--port", "0", *options) as server:
            address = open_address(server)
            join = ("join", address, "sampler:300", "--name")
            with (
                self.running(*join, "ann", "--token-file", "ann.token"),
                self.running(*join, "bob", "--token-file", "bob.token"),
            ):
                wait_until(lambda: self.has_match_under_way("server/matches"))
                server.kill()

    def has_match_under_way(self, directory: str) -> bool:
        """Has the server played a match to its end, and is it in the middle of another?"""
        matches = [file.read_bytes() for file in (self.directory / directory).glob("*.jsonl")]
        unfinished = [match for match in matches if not is_finished(match)]
        return len(matches) > len(unfinished) and any(match.count(b"\n") >= 8 for match in unfinished)


def open_address(server: "subprocess.Popen[str]") -> str:
    """The address that a server says it listens at."""
    assert server.stderr is not None
    deadline = threading.Timer(TIMEOUT_S, server.kill)
    deadline.start()
    try:
        for line in server.stderr:
            if found := re.search(r" listening, \w+ (\S+:\d+)", line):
                return found[1]
        raise RuntimeError("the server did not open")
    finally:
        deadline.cancel()


def main() -> None:
    """Write the directory of this version, or leave nothing."""
    target = CORPUS / VERSION
    if target.exists():
        raise SystemExit(f"{target} is there already: what an older version wrote is never written anew")
    with tempfile.TemporaryDirectory() as made:
        Writer(Path(made)).write()
        shutil.copytree(made, target)


if __name__ == "__main__":
    main()
