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
from tests.journal.forging import (
    Forgery,
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
    read_verified,
    record_match,
    renumber_lines,
    seal_lines,
)

OUT_OF_PLACE = "a second seating, or one with other names than the host gave, cannot stand here"
UNSEATED = "a fact before the players were seated cannot stand here"
NOWHERE = {"type": "place", "at": [9, 9]}
ILLEGAL = ejected_line(0, "illegal", "turn")
RESUMED: Plain = {"type": "resumed", "seq": 0, "at": 0.0, "fairplay": "0", "epoch": 2}


def edit_fact(number: int, others: Plain | None = None, **changes: Any) -> Forgery:
    """Change fields of the fact on a line, and perhaps others of the line."""
    index = number - (number > 0)
    return lambda lines: edit_line(number, fact={**lines[index]["fact"], **changes}, **(others or {}))(lines)


def edit_result(**changes: Any) -> Forgery:
    return lambda lines: edit_line(-1, result={**lines[-1]["result"], **changes})(lines)


def eject_actor(number: int, moment: str) -> Forgery:
    return lambda lines: edit_line(number, fact=ejected_line(lines[number - 1]["fact"]["seat"], "crashed", moment))(
        lines
    )


def eject_for_legal_action(lines: list[Plain]) -> list[Plain]:
    return edit_line(6, fact=ejected_line(0, "illegal", "turn"), answer=lines[5]["fact"]["action"])(lines)


def out_of_turn(seat: int) -> tuple[Forgery, int, str]:
    forgery = edit_line(3, fact=acted_line(seat, type="place", at=[0, 0]))
    return forgery, 3, f"it was the turn of seat 0, not of seat {seat}"


def invalid_action(**action: Any) -> tuple[Forgery, int, str]:
    return edit_line(6, fact=acted_line(0, **action)), 6, "this is not an action of fish: "


