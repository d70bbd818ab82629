"""Test the measurements of servers with honest and faulty players and spectators, and of turns of the courses."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import charged_time, clients, load, server, spectators, throughput
from benchmarks.distances import BENCHMARKS, PLAYERS, measure, recorded_turns
from fairplay.games import make_game
from fairplay.protocol import wire
from fairplay.transport import event_loop
from tools.readme_tables import ROOT


def test_every_tenth_player_is_faulty_in_one_of_all_ways() -> None:
    kinds = Counter(load.player_kinds(1000))

    assert kinds == {clients.HONEST: 900, **dict.fromkeys(clients.FAULTS, 20)}


def test_turns_are_timed_and_no_honest_player_is_ejected() -> None:
    figure = load.measure(4, 1.0, 0.0)

    assert figure.turns > 0 and 0 < figure.p50 <= figure.p99
    assert figure.honest_out == 0


@pytest.mark.parametrize("kind", clients.FAULTS)
def test_only_faulty_players_are_counted_as_ejected(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "GOOD_TURNS", 1)

    async def play(server: clients.RunningServer) -> Counter[str]:
        crowd = clients.PlayerPool(load.GAME, server.port, 0.01)
        await crowd.connect([clients.HONEST, kind])
        await clients.wait_until(lambda: bool(server.ejections()))
        await crowd.disconnect_all()
        return server.ejections()

    with clients.run_server(load.GAME) as server:
        assert asyncio.run(play(server)).keys() == {kind}


def test_spectators_hear_what_happens() -> None:
    figure = spectators.measure(2, 20, 0.5, nice=0)

    assert figure.received >= 2 * 18 * 2  # a snapshot and some patches, for spectators that read
    assert figure.behind == 2 * 2  # spectators that never read
    assert min(figure.p99, figure.p99_watched) > 0


def test_what_a_busy_server_charges_is_read_from_its_journals() -> None:
    figure = charged_time.measure(2, 100)

    assert figure.turns >= 100
    assert figure.p50 <= figure.p99 <= figure.most and figure.mean > 0


def test_a_saturated_server_is_measured() -> None:
    figure = event_loop.run(throughput.measure_throughput(3, 2))  # asserts that all matches are on record

    assert min(figure.ratio, figure.ratio_busy) > 0


def test_the_server_benchmark_runs_from_any_directory(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), "--short"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110)

    assert done.returncode == 0, done.stderr
    first = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert [word for word in first if word in server.PARTS] == list(server.PARTS)


@pytest.mark.parametrize("name", PLAYERS)
def test_turns_of_the_courses_are_answered_at_both_ends_and_late_ones_show_more(name: str) -> None:
    game = make_game(name, {})
    sizes = [len(wire.encode(game.pack(turn.message.view))) for turn in recorded_turns(game)]
    assert len(sizes) >= 20
    assert min(sizes[len(sizes) // 2 :]) > sizes[0]

    for late in ("", ".late"):
        figure = asyncio.run(measure(BENCHMARKS[f"course.turn.{name}{late}"], 1))  # asserts that there are answers
        assert 0 < figure.ours < 1 and 0 < figure.bare < 1
