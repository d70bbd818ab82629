"""Rate the built-in players: write tournament files before their tournaments, and the ratings after them.

`make ratings` does the one, runs `fairplay tournament` with each file, and does the other. After an interruption, the
same command resumes; when all ratings are written, it plays all tournaments again.
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

from fairplay.core.roles import BuiltInPlayer, Rated
from fairplay.games import game_info
from fairplay.render.formatting import format_interval
from tools.page_sections import replace_section
from tools.readme_tables import ROOT

TOURNAMENT_FILES_DIR = ROOT / "benchmarks" / "ladders"
RESULTS_DIR = ROOT / ".ladders"  # of the tournaments
WRITTEN_MARKER = "written"  # a file that says that all ratings are written
PACKAGE = ROOT / "src" / "fairplay" / "games"
PAGE = ROOT / "docs" / "built_in_players.md"
PLAYERS = re.compile(r"^players = \[\n.*?^\]\n", re.DOTALL | re.MULTILINE)  # in a tournament


class ResultsRow(msgspec.Struct, frozen=True):
    """A player in results.json, best first."""

    address: str
    rating: float | None
    rating_low: float | None
    rating_high: float | None
    games: int


class Results(msgspec.Struct, frozen=True):
    """A tournament in results.json."""

    standings: list[ResultsRow]
    game: str
    parameters: dict[str, Any]
    format: dict[str, Any]
    matches: list[msgspec.Raw]


class CannotWrite(Exception):
    """The reason why nothing can be written."""


def write_tournament_files() -> None:
    """Write the ladders into the tournament files, and remove tournaments whose ratings are written."""
    for tournament in tournament_files():
        text = tournament.read_text(encoding="utf-8")
        tournament.write_text(replace_players(text, game_info(tournament.stem).ladder), encoding="utf-8")
    old = RESULTS_DIR.with_name(f"{RESULTS_DIR.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if (RESULTS_DIR / WRITTEN_MARKER).exists():
        shutil.rmtree(RESULTS_DIR.rename(old))  # a directory that is half removed would be resumed


def write_ratings() -> None:
    """Write the ratings of all tournaments into the package and the docs."""
    day = datetime.now(UTC).date().isoformat()
    found = {
        tournament.stem: read_results(RESULTS_DIR / tournament.stem / "results.json")
        for tournament in tournament_files()
    }
    for game, results in found.items():
        (PACKAGE / game / "ratings.py").write_text(format_python(ratings_by_address(results), day), encoding="utf-8")
        table = format_table(results, game_info(game).built_in, day)
        PAGE.write_text(replace_section(PAGE, f"ladder of {game}", table), encoding="utf-8")
    (RESULTS_DIR / WRITTEN_MARKER).touch()


def tournament_files() -> list[Path]:
    """The files of all tournaments."""
    return sorted(TOURNAMENT_FILES_DIR.glob("*.toml"))


def replace_players(tournament: str, ladder: Sequence[str]) -> str:
    """A tournament whose players are those of a ladder; if that is empty, they stay as they are."""
    if not ladder:
        return tournament
    lines = "".join(f'    {{ player = "{address}" }},\n' for address in ladder)
    written, places = PLAYERS.subn(lambda _: f"players = [\n{lines}]\n", tournament)
    if places != 1:
        raise CannotWrite("there is no place for players in this tournament: lines from 'players = [' to ']'")
    return written


def read_results(path: Path) -> Results:
    """The results of a tournament."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Results)
    except OSError as error:
        raise CannotWrite(f"{path}: {error.strerror}; the tournament is not over") from None
    except msgspec.MsgspecError as error:
        raise CannotWrite(f"{path}: these are no results: {error}") from None


def ratings_by_address(results: Results) -> dict[str, Rated]:
    """The ratings of all players, by address."""
    return {
        row.address: Rated(round(row.rating), round_or_none(row.rating_low), round_or_none(row.rating_high), row.games)
        for row in results.standings
        if row.rating is not None
    }


def round_or_none(figure: float | None) -> int | None:
    """A whole number, if there is one."""
    return None if figure is None else round(figure)


def format_python(ratings: Mapping[str, Rated], day: str) -> str:
    """Ratings as a module of a game."""
    entries = "".join(f'    "{address}": {one!r},\n' for address, one in ratings.items())
    return (
        '"""List the measured ratings of the built-in players; `make ratings` rewrites this file.\n\n'
        f'Measured on {day}; docs/built_in_players.md says how.\n"""\n\n'
        f"from fairplay.core.roles import Rated\n\nRATINGS = {{\n{entries}}}\n"
    )


def format_table(results: Results, server: Mapping[str, BuiltInPlayer], day: str) -> str:
    """Ratings as a part of the page."""
    return "\n".join(["", *describe_ratings(results, server, day), ""])


def describe_ratings(results: Results, server: Mapping[str, BuiltInPlayer], day: str) -> Iterator[str]:
    """Ratings and how they were measured, line by line."""
    yield from ("| player | rating | 95 % | matches | what it does |", "|---|--:|:-:|--:|---|")
    for address, one in ratings_by_address(results).items():
        about = server[address.partition(":")[0]].description
        yield f"| `{address}` | {one.rating} | {format_interval(one.low, one.high)} | {one.matches} | {about} |"
    settings = ", ".join(f"{name} = {value}" for name, value in results.parameters.items())
    yield ""
    yield f"{day}: {len(results.matches):,} matches with {results.format['table']} at a table, {settings}."


def main() -> None:
    """Write files before the tournaments, or after them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("when", choices=["before", "after"], help="of the tournaments")
    try:
        write_tournament_files() if parser.parse_args().when == "before" else write_ratings()
    except CannotWrite as error:
        print(f"ladders: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
