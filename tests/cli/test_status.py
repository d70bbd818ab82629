"""Ask a house what goes on there, from the command line."""

import json
from collections.abc import Iterator

import pytest

from fairplay.cli import visiting
from tests.cli.command import fairplay, refusal
from tests.server.houses import Running, running


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as it:
        yield it


def test_a_table_tells_who_plays_and_what_is_over(house: Running) -> None:
    over, room = house.open("fish"), house.open("tsuro", ("ann", "\x1b[2Jbob", "cyd"), fails=0)
    house.to_the_end(over)
    number = house.turns(room, 2)

    done = fairplay("status", house.door)

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("A small house: fairplay 1, open for ")
    assert "waiting: dee (any game, 3 s)" in lines
    [row] = [line for line in lines if line.endswith(room)]
    assert row.split()[1:3] == ["tsuro", str(number)]
    assert "✗�[2Jbob" in row
    assert "→" in row
    [row] = [line for line in lines if line.endswith(over)]
    assert " fish " in row
    assert "*" in row


def test_programs_get_json(house: Running) -> None:
    room = house.open("fish")

    done = fairplay("status", house.door, "--json")

    told = json.loads(done.out)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert told["type"] == "status"
    assert room in [it["id"] for it in told["rooms"]]


def test_where_no_house_is_that_is_said_in_one_line(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "ANSWER", 0.2)
    assert "cannot connect" in refusal(fairplay("status", "127.0.0.1:1", "--wait", "0.01"))
    assert "is no place to meet" in refusal(fairplay("status", "nowhere"))
    assert "was lost" in refusal(fairplay("status", house.place))  # where browsers are answered, who speak first
