"""Measure the time that a busy server charges to players that answer at once.

The server is the command in one process, with extra work for each observed fact, and the players are in this process.
The journals have the charged time of each turn, which includes delays of this process.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.clients import PlayerPool, RunningServer, percentile, run_server, wait_until
from fairplay.games.fish import Fish
from fairplay.transport import event_loop

ROOMS = 40
TURNS = 20_000
WORK_S = 0.0001  # for each fact
GAME = Fish(rows=6, columns=6, fish=2)


class Figure(NamedTuple):
    """The time that was charged for a turn, in milliseconds."""

    rooms: int
    turns: int
    mean: float
    p50: float
    p99: float
    most: float


def turn_seconds(matches: Path) -> list[float]:
    """The seconds of each turn in the journals of a server."""
    lines = [line for path in matches.glob("*.jsonl") for line in path.read_bytes().splitlines()]
    return [json.loads(line)["took"] for line in lines if b'"type":"acted"' in line and line.endswith(b"}")]


async def play_turns(server: RunningServer, rooms: int, turns: int) -> None:
    """Play so many turns, each at once."""
    pool = PlayerPool(GAME, server.port, 0.0)
    await pool.connect(["honest"] * 2 * rooms)
    await wait_until(lambda: len(pool.overheads) >= turns)
    await pool.disconnect_all()


def measure(rooms: int, turns: int) -> Figure:
    """Run a server with so many rooms, and measure it."""
    with run_server(GAME, WORK_S) as server:
        event_loop.run(play_turns(server, rooms, turns))
        times = turn_seconds(server.matches)
    mean = sum(times) / len(times) * 1000
    return Figure(rooms, len(times), mean, percentile(times, 0.5), percentile(times, 0.99), max(times) * 1000)


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once (default: {ROOMS})")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"at least (default: {TURNS})")
    chosen = parser.parse_args()
    figure = measure(chosen.rooms, chosen.turns)
    if chosen.json:
        json.dump(figure._asdict(), sys.stdout)
        print()
        return
    print(f"{'charged_time':<13}{'turns':>9}{'mean ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'most ms':>9}")
    print(
        f"{figure.rooms:<12}{figure.turns:>9}{figure.mean:>9.3f}{figure.p50:>9.3f}{figure.p99:>9.3f}{figure.most:>9.3f}"
    )


if __name__ == "__main__":
    main()
