"""Say where the player of an address is: in this process, in a program, behind a listener, or at the keyboard."""

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
    """A player that comes with a game; where others have to be waited for, it thinks in another process."""

    game: str  # its source: a name, or py:module:Name
    address: str
    key: bytes


class Command(msgspec.Struct, frozen=True):
    """A program to be started."""

    words: tuple[str, ...]


class ListenAddress(msgspec.Struct, frozen=True):
    """A place where somebody may come in; the same place can be for several seats."""

    scheme: str  # tcp or ws; client: it came to a server
    place: str  # PORT or HOST:PORT, or the id that a client has at the server


class Person(msgspec.Struct, frozen=True):
    """Whoever sits at this terminal."""

    option: tuple[str, ...] = ()  # by which the process at the terminal is told of an external game


Location = LocalAddress | Command | ListenAddress | Person


def parse_remote_address(address: str, option: tuple[str, ...] = ()) -> Command | ListenAddress | Person | None:
    """Where the player of an address is, if that is not in this process. Raises BadRequest if it is nowhere."""
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
    if Path(
        address, MAIN_PROGRAM
    ).is_file():  # the command names the directory, and so all of it is shown to the program
        return Command((str(Path(address, MAIN_PROGRAM).absolute()), address))
    raise BadRequest(f"there is neither a program {MAIN_PROGRAM} nor a file {MAIN_FILE} in {address}")


def bot_command(*words: str) -> Command:
    """A program of ours that plays as these words say: see `fairplay.bot`."""
    return Command((sys.executable, "-P", "-m", "fairplay.bot", *words))


def module_arguments(address: str) -> tuple[str, ...]:
    """The words for py:module:Name, which plays in a process of its own: it sees the file, or the package, it is in.

    The module is looked for on the path and in this directory, and nothing of it is run here.
    """
    module, _ = parse_module_address(address)
    here, path = Path.cwd(), [str(Path.cwd()), *sys.path]
    parts = module.split(".")
    for depth, part in enumerate(parts):
        spec = PathFinder.find_spec(part, path)
        if spec is None and depth == 0 and part.isidentifier():
            spec = importlib.util.find_spec(part)  # by other finders, as of what is installed to be edited
        if spec is None:
            raise BadRequest(f"{address} cannot be loaded: ModuleNotFoundError: No module named {module!r}")
        if spec.has_location and spec.origin:
            file = here / spec.origin
            place = file.parent if spec.submodule_search_locations is not None else file
            return address, f"--from={place.parents[depth]}", str(place)
        path = list(spec.submodule_search_locations or ())
    return (address,)  # it is built in, or a mere directory: the program says what is wrong with that


def keep_in_process(player: str) -> str:
    """PLAYER or NAME=PLAYER, with a player py:module:Name kept in this process.

    >>> keep_in_process("ann=py:bots:Ann"), keep_in_process("greedy")
    ('ann=in-process:bots:Ann', 'greedy')
    """
    address = split_label(player)[1]
    if not address.startswith("py:"):
        return player
    return f"{player.removesuffix(address)}{IN_PROCESS_PREFIX}{address.removeprefix('py:')}"


def is_restarted_each_match(address: str) -> bool:
    """Is the player of an address started anew for each match, so that it cannot remember another one?

    A player that is kept in this process is not: its module stays loaded.

    >>> [is_restarted_each_match(address) for address in ("greedy", "exec:./bot", "tcp:4000", "in-process:bots:Player")]
    [True, True, False, False]
    """
    return not address.startswith(IN_PROCESS_PREFIX) and not isinstance(
        parse_remote_address(address), ListenAddress | Person
    )


def is_built_in(address: str, game: str) -> bool:
    """Does an address name a player that comes with the game, and nothing else?"""
    return "/" not in address and not address.endswith(".py") and address.partition(":")[0] in game_info(game).built_in


def parse_local_address(address: str, game: str, key: bytes) -> LocalAddress:
    """Where the player of an address is, if that is in this process. Raises BadRequest if there is none."""
    shelf = game_info(game)
    player = open_player(address, shelf, key)
    server = shelf.source and not address.startswith(IN_PROCESS_PREFIX)
    return BuiltInAddress(player, shelf.source, address, key) if server else LocalAddress(player)


def split_command(text: str) -> tuple[str, ...]:
    """The words of a command line, as a shell has them."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BadRequest(f"exec:{text} is no command line: {error}") from None
    if "\0" in text:
        raise BadRequest(f"{text!r} is no command line: it holds a NUL")
    if not words:
        raise BadRequest("exec: names no program; write exec:./bot or exec:'./bot --flag'")
    return words
