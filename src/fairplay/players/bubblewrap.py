"""Write the command line of bubblewrap: a tree in which everything is where it is outside, but little of it is there.

As root there is no user namespace, for in one the number of processes would not be limited. The program is a stranger
instead, with a user id that nobody has; whatever it needs has to be open to strangers.
"""

import os
import secrets
import shutil
import site
import sys
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from fairplay.core.errors import BadRequest

SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
SETTINGS = ("alternatives", "java*", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf")
SHARED = ("/", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/var", "/var/tmp")  # never one program's alone
BINARIES = ("bin", "shims")  # directories of executables that need what lies beside them
JAIL = "/jail"  # root's programs change their root once more: whoever did that makes no user namespaces
STRANGERS = range(0x7000_0000, 0x7800_0000)  # user ids that nobody gives to anybody


def shut_in(
    program: str,
    arguments: Sequence[str],
    *,
    within_limits: Sequence[str],
    space: int,
    hidden: Sequence[str],
    rules: int = -1,
) -> list[str]:
    """What runs a program shut in. The words that limit it are run inside; hidden is what it may not see at all.

    The environment has to be cleared outside: it could be read in /proc where bubblewrap was given it.
    """
    root, cwd = os.geteuid() == 0, Path.cwd()
    program, *arguments = map(straight, (program, *arguments))
    executables = [Path(straight(found)).absolute() for found in (program, *interpreters(program))]
    named = [Path(word).absolute() for word in arguments if is_there(word)]
    concealed = {path for text in hidden for path in aliases(Path(straight(text)).absolute())}
    places = set(own_places(executables, named, concealed))
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--die-with-parent", "--new-session", "--hostname", "player"]
    if rules >= 0:
        options += ["--seccomp", str(rules)]
    for name, value in environment(executables).items():
        options += ["--setenv", name, value]
    inside = list(within_limits)
    if root:
        refuse_closed(executables[0], named)
        uid = str(stranger())
        inside += ["unshare", "--root", JAIL, "--wd", str(cwd), "--setgid", uid, "--setuid", uid, "--"]
        places = {entry for place in places for entry in opened(place, concealed)}
    else:
        options += ["--unshare-user", "--disable-userns", "--chdir", str(cwd)]
    options += tree({*places, *pythons(), *settings()}, concealed, cwd, JAIL if root else "", space)
    return ["bwrap", *options, "--", *inside, program, *arguments]


def tree(places: Set[Path], concealed: Set[Path], cwd: Path, jail: str, space: int) -> Iterator[str]:
    """The options that make the tree of files, inside of a directory."""
    if jail:
        yield from ("--perms", "0755", "--dir", jail)
        for name in ("usr", "bin", "lib", "lib64", "proc"):  # for the tools on the way there
            yield from ("--symlink", f"{jail[1:]}/{name}", f"/{name}")
    for path in (Path("/", name) for name in SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), f"{jail}{path}")
        elif path.is_dir():
            places = {*places, path}
    yield from ("--proc", f"{jail}/proc", "--dev", f"{jail}/dev")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/dev/shm", "--remount-ro", f"{jail}/dev")
    yield from ("--size", str(space), "--perms", "1777", "--tmpfs", f"{jail}/tmp")
    places = {place for place in places if not is_below(place.parent, places)}
    for directory in sorted({parent for path in (*places, cwd / "here") for parent in path.parents}):
        if str(directory) not in ("/", "/tmp") and not is_below(directory, places):
            yield from ("--perms", "0755", "--dir", f"{jail}{directory}")
    for place in sorted(places):
        yield from ("--ro-bind", str(place), f"{jail}{place}")
    outermost = {path for path in concealed if not is_below(path.parent, concealed)}
    for path in sorted(path for path in outermost if is_below(path.parent, places)):
        if path.is_dir():
            yield from ("--perms", "0755", "--tmpfs", f"{jail}{path}")
            yield from ("--dir", f"{jail}{cwd}") if is_below(cwd.parent, {path}) else ()
            yield from ("--remount-ro", f"{jail}{path}")
        elif path.exists():
            yield from ("--ro-bind", "/dev/null", f"{jail}{path}")
        else:
            raise BadRequest(f"{path} has to exist before a program starts, or it cannot be hidden from it")
    yield from ("--remount-ro", "/")


def own_places(executables: Sequence[Path], named: Sequence[Path], concealed: Set[Path]) -> Iterator[Path]:
    """The directories of what a command names; of one that is not the program's alone, only the file."""
    for found in (*executables, *named):
        for path in aliases(found):
            directory = path if path.is_dir() else path.parent
            if found in executables and directory.name in BINARIES:
                directory = directory.parent
            if path.parts[1:2] and path.parts[1] in SYSTEM:
                continue
            if not is_shared(directory) and not is_below(directory, concealed):
                yield directory
            elif path.is_file():
                yield path


def pythons() -> Iterator[Path]:
    """Where the Python is that runs us, with its packages and with ours."""
    users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    for place in (sys.prefix, sys.base_prefix, *users, str(Path(__file__).parents[1])):
        yield from (path for path in aliases(Path(place)) if path.is_dir() and not is_shared(path))


def settings() -> Iterator[Path]:
    """The settings of the system that programs cannot do without."""
    return (path for name in SETTINGS for path in Path("/etc").glob(name))


def environment(executables: Sequence[Path] = ()) -> dict[str, str]:
    """All the variables that it has. Its hashes are the same every time, so that its answers may well be."""
    own = [str(found.parent) for found in (*executables, Path(sys.executable))]
    variables = {
        "PATH": ":".join(dict.fromkeys([*own, "/usr/local/bin", "/usr/bin", "/bin"])),
        "HOME": "/tmp",
        "USER": "player",
        "LOGNAME": "player",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
    }
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    if "PYTHONPATH" in os.environ:
        variables["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return variables


def interpreters(program: str) -> list[str]:
    """What the first line of a script calls."""
    try:
        with Path(program).open("rb") as file:
            first = file.readline(256)
    except OSError:
        return []
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    asked = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    by_name = shutil.which(asked[0]) if asked and Path(words[0]).name == "env" else None
    return [found for found in (*words[:1], by_name) if found is not None and is_there(found)]


def is_there(word: str) -> bool:
    """Is this word of a command the name of a file or a directory?"""
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # too long, or with a zero in it
        return False


def is_below(path: Path, places: Set[Path]) -> bool:
    """Is this one of these places, or below one?"""
    return path in places or any(parent in places for parent in path.parents)


def is_shared(directory: Path) -> bool:
    """Is this a place where other things are to be expected?"""
    home = Path.home()
    return str(directory) in SHARED or directory in (home, *home.parents)


def aliases(path: Path) -> tuple[Path, Path]:
    """A path, and where it leads if links are followed."""
    return path, path.resolve()


def straight(word: str) -> str:
    """A word of a command; a path that goes up is put straight, for what it goes through may not be there inside."""
    return str(Path(word).resolve()) if ".." in Path(word).parts and is_there(word) else word


# What root has to see to, as its programs are strangers to its files.


def stranger() -> int:
    """The id of a user who does not exist; every program has its own, for processes are counted by user."""
    spans = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(spans, key=lambda span: span[2])
    ids = STRANGERS
    if STRANGERS[-1] not in range(first, first + count):  # in a container, which has few
        ids = range(first + count * 3 // 4, first + count)
    return ids[secrets.randbelow(len(ids))]


def opened(place: Path, concealed: Set[Path]) -> list[Path]:
    """A place, or all that may be seen in it if it is closed to strangers."""
    if not place.is_dir() or place.stat().st_mode & 0o005 == 0o005:
        return [place]
    return [path for path in place.iterdir() if path not in concealed]


def refuse_closed(program: Path, named: Sequence[Path]) -> None:
    """Say early which file is closed to strangers."""
    for path in (program, *named):
        needed = 0o005 if path == program else 0o004
        if path.is_file() and path.stat().st_mode & needed != needed:
            raise BadRequest(
                f"{path} is closed to others, and programs of root run as somebody else: chmod o+rx {path}"
            )
