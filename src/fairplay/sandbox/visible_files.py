"""Decide what a program sees of the host's files: what its command names, and nothing because of what is in there.

Paths are real ones, without links in them. A name that goes by links is kept as links; those that a program brings
along lead nowhere else than to what is shown anyway.
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
SEPARATE_DIRECTORIES = {Path("/proc"), Path("/sys"), Path("/dev")}  # which a program has others of, or none
MEMORY_DIRECTORIES = {Path("/dev/shm")}  # but for what lies there as on a disk
TOOL_DIRECTORIES = ("bin", "shims")  # directories of tools that need what lies beside them
PYTHON_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")  # what belongs to it where it is installed
MAX_LINKS = 40  # on the way to a file, as for the kernel


class NamedFile(msgspec.Struct, frozen=True):
    """Something that a command names, and what it was when we looked: it may be replaced at any time."""

    path: Path
    real: Path
    is_directory: bool
    identity: tuple[int, int]


class VisibleFiles(msgspec.Struct):
    """What a program sees, and where the tools are that it was called with."""

    paths: set[Path]  # files and directories
    links: dict[Path, Path]
    concealed: set[Path]  # in these places
    named: list[NamedFile]  # of these places, those that a command names
    tools: list[Path]


def find_visible_files(program: str, arguments: Sequence[str], hidden: Sequence[str], cwd: Path) -> VisibleFiles:
    """What a command may see, but for what is hidden; BadRequest if it names what nobody may see."""
    named = [found for word in (program, *arguments) for found in find_named_files(word)]
    if not named or named[0].path != Path(program).absolute():
        raise BadRequest(f"{program} is no file that can be shown to anybody")
    concealed = {Path(text).resolve() for text in hidden}
    places, links = set(common_files()[0]), dict(common_files()[1])
    own: list[NamedFile] = []
    tools: list[Path] = []
    for one in named:
        found = list(find_links(one.path))
        restrict_links(one, found, [other for other in named if other is not one], places)
        links.update(found)
        if is_below(one.real, places):
            continue
        if one is named[0] and is_tool(one.path):
            tools.append(one.path.parent)
            others = {cwd, *concealed, *(other.real for other in named[1:])}
            places.add(tool_directory(one.real, others))
        elif not one.is_directory:
            if is_journal(one.real):
                raise BadRequest(f"{one.path} is a journal, and no program may see one")
            own.append(one)
        elif one.real in (Path.home().resolve(), *concealed):
            why = "journals are written" if one.real in concealed else "you have more than this program"
            raise BadRequest(f"{why} in {one.path}: keep the program in a directory of its own")
        elif not is_shared(one.real):
            own.append(one)
            concealed.update(find_concealed_files(one.real, concealed))
    places.update(one.real for one in own)
    return VisibleFiles(places, links, concealed, own, tools)


def find_named_files(word: str) -> Iterator[NamedFile]:
    """What a word of a command names, if it does, and if it is a file or a directory on a disk."""
    path = Path(word).absolute()
    if is_below(path, SEPARATE_DIRECTORIES) and not is_below(path, MEMORY_DIRECTORIES):
        return
    try:
        opened = os.open(word, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):  # it is not there, or too long, or has a zero in it
        return
    try:
        real, status = Path(f"/proc/self/fd/{opened}").readlink(), os.fstat(opened)
    finally:
        os.close(opened)
    is_directory = stat.S_ISDIR(status.st_mode)
    if (is_directory or stat.S_ISREG(status.st_mode)) and (
        not is_below(real, SEPARATE_DIRECTORIES) or is_below(real, MEMORY_DIRECTORIES)
    ):
        yield NamedFile(path, real, is_directory, file_identity(status))


def find_links(path: Path) -> Iterator[tuple[Path, Path]]:
    """The links that a name goes by, each with the place where it really leads."""
    here, ahead, followed = Path("/"), list(reversed(path.parts[1:])), 0
    while ahead:
        part = ahead.pop()
        here = here.parent if part == ".." else here / part
        try:
            target = Path(os.readlink(here))  # noqa: PTH115 - which is quicker where there is no link
        except OSError:
            continue
        followed += 1
        if followed > MAX_LINKS or is_below(here, SEPARATE_DIRECTORIES):
            raise BadRequest(f"{path} goes by links that cannot be followed: write where they lead")
        yield here, here.resolve()
        here = Path("/") if target.is_absolute() else here.parent
        ahead += reversed(target.parts[target.is_absolute() :])


def restrict_links(
    one: NamedFile, links: Sequence[tuple[Path, Path]], others: Sequence[NamedFile], places: Set[Path]
) -> None:
    """Follow no link out of the directory of something else that is named: it may have come with that."""
    for directory in {
        directory for other in others for directory in parent_directories(other) if not is_below(directory, places)
    }:
        for link, target in links:
            if is_below(link.parent, {directory}) and not is_below(target, {directory, *places}):
                raise BadRequest(f"{one.path} leads out of {directory} by a link: write where it leads")


def parent_directories(named: NamedFile) -> list[Path]:
    """Where something lies, by its name and really."""
    return [named.real] if named.is_directory else [named.path.parent.resolve(), named.real.parent]


def game_files(names: Iterable[str]) -> tuple[str, ...]:
    """The files of the external games among these, which are shown to those who play them."""
    external = (name for name in names if name not in GAMES)
    return tuple(place for name in external for place in module_files(rules_of(name).__module__))


def module_files(name: str) -> Iterator[str]:
    """The file of a module; or the package that it is in, with all that it may need."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:length]))
        file = getattr(module, "__file__", None)
        if file is not None:  # or else it is a mere directory
            yield str(Path(file).parent) if hasattr(module, "__path__") else file
            return


