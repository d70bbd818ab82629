"""Pack the pictures of a match: most lines are in many pictures, so each line is stored once."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from zlib import compress

PositionPictures = Mapping[str, Sequence[str]]  # the pictures of a position: by theme, and then by view


def pack_pictures(positions: Iterable[PositionPictures]) -> str:
    """The pictures of all positions, as text that `unpacked` in pictures.js understands."""
    lines: dict[str, int] = {}
    pictures: dict[tuple[int, ...], int] = {}
    views: dict[str, list[list[int]]] = {}

    def number(picture: str) -> int:
        made = runs([lines.setdefault(line, len(lines)) for line in picture.split("\n")])
        return pictures.setdefault(made, len(pictures))

    for position in positions:
        for theme, by_view in position.items():
            numbers = {picture: number(picture) for picture in dict.fromkeys(by_view)}  # many views are the same
            for view, picture in zip(views.setdefault(theme, [[] for _ in by_view]), by_view, strict=True):
                view.append(numbers[picture])
    whole = {"lines": list(lines), "pictures": list(pictures), "views": views}
    return b64encode(compress(json.dumps(whole, separators=(",", ":")).encode(), 9)).decode()


def runs(numbers: Iterable[int]) -> tuple[int, ...]:
    """Run-length encoding of consecutive numbers: the start and the length of each run.

    >>> runs([4, 5, 6, 9, 2, 3])
    (4, 3, 9, 1, 2, 2)
    """
    found: list[int] = []
    for number in numbers:
        if found and found[-2] + found[-1] == number:
            found[-1] += 1
        else:
            found += (number, 1)
    return tuple(found)


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[str | tuple[int, int]]:
    """The difference of two texts: runs of lines before, by start and length, and new lines.

    >>> diff_lines(["<svg>", "a", "b", "</svg>"], ["<svg>", "b", "c", "</svg>"])
    [(0, 1), (2, 1), 'c', (3, 1)]
    """
    where = {line: at for at, line in reversed(list(enumerate(before)))}
    found: list[str | tuple[int, int]] = []
    end = -1  # of the last run
    for line in after:
        if found and end < len(before) and before[end] == line and isinstance(found[-1], tuple):
            found[-1] = (found[-1][0], found[-1][1] + 1)
            end += 1
        elif line in where:
            found.append((where[line], 1))
            end = where[line] + 1
        else:
            found.append(line)
    return found
