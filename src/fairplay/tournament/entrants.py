"""Find the players that a tournament's file names: where each of them is, and what it is called."""

import glob
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest, at
from fairplay.games import Title
from fairplay.hosting.spec import Entrant
from fairplay.hosting.table import OPEN
from fairplay.players.address import IN_PROCESS, open_player
from fairplay.players.location import MAIN_PROGRAM, Command, far, words_in
from fairplay.referee.host import distinct
from fairplay.referee.loading import named_in_module
from fairplay.render.text import printable
from fairplay.render.words import meant
from fairplay.sandbox.measures import wrap

LONGEST_NAME = 40
LONGEST_GUESS = 36  # of a name that nobody gave, with room for a number behind it


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player as the file has it."""

    player: str
    name: str | None = None


def entrants_from(listed: Iterable[Listed], folders: Sequence[str], base: Path, shelf: Title) -> tuple[Entrant, ...]:
    """The players of a file in the directory `base`: those that are listed, and whoever else the folders hold."""
    addresses, given, guessed = list[str](), dict[int, str](), dict[int, str]()  # by their places in the list
    written = list[str]()  # the addresses as they are given

    def add(address: str, name: str | None, as_given: str) -> None:
        if name is not None and name in given.values():
            raise BadRequest(f"the name {name!r} is given twice")
        try:
            refuse_nobody(address, shelf)
            (guessed if name is None else given)[len(addresses)] = guess(address) if name is None else fit(name)
        except OSError as error:  # a name may be too long for any file
            raise BadRequest(f"{printable(address, 80)}: {error.strerror}") from None
        addresses.append(address)
        written.append("" if as_given == address else as_given)

    for number, one in enumerate(listed, 1):
        with at(f"player {number}"):
            add(anchored(one.player, base), one.name, one.player)
    for pattern in folders:
        with at("folders"):
            for path in found(pattern, base):
                if path not in addresses:
                    add(path, None, f"./{os.path.relpath(path, base)}")
    names = given | dict(zip(guessed, distinct(list(guessed.values()), list(given.values())), strict=True))
    return tuple(Entrant(address, names[place], written[place]) for place, address in enumerate(addresses))


# Where they are.


def anchored(address: str, base: Path) -> str:
    """The same address for whoever is in another directory: what it says of paths is meant from the file's own.

    >>> anchored("./bob.py", Path("/cups")), anchored("exec:../bot --fast", Path("/cups"))
    ('/cups/bob.py', 'exec:/bot --fast')
    """
    scheme, colon, rest = address.partition(":")
    if colon and scheme == "exec":
        program, *words = words_in(rest)
        program = whole(program, base) if "/" in program else program  # what has no slash is looked for on the PATH
        return f"exec:{shlex.join([program, *(whole(word, base) if is_path(word, base) else word for word in words)])}"
    if colon and scheme in ("tcp", "ws", "py"):
        return address
    return whole(address, base) if address.endswith(".py") or "/" in address else address


def is_path(word: str, base: Path) -> bool:
    """Does this word behind a program mean something beside the file? A folder is only meant if it has a slash."""
    if word.startswith(("./", "../")):
        return True
    try:
        return (base / word).exists() if "/" in word else (base / word).is_file()
    except OSError:  # too long
        return False


def whole(path: str, base: Path) -> str:
    """A path from the root on, without links to directories on its way."""
    joined = base / path
    if joined.name in ("", ".."):
        return os.path.realpath(joined)
    return str(Path(os.path.realpath(joined.parent), joined.name))


def found(pattern: str, base: Path) -> list[str]:
    """The files and folders that match, sorted."""
    names = glob.glob(str(Path(glob.escape(str(base)), pattern)), recursive=True)  # noqa: PTH207 - nothing hidden
    matches = [Path(whole(name, base)) for name in names]
    paths = [str(path) for path in matches if "__pycache__" not in path.parts and not path.name.startswith(".")]
    if not paths:
        raise BadRequest(f"nothing matches {pattern!r} in {base}")
    return sorted(paths)


def refuse_nobody(address: str, shelf: Title) -> None:
    """Take no address where nobody is; whether a program can be shut in is not asked here."""
    location = far(address)
    if isinstance(location, Command):
        wrap(location.words, OPEN)
    elif address.startswith(IN_PROCESS):
        named_in_module(address)
    elif location is None:
        name = address.partition(":")[0]
        if name not in shelf.house:
            ways = [*shelf.house, "./file.py", "exec:COMMAND", "tcp:PORT", "ws:PORT", "py:module:Name"]
            raise BadRequest(f"{shelf.rules.name} has no player {name!r}{meant(name, ways)}")
        open_player(address, shelf, bytes(32))


# What they are called.


def fit(name: str) -> str:
    """A name, if everybody can read it."""
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise BadRequest(f"{printable(repr(name), 80)} is no name: write 1 to {LONGEST_NAME} signs that can be printed")
    return name


def guess(address: str) -> str:
    """What somebody is called whom nobody named: by the file that plays, or else by the address.

    >>> guess("/cups/bob.py"), guess("exec:node /cups/bots/ann/bot.js --fast"), guess("lookahead:2")
    ('bob', 'ann', 'lookahead:2')
    """
    name = address
    if address.startswith("exec:"):
        program, *words = words_in(address.removeprefix("exec:"))
        name = stem(next((word for word in words if word.startswith("/")), program))
    elif address.startswith("/"):
        name = stem(address)
    return fit(name if len(name) <= LONGEST_GUESS else f"{name[: LONGEST_GUESS - 1]}…")


def stem(text: str) -> str:
    """The name of a file without its ending, or of a folder; a main file is called like its folder."""
    path = Path(text)
    if path.is_dir():
        return path.name
    return path.parent.name or path.stem if path.stem == MAIN_PROGRAM else path.stem
