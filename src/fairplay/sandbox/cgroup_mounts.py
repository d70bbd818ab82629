"""Find the directories in which we may make control groups: read where they are mounted, and where we are in them.

Version 2 has everything in one tree. Whoever runs us gives us a part of it, and we move nobody in there, not even
ourselves. As controllers are handed on only by a group without processes, groups in our own have no more than a
freezer, unless it is the root; the rest is had in the one around it. Of version 1, which is root's, those controllers
are taken that version 2 does not have, and never its freezer, which can get stuck.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class CgroupMount(NamedTuple):
    """Our own group in one hierarchy: its directory, and the controllers of version 1; none: this is version 2."""

    directory: Path
    root: Path  # where the hierarchy is mounted
    controllers: frozenset[str] = frozenset()


def find_own_cgroups() -> list[CgroupMount]:
    """Our own groups on this machine."""
    if sys.platform != "linux":
        return []
    with suppress(OSError):
        return list(parse_own_cgroups(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()))
    return []


def parse_own_cgroups(mounts: str, own: str) -> Iterator[CgroupMount]:
    """The same, from the texts of mountinfo and cgroup in /proc/self.

    >>> [one] = parse_own_cgroups("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "0::/user.slice/a.scope")
    >>> str(one.directory)
    '/sys/fs/cgroup/user.slice/a.scope'
    """
    places: dict[frozenset[str], str] = {}
    for line in own.splitlines():
        _, listed, path = line.split(":", 2)
        places[frozenset(filter(None, listed.split(",")))] = path
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, shown, point, *_ = map(unescape, before.split())
        kind, _, options = after.split(" ", 2)
        for names, path in places.items():
            fits = kind == "cgroup2" if not names else kind == "cgroup" and names <= set(options.split(","))
            if fits and ".." not in Path(path).parts and Path(path).is_relative_to(shown):
                yield CgroupMount(Path(point) / Path(path).relative_to(shown), Path(point), names)


def unescape(text: str) -> str:
    """A path of mountinfo, where blanks are written as numbers."""
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)


def v2_candidates(own: CgroupMount) -> list[Path]:
    """Where in version 2 groups may be made: our own group, and the one around it if it was given to us.

    A slice is systemd's, and the root of the machine is everybody's: there we would leave the limits that the host has
    set for us behind.
    """
    around = own.directory.parent
    given = own.directory != own.root and around.suffix != ".slice" and (around / "cgroup.type").exists()
    return [own.directory, around] if given else [own.directory]


def delegate_controllers(directory: Path, controllers: Iterable[str]) -> None:
    """Let the groups in a directory have controllers, as far as it has them and no processes of its own."""
    with suppress(OSError):
        is_root = not (directory / "cgroup.type").exists()
        if not is_root and (directory / "cgroup.procs").read_text():
            return  # not even if the kernel would do it: groups in there could not be entered any more
        there = (directory / "cgroup.controllers").read_text().split()
        already = (directory / "cgroup.subtree_control").read_text().split()
        for name in controllers:
            if name in there and name not in already:
                (directory / "cgroup.subtree_control").write_text(f"+{name}")


def why_not_writable(directory: Path, error: OSError) -> str:
    """Why no group can be made in our own, and what a host can do about it."""
    if os.geteuid() == 0:
        how = "a container needs a cgroup namespace of its own, mounted writable"
    else:
        how = "start with `systemd-run --user --scope -p Delegate=yes`"
    return f"{directory}: {(error.strerror or 'not possible').lower()}; {how}"
