"""Test that forged matches are refused, even with a new and valid chain of hashes."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairplay import Acted, BadJournal, Ejected
from fairplay.core.match import Match
from fairplay.games.fish.examples import EXAMPLES
from fairplay.journal.key import KEY_BYTES
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.journal.forging import (
    acted_line,
    edit_line,
    ejected_line,
    forge_journal,
    refusal_of_forgery,
    rename_players,
    rewrite_opening,
)
from tests.journal.journals import (
    GAME,
    TABLES,
    Plain,
    built_in_players,
    read_lines,
    record_match,
    renumber_lines,
    seal_lines,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A match of three good players, of which the first fact is on line 3."""
    return record_match(tmp_path, built_in_players("greedy", "random", "greedy"))[0]


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    """A match in which somebody failed at the greeting, on a turn and at the end."""
    return record_match(tmp_path, TABLES["one at each moment"]())[0]


def test_an_illegal_action_is_named(path: Path) -> None:
    forgery = edit_line(5, fact=acted_line(2, type="place", at=[4, 0]))

    assert refusal_of_forgery(path, forgery) == (5, "this is not legal: rule 3.2: there is no tile at [4, 0]")


def test_an_action_of_the_wrong_seat_is_named(path: Path) -> None:
    at = read_lines(path)[3]["fact"]["action"]["at"]

    assert refusal_of_forgery(path, edit_line(4, fact=acted_line(2, type="place", at=at))) == (
        4,
        "it was the turn of seat 1, not of seat 2",
    )


@pytest.mark.parametrize("seat", [-1, 3, 10**30])
def test_an_action_of_a_seat_that_is_not_there_is_named(seat: int, path: Path) -> None:
    forgery = edit_line(3, fact=acted_line(seat, type="place", at=[0, 0]))

    assert refusal_of_forgery(path, forgery) == (3, f"it was the turn of seat 0, not of seat {seat}")


@pytest.mark.parametrize(
    "action",
    [
        {"type": "fly"},
        {"type": "place", "at": [0]},
        {"type": "place", "at": [0, 10**30]},
        {"type": "place", "at": [0, 0], "too": "much"},
        {},
    ],
)
def test_an_invalid_action_is_named(action: Plain, path: Path) -> None:
    number, why = refusal_of_forgery(path, edit_line(6, fact=acted_line(0, **action)))

    assert number == 6
    assert why.startswith("this is not an action of fish: ")


def test_another_ranking_is_named(path: Path) -> None:
    last = len(read_lines(path))
    ranking = [[2], [1], [0]]
    assert read_lines(path)[-1]["result"]["ranking"] != ranking

    forgery = edit_line(last, result={"ranking": ranking, "ejected": []})

    assert refusal_of_forgery(path, forgery) == (last, "this is not the result of the match")


def test_a_result_without_its_ejections_is_named(troubled: Path) -> None:
    last = len(read_lines(troubled))
    ranking = read_lines(troubled)[-1]["result"]["ranking"]

    forgery = edit_line(last, result={"ranking": ranking, "ejected": []})

    assert refusal_of_forgery(troubled, forgery) == (last, "this is not the result of the match")


def test_an_ejection_for_a_legal_action_is_refused(path: Path) -> None:
    action = read_lines(path)[5]["fact"]["action"]

    forgery = edit_line(6, fact=ejected_line(0, "illegal", "turn"), answer=action)

    assert refusal_of_forgery(path, forgery) == (6, "this was legal and cannot lead to an ejection")


def test_an_ejection_for_an_illegal_action_needs_the_action(path: Path) -> None:
    number, why = refusal_of_forgery(path, edit_line(6, fact=ejected_line(0, "illegal", "turn")))

    assert (number, why[:31]) == (6, "this is not an action of fish: ")


