"""Make ready what one program is started in: the words that start it, what it inherits, and who stops it."""

import os
from collections.abc import Sequence

from fairplay.sandbox.bubblewrap import with_figures
from fairplay.sandbox.cgroup import Group, available, machine_oom_kills, was_the_machine
from fairplay.sandbox.figures import figures
from fairplay.sandbox.filter import in_memory, opened
from fairplay.sandbox.freezing import Freezer, Grouped, Kept, Unstopped, keeper
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.measures import Measure, limits, why_not_strict, wrap

MOST_NEWS = 4096  # bytes
KEEPERS = 16  # processes and threads in a group that are not the program's: those who shut it in


def what_else_can_be_enforced() -> tuple[Measure, ...]:
    """What goes beyond a strict sandbox, and is not to be had everywhere."""
    groups, lacking = available(), "it takes a strict sandbox" if why_not_strict() else ""
    way = "by a control group" if groups.freezer else "by signals"
    return (
        Measure("cgroup", "has a limit of memory for all of its processes", "" if groups.memory else groups.why),
        Measure("freezing", f"is stopped while others are asked, {way}", lacking),
    )


class Cell:
    """What one program is started in. Whoever makes one has to close it; once it has started, `leave` it."""

    def __init__(self, command: Sequence[str], sandbox: Sandbox) -> None:
        self.freezer: Freezer = Unstopped()
        self.group: Group | None = None
        self.inherited: list[int] = []  # descriptors
        self.enforced: list[str] = []
        self._machine_kills = machine_oom_kills()
        self._news = -1  # of bubblewrap: whether it came to an end with the program
        self._heard = b""  # of that
        try:
            if sandbox.level is Level.STRICT:
                self.words = self._strictly(command, sandbox)
            else:
                self.enforced += ["limits"] if limits(sandbox) else []
                self.words = wrap(command, sandbox)
        except BaseException:
            self.close()
            raise

    def leave(self) -> None:
        """Close here what the program has inherited."""
        for number in self.inherited:
            os.close(number)
        self.inherited.clear()

    def fault_of_ours(self, number: int) -> str:
        """Why it is our fault that a program ended, by this signal if any; "": it is its own."""
        own = None if self.group is None else self.group.memory_kills()
        if was_the_machine(number, machine_oom_kills() - self._machine_kills, own):
            return "the machine ran out of memory, and killed a program that was within its own limits"
        if self._is_lost() and not (own and own.killed):
            return "a program could not be shut in, or not be kept"
        return ""

    def _is_lost(self) -> bool:
        """Did those end who shut a program in, and not the program?"""
        if self._news < 0:
            return False
        try:
            self._heard += os.read(self._news, MOST_NEWS)
        except BlockingIOError:  # somebody of them is still there
            return False
        return b"exit-code" not in self._heard

    def close(self) -> None:
        """Let go of all of it."""
        self.leave()
        self.freezer.close()
        if self._news >= 0:
            os.close(self._news)
            self._news = -1
        if self.group is not None:
            self.group.close()

    def _strictly(self, command: Sequence[str], sandbox: Sandbox) -> list[str]:
        self.enforced = ["namespaces", "filter", "limits"]
        self._news, telling = os.pipe()
        os.set_blocking(self._news, False)
        self.inherited += [telling, rules := opened()]
        seen = {name: in_memory(text) for name, text in figures().items()}
        self.inherited += seen.values()
        options = ["--seccomp", str(rules), "--json-status-fd", str(telling), *with_figures(seen)]
        self.group = Group.make(sandbox.memory + 2 * sandbox.space, sandbox.processes + KEEPERS)
        around = keeper(-1)
        if self.group is not None and available().memory:
            self.enforced.append("cgroup")
        if not sandbox.pondering:
            self.enforced.append("freezing")
            if self.group is not None and self.group.can_freeze:
                self.freezer = Grouped(self.group)
            else:
                self.freezer = kept = Kept()
                self.inherited.append(end := kept.end.detach())
                around = keeper(end)
        if self.group is not None:
            around += self.group.enter()
        return wrap(command, sandbox, around=around, options=options)
