"""Say where the player of an address is: in this process, in a program, behind a door, or at the keyboard."""

import shlex
import sys
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games import title
from fairplay.players.address import MAIN_FILE, AnyPlayer, open_player

HUMAN = "human"  # the address of a person at this terminal
MAIN_PROGRAM = "bot"  # what plays in a folder without a main file


class Near(msgspec.Struct, frozen=True):
    """A player in this process."""

    player: AnyPlayer


class House(Near, frozen=True):
    """A player that comes with a game; where others have to be waited for, it thinks in another process."""

    game: str
    address: str
    key: bytes


class Command(msgspec.Struct, frozen=True):
    """A program to be started."""

    words: tuple[str, ...]


class Invitation(msgspec.Struct, frozen=True):
    """A place where somebody may come in; the same place can be for several seats."""

    scheme: str  # tcp or ws; course: it came to the server of one; visitor: it came to a house
    place: str  # PORT or HOST:PORT, or the game of the course, or the id that a visitor has at the house


class Person(msgspec.Struct, frozen=True):
    """Whoever sits at this terminal."""


Location = Near | Command | Invitation | Person


def far(address: str) -> Command | Invitation | Person | None:
    """Where the player of an address is, if that is not in this process. Raises BadRequest if it is nowhere."""
    if address == HUMAN:
        return Person()
    scheme, colon, rest = address.partition(":")
    if colon and scheme in ("tcp", "ws", "course", "visitor"):
        return Invitation(scheme, rest)
    if colon and scheme == "exec":
        return Command(words_in(rest))
    if address.startswith("py:"):
        return None
    if address.endswith(".py"):
        if not Path(address).is_file():
            raise BadRequest(f"there is no Python file {address}")
        return Command((sys.executable, "-P", "-m", "fairplay.bot", address))
    if "/" in address and Path(address).is_dir():
        return in_folder(address)
    return Command((address,)) if "/" in address else None


def in_folder(address: str) -> Command:
    """How a folder plays. The command names the folder, and so all of it is shown to the program."""
    if Path(address, MAIN_FILE).is_file():
        return Command((sys.executable, "-P", "-m", "fairplay.bot", address))
    if Path(address, MAIN_PROGRAM).is_file():
        return Command((str(Path(address, MAIN_PROGRAM).absolute()), address))
    raise BadRequest(f"there is neither a program {MAIN_PROGRAM} nor a file {MAIN_FILE} in {address}")


def of_the_house(address: str, game: str) -> bool:
    """Does an address name a player that comes with the game, and nothing else?"""
    return "/" not in address and not address.endswith(".py") and address.partition(":")[0] in title(game).house


def near(address: str, game: str, key: bytes) -> Near:
    """Where the player of an address is, if that is in this process. Raises BadRequest if there is none."""
    shelf = title(game)
    player = open_player(address, shelf, key)
    house = shelf.travels and not address.startswith("py:")
    return House(player, game, address, key) if house else Near(player)


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
