"""Rate the house players: put a game's ladder into its cup, and what came of the cup into the package and the docs.

`make ratings` does one, plays the cups by `fairplay tournament`, and does the other. Whatever is interrupted goes on by
the same command again; once everything is over, it plays all of it anew.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.roles import HousePlayer, Rated
from fairplay.games import title
from fairplay.render.words import between
from tools.marks import filled
from tools.tables import ROOT

CUPS = ROOT / "benchmarks" / "ladders"
FOLDER = ROOT / ".ladders"  # where they are played
WRITTEN = "written"  # a file in it, once all ratings are
PACKAGE = ROOT / "src" / "fairplay" / "games"
PAGE = ROOT / "docs" / "house_players.md"
PLAYERS = re.compile(r"^players = \[\n.*?^\]\n", re.DOTALL | re.MULTILINE)  # in a cup


class Row(msgspec.Struct, frozen=True):
    """What results.json says of a player; the best comes first."""

    address: str
    rating: float | None
    low: float | None
    high: float | None
    games: int


class Results(msgspec.Struct, frozen=True):
    """What results.json says of a tournament."""

    standings: list[Row]
    game: str
    parameters: dict[str, Any]
    format: dict[str, Any]
    matches: list[msgspec.Raw]


class Unable(Exception):
    """Why nothing can be written."""


def begin() -> None:
    """Put the ladders into the cups, and forget tournaments whose ratings were written."""
    for cup in cups():
        text = cup.read_text(encoding="utf-8")
        cup.write_text(with_players(text, title(cup.stem).ladder), encoding="utf-8")
    old = FOLDER.with_name(f"{FOLDER.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if (FOLDER / WRITTEN).exists():
        shutil.rmtree(FOLDER.rename(old))  # what is half removed in its own place would be gone on with


def write() -> None:
    """Put what came of all cups where players and people find it."""
    day = datetime.now(UTC).date().isoformat()
    found = {cup.stem: read(FOLDER / cup.stem / "results.json") for cup in cups()}
    for game, results in found.items():
        (PACKAGE / game / "ratings.py").write_text(as_python(rated(results), day), encoding="utf-8")
        table = as_table(results, title(game).house, day)
        PAGE.write_text(filled(PAGE, f"ladder of {game}", table), encoding="utf-8")
    (FOLDER / WRITTEN).touch()


def cups() -> list[Path]:
    """The files of all cups."""
    return sorted(CUPS.glob("*.toml"))


def with_players(cup: str, ladder: Sequence[str]) -> str:
    """A cup whose players are those of a ladder; if that is empty, they stay as they are."""
    if not ladder:
        return cup
    lines = "".join(f'    {{ player = "{address}" }},\n' for address in ladder)
    written, places = PLAYERS.subn(lambda _: f"players = [\n{lines}]\n", cup)
    if places != 1:
        raise Unable("there is no place for players in this cup: lines from 'players = [' to ']'")
    return written


def read(path: Path) -> Results:
    """The results of a tournament."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Results)
    except OSError as error:
        raise Unable(f"{path}: {error.strerror}; the tournament is not over") from None
    except msgspec.MsgspecError as error:
        raise Unable(f"{path}: these are no results: {error}") from None


def rated(results: Results) -> dict[str, Rated]:
    """How strong everybody is who played, by address."""
    return {
        row.address: Rated(round(row.rating), nearest(row.low), nearest(row.high), row.games)
        for row in results.standings
        if row.rating is not None
    }


def nearest(figure: float | None) -> int | None:
    """A whole number, if there is one."""
    return None if figure is None else round(figure)


def as_python(ratings: Mapping[str, Rated], day: str) -> str:
    """Ratings as the file of a game."""
    entries = "".join(f'    "{address}": {one!r},\n' for address, one in ratings.items())
    return (
        '"""Know how strong the house players are; `make ratings` writes this anew.\n\n'
        f'Measured on {day}; docs/house_players.md says how.\n"""\n\n'
        f"from fairplay.core.roles import Rated\n\nRATINGS = {{\n{entries}}}\n"
    )


def as_table(results: Results, house: Mapping[str, HousePlayer], day: str) -> str:
    """Ratings as a part of the page."""
    return "\n".join(["", *told(results, house, day), ""])


def told(results: Results, house: Mapping[str, HousePlayer], day: str) -> Iterator[str]:
    """Ratings and how they were measured, line by line."""
    yield from ("| player | rating | 95 % | matches | what it does |", "|---|--:|:-:|--:|---|")
    for address, one in rated(results).items():
        about = house[address.partition(":")[0]].about
        yield f"| `{address}` | {one.rating} | {between(one.low, one.high)} | {one.matches} | {about} |"
    settings = ", ".join(f"{name} = {value}" for name, value in results.parameters.items())
    yield ""
    yield f"{day}: {len(results.matches):,} matches with {results.format['table']} at a table, {settings}."


def main() -> None:
    """Do what has to be done before the tournaments, or after them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("when", choices=["before", "after"], help="of the tournaments")
    try:
        begin() if parser.parse_args().when == "before" else write()
    except Unable as error:
        print(f"ladders: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
