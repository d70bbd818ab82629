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
from fairplay.sandbox.folder import beginning, identity, is_journal, to_conceal

SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
SETTINGS = ("alternatives", "java*", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf")
SHARED = ("/", "/dev", "/dev/shm", "/etc", "/home", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var", "/var/tmp")
OWN = {Path("/proc"), Path("/sys"), Path("/dev")}  # which a program has others of, or none
MEMORY = {Path("/dev/shm")}  # but for what lies there as on a disk
BINARIES = ("bin", "shims")  # directories of tools that need what lies beside them
OF_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg")  # what belongs to it where it is installed
MOST_LINKS = 40  # on the way to a file, as for the kernel


class Named(msgspec.Struct, frozen=True):
    """Something that a command names, and what it was when we looked: it may be replaced at any time."""

    path: Path
    real: Path
    is_folder: bool
    identity: tuple[int, int]


class Shown(msgspec.Struct):
    """What a program sees, and where the tools are that it was called with."""

    places: set[Path]  # files and directories
    links: dict[Path, Path]
    concealed: set[Path]  # in these places
    own: list[Named]  # of these places, those that a command names
    tools: list[Path]


def shown_to(program: str, arguments: Sequence[str], hidden: Sequence[str], cwd: Path) -> Shown:
    """What a command may see, but for what is hidden; BadRequest if it names what nobody may see."""
    named = [found for word in (program, *arguments) for found in looked_up(word)]
    if not named or named[0].path != Path(program).absolute():
        raise BadRequest(f"{program} is no file that can be shown to anybody")
    concealed = {Path(text).resolve() for text in hidden}
    places, links = set(common()[0]), dict(common()[1])
    own: list[Named] = []
    tools: list[Path] = []
    for one in named:
        found = list(links_on_the_way(one.path))
        keep_inside(one, found, [other for other in named if other is not one], places)
        links.update(found)
        if is_below(one.real, places):
            continue
        if one is named[0] and is_tool(one.path):
            tools.append(one.path.parent)
            others = {cwd, *concealed, *(other.real for other in named[1:])}
            places.add(around_tool(one.real, others))
        elif not one.is_folder:
            if is_journal(one.real):
                raise BadRequest(f"{one.path} is a journal, and no program may see one")
            own.append(one)
        elif one.real in (Path.home().resolve(), *concealed):
            why = "journals are written" if one.real in concealed else "you have more than this program"
            raise BadRequest(f"{why} in {one.path}: keep the program in a folder of its own")
        elif not is_shared(one.real):
            own.append(one)
            concealed.update(to_conceal(one.real, concealed))
    places.update(one.real for one in own)
    return Shown(places, links, concealed, own, tools)


def looked_up(word: str) -> Iterator[Named]:
    """What a word of a command names, if it does, and if it is a file or a directory on a disk."""
    path = Path(word).absolute()
    if is_below(path, OWN) and not is_below(path, MEMORY):
        return
    try:
        opened = os.open(word, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):  # it is not there, or too long, or has a zero in it
        return
    try:
        real, status = Path(f"/proc/self/fd/{opened}").readlink(), os.fstat(opened)
    finally:
        os.close(opened)
    is_folder = stat.S_ISDIR(status.st_mode)
    if (is_folder or stat.S_ISREG(status.st_mode)) and (not is_below(real, OWN) or is_below(real, MEMORY)):
        yield Named(path, real, is_folder, identity(status))


def links_on_the_way(path: Path) -> Iterator[tuple[Path, Path]]:
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
        if followed > MOST_LINKS or is_below(here, OWN):
            raise BadRequest(f"{path} goes by links that cannot be followed: write where they lead")
        yield here, here.resolve()
        here = Path("/") if target.is_absolute() else here.parent
        ahead += reversed(target.parts[target.is_absolute() :])


def keep_inside(one: Named, links: Sequence[tuple[Path, Path]], others: Sequence[Named], places: Set[Path]) -> None:
    """Follow no link out of the folder of something else that is named: it may have come with that."""
    for folder in {folder for other in others for folder in folders_of(other) if not is_below(folder, places)}:
        for link, target in links:
            if is_below(link.parent, {folder}) and not is_below(target, {folder, *places}):
                raise BadRequest(f"{one.path} leads out of {folder} by a link: write where it leads")


def folders_of(named: Named) -> list[Path]:
    """Where something lies, by its name and really."""
    return [named.real] if named.is_folder else [named.path.parent.resolve(), named.real.parent]


def files_of_games(names: Iterable[str]) -> tuple[str, ...]:
    """The files of the external games among these, which are shown to those who play them."""
    external = (name for name in names if name not in GAMES)
    return tuple(place for name in external for place in module_and_packages(rules_of(name).__module__))


def module_and_packages(name: str) -> Iterator[str]:
    """The file of a module; or the package that it is in, with all that it may need."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:length]))
        file = getattr(module, "__file__", None)
        if file is not None:  # or else it is a mere folder
            yield str(Path(file).parent) if hasattr(module, "__path__") else file
            return


# Tools and interpreters.


def is_tool(program: Path) -> bool:
    """Is this in a directory where whoever hosts keeps programs to be called by their names?"""
    directories = [Path(text) for text in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    return program.parent in [directory for directory in directories if directory.is_absolute()]


def around_tool(real: Path, others: Set[Path]) -> Path:
    """What a tool needs: all that was installed with it, unless there is something else among it."""
    around = real.parent.parent
    alone = not is_shared(around) and not any(is_below(other, {around}) for other in others)
    return around if real.parent.name in BINARIES and alone else real


def refuse_unseen_interpreter(program: Path, shown: Shown, path: str) -> None:
    """Say early that what the first line of a script calls is only there outside; nothing is shown on its account."""
    name = interpreter(program)
    directories = [""] if "/" in name else [*path.split(os.pathsep), *os.get_exec_path()]
    reals = [way.resolve() for directory in directories if name and is_there(str(way := Path(directory, name)))]
    if reals and not any(is_below(real, shown.places) and not is_below(real, shown.concealed) for real in reals):
        instead = f"exec:'{Path(name).name} {program}'"
        raise BadRequest(f"{program} calls {name}, which programs do not see: name it in the command, as in {instead}")


def interpreter(program: Path) -> str:
    """What the first line of a script calls, by itself or by the plainest forms of env; "" if that cannot be told."""
    first = (beginning(program, 256) or b"").partition(b"\n")[0]
    words = first[2:].decode(errors="surrogateescape").split() if first.startswith(b"#!") else []
    if not words or Path(words[0]).name != "env":
        return words[0] if words else ""
    name = next(iter(words[2:] if words[1:2] == ["-S"] else words[1:]), "")
    return "" if name.startswith("-") or "=" in name or "\0" in name else name


# What every program sees.


@cache
def common() -> tuple[Set[Path], Mapping[Path, Path]]:
    """The places that are shown to every program, and the links that lead there."""
    names = [*system(), *settings(), *names_of_python()]
    return {name.resolve() for name in names}, dict(link for name in names for link in links_on_the_way(name))


def system() -> Iterator[Path]:
    """The directories of the system; some may be links."""
    return (path for name in SYSTEM if (path := Path("/", name)).is_dir())


def settings() -> Iterator[Path]:
    """The settings of the system that programs cannot do without."""
    return (path for name in SETTINGS for path in Path("/etc").glob(name) if path.exists())


def names_of_python() -> Iterator[Path]:
    """What belongs to the Python that runs us, with its packages and with ours."""
    yield Path(sys.executable)
    for prefix in (sys.prefix, sys.base_prefix):
        yield from (path for name in OF_PYTHON if (path := Path(prefix, name)).exists())
    if site.ENABLE_USER_SITE and Path(site.getusersitepackages()).is_dir():
        yield Path(site.getusersitepackages())
    yield Path(__file__).parents[1]


# Paths.


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
    home = Path.home().resolve()
    return str(directory) in SHARED or directory in (home, home / ".local", *home.parents)


def straight(word: str) -> str:
    """A word of a command; a path that goes up is put straight, for what it goes through may not be there inside."""
    path = Path(word)
    if ".." not in path.parts or not is_there(word):
        return word
    return str(path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name)
