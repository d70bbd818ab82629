"""Give people names that nobody takes for somebody else's."""

import secrets
from collections.abc import Container

from fairplay.protocol.wire import LONGEST_NAME

ALIKE = str.maketrans({"1": "l", "i": "l", "0": "o", "m": "rn", "w": "vv", "_": None, "-": None})


def skeleton(name: str) -> str:
    """What is left of a name for somebody who looks at it briefly: two names with the same are too much alike.

    >>> skeleton("Ann_1") == skeleton("annI"), skeleton("ann") == skeleton("anna")
    (True, False)
    """
    return name.casefold().translate(ALIKE)


def label(wanted: str, digits: str, taken: Container[str]) -> str:
    """A name that is like none of those whose skeletons are taken: the one that is wanted, or with digits behind it.

    If somebody has taken that one too, on purpose even, the digits are drawn.

    >>> label("ann", "c0ffee00", {"bob"}), label("ann", "c0ffee00", {"ann"}), label("m" * 20, "c0ffee00", {"rn" * 20})
    ('ann', 'ann-c0ff', 'mmmmmmmmmmmmmmm-c0ff')
    """
    found, end = wanted, f"-{digits[:4]}"
    while skeleton(found) in taken:
        found, end = wanted[: LONGEST_NAME - len(end)] + end, f"-{secrets.token_hex(4)}"
    return found
