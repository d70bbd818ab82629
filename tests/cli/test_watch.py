"""Follow a match at a house from the command line: by lines, and as JSON."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fairplay.games import GAMES
from fairplay.journal.replay import read
from fairplay.observers.reporter import in_words, standings
from tests.cli.command import Done, fairplay, refusal, script
from tests.server.houses import Running, running


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as it:
        yield it


def followed(house: Running, room: str, *options: str) -> Done:
    """What somebody sees who comes now and stays to the end."""
    hub = house.house.hubs[room]
    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door, room, *options)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.to_the_end(room)
        return watching.result(60)


@pytest.mark.parametrize("game", GAMES)
def test_lines_tell_a_match_from_where_one_comes_in(house: Running, game: str) -> None:
    room = house.open(game, fails=1)
    house.turns(room, 1)

    done = followed(house, room)

    recorded = read(house.house.journal(room) or "")
    assert recorded.closing is not None
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("at the table: ann, bob, cyd; 1 moves so far\n")
    for fact in recorded.facts:
        assert f"\n{in_words(fact, recorded.names)[0]}\n" in done.out
    assert done.out.endswith("\n".join(standings(recorded.closing.result, recorded.names)) + "\n")


def test_programs_get_the_lines_of_the_house(house: Running) -> None:
    room = house.open("fish")

    done = followed(house, room, "--json")

    told = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [it["type"] for it in (told[0], told[1], told[-2], told[-1])] == ["snapshot", "patch", "patch", "snapshot"]
    assert [it["seq"] for it in told[:-1]] == list(range(len(told) - 1))
    assert told[-1]["event"]["type"] == "ended"


def test_without_a_room_the_house_chooses(house: Running) -> None:
    for room in tuple(house.house.hubs):
        house.to_the_end(room)
    room = house.open("fish")
    hub = house.house.hubs[room]

    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.to_the_end(room)
        done = watching.result(60)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"match: {room}\n")


def test_a_room_that_is_not_there_is_said_in_one_line(house: Running) -> None:
    assert "there is no room nowhere" in refusal(fairplay("watch", house.door, "nowhere"))
    assert "there is no room" in refusal(fairplay("watch", house.door, "x" * 100))


def test_it_is_said_if_the_house_hangs_up_before_the_end(house: Running) -> None:
    room = house.open("fish")
    hub = house.house.hubs[room]

    with ThreadPoolExecutor(1) as threads:
        watching = threads.submit(script, "watch", house.door, room)
        while not hub.watchers and not watching.done():
            house.turns(room, 0)
        house.do(house.house.hang_up)
        done = watching.result(60)

    assert done.code == 2
    assert "the house hung up before the end of the match" in done.err


def test_names_move_no_terminal(house: Running) -> None:
    room = house.open("fish", ("\x1b[2Jann", "bob\r\n"))

    house.turns(room, 1)
    done = followed(house, room, "--lines")

    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\r" not in done.out


def test_help_names_the_room(house: Running) -> None:
    assert "fairplay status" in fairplay("watch", "--help").out
