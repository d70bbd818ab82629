"""Find the players in the file of a tournament: the address and the name of each."""

import glob
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest, error_location
from fairplay.games import GameInfo
from fairplay.hosting.spec import Entrant
from fairplay.players.address import IN_PROCESS_PREFIX, open_player
from fairplay.players.location import MAIN_PROGRAM, Command, parse_remote_address, split_command
from fairplay.referee.loading import load_from_module
from fairplay.referee.referee import distinct_names
from fairplay.render.formatting import suggestion
from fairplay.render.text import printable
from fairplay.sandbox.protections import find_program

MAX_ENTRANT_NAME_CHARS = 40
MAX_DERIVED_NAME_CHARS = 36  # of a name from an address, which leaves room for a number


class PlayerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player as it is written in the file."""

    player: str
    name: str | None = None


def make_entrants(
    entries: Iterable[PlayerEntry], globs: Sequence[str], base: Path, game_info: GameInfo
) -> tuple[Entrant, ...]:
    """The players of a file in the directory `base`: those that are listed, and those whose files match."""
    addresses, given, derived = list[str](), dict[int, str](), dict[int, str]()  # names by the index of the player
    written = list[str]()  # the addresses as in the file

    def add(address: str, name: str | None, as_given: str) -> None:
        if name is not None and name in given.values():
            raise BadRequest(f"the name {name!r} is given twice")
        try:
            check_player_exists(address, game_info)
            (derived if name is None else given)[len(addresses)] = (
                derive_name(address) if name is None else check_name(name)
            )
        except OSError as error:  # the name is too long for a file
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
    names = given | dict(zip(derived, distinct_names(list(derived.values()), list(given.values())), strict=True))
    return tuple(Entrant(address, names[place], written[place]) for place, address in enumerate(addresses))


# Addresses.


def resolve_address(address: str, base: Path) -> str:
    """The address with its paths resolved from the directory of the file.

    >>> resolve_address("./bob.py", Path("/games")), resolve_address("exec:../bot --fast", Path("/games"))
    ('/games/bob.py', 'exec:/bot --fast')
    """
    scheme, colon, rest = address.partition(":")
    if colon and scheme == "exec":
        program, *arguments = split_command(rest)
        program = resolve_path(program, base) if "/" in program else program  # without a slash it is on the PATH
        arguments = [resolve_path(one, base) if is_path(one, base) else one for one in arguments]
        return f"exec:{shlex.join([program, *arguments])}"
    if colon and scheme in ("tcp", "ws", "py"):
        return address
    return resolve_path(address, base) if address.endswith(".py") or "/" in address else address


def is_path(word: str, base: Path) -> bool:
    """Whether an argument of a program is a path from the directory of the file; a directory needs a slash."""
    if word.startswith(("./", "../")):
        return True
    try:
        return (base / word).exists() if "/" in word else (base / word).is_file()
    except OSError:  # the word is too long for a path
        return False


def resolve_path(path: str, base: Path) -> str:
    """An absolute path without symbolic links in its directories."""
    joined = base / path
    if joined.name in ("", ".."):
        return os.path.realpath(joined)
    return str(Path(os.path.realpath(joined.parent), joined.name))


def matching_paths(pattern: str, base: Path) -> list[str]:
    """The files and directories that match, sorted."""
    names = glob.glob(str(Path(glob.escape(str(base)), pattern)), recursive=True)  # noqa: PTH207 - it skips hidden files
    matches = [Path(resolve_path(name, base)) for name in names]
    paths = [str(path) for path in matches if "__pycache__" not in path.parts and not path.name.startswith(".")]
    if not paths:
        raise BadRequest(f"nothing matches {pattern!r} in {base}")
    return sorted(paths)


def check_player_exists(address: str, game_info: GameInfo) -> None:
    """Raise BadRequest unless there is a player at an address; the sandbox is checked later."""
    location = parse_remote_address(address)
    if isinstance(location, Command):
        find_program(location.words)
    elif address.startswith(IN_PROCESS_PREFIX):
        load_from_module(address)
    elif location is None:
        name = address.partition(":")[0]
        if name not in game_info.built_in:
            ways = [*game_info.built_in, "./file.py", "exec:COMMAND", "tcp:PORT", "ws:PORT", "py:module:Name"]
            raise BadRequest(f"{game_info.rules.name} has no player {name!r}{suggestion(name, ways)}")
        open_player(address, game_info, bytes(32))


# Names.


def check_name(name: str) -> str:
    """The name, if it is printable and not too long; otherwise raises BadRequest."""
    if not name.strip() or not name.isprintable() or len(name) > MAX_ENTRANT_NAME_CHARS:
        raise BadRequest(
            f"{printable(repr(name), 80)} is not a name: write 1 to {MAX_ENTRANT_NAME_CHARS} printable characters"
        )
    return name


def derive_name(address: str) -> str:
    """A name for a player without one: from the file that plays, or else from the address.

    >>> derive_name("/games/bob.py"), derive_name("exec:node /games/bots/ann/bot.js --fast"), derive_name("lookahead:2")
    ('bob', 'ann', 'lookahead:2')
    """
    name = address
    if address.startswith("exec:"):
        program, *arguments = split_command(address.removeprefix("exec:"))
        name = file_stem(next((one for one in arguments if one.startswith("/")), program))
    elif address.startswith("/"):
        name = file_stem(address)
    return check_name(name if len(name) <= MAX_DERIVED_NAME_CHARS else f"{name[: MAX_DERIVED_NAME_CHARS - 1]}…")


def file_stem(text: str) -> str:
    """The name of a file without its suffix, or of a directory; for a main file, that of its directory."""
    path = Path(text)
    if path.is_dir():
        return path.name
    return path.parent.name or path.stem if path.stem == MAIN_PROGRAM else path.stem
