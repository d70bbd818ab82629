"""Test that the metrics of a server agree with what happened."""

import asyncio
import secrets
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from fairplay import built_in_strategy
from fairplay.core.events import Acted, Event
from fairplay.core.match import Match
from fairplay.games.fish import Fish
from fairplay.journal.append_file import AppendFile, Disk, create_file, max_unsynced_age_s
from fairplay.journal.options import Durability
from fairplay.referee.referee import Referee
from fairplay.server.metrics import ServerCounts, format_metrics, make_registry
from fairplay.server.status import OfferStatus, RoomStatus, ServerStatus, WaitingStatus
from tests.nonempty import nonempty

ROOM = RoomStatus("r1", "fish-1", "fish", ("ann", "bob"), "playing", 3, 0, (1, 2), (), 7)
STATUS = ServerStatus(
    name="server",
    version="1",
    started_at=1.0,
    uptime_s=5.0,
    offers=(OfferStatus("fish", {}, 2, 4), OfferStatus("q", {}, 2, 4)),
    rooms=(ROOM, ROOM),
    waiting=(WaitingStatus("cyd", "", 2.0),),
    players=("ann", "bob", "cyd"),
)


def read_metrics(counts: ServerCounts, status: ServerStatus = STATUS) -> dict[Any, float]:
    """The metrics that a monitor reads, by name and label."""

    async def asked() -> bytes:
        return format_metrics(make_registry(lambda: status, counts))

    text = asyncio.run(asked()).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_metrics_count_what_happened() -> None:
    counts, turns = ServerCounts(), 0

    class Counting:
        def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
            nonlocal turns
            turns += isinstance(event, Acted)

    def bad(view: Any) -> Any:
        raise RuntimeError("a bad day")

    referee = Referee()
    for observer in (counts, Counting()):
        referee.subscribe(observer)
    good = built_in_strategy("fish", "greedy")
    for players in nonempty(([good, good], [good, bad])):
        referee.run(Fish(rows=4, columns=4), players, seed=secrets.token_bytes(32))
    counts.refused["too many"] += 2

    read = read_metrics(counts)

    assert turns > 8
    assert read["fairplay_turns_total",] == turns
    assert read["fairplay_matches_total",] == 2
    assert read["fairplay_ejections_total", "crashed"] == 1
    assert read["fairplay_ejections_total", "timed_out"] == 0
    assert read["fairplay_refused_connections_total", "too many"] == 2
    assert read["fairplay_rooms", "fish"] == 2
    assert read["fairplay_rooms", "q"] == 0
    assert read["fairplay_players",] == 3
    assert read["fairplay_waiting_players",] == 1
    assert read["fairplay_spectators",] == 14
    assert read["fairplay_loop_delay_seconds_total",] >= 0
    assert read["process_resident_memory_bytes",] > 2**20


def test_metrics_count_rooms_of_games_that_are_not_offered() -> None:
    resumed = replace(ROOM, game="tsuro")  # begun when the game was still offered

    read = read_metrics(ServerCounts(), replace(STATUS, rooms=(ROOM, resumed)))

    assert {game: read["fairplay_rooms", game] for game in ("fish", "q", "tsuro")} == {"fish": 1, "q": 0, "tsuro": 1}


class Hanging(Disk):
    """A disk that never syncs, with a clock that the test sets."""

    time = 100.0

    def sync_later(self, file: AppendFile) -> None:
        pass

    def clock(self) -> float:
        return self.time


def test_metrics_tell_the_age_of_unsynced_journal_lines(tmp_path: Path) -> None:
    disk = Hanging()
    file = create_file(tmp_path, "a.jsonl", disk, Durability.BATCH)
    file.append(b"one\n")
    disk.time += 2000.0

    assert read_metrics(ServerCounts())["fairplay_journal_unsynced_seconds",] == max_unsynced_age_s() == 2000.0
    file.sync()
    assert max_unsynced_age_s() < 1000.0
    file.append(b"two\n")
    disk.time += 2000.0
    assert max_unsynced_age_s() == 2000.0
    file.close()
    assert max_unsynced_age_s() < 1000.0


@pytest.mark.parametrize("sync", [Durability.ALWAYS, Durability.OFF])
def test_unsynced_lines_have_no_age_with_sync_always_or_off(tmp_path: Path, sync: Durability) -> None:
    disk = Hanging()
    file = create_file(tmp_path, "a.jsonl", disk, sync)

    file.append(b"one\n")
    disk.time += 2000.0

    assert max_unsynced_age_s() < 1000.0
    file.close()
