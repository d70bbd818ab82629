"""Measure a server under load: hundreds of rooms with two players each, some of them faulty.

The command runs the server in one process, and all players are in this one. The overhead of a turn is the time
from one player's answer to the next one's question, with delays of this process. Faulty players are
silent, send single bytes, never read, disconnect, or send garbage, after some good turns; then they connect again.
Memory is what the server uses in addition to its start.
"""

import argparse
import asyncio
import json
import sys
from typing import NamedTuple

from benchmarks.clients import FAULTS, HONEST, PlayerPool, RunningServer, percentile, run_server, wait_until
from fairplay.games.fish import Fish
from fairplay.transport import event_loop

ROOMS = 500
MEASURED_S = 30.0
WARM_UP_S = 20.0
THINKING_S = 0.43  # with which 500 rooms have 1,000 turns a second
FAULTY_INTERVAL = 10  # one of so many players is faulty
GAME = Fish(rows=6, columns=6, fish=2)


class Figure(NamedTuple):
    """The results."""

    rooms: int
    turns: float  # a second
    p50: float  # milliseconds of overhead
    p99: float
    honest_out: int  # ejected without a fault
    faulty_out: int
    warm: float  # megabytes after the warm-up
    end: float
    room: float  # kilobytes each


def player_kinds(players: int) -> list[str]:
    """Every tenth is faulty, in one way after the other."""
    return [
        HONEST if number % FAULTY_INTERVAL else FAULTS[number // FAULTY_INTERVAL % len(FAULTS)]
        for number in range(1, players + 1)
    ]


async def measure_under_load(server: RunningServer, rooms: int, seconds: float, warm_up: float) -> Figure:
    """Connect all players, and measure for a while."""
    empty = server.memory_kb()
    pool = PlayerPool(GAME, server.port, THINKING_S)
    await pool.connect(player_kinds(2 * rooms))
    await wait_until(lambda: bool(pool.overheads))
    await asyncio.sleep(warm_up)
    warm = server.memory_kb()
    pool.overheads.clear()
    await asyncio.sleep(seconds)
    end, overheads = server.memory_kb(), list(pool.overheads)
    out = server.ejections()
    await pool.disconnect_all()
    return Figure(
        rooms,
        len(overheads) / seconds,
        percentile(overheads, 0.5),
        percentile(overheads, 0.99),
        out.pop(HONEST, 0),
        out.total(),
        warm / 1024,
        end / 1024,
        (max(warm, end) - empty) / rooms,
    )


def measure(rooms: int, seconds: float, warm_up: float) -> Figure:
    """Run a server under load, and measure it."""
    with run_server(GAME) as server:
        return event_loop.run(measure_under_load(server, rooms, seconds, warm_up))


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once (default: {ROOMS})")
    parser.add_argument("--seconds", type=float, default=MEASURED_S, help=f"(default: {MEASURED_S:g})")
    parser.add_argument("--warm-up", type=float, default=WARM_UP_S, help=f"seconds (default: {WARM_UP_S:g})")
    chosen = parser.parse_args()
    figure = measure(chosen.rooms, chosen.seconds, chosen.warm_up)
    if chosen.json:
        json.dump(figure._asdict(), sys.stdout)
        print()
        return
    print(
        f"{'load':<12}{'turns/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'honest out':>12}{'faulty out':>12}"
        f"{'MB warm':>9}{'MB end':>9}{'kB/room':>9}"
    )
    print(
        f"{figure.rooms:<12}{figure.turns:>9.0f}{figure.p50:>9.2f}{figure.p99:>9.2f}{figure.honest_out:>12}"
        f"{figure.faulty_out:>12}{figure.warm:>9.1f}{figure.end:>9.1f}{figure.room:>9.1f}"
    )


if __name__ == "__main__":
    main()
