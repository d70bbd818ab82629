"""Find the players that a tournament's file names: where each of them is, and what it is called."""

import glob
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest, error_location
from fairplay.games import GameInfo
from fairplay.hosting.spec import Entrant
from fairplay.hosting.table import NO_SANDBOX
from fairplay.players.address import IN_PROCESS_PREFIX, open_player
from fairplay.players.location import MAIN_PROGRAM, Command, parse_remote_address, split_command
from fairplay.referee.loading import load_from_module
from fairplay.referee.referee import distinct_names
from fairplay.render.formatting import suggestion
from fairplay.render.text import printable
from fairplay.sandbox.protections import wrap_command

MAX_ENTRANT_NAME_CHARS = 40
MAX_DERIVED_NAME_CHARS = 36  # of a name that nobody gave, with room for a number behind it


class PlayerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player as the file has it."""

    player: str
    name: str | None = None


def make_entrants(
    entries: Iterable[PlayerEntry], globs: Sequence[str], base: Path, game_info: GameInfo
) -> tuple[Entrant, ...]:
    """The players of a file in the directory `base`: those that are listed, and those whose files match."""
    addresses, given, guessed = list[str](), dict[int, str](), dict[int, str]()  # by their places in the list
    written = list[str]()  # the addresses as they are given

    def add(address: str, name: str | None, as_given: str) -> None:
        if name is not None and name in given.values():
            raise BadRequest(f"the name {name!r} is given twice")
        try:
            check_player_exists(address, game_info)
            (guessed if name is None else given)[len(addresses)] = (
                derive_name(address) if name is None else check_name(name)
            )
        except OSError as error:  # a name may be too long for any file
            raise BadRequest(f"{printable(address, 80)}: {error.strerror}") from None
        addresses.append(address)
        written.append("" if as_given == address else as_given)

    for number, one in enumerate(entries, 1):
        with error_location(f"player {number}"):
            add(resolve_address(one.player, base), one.name, one.player)
    for pattern in globs:
        with error_location("player_files"):
            for path in matching_paths(pattern, base):
                if path not in addresses:
                    add(path, None, f"./{os.path.relpath(path, base)}")
    names = given | dict(zip(guessed, distinct_names(list(guessed.values()), list(given.values())), strict=True))
    return tuple(Entrant(address, names[place], written[place]) for place, address in enumerate(addresses))


# Where they are.


def resolve_address(address: str, base: Path) -> str:
    """The same address for whoever is in another directory: what it says of paths is meant from the file's own.

    >>> resolve_address("./bob.py", Path("/cups")), resolve_address("exec:../bot --fast", Path("/cups"))
    ('/cups/bob.py', 'exec:/bot --fast')
    """
    scheme, colon, rest = address.partition(":")
    if colon and scheme == "exec":
        program, *words = split_command(rest)
        program = (
            resolve_path(program, base) if "/" in program else program
        )  # what has no slash is looked for on the PATH
        words = [resolve_path(word, base) if is_path(word, base) else word for word in words]
        return f"exec:{shlex.join([program, *words])}"
    if colon and scheme in ("tcp", "ws", "py"):
        return address
    return resolve_path(address, base) if address.endswith(".py") or "/" in address else address


def is_path(word: str, base: Path) -> bool:
    """Does this word behind a program mean something beside the file? A directory is only meant if it has a slash."""
    if word.startswith(("./", "../")):
        return True
    try:
        return (base / word).exists() if "/" in word else (base / word).is_file()
    except OSError:  # too long
        return False


def resolve_path(path: str, base: Path) -> str:
    """A path from the root on, without links to directories on its way."""
    joined = base / path
    if joined.name in ("", ".."):
        return os.path.realpath(joined)
    return str(Path(os.path.realpath(joined.parent), joined.name))


def matching_paths(pattern: str, base: Path) -> list[str]:
    """The files and directories that match, sorted."""
    names = glob.glob(str(Path(glob.escape(str(base)), pattern)), recursive=True)  # noqa: PTH207 - nothing hidden
    matches = [Path(resolve_path(name, base)) for name in names]
    paths = [str(path) for path in matches if "__pycache__" not in path.parts and not path.name.startswith(".")]
    if not paths:
        raise BadRequest(f"nothing matches {pattern!r} in {base}")
    return sorted(paths)


def check_player_exists(address: str, game_info: GameInfo) -> None:
    """Take no address where nobody is; whether a program can be shut in is not asked here."""
    location = parse_remote_address(address)
    if isinstance(location, Command):
        wrap_command(location.words, NO_SANDBOX)
    elif address.startswith(IN_PROCESS_PREFIX):
        load_from_module(address)
    elif location is None:
        name = address.partition(":")[0]
        if name not in game_info.built_in:
            ways = [*game_info.built_in, "./file.py", "exec:COMMAND", "tcp:PORT", "ws:PORT", "py:module:Name"]
            raise BadRequest(f"{game_info.rules.name} has no player {name!r}{suggestion(name, ways)}")
        open_player(address, game_info, bytes(32))


# What they are called.


def check_name(name: str) -> str:
    """A name, if everybody can read it."""
    if not name.strip() or not name.isprintable() or len(name) > MAX_ENTRANT_NAME_CHARS:
        raise BadRequest(
            f"{printable(repr(name), 80)} is no name: write 1 to {MAX_ENTRANT_NAME_CHARS} signs that can be printed"
        )
    return name


def derive_name(address: str) -> str:
    """What somebody is called whom nobody named: by the file that plays, or else by the address.

    >>> derive_name("/cups/bob.py"), derive_name("exec:node /cups/bots/ann/bot.js --fast"), derive_name("lookahead:2")
    ('bob', 'ann', 'lookahead:2')
    """
    name = address
    if address.startswith("exec:"):
        program, *words = split_command(address.removeprefix("exec:"))
        name = file_stem(next((word for word in words if word.startswith("/")), program))
    elif address.startswith("/"):
        name = file_stem(address)
    return check_name(name if len(name) <= MAX_DERIVED_NAME_CHARS else f"{name[: MAX_DERIVED_NAME_CHARS - 1]}…")


def file_stem(text: str) -> str:
    """The name of a file without its ending, or of a directory; a main file is called like its directory."""
    path = Path(text)
    if path.is_dir():
        return path.name
    return path.parent.name or path.stem if path.stem == MAIN_PROGRAM else path.stem
