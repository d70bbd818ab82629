"""Measure small houses for a moment: everybody plays, whoever is faulty is counted, and spectators hear something."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import charged, clients, load, saturated, server, spectators
from fairplay.transport import event_loop
from tools.tables import ROOT


def test_every_tenth_player_is_faulty_in_one_of_all_ways() -> None:
    kinds = Counter(load.kinds_of(1000))

    assert kinds == {clients.HONEST: 900, **dict.fromkeys(clients.FAULTS, 20)}


def test_turns_are_timed_and_nobody_is_ejected_for_nothing() -> None:
    figure = load.measured(4, 1.0, 0.0)

    assert figure.turns > 0 and 0 < figure.p50 <= figure.p99
    assert figure.honest_out == 0


@pytest.mark.parametrize("kind", clients.FAULTS)
def test_whoever_is_faulty_is_counted_and_the_others_are_not(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "GOOD_TURNS", 1)

    async def play(house: clients.House) -> Counter[str]:
        crowd = clients.Crowd(load.GAME, house.port, 0.01)
        await crowd.let_in([clients.HONEST, kind])
        await clients.until(lambda: bool(house.ejected()))
        await crowd.leave()
        return house.ejected()

    with clients.house_of(load.GAME) as house:
        assert asyncio.run(play(house)).keys() == {kind}


def test_spectators_hear_what_happens() -> None:
    figure = spectators.measured(2, 20, 0.5, nice=0)

    assert figure.heard >= 2 * 18 * 2  # a snapshot and some patches, for whoever reads
    assert figure.behind == 2 * 2  # whoever never does
    assert min(figure.p99, figure.p99_watched) > 0


def test_what_a_busy_server_charges_is_read_from_its_journals() -> None:
    figure = charged.measured(2, 100)

    assert figure.turns >= 100
    assert figure.p50 <= figure.p99 <= figure.most and figure.mean > 0


def test_a_saturated_server_is_measured() -> None:
    figure = event_loop.run(saturated.saturated(3, 2))  # asserts that all matches are on record

    assert min(figure.ratio, figure.ratio_busy) > 0


def test_all_figures_are_printed_wherever_it_is_started(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), "--short"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110)

    assert done.returncode == 0, done.stderr
    first = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert [word for word in first if word in server.PARTS] == list(server.PARTS)
