"""Test the conversion of plain JSON to values of a course."""

from typing import Any, Literal

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.formats.plain import MAX_ERROR_VALUE_CHARS, action_reader, read, reader


def test_valid_json_is_converted() -> None:
    assert read([1, 2], tuple[int, int], "a pair") == (1, 2)


@pytest.mark.parametrize("plain", [1.0, True, "1", None, [1], 10**30, pytest.param(10**5000, id="long"), "\ud800"])
def test_invalid_json_of_a_course_is_refused_in_a_few_words(plain: Any) -> None:
    with pytest.raises(BadRequest, match=r"^not a number: ") as refused:
        read(plain, Literal[0, 1], "a number")
    assert len(str(refused.value)) <= MAX_ERROR_VALUE_CHARS


@pytest.mark.parametrize("plain", ["x" * 10**6, "a\nb\x1b", "\ud800"])
def test_quoted_input_is_cut_short_and_on_one_line(plain: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read(plain, Literal["a"], "an a")
    assert len(str(refused.value)) <= MAX_ERROR_VALUE_CHARS + len("not an a: ")
    assert str(refused.value).isprintable()


def test_a_reader_does_the_same() -> None:
    read_pair = reader(tuple[int, int], "a pair")

    assert read_pair([1, 2]) == (1, 2)
    with pytest.raises(BadRequest, match="not a pair: Expected `int`, got `float`"):
        read_pair([1, 2.0])


def test_an_action_that_holds_itself_is_refused() -> None:
    endless = list[Any]()
    endless.append(endless)

    with pytest.raises(BadRequest, match="not a pair: it is not plain data"):
        action_reader(tuple[int, int], "a pair")(endless)
