"""Simulate colour blindness, and measure how different colours look."""

from math import dist

from fairplay.render.colours import linear_rgb

# People without the cones for green see a linear colour (red, green, blue) as these sums of it (Machado et al. 2009).
DEUTERANOPIA = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
Colour = tuple[float, float, float]  # linear red, green and blue, from 0 to 1


def perceived_colour(paint: str) -> Colour:
    """A paint as most people see it."""
    return linear_rgb(paint)


def perceived_without_green(paint: str) -> Colour:
    """And as those do who lack the cones for green."""
    colour = linear_rgb(paint)
    first, second, third = (
        min(1.0, max(0.0, sum(share * part for share, part in zip(row, colour, strict=True)))) for row in DEUTERANOPIA
    )
    return first, second, third


def colour_distance(one: Colour, other: Colour) -> float:
    """How different two colours look, as CIE 1976 has it: 2 is just seen, black and white are 100 apart."""
    return dist(_lab(one), _lab(other))


def _lab(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = colour
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in (
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
