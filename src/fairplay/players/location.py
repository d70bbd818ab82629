"""Parse player addresses: in this process, a program, a listener, or a person at this terminal."""

import importlib.util
import shlex
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games import game_info
from fairplay.players.address import IN_PROCESS_PREFIX, MAIN_FILE, AnyPlayer, open_player, split_label
from fairplay.referee.loading import parse_module_address

HUMAN = "human"  # the address of a person at this terminal
MAIN_PROGRAM = "bot"  # what plays in a directory without a main file


class LocalAddress(msgspec.Struct, frozen=True):
    """A player in this process."""

    player: AnyPlayer


class BuiltInAddress(LocalAddress, frozen=True):
    """A player that comes with a game; in matches with remote players it computes in another process."""

    game: str  # its source: a name, or py:module:Name
    address: str
    key: bytes


class Command(msgspec.Struct, frozen=True):
    """A program to start."""

    words: tuple[str, ...]


class ListenAddress(msgspec.Struct, frozen=True):
    """An endpoint where players connect; several seats may share it."""

    scheme: str  # tcp or ws; client: a client of this server
    place: str  # PORT or HOST:PORT, or the id of a client


class Person(msgspec.Struct, frozen=True):
    """A person at this terminal."""

    option: tuple[str, ...] = ()  # options that load an external game in the process at the terminal


Location = LocalAddress | Command | ListenAddress | Person


def parse_remote_address(address: str, option: tuple[str, ...] = ()) -> Command | ListenAddress | Person | None:
    """The location of a player outside of this process; None: it is in this process. Raises BadRequest if invalid."""
    if address == HUMAN:
        return Person(option)
    scheme, colon, rest = address.partition(":")
    if colon and scheme in ("tcp", "ws", "client"):
        return ListenAddress(scheme, rest)
    if colon and scheme == "exec":
        return Command(split_command(rest))
    if address.startswith(IN_PROCESS_PREFIX):
        return None
    if address.startswith("py:"):
        return bot_command(*module_arguments(address), *option)
    if address.endswith(".py"):
        if not Path(address).is_file():
            raise BadRequest(f"there is no Python file {address}")
        return bot_command(address, *option)
    if "/" not in address:
        return None
    if not Path(address).is_dir():
        return Command((address,))
    if Path(address, MAIN_FILE).is_file():
        return bot_command(address, *option)
    program = Path(address, MAIN_PROGRAM)
    if program.is_file():
        return Command((str(program.absolute()), address))  # the program sees all of a directory that is named
    raise BadRequest(f"there is neither a program {MAIN_PROGRAM} nor a file {MAIN_FILE} in {address}")


def bot_command(*words: str) -> Command:
    """The command of `fairplay.bot` with these arguments."""
    return Command((sys.executable, "-P", "-m", "fairplay.bot", *words))


def module_arguments(address: str) -> tuple[str, ...]:
    """The arguments of `fairplay.bot` for py:module:Name, which plays in its own process and sees its file or package.

    The module is searched on the path and in this directory; none of its code runs here.
    """
    module, _ = parse_module_address(address)
    here, path = Path.cwd(), [str(Path.cwd()), *sys.path]
    parts = module.split(".")
    for depth, part in enumerate(parts):
        spec = PathFinder.find_spec(part, path)
        if spec is None and depth == 0 and part.isidentifier():
            spec = importlib.util.find_spec(part)  # by other finders, such as those of editable installs
        if spec is None:
            raise BadRequest(f"{address} cannot be loaded: ModuleNotFoundError: No module named {module!r}")
        if spec.has_location and spec.origin:
            file = here / spec.origin
            place = file.parent if spec.submodule_search_locations is not None else file
            return address, f"--from={place.parents[depth]}", str(place)
        path = list(spec.submodule_search_locations or ())
    return (address,)  # built in, or a namespace package: the program reports what is wrong


def keep_in_process(player: str) -> str:
    """PLAYER or NAME=PLAYER, with py:module:Name changed to in-process:module:Name.

    >>> keep_in_process("ann=py:bots:Ann"), keep_in_process("greedy")
    ('ann=in-process:bots:Ann', 'greedy')
    """
    address = split_label(player)[1]
    if not address.startswith("py:"):
        return player
    return f"{player.removesuffix(address)}{IN_PROCESS_PREFIX}{address.removeprefix('py:')}"


def is_restarted_each_match(address: str) -> bool:
    """Is the player of an address restarted for each match, so that it cannot remember earlier ones?

    A player in this process is not, as its module stays loaded.

    >>> [is_restarted_each_match(address) for address in ("greedy", "exec:./bot", "tcp:4000", "in-process:bots:Player")]
    [True, True, False, False]
    """
    return not address.startswith(IN_PROCESS_PREFIX) and not isinstance(
        parse_remote_address(address), ListenAddress | Person
    )


def is_built_in(address: str, game: str) -> bool:
    """Does an address name a built-in player of the game, and not a file?"""
    return "/" not in address and not address.endswith(".py") and address.partition(":")[0] in game_info(game).built_in


def parse_local_address(address: str, game: str, key: bytes) -> LocalAddress:
    """The location of a player in this process. Raises BadRequest if there is none."""
    info = game_info(game)
    player = open_player(address, info, key)
    can_be_pooled = info.source and not address.startswith(IN_PROCESS_PREFIX)
    return BuiltInAddress(player, info.source, address, key) if can_be_pooled else LocalAddress(player)


def split_command(text: str) -> tuple[str, ...]:
    """The words of a command line, split as a shell does."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BadRequest(f"exec:{text} is not a command line: {error}") from None
    if "\0" in text:
        raise BadRequest(f"{text!r} is not a command line: it contains a NUL byte")
    if not words:
        raise BadRequest("exec: names no program; write exec:./bot or exec:'./bot --flag'")
    return words
