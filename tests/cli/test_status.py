"""Test `fairplay status`, and its errors for hosts that are no servers."""

import json
from collections.abc import Iterator
from typing import Any

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
    assert " fish " in row and "*" in row
    data = run_fairplay("status", server.listener, "--json")
    assert (data.code, data.out.count("\n")) == (0, 1)
    told = json.loads(data.out)
    assert (told["type"], room in [it["id"] for it in told["rooms"]]) == ("status", True)


def test_a_port_for_browsers_is_no_server_for_players(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_session, "ANSWER_TIMEOUT_S", 0.2)

    done = run_fairplay("status", server.place)  # where browsers are answered, who speak first

    assert "was lost" in refusal_line(done)


@pytest.mark.parametrize(
    ("game", "said", "why"),
    [
        ("", b"", "{} sent no valid status"),
        ("", hello(), "{} sent no valid status"),
        ("", b'{"type":"status","name":"\xff"}\n', "{} sent no valid status"),
        ("", b"[" * 100_000 + b"\n", "{} sent no valid status"),
        ("", wire.encode_suspended("the server\rstops", 2.0), "{}: the server�stops"),
        ("fish", b"", "{} is not a fairplay server"),  # but the host of a single match
    ],
    ids=["nothing", "another message", "no UTF-8", "too many levels", "it sends clients away", "no server"],
)
def test_a_server_that_answers_something_else_is_refused_in_one_line(game: str, said: bytes, why: str) -> None:
    with Script(hello(game=game), said) as host:
        done = run_fairplay("status", host.address)

    assert refusal_line(done).startswith(why.format(host.address))
    assert not game or host.heard == []


def told_of(**matches: Any) -> list[str]:
    """What is printed of a server with these matches."""
    status = ServerStatus(name="h", version="1", started_at=0.0, uptime_s=1.0, **matches)
    with Script(hello(game=""), encode_status(status)) as server:
        done = run_fairplay("status", server.address)
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()


def test_whatever_a_server_says_of_its_matches_is_shown_in_a_table() -> None:
    names = ("ann", "bob")
    odd_id = "\x1b[2J" + "r" * 100
    room = RoomStatus(odd_id, "ice", "fish", names, "playing", 3, turn=1, scores=(7,), ejected=(), spectators=0)
    over = [FinishedStatus(f"m{at}", "fish", names, ((1,),), (), (), ended_at=at, recorded=True) for at in range(20)]

    lines = told_of(rooms=(room,), finished=tuple(over))

    assert "  ann 7, →bob  " in lines[6]  # of which the server has told fewer scores than players
    shown = lines[6].split()[-1]
    assert shown.startswith("\N{REPLACEMENT CHARACTER}[2Jrrr")
    assert len(shown) == MAX_CELL_COLUMNS
    assert [line.split()[-1] for line in lines[-11:]] == ["MATCH", *(f"m{number}" for number in range(10))]
    assert "  ann, *bob  " in lines[-1]
