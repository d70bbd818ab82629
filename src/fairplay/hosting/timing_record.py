"""Measure the turns of a match and keep evidence of failures, beside the record."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fairplay.core.events import Acted, Ejected, Event, Receipt
from fairplay.core.game import Seat
from fairplay.core.messages import NO_EVIDENCE, Answer, Evidence, Failed, Message, TakeTurn
from fairplay.core.roles import NULL_RECORD, Record

NO_TURNS: Mapping[Any, Any] = MappingProxyType({})


class TimingRecord:
    """A record that forwards to another one, and keeps the times of turns and the evidence of failures.

    `turn_times` has the times of turns before a resumption, by seat.
    """

    def __init__(self, record: Record = NULL_RECORD, turn_times: Mapping[Seat, Sequence[float]] = NO_TURNS) -> None:
        self.clock: Callable[[], float] = time.perf_counter if record is NULL_RECORD else record.clock
        self.evidence: list[tuple[Seat, Evidence]] = []  # of players that failed
        self.turn_times = defaultdict[Seat, list[float]](
            list, {seat: list(turns) for seat, turns in turn_times.items()}
        )
        self._record = record
        self._write = record.write

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        if isinstance(event, Acted):
            self.turn_times[event.seat].append(answer.took if answer is not None else 0.0)
        elif isinstance(event, Ejected) and answer is not None:
            if isinstance(message, TakeTurn):
                self.turn_times[event.seat].append(answer.took)
            if isinstance(answer, Failed) and answer.evidence != NO_EVIDENCE:
                self.evidence.append((event.seat, answer.evidence))
        return self._write(event, message, answer)

    def write_late_answer(self, seat: Seat, overrun: float) -> None:
        self._record.write_late_answer(seat, overrun)

    def make_durable(self) -> None:
        self._record.make_durable()

    async def make_durable_async(self) -> None:
        await self._record.make_durable_async()

    def receipt(self) -> Receipt | None:
        return self._record.receipt()

    def close(self) -> None:
        self._record.close()
