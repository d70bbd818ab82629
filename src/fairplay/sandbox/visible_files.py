"""Decide which files of the host a program sees: those that its command names, whatever they contain.

Paths are real ones, without links in them. Links in a name of the command are links in the sandbox too; links inside
a program's directory lead only to files that are visible anyway.
"""

import os
import site
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, rules_of
from fairplay.sandbox.concealed_files import file_identity, find_concealed_files, is_journal, read_prefix

SYSTEM_DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
SYSTEM_SETTINGS = ("alternatives", "java*", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf")
SHARED_DIRECTORIES = (
    "/",
    "/dev",
    "/dev/shm",
    "/etc",
    "/home",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/var",
    "/var/tmp",
)
SEPARATE_DIRECTORIES = {Path("/proc"), Path("/sys"), Path("/dev")}  # of which a program has its own, or none
MEMORY_DIRECTORIES = {Path("/dev/shm")}  # below those, but visible like files on a disk
TOOL_DIRECTORIES = ("bin", "shims")  # whose tools need the files beside them
PYTHON_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")  # below a prefix where Python is installed
MAX_LINKS = 40  # in a path, as for the kernel


class NamedFile(msgspec.Struct, frozen=True):
    """A file or directory that a command names, as it was when we checked it: it may be replaced at any time."""

    path: Path
    real: Path
    is_directory: bool
    identity: tuple[int, int]


class VisibleFiles(msgspec.Struct):
    """The files that a program sees, and the directories of its tools."""

    paths: set[Path]  # files and directories
    links: dict[Path, Path]
    concealed: set[Path]  # below those
    named: list[NamedFile]  # those that a command names
    tools: list[Path]


def find_visible_files(program: str, arguments: Sequence[str], hidden: Sequence[str], cwd: Path) -> VisibleFiles:
    """The files that a command may see, without the hidden ones; BadRequest if it names what no program may see."""
    named = [file for word in (program, *arguments) for file in find_named_files(word)]
    if not named or named[0].path != Path(program).absolute():
        raise BadRequest(f"{program} is not a file that can be visible in a sandbox")
    concealed = {Path(text).resolve() for text in hidden}
    paths, links = set(common_files()[0]), dict(common_files()[1])
    own: list[NamedFile] = []
    tools: list[Path] = []
    for file in named:
        file_links = list(find_links(file.path))
        restrict_links(file, file_links, [other for other in named if other is not file], paths)
        links.update(file_links)
        if is_below(file.real, paths):
            continue
        if file is named[0] and is_tool(file.path):
            tools.append(file.path.parent)
            others = {cwd, *concealed, *(other.real for other in named[1:])}
            paths.add(tool_directory(file.real, others))
        elif not file.is_directory:
            if is_journal(file.real):
                raise BadRequest(f"{file.path} is a journal, and no program may see one")
            own.append(file)
        elif file.real in (Path.home().resolve(), *concealed):
            why = "journals are written there" if file.real in concealed else "it is your home directory"
            raise BadRequest(f"a program may not see {file.path}: {why}; keep the program in a directory of its own")
        elif not is_shared(file.real):
            own.append(file)
            concealed.update(find_concealed_files(file.real, concealed))
    paths.update(file.real for file in own)
    return VisibleFiles(paths, links, concealed, own, tools)


def find_named_files(word: str) -> Iterator[NamedFile]:
    """The file or directory on a disk that a word of a command names, if any."""
    path = Path(word).absolute()
    if is_below(path, SEPARATE_DIRECTORIES) and not is_below(path, MEMORY_DIRECTORIES):
        return
    try:
        fd = os.open(word, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):  # it does not exist, is too long, or contains a NUL byte
        return
    try:
        real, status = Path(f"/proc/self/fd/{fd}").readlink(), os.fstat(fd)
    finally:
        os.close(fd)
    is_directory = stat.S_ISDIR(status.st_mode)
    if (is_directory or stat.S_ISREG(status.st_mode)) and (
        not is_below(real, SEPARATE_DIRECTORIES) or is_below(real, MEMORY_DIRECTORIES)
    ):
        yield NamedFile(path, real, is_directory, file_identity(status))


def find_links(path: Path) -> Iterator[tuple[Path, Path]]:
    """The links in a path, each with its real target."""
    here, pending, followed = Path("/"), list(reversed(path.parts[1:])), 0
    while pending:
        part = pending.pop()
        here = here.parent if part == ".." else here / part
        try:
            target = Path(os.readlink(here))  # noqa: PTH115 - quicker where there is no link
        except OSError:
            continue
        followed += 1
        if followed > MAX_LINKS or is_below(here, SEPARATE_DIRECTORIES):
            raise BadRequest(f"{path} contains links that cannot be followed: write the path to which they lead")
        yield here, here.resolve()
        here = Path("/") if target.is_absolute() else here.parent
        pending += reversed(target.parts[target.is_absolute() :])


def restrict_links(
    file: NamedFile, links: Sequence[tuple[Path, Path]], others: Sequence[NamedFile], visible: Set[Path]
) -> None:
    """Refuse links that lead out of the directory of another named file: they may have come with that file."""
    for directory in {
        directory for other in others for directory in parent_directories(other) if not is_below(directory, visible)
    }:
        for link, target in links:
            if is_below(link.parent, {directory}) and not is_below(target, {directory, *visible}):
                raise BadRequest(f"{file.path} leads out of {directory} by a link: write the path to which it leads")


def parent_directories(named: NamedFile) -> list[Path]:
    """The directories of a file, by its name and by its real path."""
    return [named.real] if named.is_directory else [named.path.parent.resolve(), named.real.parent]


def game_files(names: Iterable[str]) -> tuple[str, ...]:
    """The files of the external games among these, which are visible to their players."""
    external = (name for name in names if name not in GAMES)
    return tuple(file for name in external for file in module_files(rules_of(name).__module__))


def module_files(name: str) -> Iterator[str]:
    """The file of a module, or the directory of its package."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:length]))
        file = getattr(module, "__file__", None)
        if file is not None:  # a namespace package has none
            yield str(Path(file).parent) if hasattr(module, "__path__") else file
            return


# Tools and interpreters.


def is_tool(program: Path) -> bool:
    """Is this program in a directory of the PATH?"""
    directories = [Path(text) for text in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    return program.parent in [directory for directory in directories if directory.is_absolute()]


def tool_directory(real: Path, others: Set[Path]) -> Path:
    """The directory where a tool is installed, unless it contains other files of the match; or else the tool alone."""
    prefix = real.parent.parent
    is_separate = not is_shared(prefix) and not any(is_below(other, {prefix}) for other in others)
    return prefix if real.parent.name in TOOL_DIRECTORIES and is_separate else real


def refuse_hidden_interpreter(program: Path, visible: VisibleFiles, path: str) -> None:
    """Raise BadRequest for a script whose first line names an interpreter that is not visible."""
    name = script_interpreter(program)
    directories = [""] if "/" in name else [*path.split(os.pathsep), *os.get_exec_path()]
    reals = [file.resolve() for directory in directories if name and path_exists(str(file := Path(directory, name)))]
    if reals and not any(is_below(real, visible.paths) and not is_below(real, visible.concealed) for real in reals):
        instead = f"exec:'{Path(name).name} {program}'"
        raise BadRequest(f"{program} calls {name}, which programs do not see: name it in the command, as in {instead}")


def script_interpreter(program: Path) -> str:
    """The interpreter in the first line of a script, with or without env; "" if there is none, or it is unclear."""
    first = (read_prefix(program, 256) or b"").partition(b"\n")[0]
    words = first[2:].decode(errors="surrogateescape").split() if first.startswith(b"#!") else []
    if not words or Path(words[0]).name != "env":
        return words[0] if words else ""
    name = next(iter(words[2:] if words[1:2] == ["-S"] else words[1:]), "")
    return "" if name.startswith("-") or "=" in name or "\0" in name else name


# Files that every program sees.


@cache
def common_files() -> tuple[Set[Path], Mapping[Path, Path]]:
    """The paths that every program sees, and the links that lead there."""
    names = [*system_directories(), *system_settings(), *python_paths()]
    return {name.resolve() for name in names}, dict(link for name in names for link in find_links(name))


def system_directories() -> Iterator[Path]:
    """The directories of the system; some may be links."""
    return (path for name in SYSTEM_DIRECTORIES if (path := Path("/", name)).is_dir())


def system_settings() -> Iterator[Path]:
    """The settings of the system that programs need."""
    return (path for name in SYSTEM_SETTINGS for path in Path("/etc").glob(name) if path.exists())


def python_paths() -> Iterator[Path]:
    """The files of the Python that runs us, with its packages and ours."""
    yield Path(sys.executable)
    for prefix in (sys.prefix, sys.base_prefix):
        yield from (path for name in PYTHON_PARTS if (path := Path(prefix, name)).exists())
    if site.ENABLE_USER_SITE and Path(site.getusersitepackages()).is_dir():
        yield Path(site.getusersitepackages())
    yield Path(__file__).parents[1]


# Paths.


def path_exists(word: str) -> bool:
    """Does this word of a command name a file or a directory?"""
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # too long, or with a NUL byte
        return False


def is_below(path: Path, roots: Set[Path]) -> bool:
    """Is this path one of the roots, or below one?"""
    return path in roots or any(parent in roots for parent in path.parents)


def is_shared(directory: Path) -> bool:
    """Is this a directory for files of many programs or users?"""
    home = Path.home().resolve()
    return str(directory) in SHARED_DIRECTORIES or directory in (home, home / ".local", *home.parents)


def normalize_path(word: str) -> str:
    """A word of a command; a path with .. is resolved, as its parts may not exist inside the sandbox."""
    path = Path(word)
    if ".." not in path.parts or not path_exists(word):
        return word
    return str(path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name)
