"""Walk through a tutorial: write the files that it shows, type its commands, and compare what they print.

A box with the language console is a terminal; its title tells terminals apart. In the box without a title every command
ends before the next one is typed. In one with a title a command may go on: what is shown has to come, and ^C interrupts
it; a box without a command shows what else has come meanwhile. Any other box with a title is a file.

`...` stands for anything, on a line of its own for any number of lines. The exit code has to be 0, unless the next
command asks for it by `echo $?`.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.cli.command import strip_sandbox_warning

OUTPUT_TIMEOUT_S = 90.0
POLL_INTERVAL_S = 0.02
CODE_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
EXIT_CODE_MARK = "-- exit code "  # is printed after each command, and not compared
INTERRUPTED = "^C"
PROGRESS = re.compile(r"^fairplay: \d+ of \d+ matches.*\n", re.MULTILINE)  # is printed on slow machines
ANYTHING = re.compile(".*", re.DOTALL)


class CodeBlock(NamedTuple):
    language: str
    title: str
    text: str


def code_blocks(page: str) -> list[CodeBlock]:
    return [CodeBlock(*found) for found in CODE_BLOCK.findall(page)]


def terminal_steps(text: str) -> list[tuple[str, str]]:
    r"""The commands in a code block of a terminal, each with its output.

    >>> terminal_steps("$ ls\na\nb\n$ true\n^C\nbye\n")
    [('ls', 'a\nb\n'), ('true', ''), ('^C', 'bye\n')]
    """
    found: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        command, shown = found[-1] if found else ("", "...\n")
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif line.strip() == INTERRUPTED:
            found.append((INTERRUPTED, ""))
        elif command.endswith("\\"):
            found[-1] = f"{command}\n{line.strip()}", ""
        else:
            found[-1:] = [(command, shown + line)]
    return found


def output_pattern(shown: str) -> re.Pattern[str]:
    r"""The pattern of an output in which parts are left out.

    >>> [bool(output_pattern(text).fullmatch("a\nb\nc\nd e\n")) for text in ("a\n...\nd ...\n", "a\n")]
    [True, False]
    """
    lines = (
        r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(re.escape, line.rstrip("\n").split("..."))) + r" *\n"
        for line in shown.splitlines(keepends=True)
    )
    return re.compile("".join(lines))


class Shell:
    """A shell in a directory that runs one command after the other."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=directory,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
        self._said = EXIT_CODE_MARK
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def type(self, command: str) -> None:
        """Run a command as soon as the one before has ended."""
        assert self._shell.stdin is not None
        self._said = ""
        self._shell.stdin.write(f'{{ {command}\n}} </dev/null; code=$?; echo "{EXIT_CODE_MARK}$code"; (exit $code)\n')
        self._shell.stdin.flush()

    def interrupt(self) -> None:
        self._said = ""
        os.killpg(self._shell.pid, signal.SIGINT)

    def has_ended(self) -> bool:
        return EXIT_CODE_MARK in self._said

    def output(self) -> tuple[str, str]:
        """What the command has printed so far, and its exit code, if it has ended."""
        text, _, code = self._said.partition(EXIT_CODE_MARK)
        return PROGRESS.sub("", strip_sandbox_warning(text)), code.strip()

    def close(self) -> None:
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        self._reader.join()
        for end in (self._shell.stdin, self._shell.stdout):
            assert end is not None
            end.close()

    def _read(self) -> None:
        assert self._shell.stdout is not None
        for line in self._shell.stdout:
            self._said += line


class TutorialRun:
    def __init__(self, directory: Path, ports: dict[str, str]) -> None:
        self._directory, self._ports = directory, ports  # those of the page are taken by others perhaps
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "TERM": "dumb", "COLUMNS": "100"}
        self._terminals: dict[str, Shell] = {}

    def run_page(self, page: str) -> None:
        """Follow a page from its start to its end."""
        for box in code_blocks(page):
            if box.language == "console":
                self._type(box)
            elif box.title:
                (self._directory / box.title).parent.mkdir(parents=True, exist_ok=True)
                (self._directory / box.title).write_text(self._here(box.text), encoding="utf-8")

    def close(self) -> None:
        for terminal in self._terminals.values():
            terminal.close()

    def _type(self, box: CodeBlock) -> None:
        if box.title not in self._terminals:
            self._terminals[box.title] = Shell(self._directory, self._environment)
        terminal = self._terminals[box.title]
        for (command, shown), (after, _) in pairwise([*terminal_steps(box.text), ("", "")]):
            if command == INTERRUPTED:
                terminal.interrupt()
            elif command:
                wait_for_output(terminal, ANYTHING, may_go_on=False)  # by the command before
                terminal.type(self._here(command))
            may_go_on = bool(box.title) and command != INTERRUPTED and after in ("", INTERRUPTED)
            text, code = wait_for_output(terminal, output_pattern(self._here(shown)), may_go_on)
            fine = ("", "0", "130" if command == INTERRUPTED else "0")
            assert code in fine or after == "echo $?", f"$ {command}\n{text}exit code {code}"

    def _here(self, text: str) -> str:
        return re.sub(r"\b\d{4}\b", lambda found: self._ports.get(found[0], found[0]), text)


def wait_for_output(terminal: Shell, wanted: re.Pattern[str], may_go_on: bool) -> tuple[str, str]:
    """The output of a command when it matches, and its exit code if it has ended."""
    late = time.monotonic() + OUTPUT_TIMEOUT_S
    while time.monotonic() < late:
        ended = terminal.has_ended()
        text, code = terminal.output()
        if wanted.fullmatch(text) and (ended or may_go_on):
            return text, code
        assert not ended, f"wanted:\n{wanted.pattern}\n\nit says:\n{text}exit code {code}"
        time.sleep(POLL_INTERVAL_S)
    raise AssertionError(f"wanted:\n{wanted.pattern}\n\nafter {OUTPUT_TIMEOUT_S:g} s it says:\n{terminal.output()[0]}")


@contextmanager
def run_tutorials(directory: Path, ports: dict[str, str]) -> Iterator[TutorialRun]:
    walk = TutorialRun(directory, ports)
    try:
        yield walk
    finally:
        walk.close()