FORGERIES: dict[str, tuple[Forgery, int, str]] = {  # the line that is named (-1: the last), and how the reason begins
    "illegal": (edit_line(5, fact=acted_line(2, type="place", at=[4, 0])), 5, "this is not legal: rule 3.2: there is"),
    "out of turn": (edit_fact(4, seat=2), 4, "it was the turn of seat 1, not of seat 2"),
    "an action of seat -1": out_of_turn(-1),
    "an action of a seat too many": out_of_turn(3),
    "an action of a huge seat": out_of_turn(10**30),
    "an unknown action": invalid_action(type="fly"),
    "an action with half a place": invalid_action(type="place", at=[0]),
    "an action at a huge place": invalid_action(type="place", at=[0, 10**30]),
    "an action with too much": invalid_action(type="place", at=[0, 0], too="much"),
    "an empty action": invalid_action(),
    "another ranking": (edit_result(ranking=[[2], [1], [0]]), -1, "this is not the result of the match"),
    "an ejection for a legal action": (eject_for_legal_action, 6, "this was legal and cannot lead to an ejection"),
    "an ejection for no action": (edit_line(6, fact=ILLEGAL), 6, "this is not an action of fish: "),
    "another reason": (edit_line(6, fact=ILLEGAL, answer=NOWHERE), 6, "this is not how the referee judges it"),
    "an ejection on the turn of another": (
        edit_line(6, fact=ejected_line(1, "crashed", "turn")),
        6,
        "this cannot happen",
    ),
    "a greeting in a turn": (eject_actor(4, "greeting"), 4, "this cannot happen on the turn of seat 1"),
    "news in a turn": (eject_actor(13, "news"), 13, "this cannot happen on the turn of seat "),
    "the end in a turn": (eject_actor(4, "end"), 4, "this cannot happen on the turn of seat 1"),
    "a fact after the game": (lambda lines: [*lines[:-1], *lines[-2:]], -1, "the match was over before this"),
    "a fact after the result": (lambda lines: [*lines, lines[-2]], -1, "a result that is not the last line cannot"),
    "no first fact": (lambda lines: [*lines[:2], *lines[3:]], 3, ""),
    "no second fact": (lambda lines: [*lines[:3], *lines[4:]], 4, ""),
    "no eighth fact": (lambda lines: [*lines[:9], *lines[10:]], 10, ""),
    "an early result": (
        lambda lines: [*lines[:-2], lines[-1]],
        -2,
        "this is no result: it was still the turn of seat ",
    ),
    "a second opening": (lambda lines: [*lines[:4], lines[0], *lines[4:]], 5, "a second opening cannot stand here"),
    "too few players": (rename_players("a"), 1, "fish is not for 1 players"),
    "too many players": (rename_players("abcde"), 1, "fish is not for 5 players"),
    "no player seated": (edit_line(2, names=[]), 2, OUT_OF_PLACE),
    "a player too few seated": (edit_line(2, names=["a", "b"]), 2, OUT_OF_PLACE),
    "a player too many seated": (edit_line(2, names=["a", "b", "c", "d"]), 2, OUT_OF_PLACE),
    "two seated with one name": (edit_line(2, names=["a", "a", "c"]), 2, OUT_OF_PLACE),
    "a name that no player can have": (edit_line(2, names=["a\x1b[2J", "b", "c"]), 2, OUT_OF_PLACE),
    "a sandbox for one of three": (edit_line(2, enforced=["strict"]), 2, OUT_OF_PLACE),
    "a second seating": (lambda lines: [*lines[:5], lines[1], *lines[5:]], 6, OUT_OF_PLACE),
    "no seating": (lambda lines: [lines[0], *lines[2:]], 2, UNSEATED),
    "no seating after a resumption": (lambda lines: [*lines[:5], RESUMED, *lines[5:]], 7, UNSEATED),
}
FORGERIES_WITH_EJECTIONS: dict[str, tuple[Forgery, int, str]] = {
    "a result without its ejections": (edit_result(ejected=[]), -1, "this is not the result of the match"),
    "an illegal greeting": (edit_fact(3, {"answer": NOWHERE}, fault="illegal", moment="greeting"), 3, ""),
    "an illegal end": (edit_fact(-2, {"answer": NOWHERE}, fault="illegal", moment="end"), -2, ""),
    "a second ejection of a player": (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4, ""),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A match of three good players, of which the first fact is on line 3."""
    return record_match(tmp_path, built_in_players("greedy", "random", "greedy"))[0]


@pytest.mark.parametrize(("forgery", "line", "why"), FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_is_refused_at_its_line(forgery: Forgery, line: int, why: str, path: Path) -> None:
    lines = len(read_lines(path))

    named, reason = refusal_of_forgery(path, forgery)

    assert named == (line if line > 0 else lines + 1 + line)
    assert reason.startswith(why)


@pytest.mark.parametrize(("forgery", "line", "why"), FORGERIES_WITH_EJECTIONS.values(), ids=FORGERIES_WITH_EJECTIONS)
def test_a_forgery_of_a_match_with_ejections_is_refused_at_its_line(
    forgery: Forgery, line: int, why: str, tmp_path: Path
) -> None:
    """In the match a player failed at the greeting, another on a turn and the third at the end."""
    path, _ = record_match(tmp_path, TABLES["one at each moment"]())

    test_a_forgery_is_refused_at_its_line(forgery, line, why, path)


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
def test_an_opening_from_which_no_match_can_begin_is_refused(changes: Plain, why: str, path: Path) -> None:
    path.write_bytes(seal_lines(rewrite_opening(**changes)(read_lines(path))))

    with pytest.raises(BadJournal) as caught:
        read_verified(path)

    assert caught.value.line == 1
    assert caught.value.why.startswith(why)


@pytest.mark.parametrize(
    ("rest", "key"),
    [([{"type": "late", "seq": 1}], None), ([{"type": "fact", "moment": "end"}], bytes(KEY_BYTES)), ([], None)],
    ids=["unknown lines", "other lines and a key", "no lines"],
)
def test_a_journal_of_another_format_is_refused_for_that_alone(
    rest: list[Plain], key: bytes | None, path: Path
) -> None:
    path.write_bytes(seal_lines([{**read_lines(path)[0], "format": 4, "limits": "1 s"}, *rest]))

    for read in (read_journal, Journal(path.parent, key=key).read_own):
        with pytest.raises(BadJournal) as caught:
            read(path)

        assert str(caught.value) == "line 1: journal format 4 is not supported; this version of fairplay reads format 5"


def reseed(lines: list[Plain]) -> list[Plain]:
    commitment = sha256(bytes(32) + lines[0]["match"].encode()).hexdigest()
    return rewrite_opening(seed="00" * 32, commitment=commitment)(lines)


@pytest.mark.parametrize(
    "forgery",
    [
        rewrite_opening(parameters={"rows": 5, "columns": 4}),
        rewrite_opening(parameters={"rows": 4, "columns": 4, "fish": 1}),
        rewrite_opening(parameters={"rows": 4, "columns": 4, "holes": 5}),
        reseed,
        rename_players("ab"),
        rename_players("abcd"),
    ],
    ids=["a row more", "other fish", "holes", "another seed", "fewer players", "more players"],
)
def test_another_deal_does_not_lead_to_the_same_match(forgery: Forgery, path: Path) -> None:
    assert refusal_of_forgery(path, forgery)[0] > 2


def test_a_journal_begins_with_its_opening(path: Path) -> None:
    path.write_bytes(seal_lines(renumber_lines([{**read_lines(path)[1], "match": ""}])))

    with pytest.raises(BadJournal, match="line 1: the first line of a journal must be its opening"):
        read_journal(path)


@pytest.mark.parametrize("seq", [0, 1, 3, -1, 10**30])
def test_a_line_with_another_number_is_refused(seq: int, path: Path) -> None:
    path.write_bytes(seal_lines(edit_line(3, seq=seq)(read_lines(path))))

    with pytest.raises(BadJournal, match=rf"^line 3 \(byte \d+\): this line has the number {seq}, but should have 2$"):
        read_journal(path)


def test_other_names_are_legal_but_change_the_hash(path: Path) -> None:
    honest = path.read_bytes().splitlines()

    forge_journal(path, edit_line(2, names=["x", "y", "z"]))

    assert read_verified(path).names == ("x", "y", "z")
    assert json.loads(path.read_bytes().splitlines()[-1])["hash"] != json.loads(honest[-1])["hash"]


@pytest.mark.parametrize(
    ("names", "changes", "why"), [("abc", {"order": [-1]}, "not a position of Fish"), ("ab", {}, "")]
)
def test_a_state_that_cannot_be_is_refused(names: str, changes: Plain, why: str, tmp_path: Path) -> None:
    with Journal(tmp_path).begin(Match(GAME, EXAMPLES["placing"], ("a", "b", "c"))) as begun:
        state = {**read_lines(begun.path)[0]["state"], **changes}

    line, reason = refusal_of_forgery(begun.path, rewrite_opening(names=list(names), state=state))

    assert line == 1
    assert why in reason


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


def draw_change(data: st.DataObject, value: Any) -> Any:
    """A value of a journal with one detail different."""
    inside = isinstance(value, dict | list) and len(value) > 0 and data.draw(st.integers(0, 5)) > 0
    if not inside:
        return data.draw(values)
    copy = value.copy()
    key = data.draw(st.sampled_from(sorted(value)) if isinstance(value, dict) else st.integers(0, len(value) - 1))
    copy[key] = draw_change(data, value[key])
    return copy


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
    forged = {**lines[index], key: draw_change(data, lines[index][key])}
    path = tmp_path / "forged.jsonl"
    path.write_bytes(seal_lines([*lines[:index], forged, *lines[index + 1 :]]))

    try:
        final = read_verified(path)
    except BadJournal as refusal:
        assert refusal.line <= len(lines)
    else:
        recorded = read_journal(path)
        assert recorded.match_after(None) == final
        assert recorded.closing is not None
        assert recorded.closing.result == final.result
        assert all(isinstance(fact, Acted | Ejected) and 0 <= fact.seat < len(final.names) for fact in recorded.facts)