def test_the_reason_for_an_illegal_action_is_the_one_that_the_rules_give(path: Path) -> None:
    forgery = edit_line(6, fact=ejected_line(0, "illegal", "turn"), answer={"type": "place", "at": [9, 9]})

    assert refusal_of_forgery(path, forgery) == (6, "this is not how the referee judges it")


def test_an_ejection_on_the_turn_of_another_is_refused(path: Path) -> None:
    forgery = edit_line(6, fact=ejected_line(1, "crashed", "turn"))

    assert refusal_of_forgery(path, forgery) == (6, "this cannot happen on the turn of seat 0")


@pytest.mark.parametrize("moment", ["greeting", "news", "end"])
@pytest.mark.parametrize("number", [4, 13])
def test_an_ejection_at_an_impossible_moment_is_refused(moment: str, number: int, path: Path) -> None:
    seat = read_lines(path)[number - 1]["fact"]["seat"]

    forgery = edit_line(number, fact=ejected_line(seat, "crashed", moment))

    assert refusal_of_forgery(path, forgery) == (number, f"this cannot happen on the turn of seat {seat}")


@pytest.mark.parametrize("number", [3, -2])
def test_only_an_action_can_be_illegal(number: int, troubled: Path) -> None:
    index = number % len(read_lines(troubled)) - (number > 0)
    fact = read_lines(troubled)[index]["fact"]
    assert fact["moment"] in ("greeting", "end")
    forgery = edit_line(index + 1, fact={**fact, "fault": "illegal"}, answer={"type": "place", "at": [9, 9]})

    named, _ = refusal_of_forgery(troubled, forgery)

    assert named == index + 1


def test_a_second_ejection_of_a_player_is_refused(troubled: Path) -> None:
    number, _ = refusal_of_forgery(troubled, lambda lines: [*lines[:3], lines[2], *lines[3:]])

    assert number == 4


def test_a_fact_after_the_end_is_named(path: Path) -> None:
    last = len(read_lines(path))

    number, why = refusal_of_forgery(path, lambda lines: [*lines[:-1], lines[-2], lines[-1]])

    assert (number, why) == (last, "the match was over before this")


def test_a_fact_after_the_result_is_named(path: Path) -> None:
    number, why = refusal_of_forgery(path, lambda lines: [*lines, lines[-2]])

    assert (number, why) == (len(read_lines(path)) - 1, "a result that is not the last line cannot stand here")


@pytest.mark.parametrize("index", [2, 3, 9])
def test_a_missing_fact_is_named(index: int, path: Path) -> None:
    number, _ = refusal_of_forgery(path, lambda lines: [*lines[:index], *lines[index + 1 :]])

    assert number == index + 1


def test_a_result_before_the_end_is_named(path: Path) -> None:
    last = len(read_lines(path)) - 1

    number, why = refusal_of_forgery(path, lambda lines: [*lines[:-2], lines[-1]])

    assert number == last
    assert why.startswith("this is no result: it was still the turn of seat ")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": 2}, "journal format 2 is not supported; this version of fairplay reads format 5"),
        ({"rules": "0"}, "recorded with version 0 of fish's rules; this is version 1"),
        ({"game": "chess"}, "there is no game 'chess'; there is "),
        ({"parameters": {"rows": 0}}, "fish cannot be played with"),
        ({"parameters": {"rows": 10**30}}, "fish cannot be played with"),
        ({"parameters": {"rows": [[[[]]]]}}, "fish cannot be played with"),
        ({"parameters": {"depth": 3}}, "fish has no parameter 'depth'"),
        ({"parameters": {"rows": 2, "columns": 2}}, "no match can start like this: a board of 2 x 2"),
        ({"names": "ann"}, "this is not a line of a journal"),
        ({"seed": "not hex"}, "no match can start like this"),
        ({"seed": None}, "no match can start like this"),
        ({"seed": "00" * 31}, "a seed has 32 bytes, not 31"),
        ({"seed": "00" * 32}, "the seed does not fit the commitment"),
        ({"commitment": "00" * 32}, "the seed does not fit the commitment"),
        ({"commitment": None}, "the seed does not fit the commitment"),
        ({"seed": None, "state": {}}, "no match can start like this"),
        ({"seq": "0"}, "this is not a line of a journal"),
        ({"at": None}, "this is not a line of a journal"),
        ({"type": "fact"}, "this is not a line of a journal"),
        ({"type": "closing"}, "this is not a line of a journal"),
    ],
)
def test_an_opening_from_which_no_match_can_begin_is_named(changes: Plain, why: str, path: Path) -> None:
    path.write_bytes(seal_lines(rewrite_opening(**changes)(read_lines(path))))

    with pytest.raises(BadJournal) as caught:
        verify(read_journal(path))

    assert caught.value.line == 1
    assert caught.value.why.startswith(why)


