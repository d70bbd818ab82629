"""Load third-party players, games and observers by their address py:module:Name."""

import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from fairplay.core.errors import BadRequest
from fairplay.referee.local_channel import describe_exception

T = TypeVar("T")


def load_from_module(address: str, what: str = "player") -> Any:
    """Import the object at py:module:Name; the module is on the path or in the current directory."""
    name, attribute = parse_module_address(address, what)
    if "" not in sys.path:
        sys.path.insert(0, "")
    module = run_loader(address, lambda: importlib.import_module(name))
    if not hasattr(module, attribute):
        raise BadRequest(f"module {name} has no {attribute!r}, which {address!r} needs")
    return getattr(module, attribute)


def parse_module_address(address: str, what: str = "player") -> tuple[str, str]:
    """Split an address into its module and the name in it."""
    scheme, _, rest = address.partition(":")
    name, colon, attribute = rest.partition(":")
    if not (name and colon and attribute):
        raise BadRequest(f"{address!r} names no {what}; write {scheme}:module:Name")
    return name, attribute


def run_loader(address: str, load: Callable[[], T]) -> T:
    """Call third-party code that loads something; its exceptions become a BadRequest that names the address."""
    try:
        return load()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted while {address} was being loaded") from None
    except BaseException as error:  # sys.exit() too
        why = describe_exception(error)[1]
        if isinstance(error, SyntaxError) and error.lineno:  # the traceback ends in the importer, not at the error
            why = f"SyntaxError: {error.msg} ({error.filename}, line {error.lineno})"
        raise BadRequest(f"{address} cannot be loaded: {why}") from None
