"""Give clients names that cannot be mistaken for each other."""

import secrets
from collections.abc import Container

from fairplay.protocol.wire import MAX_NAME_CHARS

LOOK_ALIKES = str.maketrans({"1": "l", "i": "l", "0": "o", "m": "rn", "w": "vv", "_": None, "-": None})


def look_alike_key(name: str) -> str:
    """A key that is the same for names that look alike.

    >>> look_alike_key("Ann_1") == look_alike_key("annI"), look_alike_key("ann") == look_alike_key("anna")
    (True, False)
    """
    return name.casefold().translate(LOOK_ALIKES)


def unique_label(wanted: str, digits: str, taken: Container[str]) -> str:
    """A name whose look-alike key is not taken: the wanted one, or with digits appended.

    If that one is taken too, the digits are drawn.

    >>> unique_label("ann", "c0ffee00", {"bob"}), unique_label("ann", "c0ffee00", {"ann"})
    ('ann', 'ann-c0ff')
    >>> unique_label("m" * 20, "c0ffee00", {"rn" * 20})
    'mmmmmmmmmmmmmmm-c0ff'
    """
    found, end = wanted, f"-{digits[:4]}"
    while look_alike_key(found) in taken:
        found, end = wanted[: MAX_NAME_CHARS - len(end)] + end, f"-{secrets.token_hex(4)}"
    return found
