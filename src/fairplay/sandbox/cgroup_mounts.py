"""Find the directories in which we may make control groups, from where they are mounted and where we are in them.

Version 2 has all controllers in one tree. The system delegates a part of it to us, in which we move no processes, not
even ourselves. As only a group without processes delegates controllers, groups in our own have just a freezer, unless
it is the root; groups in its parent have the rest. Of version 1, which is root's, we use the controllers that version
2 does not have, but never its freezer, which can get stuck.
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
    paths: dict[frozenset[str], str] = {}
    for line in own.splitlines():
        _, listed, path = line.split(":", 2)
        paths[frozenset(filter(None, listed.split(",")))] = path
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, mounted, point, *_ = map(unescape, before.split())
        kind, _, options = after.split(" ", 2)
        for names, path in paths.items():
            fits = kind == "cgroup2" if not names else kind == "cgroup" and names <= set(options.split(","))
            if fits and ".." not in Path(path).parts and Path(path).is_relative_to(mounted):
                yield CgroupMount(Path(point) / Path(path).relative_to(mounted), Path(point), names)


def unescape(text: str) -> str:
    """A path of mountinfo, in which blanks are octal escapes."""
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)


def v2_candidates(own: CgroupMount) -> list[Path]:
    """The groups of version 2 in which we may make groups: our own, and its parent if that was delegated to us.

    A slice is systemd's, and the root is the machine's: groups there would escape the limits that the host set for us.
    """
    parent = own.directory.parent
    is_delegated = own.directory != own.root and parent.suffix != ".slice" and (parent / "cgroup.type").exists()
    return [own.directory, parent] if is_delegated else [own.directory]


def delegate_controllers(directory: Path, controllers: Iterable[str]) -> None:
    """Delegate controllers to the subgroups of a group, if it has them and no processes."""
    with suppress(OSError):
        is_root = not (directory / "cgroup.type").exists()
        if not is_root and (directory / "cgroup.procs").read_text():
            return  # even if the kernel would do it, its subgroups could not be entered any more
        available = (directory / "cgroup.controllers").read_text().split()
        already = (directory / "cgroup.subtree_control").read_text().split()
        for name in controllers:
            if name in available and name not in already:
                (directory / "cgroup.subtree_control").write_text(f"+{name}")


def why_not_writable(directory: Path, error: OSError) -> str:
    """Why no group can be made in our own, and what the host can do about it."""
    if os.geteuid() == 0:
        how = "a container needs a cgroup namespace of its own, mounted writable"
    else:
        how = "start with `systemd-run --user --scope -p Delegate=yes`"
    return f"{directory}: {(error.strerror or 'not possible').lower()}; {how}"
