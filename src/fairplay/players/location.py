"""Say where the player of an address is: in this process, in a program, behind a door, or at the keyboard."""

import importlib.util
import shlex
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games import title
from fairplay.players.address import IN_PROCESS, MAIN_FILE, AnyPlayer, open_player, split_label
from fairplay.referee.loading import module_and_name

HUMAN = "human"  # the address of a person at this terminal
MAIN_PROGRAM = "bot"  # what plays in a folder without a main file


class Near(msgspec.Struct, frozen=True):
    """A player in this process."""

    player: AnyPlayer


class House(Near, frozen=True):
    """A player that comes with a game; where others have to be waited for, it thinks in another process."""

    game: str  # its source: a name, or py:module:Name
    address: str
    key: bytes


class Command(msgspec.Struct, frozen=True):
    """A program to be started."""

    words: tuple[str, ...]


class Invitation(msgspec.Struct, frozen=True):
    """A place where somebody may come in; the same place can be for several seats."""

    scheme: str  # tcp or ws; visitor: it came to a server
    place: str  # PORT or HOST:PORT, or the id that a visitor has at the server


class Person(msgspec.Struct, frozen=True):
    """Whoever sits at this terminal."""

    option: tuple[str, ...] = ()  # by which the process at the terminal is told of an external game


Location = Near | Command | Invitation | Person


def far(address: str, option: tuple[str, ...] = ()) -> Command | Invitation | Person | None:
    """Where the player of an address is, if that is not in this process. Raises BadRequest if it is nowhere."""
    if address == HUMAN:
        return Person(option)
    scheme, colon, rest = address.partition(":")
    if colon and scheme in ("tcp", "ws", "visitor"):
        return Invitation(scheme, rest)
    if colon and scheme == "exec":
        return Command(words_in(rest))
    if address.startswith(IN_PROCESS):
        return None
    if address.startswith("py:"):
        return bot(*in_module(address), *option)
    if address.endswith(".py"):
        if not Path(address).is_file():
            raise BadRequest(f"there is no Python file {address}")
        return bot(address, *option)
    if "/" not in address:
        return None
    if not Path(address).is_dir():
        return Command((address,))
    if Path(address, MAIN_FILE).is_file():
        return bot(address, *option)
    if Path(address, MAIN_PROGRAM).is_file():  # the command names the folder, and so all of it is shown to the program
        return Command((str(Path(address, MAIN_PROGRAM).absolute()), address))
    raise BadRequest(f"there is neither a program {MAIN_PROGRAM} nor a file {MAIN_FILE} in {address}")


def bot(*words: str) -> Command:
    """A program of ours that plays as these words say: see `fairplay.bot`."""
    return Command((sys.executable, "-P", "-m", "fairplay.bot", *words))


def in_module(address: str) -> tuple[str, ...]:
    """The words for py:module:Name, which plays in a process of its own: it sees the file, or the package, it is in.

    The module is looked for on the path and in this directory, and nothing of it is run here.
    """
    module, _ = module_and_name(address)
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
    return (address,)  # it is built in, or a mere folder: the program says what is wrong with that


def kept_in_process(player: str) -> str:
    """PLAYER or NAME=PLAYER, with a player py:module:Name kept in this process.

    >>> kept_in_process("ann=py:bots:Ann"), kept_in_process("greedy")
    ('ann=in-process:bots:Ann', 'greedy')
    """
    address = split_label(player)[1]
    if not address.startswith("py:"):
        return player
    return f"{player.removesuffix(address)}{IN_PROCESS}{address.removeprefix('py:')}"


def is_started_afresh(address: str) -> bool:
    """Is the player of an address started anew for each match, so that it cannot remember another one?

    A player that is kept in this process is not: its module stays loaded.

    >>> [is_started_afresh(address) for address in ("greedy", "exec:./bot", "tcp:4000", "in-process:bots:Player")]
    [True, True, False, False]
    """
    return not address.startswith(IN_PROCESS) and not isinstance(far(address), Invitation | Person)


def of_the_house(address: str, game: str) -> bool:
    """Does an address name a player that comes with the game, and nothing else?"""
    return "/" not in address and not address.endswith(".py") and address.partition(":")[0] in title(game).house


def near(address: str, game: str, key: bytes) -> Near:
    """Where the player of an address is, if that is in this process. Raises BadRequest if there is none."""
    shelf = title(game)
    player = open_player(address, shelf, key)
    house = shelf.source and not address.startswith(IN_PROCESS)
    return House(player, shelf.source, address, key) if house else Near(player)


def words_in(text: str) -> tuple[str, ...]:
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
