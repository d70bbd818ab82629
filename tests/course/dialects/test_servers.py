"""Test the numbers of the courses' servers against the docs, names, tournament calls, and that results are sorted."""

import re
from pathlib import Path

import msgspec
import pytest

from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.servers import SERVERS, tsuro_result

PAGE = Path(__file__).parents[3] / "docs" / "course.md"


def on_the_page(game: str) -> dict[str, str]:
    """What the table of the page says of a game, by the first cell of each row."""
    page = PAGE.read_text()
    table = page[page.index("| | fish | ") :].partition("\n\n")[0]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[head.index(game)] for row in rows}


@pytest.mark.parametrize("game", SERVERS)
def test_the_numbers_of_a_course_are_those_of_the_page_for_a_class(game: str) -> None:
    rules, dialect = SERVERS[game].rules, DIALECTS[game]

    told = on_the_page(game)

    name = f"within {rules.name_timeout:g} s, {dialect.name_rule}{', each once' * rules.distinct}"
    assert told["players"] == f"{rules.least} to {rules.most}"
    assert told["waiting periods"] == f"{rules.waiting_periods} of {rules.wait:g} s"
    assert told["a name"] == ("none" if dialect.name is None else name)
    assert told["time for an answer"] == f"{rules.turn:g} s"


@pytest.mark.parametrize(
    ("game", "opening", "closing", "names", "others"),
    [
        ("fish", '["start",[true]]', "end", ["a", "Zebra", "a" * 12], ["", "a1", "a b", "é", "a" * 13, "abc\n"]),
        ("tsuro", "null", "end-of-tournament", [], []),
        ("q", "null", None, ["a", "Bob7", "a" * 20], ["", "a b", "é", "a" * 21, "abc\n"]),
    ],
)
def test_what_a_tournament_says_before_and_after_its_matches_and_what_a_name_is(
    game: str, opening: str, closing: str | None, names: list[str], others: list[str]
) -> None:
    dialect = DIALECTS[game]

    assert msgspec.json.encode(dialect.opening).decode() == opening
    assert dialect.closing == closing
    assert (dialect.name is None) == (not names)
    assert [name for name in (*names, *others) if re.search(dialect.name or "", name)] == names


def test_cheaters_of_tsuro_are_named_in_order_whenever_they_were_found_out() -> None:
    assert tsuro_result([["cyd"]], ["bob", "ann"]) == {"winners": [["cyd"]], "cheaters": ["ann", "bob"]}
