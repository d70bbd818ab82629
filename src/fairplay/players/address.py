"""Open players by their addresses."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.roles import Player, Strategy
from fairplay.games import GameInfo, game_info
from fairplay.referee.loading import load_from_module, run_loader

AnyPlayer = Player | Strategy[Any, Any]
IN_PROCESS_PREFIX = "in-process:"  # before module:Name, instead of py: a player that is trusted with this process
MAIN_FILE = "bot.py"  # the player of a directory
PLAYER_NAMES = ("Player", "player", "take_turn")  # what a file may call its player

OTHER_ADDRESSES = "human, ./file.py, exec:COMMAND, tcp:PORT, ws:PORT and py:module:Name"


def split_label(text: str) -> tuple[str, str]:
    """The label and the address of a player: NAME=ADDRESS, or the address for both.

    >>> split_label("ann=lookahead:2"), split_label("random")
    (('ann', 'lookahead:2'), ('random', 'random'))
    """
    label, equals, address = text.partition("=")
    if not equals or ":" in label or "/" in label:  # then it is in the middle of an address
        return text, text
    if not label or not address:
        raise BadRequest(f"{text!r} names no player; write NAME=PLAYER")
    return label, address


def open_player(address: str, game_info: GameInfo, key: bytes, other_addresses: str = OTHER_ADDRESSES) -> AnyPlayer:
    """The player at this address: [py|in-process]:module:Name, the path of a file, or the name of a built-in player.

    An address that is none of these is refused with a list of what there is.
    """
    if address.startswith(("py:", IN_PROCESS_PREFIX)):
        return instantiate_player(address, load_from_module(address))
    if address.endswith(".py") or "/" in address:
        return load_player_file(address)
    name, _, parameter = address.partition(":")
    if name not in game_info.built_in:
        known = ", ".join(game_info.built_in)
        raise BadRequest(f"{game_info.rules.name} has no player {name!r}; it has {known}, and takes {other_addresses}")
    return game_info.built_in[name].make(parameter, key)


def built_in_strategy(game: str, name: str, key: bytes | None = None) -> Strategy[Any, Any]:
    """The strategy of a built-in player by its name, with a parameter if it takes one.

    Its randomness comes from the key (default: a random one).

    >>> from fairplay.games.fish import Fish
    >>> game = Fish(rows=3, columns=3)
    >>> built_in_strategy("fish", "lookahead:2")(game.view(game.deal(2, bytes(32)), 0))
    Place(at=(0, 0))
    """
    info, (kind, _, parameter) = game_info(game), name.partition(":")
    if kind not in info.built_in:
        raise BadRequest(f"{game} has no built-in player {kind!r}; it has {', '.join(info.built_in)}")
    return info.built_in[kind].make(parameter, os.urandom(SEED_BYTES) if key is None else key)


def load_player_file(address: str) -> AnyPlayer:
    """The player in a file, or in the main file of a directory."""
    path = Path(address, MAIN_FILE) if Path(address).is_dir() else Path(address)
    spec = importlib.util.spec_from_file_location(f"player:{path}", path)  # a name that no other module has
    if not path.is_file() or spec is None or spec.loader is None:
        raise BadRequest(f"there is no Python file {address}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    loader = spec.loader
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # for imports of modules beside the file
    run_loader(address, lambda: loader.exec_module(module))
    for name in PLAYER_NAMES:
        if getattr(module, name, Player) is not Player:  # the class of ours, which a file may import for its types
            return instantiate_player(address, getattr(module, name))
    raise BadRequest(f"{address} defines no player: neither a class Player nor a function take_turn")


def instantiate_player(address: str, found: Any) -> AnyPlayer:
    """A class makes a player; a function or an object is one."""
    player: AnyPlayer = run_loader(address, found) if isinstance(found, type) else found
    if not callable(getattr(player, "take_turn", player)):
        raise BadRequest(f"{address} is not a player: it has no method take_turn(view)")
    return player
