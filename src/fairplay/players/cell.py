"""Make ready what one program is started in: the words that start it, what it inherits, and who stops it."""

import os
from collections.abc import Sequence

from fairplay.players.cgroup import Group, available, machine_oom_kills, was_the_machine
from fairplay.players.filter import opened
from fairplay.players.freezing import Freezer, Grouped, Kept, Unstopped, keeper
from fairplay.players.sandbox import Level, Measure, Sandbox, why_not_strict, wrap

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
        self.enforced = ["limits"]
        self._machine_kills = machine_oom_kills()
        try:
            if sandbox.level is Level.STRICT:
                self.words = self._strictly(command, sandbox)
            else:
                self.words = wrap(command, sandbox)
        except BaseException:
            self.close()
            raise

    def leave(self) -> None:
        """Close here what the program has inherited."""
        for number in self.inherited:
            os.close(number)
        self.inherited.clear()

    def was_taken_by_machine(self, number: int) -> bool:
        """Was a program that ended by this signal killed for the machine's lack of memory, and not for its own?"""
        own = None if self.group is None else self.group.memory_kills()
        return was_the_machine(number, machine_oom_kills() - self._machine_kills, own)

    def close(self) -> None:
        """Let go of all of it."""
        self.leave()
        self.freezer.close()
        if self.group is not None:
            self.group.close()

    def _strictly(self, command: Sequence[str], sandbox: Sandbox) -> list[str]:
        self.enforced = ["namespaces", "filter", "limits"]
        self.inherited.append(rules := opened())
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
        return wrap(command, sandbox, around=around, rules=rules)
