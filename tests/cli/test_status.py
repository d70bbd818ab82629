"""Ask a house what goes on there, from the command line."""

import json
from collections.abc import Iterator

import pytest

from fairplay.cli.client import visiting
from fairplay.cli.status import WIDEST
from fairplay.protocol import wire
from fairplay.server.status import FinishedSeen, HouseStatus, RoomSeen, as_line
from tests.cli.command import fairplay, refusal
from tests.cli.test_join import Script, hello
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
    monkeypatch.setattr(visiting, "ANSWER_TIMEOUT_S", 0.2)
    assert "cannot connect" in refusal(fairplay("status", "127.0.0.1:1", "--wait", "0.01"))
    assert "is no place to meet" in refusal(fairplay("status", "nowhere"))
    assert "was lost" in refusal(fairplay("status", house.place))  # where browsers are answered, who speak first


NO_STATUS = {
    "nothing": b"",
    "another message": hello(),
    "no UTF-8": b'{"type":"status","name":"\xff"}\n',
    "too many levels": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("said", NO_STATUS.values(), ids=NO_STATUS)
def test_a_house_that_answers_something_else_is_refused_in_one_line(said: bytes) -> None:
    with Script(hello(game=""), said) as house:
        done = fairplay("status", house.address)

    assert refusal(done) == f"{house.address} did not say what goes on there"


def test_a_house_that_sends_visitors_away_is_quoted() -> None:
    with Script(hello(game=""), wire.encode(wire.Suspended(why="the house\rstops", again=2.0)) + b"\n") as house:
        done = fairplay("status", house.address)

    assert refusal(done) == f"{house.address}: the house�stops"


def test_the_host_of_a_single_match_is_no_house() -> None:
    with Script(hello(game="fish")) as host:
        done = fairplay("status", host.address)

    assert refusal(done).startswith(f"{host.address} is no house")
    assert host.heard == []


def told_of(told: HouseStatus) -> list[str]:
    """What is printed of what a house says."""
    with Script(hello(game=""), as_line(told)) as house:
        done = fairplay("status", house.address)
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()


def test_a_house_that_tells_of_fewer_scores_than_players_does_not_crash_the_command() -> None:
    room = RoomSeen("r1", "ice", "fish", ("ann", "bob"), "playing", 3, turn=1, scores=(7,), out=(), spectators=0)
    over = FinishedSeen("m1", "fish", ("ann", "bob"), ((1,),), (), scores=(), at=0.0, recorded=True)

    lines = told_of(HouseStatus(name="h", version="1", since=0.0, up=1.0, rooms=(room,), finished=(over,)))

    assert "  ann 7, →bob  " in lines[6]
    assert "  ann, *bob  " in lines[-1]


def test_what_a_house_calls_its_rooms_moves_no_terminal_and_is_cut() -> None:
    room = RoomSeen(
        "\x1b[2J" + "r" * 100, "ice", "fish", ("ann",), "playing", 3, turn=0, scores=None, out=(), spectators=0
    )

    lines = told_of(HouseStatus(name="h", version="1", since=0.0, up=1.0, rooms=(room,)))

    shown = lines[6].split()[-1]
    assert shown.startswith("\N{REPLACEMENT CHARACTER}[2Jrrr")
    assert len(shown) == WIDEST


def test_of_many_matches_that_are_over_the_newest_are_listed() -> None:
    over = [FinishedSeen(f"m{at}", "fish", ("ann", "bob"), (), (), None, at=at, recorded=True) for at in range(20)]

    lines = told_of(HouseStatus(name="h", version="1", since=0.0, up=1.0, finished=tuple(over)))

    assert [line.split()[-1] for line in lines[-11:]] == ["MATCH", *(f"m{number}" for number in range(10))]