# Tools and interpreters.


def is_tool(program: Path) -> bool:
    """Is this in a directory where whoever hosts keeps programs to be called by their names?"""
    directories = [Path(text) for text in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    return program.parent in [directory for directory in directories if directory.is_absolute()]


def tool_directory(real: Path, others: Set[Path]) -> Path:
    """What a tool needs: all that was installed with it, unless there is something else among it."""
    around = real.parent.parent
    alone = not is_shared(around) and not any(is_below(other, {around}) for other in others)
    return around if real.parent.name in TOOL_DIRECTORIES and alone else real


def refuse_hidden_interpreter(program: Path, shown: VisibleFiles, path: str) -> None:
    """Say early that what the first line of a script calls is only there outside; nothing is shown on its account."""
    name = script_interpreter(program)
    directories = [""] if "/" in name else [*path.split(os.pathsep), *os.get_exec_path()]
    reals = [way.resolve() for directory in directories if name and path_exists(str(way := Path(directory, name)))]
    if reals and not any(is_below(real, shown.paths) and not is_below(real, shown.concealed) for real in reals):
        instead = f"exec:'{Path(name).name} {program}'"
        raise BadRequest(f"{program} calls {name}, which programs do not see: name it in the command, as in {instead}")


def script_interpreter(program: Path) -> str:
    """What the first line of a script calls, by itself or by the plainest forms of env; "" if that cannot be told."""
    first = (read_prefix(program, 256) or b"").partition(b"\n")[0]
    words = first[2:].decode(errors="surrogateescape").split() if first.startswith(b"#!") else []
    if not words or Path(words[0]).name != "env":
        return words[0] if words else ""
    name = next(iter(words[2:] if words[1:2] == ["-S"] else words[1:]), "")
    return "" if name.startswith("-") or "=" in name or "\0" in name else name


# What every program sees.


@cache
def common_files() -> tuple[Set[Path], Mapping[Path, Path]]:
    """The places that are shown to every program, and the links that lead there."""
    names = [*system_directories(), *system_settings(), *python_paths()]
    return {name.resolve() for name in names}, dict(link for name in names for link in find_links(name))


def system_directories() -> Iterator[Path]:
    """The directories of the system; some may be links."""
    return (path for name in SYSTEM_DIRECTORIES if (path := Path("/", name)).is_dir())


def system_settings() -> Iterator[Path]:
    """The settings of the system that programs cannot do without."""
    return (path for name in SYSTEM_SETTINGS for path in Path("/etc").glob(name) if path.exists())


def python_paths() -> Iterator[Path]:
    """What belongs to the Python that runs us, with its packages and with ours."""
    yield Path(sys.executable)
    for prefix in (sys.prefix, sys.base_prefix):
        yield from (path for name in PYTHON_PARTS if (path := Path(prefix, name)).exists())
    if site.ENABLE_USER_SITE and Path(site.getusersitepackages()).is_dir():
        yield Path(site.getusersitepackages())
    yield Path(__file__).parents[1]


# Paths.


def path_exists(word: str) -> bool:
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
    home = Path.home().resolve()
    return str(directory) in SHARED_DIRECTORIES or directory in (home, home / ".local", *home.parents)


def normalize_path(word: str) -> str:
    """A word of a command; a path that goes up is put straight, for what it goes through may not be there inside."""
    path = Path(word)
    if ".." not in path.parts or not path_exists(word):
        return word
    return str(path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name)