@pytest.mark.parametrize("rest", [[{"type": "late", "seq": 1}], [{"type": "fact", "moment": "end"}], []], ids=str)
@pytest.mark.parametrize("key", [None, bytes(KEY_BYTES)], ids=["no key", "a key"])
def test_a_journal_of_another_format_is_refused_for_that_alone(
    rest: list[Plain], key: bytes | None, path: Path
) -> None:
    """Whatever else is in it: its other lines, and its MACs, are of that format too."""
    path.write_bytes(seal_lines([{**read_lines(path)[0], "format": 4, "limits": "1 s"}, *rest]))

    for read in (read_journal, Journal(path.parent, key=key).read_own):
        with pytest.raises(BadJournal) as caught:
            read(path)

        assert str(caught.value) == "line 1: journal format 4 is not supported; this version of fairplay reads format 5"


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"rows": 5, "columns": 4}},
        {"parameters": {"rows": 4, "columns": 4, "fish": 1}},
        {"parameters": {"rows": 4, "columns": 4, "holes": 5}},
    ],
)
def test_another_deal_does_not_lead_to_the_same_match(changes: Plain, path: Path) -> None:
    number, _ = refusal_of_forgery(path, rewrite_opening(**changes))

    assert number > 1


def test_a_deal_from_another_seed_does_not_lead_to_the_same_match(path: Path) -> None:
    commitment = sha256(bytes(32) + path.stem.encode()).hexdigest()

    number, _ = refusal_of_forgery(path, rewrite_opening(seed="00" * 32, commitment=commitment))

    assert number > 2


@pytest.mark.parametrize("names", ["ab", "abcd"])
def test_with_more_or_fewer_players_it_is_not_the_same_match(names: str, path: Path) -> None:
    number, _ = refusal_of_forgery(path, rename_players(names))

    assert number > 2


@pytest.mark.parametrize("names", ["a", "abcde"])
def test_a_number_of_players_that_the_game_is_not_for_is_named(names: str, path: Path) -> None:
    assert refusal_of_forgery(path, rename_players(names)) == (1, f"fish is not for {len(names)} players")


def test_a_second_opening_is_named(path: Path) -> None:
    assert refusal_of_forgery(path, lambda lines: [*lines[:4], lines[0], *lines[4:]]) == (
        5,
        "a second opening cannot stand here",
    )


def test_a_journal_begins_with_its_opening(path: Path) -> None:
    path.write_bytes(seal_lines(renumber_lines([{**read_lines(path)[1], "match": ""}])))

    with pytest.raises(BadJournal, match="line 1: the first line of a journal must be its opening"):
        verify(read_journal(path))


@pytest.mark.parametrize("seq", [0, 1, 3, -1, 10**30])
def test_a_line_with_another_number_is_named(seq: int, path: Path) -> None:
    path.write_bytes(seal_lines(edit_line(3, seq=seq)(read_lines(path))))

    with pytest.raises(BadJournal, match=rf"^line 3 \(byte \d+\): this line has the number {seq}, but should have 2$"):
        read_journal(path)


