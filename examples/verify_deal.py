"""Prove that the deal of a recorded match was fair: `python verify_deal.py FILE [--commitment HEX]`.

FILE is a journal or a stream of events. Before the match the host published a commitment, the SHA-256 of a seed (32
bytes) followed by the match's id in ASCII; at the end, the seed. If they fit, the seed did not change; the deal follows
from it, and is made again here. The writer of a file may lie: compare it with the commitment that you got before the
match, and the deal with what you saw. It cannot be proved that the seed was random, and kept secret until the end.
"""

import argparse
import json
from hashlib import sha256, shake_256
from itertools import chain, count, islice
from pathlib import Path
from typing import Any


class Dealer:
    """Draws lots from the bytes of SHAKE-256: 136 of the seed and the number 0, 136 of the seed and 1, and so on."""

    def __init__(self, seed: bytes) -> None:
        self.bytes = chain.from_iterable(shake_256(seed + n.to_bytes(8, "big")).digest(136) for n in count())

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1, all equally likely: numbers beyond the last multiple are drawn again."""
        width = max(1, ((limit - 1).bit_length() + 7) // 8)  # in bytes
        while (number := int.from_bytes(islice(self.bytes, width), "big")) >= 256**width // limit * limit:
            pass
        return number % limit

    def shuffled(self, items: Any) -> list[Any]:
        """The items in a random order (Fisher and Yates)."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def fish(self, seats: int, rows: int, columns: int, fish: Any, holes: Any, colours: str, cramped: bool) -> Any:
        """The fish on each tile, row by row, 0 for a hole; and the colours. (`cramped` only allows small boards.)"""
        tiles = [1 + self.below(5) if fish == "random" else fish for _ in range(rows * columns)]
        if holes == "random":  # each of n players needs tiles for 6 - n penguins
            holes = self.below(max(0, rows * columns - seats * (6 - seats)) + 1)
        for cell in self.shuffled(range(rows * columns))[:holes] if holes else ():
            tiles[cell] = 0
        order = ["red", "white", "brown", "black"]
        order = self.shuffled(order) if colours == "random" else order
        players = [{"colour": colour, "score": 0, "penguins": []} for colour in order[:seats]]
        return {"board": [tiles[row * columns :][:columns] for row in range(rows)], "players": players}

    def tsuro(self, seats: int, size: int, tiles: Any, rules: str) -> Any:
        """The tiles in the order in which they are drawn, bag after bag, as many as a match can need."""
        if tiles not in ("bag", "cycle"):
            raise SystemExit("there was no deal to prove: the host gave the tiles, in an order of its own")
        bags = range(0, 3 * seats + 2 * (size * size + seats), 35)
        return {"drawn": [self.shuffled(range(35)) if tiles == "bag" else list(range(35)) for _ in bags]}

    def q(self, seats: int, q_bonus: int, finish_bonus: int) -> Any:
        """The first tile on the map, the hand of each seat, and the pile from its front. (No bonus changes them.)"""
        shapes, colours = "star 8star square circle clover diamond", "red green blue yellow orange purple"
        kinds = [f"{colour} {shape}" for shape in shapes.split() for colour in colours.split()]
        first, *tiles = self.shuffled(kind for kind in kinds for _ in range(30))
        hands = [tiles[6 * seat :][:6] for seat in range(seats)]
        return {"map": [{"tile": first, "at": [0, 0]}], "hands": hands, "pile": tiles[6 * seats :]}


def prove(first: Any, last: Any, told: str | None) -> tuple[Any, str]:
    """The deal and what is proved of it, from the first and the last line of a file; or exit with what is wrong."""
    deal: Any = {"fish": Dealer.fish, "tsuro": Dealer.tsuro, "q": Dealer.q}[first["game"]]
    end = {"result": last.get("result"), "ended": last}.get(last["type"]) or {}
    published, seed, view = first.get("commitment"), end.get("seed"), first.get("view") or {}
    if not seed:
        dealt = published or first.get("seed")
        raise SystemExit("the seed is not revealed yet" if dealt else "there was no deal to prove: the state was given")
    if first["type"] == "opening" and first.get("seed") != seed:
        raise SystemExit(f"the seed is {first.get('seed')!r} in the opening, but {seed!r} was revealed")
    for commitment in (published, published if told is None else told.lower()):
        if commitment != sha256(bytes.fromhex(seed) + first["match"].encode("ascii")).hexdigest():
            raise SystemExit(f"the revealed seed {seed!r} does not have the commitment {commitment!r}")
    dealt = deal(Dealer(bytes.fromhex(seed)), len(first["names"]), **first["parameters"])
    shown = [part for part in dealt if part in view]
    if any(dealt[part] != view[part] for part in shown):
        raise SystemExit(f"the seed does not deal what was shown, unless the match was resumed: {', '.join(shown)}")
    proof = f"the deal was fair: the seed has the commitment {published}" + (", as you were told" if told else "")
    proof += f", and deals what was shown: {', '.join(shown)}" if shown else ""
    proof += "; but it comes from a short text, and can be guessed" if first.get("guessable") or len(seed) < 64 else ""
    return dealt, proof


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Prove that the deal of a recorded match was fair.")
    parser.add_argument("file", type=Path, help="a journal or a stream of events")
    parser.add_argument("--commitment", metavar="HEX", help="what you were told before the match")
    given = parser.parse_args()
    try:
        lines = given.file.read_text("utf-8", "replace").strip().split("\n")
        dealt, proof = prove(json.loads(lines[0]), json.loads(lines[-1]), given.commitment)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        parser.exit(2, f"{given.file} is no record of a match: {problem!r}\n")
    print(json.dumps(dealt).replace("], ", "],\n "), proof, sep="\n")
