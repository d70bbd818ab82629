"""Export metrics of a server in the format of Prometheus."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from fairplay.core.events import Acted, Ejected, Ended, Event, Fault
from fairplay.core.match import Match
from fairplay.journal.append_file import max_unsynced_age_s
from fairplay.server.status import ServerStatus
from fairplay.transport.timer import get_loop_delay

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Family = GaugeMetricFamily | CounterMetricFamily


class ServerCounts:
    """Counts since the server was started; an observer of every match there."""

    def __init__(self) -> None:
        self.turns = 0
        self.matches = 0  # ended
        self.ejections: Counter[Fault] = Counter()
        self.refused: Counter[str] = Counter()  # connections, by reason

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Count an event."""
        if isinstance(event, Acted):
            self.turns += 1
        elif isinstance(event, Ejected):
            self.ejections[event.fault] += 1
        elif isinstance(event, Ended):
            self.matches += 1


class MetricsCollector(Collector):
    """Computes the metrics whenever a monitor asks for them."""

    def __init__(self, status: Callable[[], ServerStatus], counts: ServerCounts) -> None:
        self._status = status
        self._counts = counts

    def collect(self) -> Iterator[Family]:
        """All metrics."""
        status, counts = self._status(), self._counts
        rooms = Counter(room.game for room in status.rooms)
        games = dict.fromkeys([*(offer.game for offer in status.offers), *rooms])
        yield family_by_label(GaugeMetricFamily, "rooms", "Open rooms.", "game", {game: rooms[game] for game in games})
        yield gauge("players", "Connected players.", len(status.players))
        yield gauge("waiting_players", "Players that wait for a room.", len(status.waiting))
        yield gauge("spectators", "Spectators in all rooms.", sum(room.spectators for room in status.rooms))
        yield gauge("uptime_seconds", "Seconds since the server was started.", status.uptime_s)
        yield counter("turns", "Turns taken.", counts.turns)
        yield counter("matches", "Matches ended.", counts.matches)
        ejections = {fault.value: counts.ejections[fault] for fault in Fault}
        yield family_by_label(CounterMetricFamily, "ejections", "Players ejected, by fault.", "fault", ejections)
        yield family_by_label(
            CounterMetricFamily,
            "refused_connections",
            "Connections refused, by reason.",
            "reason",
            dict(counts.refused),
        )
        yield counter("loop_delay_seconds", "Seconds by which the event loop was late in all.", loop_delay())
        yield gauge("journal_unsynced_seconds", "Age of the oldest line not yet on disk.", max_unsynced_age_s())


def loop_delay() -> float:
    """By how many seconds the running event loop was late in all, measured while it waited for players."""
    loop = asyncio.get_running_loop()
    return get_loop_delay(loop).total_delay(loop.time())


def gauge(name: str, help: str, value: float) -> Family:
    """A metric that goes up and down."""
    return GaugeMetricFamily(f"fairplay_{name}", help, value=value)


def counter(name: str, help: str, value: float) -> Family:
    """A metric that only grows."""
    return CounterMetricFamily(f"fairplay_{name}", help, value=value)


def family_by_label(kind: type[Any], name: str, help: str, label: str, values: dict[str, int]) -> Family:
    """A metric with a value for each value of a label."""
    family: Family = kind(f"fairplay_{name}", help, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


def make_registry(status: Callable[[], ServerStatus], counts: ServerCounts) -> CollectorRegistry:
    """All metrics of a server and of its process."""
    registry = CollectorRegistry()
    registry.register(MetricsCollector(status, counts))
    ProcessCollector(registry=registry)
    return registry


def format_metrics(registry: CollectorRegistry) -> bytes:
    """The metrics as text."""
    return generate_latest(registry)
