"""Define the pieces of Tsuro: ports, tiles and their rotations, colours."""

from typing import Annotated, Literal

from msgspec import Meta

PORTS = "ABCDEFGH"  # clockwise, from the left port of the north side
DEGREES = (0, 90, 180, 270)  # clockwise
COLOURS = ("white", "black", "red", "green", "blue")  # the fixed order: the first goes to the oldest

# Each tile as its four connections; every way to connect eight ports in pairs is one of these, rotated (Tsuro §1.3).
CONNECTIONS = (
    "AEBFCHDG", "AEBFCGDH", "AFBECHDG", "AEBDCGFH", "AHBCDEFG", "AEBCDHFG", "AEBCDGFH",
    "ADBGCFEH", "ADBFCGEH", "ADBECHFG", "ADBECGFH", "ADBCEHFG", "ACBHDFEG", "ACBHDEFG",
    "ACBGDFEH", "ACBGDEFH", "ACBFDHEG", "ACBFDGEH", "ACBEDHFG", "ACBEDGFH", "ACBDEHFG",
    "ACBDEGFH", "ABCHDGEF", "ABCHDFEG", "ABCHDEFG", "ABCGDHEF", "ABCGDFEH", "ABCGDEFH",
    "ABCFDHEG", "ABCFDGEH", "ABCEDHFG", "ABCEDGFH", "ABCDEHFG", "ABCDEGFH", "ABCDEFGH",
)  # fmt: skip
TILES = len(CONNECTIONS)

Tile = Annotated[int, Meta(ge=0, le=TILES - 1)]
Degrees = Literal[0, 90, 180, 270]
Port = Literal["A", "B", "C", "D", "E", "F", "G", "H"]
Square = tuple[
    Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)], Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
]  # (x, y)


def exits_of(tile: int, quarters: int) -> tuple[int, ...]:
    """For each port of a tile, rotated by so many quarters, the port that it is connected to.

    >>> PORTS[exits_of(0, 1)[PORTS.index("A")]]
    'F'
    """
    exits = [0] * 8
    ports = [(PORTS.index(letter) + 2 * quarters) % 8 for letter in CONNECTIONS[tile]]
    for one, other in zip(ports[::2], ports[1::2], strict=True):
        exits[one], exits[other] = other, one
    return tuple(exits)


# A code is a tile as it lies: 4 * tile + quarters. EXITS holds, at 8 * code + port, the port at the other end.
EXITS = bytes(port for tile in range(TILES) for quarters in range(4) for port in exits_of(tile, quarters))

# The code of a tile by 4 * tile + quarters, with the fewest quarters that look the same.
CODES = tuple(
    4 * tile + next(fewest for fewest in range(4) if exits_of(tile, fewest) == exits_of(tile, quarters))
    for tile in range(TILES)
    for quarters in range(4)
)


def code_of(tile: int, degrees: int) -> int:
    """The code of a tile at these degrees."""
    return CODES[4 * tile + degrees // 90]
