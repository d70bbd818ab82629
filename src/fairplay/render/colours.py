"""Measure the contrast of colours as WCAG 2 does."""

from functools import cache

INK, CHALK = "#14181d", "#ffffff"  # for letters on any paint


def linear_rgb(paint: str) -> tuple[float, float, float]:
    """How much red, green and blue light there is in a paint (#rrggbb), from 0 to 1."""
    red, green, blue = (int(paint[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def luminance(paint: str) -> float:
    """How bright a paint is, from 0 to 1.

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    red, green, blue = linear_rgb(paint)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio, from 1 (none) to 21; texts need 4.5.

    >>> round(contrast("#767676", "#ffffff"), 2)
    4.54
    """
    darker, brighter = sorted((luminance(one), luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


@cache
def letter_colour(paint: str) -> str:
    """The colour for letters on this paint."""
    return max(INK, CHALK, key=lambda letters: contrast(letters, paint))


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
