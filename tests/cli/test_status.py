"""Test `fairplay status`, and its errors for hosts that are no servers."""

import json
from collections.abc import Iterator

import pytest

from fairplay.cli.client import server_session
from fairplay.cli.status import MAX_CELL_COLUMNS
from fairplay.protocol import wire
from fairplay.server.status import FinishedStatus, RoomStatus, ServerStatus, encode_status
from tests.cli.command import refusal_line, run_fairplay
from tests.cli.test_join import Script, hello
from tests.server.small_servers import RunningServer, run_small_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


def test_a_table_tells_who_plays_and_what_is_over(server: RunningServer) -> None:
    over, room = server.open_room("fish"), server.open_room("tsuro", ("ann", "\x1b[2Jbob", "cyd"), fails=0)
    server.play_to_end(over)
    number = server.play_turns(room, 2)

    done = run_fairplay("status", server.listener)

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("A small server: fairplay 1, up ")
    assert "waiting: dee (any game, 3 s)" in lines
    [row] = [line for line in lines if line.endswith(room)]
    assert row.split()[1:3] == ["tsuro", str(number)]
    assert "✗�[2Jbob" in row
    assert "→" in row
    [row] = [line for line in lines if line.endswith(over)]
    assert " fish " in row
    assert "*" in row


def test_programs_get_json(server: RunningServer) -> None:
    room = server.open_room("fish")

    done = run_fairplay("status", server.listener, "--json")

    told = json.loads(done.out)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert told["type"] == "status"
    assert room in [it["id"] for it in told["rooms"]]


def test_where_no_server_is_that_is_said_in_one_line(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_session, "ANSWER_TIMEOUT_S", 0.2)
    assert "cannot connect" in refusal_line(run_fairplay("status", "127.0.0.1:1", "--wait", "0.01"))
    assert "is not an endpoint" in refusal_line(run_fairplay("status", "nowhere"))
    assert "was lost" in refusal_line(
        run_fairplay("status", server.place)
    )  # where browsers are answered, who speak first


NO_STATUS = {
    "nothing": b"",
    "another message": hello(),
    "no UTF-8": b'{"type":"status","name":"\xff"}\n',
    "too many levels": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("said", NO_STATUS.values(), ids=NO_STATUS)
def test_a_server_that_answers_something_else_is_refused_in_one_line(said: bytes) -> None:
    with Script(hello(game=""), said) as server:
        done = run_fairplay("status", server.address)

    assert refusal_line(done) == f"{server.address} sent no valid status"


def test_a_server_that_sends_clients_away_is_quoted() -> None:
    with Script(
        hello(game=""), wire.encode(wire.Suspended(why="the server\rstops", retry_after=2.0)) + b"\n"
    ) as server:
        done = run_fairplay("status", server.address)

    assert refusal_line(done) == f"{server.address}: the server�stops"


def test_the_host_of_a_single_match_is_no_server() -> None:
    with Script(hello(game="fish")) as host:
        done = run_fairplay("status", host.address)

    assert refusal_line(done).startswith(f"{host.address} is not a fairplay server")
    assert host.heard == []


def told_of(told: ServerStatus) -> list[str]:
    """What is printed of what a server says."""
    with Script(hello(game=""), encode_status(told)) as server:
        done = run_fairplay("status", server.address)
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()


def test_a_server_that_tells_of_fewer_scores_than_players_does_not_crash_the_command() -> None:
    room = RoomStatus("r1", "ice", "fish", ("ann", "bob"), "playing", 3, turn=1, scores=(7,), ejected=(), spectators=0)
    over = FinishedStatus("m1", "fish", ("ann", "bob"), ((1,),), (), scores=(), ended_at=0.0, recorded=True)

    lines = told_of(ServerStatus(name="h", version="1", started_at=0.0, uptime_s=1.0, rooms=(room,), finished=(over,)))

    assert "  ann 7, →bob  " in lines[6]
    assert "  ann, *bob  " in lines[-1]


def test_names_of_rooms_are_made_printable_and_cut() -> None:
    room = RoomStatus(
        "\x1b[2J" + "r" * 100, "ice", "fish", ("ann",), "playing", 3, turn=0, scores=None, ejected=(), spectators=0
    )

    lines = told_of(ServerStatus(name="h", version="1", started_at=0.0, uptime_s=1.0, rooms=(room,)))

    shown = lines[6].split()[-1]
    assert shown.startswith("\N{REPLACEMENT CHARACTER}[2Jrrr")
    assert len(shown) == MAX_CELL_COLUMNS


def test_of_many_matches_that_are_over_the_newest_are_listed() -> None:
    over = [
        FinishedStatus(f"m{at}", "fish", ("ann", "bob"), (), (), None, ended_at=at, recorded=True) for at in range(20)
    ]

    lines = told_of(ServerStatus(name="h", version="1", started_at=0.0, uptime_s=1.0, finished=tuple(over)))

    assert [line.split()[-1] for line in lines[-11:]] == ["MATCH", *(f"m{number}" for number in range(10))]
