"""Test the runner of test cases, as a function and as a command."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fairplay.cli.main import fairplay
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.course.harness.cases import Case, call_harness, is_same_value, read_cases, read_values, run_cases

BOARD = {"position": [0, 0], "board": [[1, 1], [1, 1]]}  # two tiles can be reached


def double(number: int, *, times: int = 2) -> int:
    return number * times


def line(name: str, given: Any, expected: Any, **more: Any) -> str:
    return json.dumps({"id": name, "input": given, "expected": expected, **more})


def test_each_case_has_its_outcome() -> None:
    text = "\n".join([line("right", [2], 4, group="staff"), "", line("wrong", [3], 7), line("odd", [4], 12, times=3)])

    outcomes = list(run_cases(double, read_cases(text.encode())))

    assert [(outcome.id, outcome.got, outcome.passed) for outcome in outcomes] == [
        ("right", 4, True),
        ("wrong", 6, False),
        ("odd", 12, True),
    ]


@pytest.mark.parametrize(
    ("error", "got"),
    [(BadRequest("one"), "BadRequest: one"), (IllegalAction("1", "not one"), "IllegalAction: rule 1: not one")],
)
def test_a_harness_that_raises_fails_its_case_and_no_other(error: Exception, got: str) -> None:
    def picky(number: int) -> int:
        if number == 1:
            raise error
        return number

    outcomes = list(run_cases(picky, [Case("a", [1], 1, {}), Case("b", [2], 2, {})]))

    assert [(outcome.got, outcome.passed) for outcome in outcomes] == [(got, False), (2, True)]


def test_cases_run_one_by_one() -> None:
    asked: list[int] = []
    outcomes = run_cases(asked.append, [Case("a", [1], None, {}), Case("b", [2], None, {})])

    next(outcomes)

    assert asked == [1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{"id": "a", "input": [1], "expected": 2}\n{"id": "b"', "line 2"),
        (b'\n\n{"id": "b", "input": 1, "expected": 2}', "line 3"),
        (b'{"id": "b", "input": [1]}', "line 1"),
        (b'{"id": 7, "input": [1], "expected": 2}', "line 1"),
        (b'{"id": "a", "input": [], "expected": 2} {"id": "b", "input": [], "expected": 2}', "line 1"),
        (b"[]", "line 1"),
        (b"\xff", "line 1"),
    ],
)
def test_a_bad_line_is_named(text: bytes, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        read_cases(text)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": [1, None], "b": "x"}, {"b": "x", "a": [1, None]}, True),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 3], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (False, 0, False),
        ([True], [1], False),
        (1, 1.0, True),
        ("1", 1, False),
        (None, False, False),
        ([], {}, False),
    ],
)
def test_answers_are_compared_as_json_values(one: Any, other: Any, expected: bool) -> None:
    assert is_same_value(one, other) is is_same_value(other, one) is expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b"", []),
        (b" \r\n\t ", []),
        (b"1 2\n3", [1, 2, 3]),
        (b'[1][2]{"a":3}"x"4', [[1], [2], {"a": 3}, "x", 4]),
        (b'{\n "a":\n [1,\n 2]}\n\n"\xc3\xa9"', [{"a": [1, 2]}, "é"]),
        (b"true false null", [True, False, None]),
    ],
)
def test_values_are_read_in_any_layout(text: bytes, values: list[Any]) -> None:
    assert read_values(text) == values


@pytest.mark.parametrize(
    "text", [b"[1", b"01", b"truefalse", b"NaN", b"Infinity", b"'a'", b"1,2", b"\xff", b"[" * 100_000, b"9" * 10_000]
)
def test_input_that_is_not_json_is_refused_in_one_line(text: bytes) -> None:
    with pytest.raises(BadRequest, match="not JSON") as refused:
        read_values(text)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "settings", "why"),
    [([], {}, "reads 1 JSON value, not 0"), ([1, 2], {}, "reads 1 JSON value, not 2"), ([1], {"bonus": 6}, "bonus")],
)
def test_too_few_and_too_many_values_and_unknown_settings_are_refused(values: Any, settings: Any, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        call_harness(double, values, settings)


def run_course(*words: str, given: str = "") -> Any:
    return CliRunner().invoke(fairplay, ["course", *words], input=given)


def test_the_command_answers_for_each_value_on_a_line_of_its_own() -> None:
    assert run_course("fish", "xboard", given=json.dumps(BOARD, indent=4)).output == "1\n"
    assert run_course("tsuro", "xtiles", given='[0,90,"A"] [13,270,"A"]').output.splitlines() == [
        '["if ","A"," is the entrance, ","F"," is the exit."]',
        '["if ","A"," is the entrance, ","G"," is the exit."]',
    ]


def test_the_command_names_the_file_with_a_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(line("a", [BOARD], 1) + "\n{")

    answered = run_course("fish", "xboard", "--cases", str(file))

    assert isinstance(answered.exception, BadRequest)
    assert str(answered.exception).startswith(f"{file}, line 2: not JSON")


def test_the_command_counts_cases_and_lists_what_failed(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.jsonl", tmp_path / "wrong.jsonl"
    right.write_text(line("a", [BOARD], 1) + "\n")
    wrong.write_text("\n".join([line("a", [BOARD], 1), line("b", [BOARD], [7]), line("c", [{}], 1)]))

    passed, failed = (run_course("fish", "xboard", "--cases", str(file)) for file in (right, wrong))

    assert (passed.exit_code, passed.output) == (0, "1 passed, 0 failed\n")
    first, second, last = failed.output.splitlines()
    assert (failed.exit_code, first, last) == (1, "b: expected [7], got 1", "1 passed, 2 failed")
    assert second.startswith("c: expected 1, got ")


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        (["chess", "xboard"], "", "fish"),
        (["fish", "xmap"], "", "xboard, xstate, xtree, xstrategy, xref"),
        (["fish", "xboard"], "", "reads 1 JSON value, not 0"),
        (["fish", "xboard"], "1 2", "reads 1 JSON value, not 2"),
        (["fish", "xboard"], "{", "not JSON"),
        (["fish", "xboard", "--cases", "nowhere.jsonl"], "", "nowhere.jsonl"),
        (["fish", "xboard", "--cases", "."], "", "cannot be read"),
        (["q", "xgames-with-observer", "--cases", "/dev/null", "--show", "DIR"], "", "cannot be used together"),
    ],
)
def test_a_bad_request_is_raised_as_one(arguments: list[str], given: str, says: str) -> None:
    answered = run_course(*arguments, given=given)

    assert isinstance(answered.exception, BadRequest)
    assert says in str(answered.exception)
    assert answered.output == ""