def test_other_names_change_the_hash(path: Path) -> None:
    honest = path.read_bytes().splitlines()

    forge_journal(path, edit_line(2, names=["x", "y", "z"]))

    assert verify(read_journal(path)).names == (
        "x",
        "y",
        "z",
    )  # labels decide nothing, so only the head of the chain tells
    assert json.loads(path.read_bytes().splitlines()[-1])["hash"] != json.loads(honest[-1])["hash"]


def from_a_state(directory: Path) -> Path:
    """The journal of a match from a given state, to which nobody has sat down yet."""
    with Journal(directory).begin(Match(GAME, EXAMPLES["placing"], ("a", "b", "c"))) as begun:
        return begun.path


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"order": [0, 1, 2, 3]}, "not a position of Fish"),
        ({"order": [-1]}, "not a position of Fish"),
        ({"board": [[1, 2], [3]]}, "not a position of Fish"),
        ({"board": []}, "not a position of Fish"),
        ({"stage": "over"}, "not a position of Fish"),
    ],
)
def test_a_state_that_cannot_be_is_named(changes: Plain, why: str, tmp_path: Path) -> None:
    path = from_a_state(tmp_path)
    (begun,) = read_lines(path)

    number, said = refusal_of_forgery(path, rewrite_opening(state={**begun["state"], **changes}))

    assert number == 1
    assert why in said


def test_a_state_with_more_seats_than_names_is_named(tmp_path: Path) -> None:
    assert refusal_of_forgery(from_a_state(tmp_path), rewrite_opening(names=["a", "b"]))[0] == 1


WORDS = ["acted", "ejected", "illegal", "crashed", "turn", "greeting", "end", "place", "move", "fish", "random"]
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["acted", "ejected", "illegal", "crashed", "turn", "greeting", "end", "place", "move", "fish"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.lists(st.integers(-1, 5), max_size=3),
    st.just({}),
)


def changed(data: st.DataObject, value: Any) -> Any:
    """A value of a journal with one detail different."""
    inside = isinstance(value, dict | list) and len(value) > 0 and data.draw(st.integers(0, 5)) > 0
    if not inside:
        return data.draw(values)
    if isinstance(value, dict):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: changed(data, value[key])}
    index = data.draw(st.integers(0, len(value) - 1))
    return [*value[:index], changed(data, value[index]), *value[index + 1 :]]


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> list[list[Plain]]:
    """The lines of some journals that are always the same: two dealt, one given and unfinished."""
    directory = tmp_path_factory.mktemp("journals")
    journal = Journal(directory, clock=lambda: 0.0, now=lambda: 0.0)
    tables = [TABLES["one at each moment"], TABLES["two good ones"]]
    found = [read_lines(record_match(directory, table(), journal=journal)[0]) for table in tables]
    with journal.begin(Match(GAME, EXAMPLES["star"], ("a", "b"))) as begun:
        return [*found, read_lines(begun.path)]


@given(data=st.data())
@settings(derandomize=True, max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_forgery_is_refused_or_is_a_legal_match(
    data: st.DataObject, journals: list[list[Plain]], tmp_path: Path
) -> None:
    lines = data.draw(st.sampled_from(journals))
    index = data.draw(st.integers(0, len(lines) - 1))
    key = data.draw(st.sampled_from(sorted(lines[index])))
    forged = {**lines[index], key: changed(data, lines[index][key])}
    path = tmp_path / "forged.jsonl"
    path.write_bytes(seal_lines([*lines[:index], forged, *lines[index + 1 :]]))

    try:
        final = verify(read_journal(path))
    except BadJournal as refusal:
        assert refusal.line <= len(lines)
    else:
        recorded = read_journal(path)
        assert recorded.match_after(None) == final
        assert recorded.closing is not None
        assert recorded.closing.result == final.result
        assert all(isinstance(fact, Acted | Ejected) and 0 <= fact.seat < len(final.names) for fact in recorded.facts)
