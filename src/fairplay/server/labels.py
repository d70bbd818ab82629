"""Give people names that nobody takes for somebody else's."""

from collections.abc import Container

from fairplay.players.wire import LONGEST_NAME

ALIKE = str.maketrans({"1": "l", "i": "l", "0": "o", "m": "rn", "w": "vv", "_": None, "-": None})


def skeleton(name: str) -> str:
    """What is left of a name for somebody who looks at it briefly: two names with the same are too much alike.

    >>> skeleton("Ann_1") == skeleton("annI"), skeleton("ann") == skeleton("anna")
    (True, False)
    """
    return name.casefold().translate(ALIKE)


def label(wanted: str, digits: str, taken: Container[str]) -> str:
    """A name that is like none of those whose skeletons are taken: the one that is wanted, or with digits behind it.

    >>> label("ann", "c0ffee00", {"bob"}), label("ann", "c0ffee00", {"ann"}), label("m" * 20, "c0ffee00", {"rn" * 20})
    ('ann', 'ann-c0ff', 'mmmmmmmmmmmmmmm-c0ff')
    """
    found, length = wanted, 4
    while skeleton(found) in taken:
        end = f"-{digits[:length]}"
        found, length = wanted[: LONGEST_NAME - len(end)] + end, length + 1
    return found
