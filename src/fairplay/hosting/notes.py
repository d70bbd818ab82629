"""Keep what whoever hosts a match wants to know of it, besides the record."""

import time
from collections.abc import Callable

from fairplay.core.events import Ejected, Event, Receipt
from fairplay.core.messages import Answer, Failed, Message, TakeTurn
from fairplay.core.roles import UNRECORDED, Record


class Notes:
    """A record that passes everything on to another, and remembers what failing players said."""

    def __init__(self, record: Record = UNRECORDED) -> None:
        self.clock: Callable[[], float] = time.perf_counter if record is UNRECORDED else record.clock
        self.evidence: list[tuple[int, str]] = []  # (seat, what it said)
        self.turns = 0
        self._record = record

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        if isinstance(message, TakeTurn):
            self.turns += 1
        behind = self._record.write(event, message, answer)
        if isinstance(event, Ejected) and isinstance(answer, Failed) and answer.evidence:
            self.evidence.append((event.seat, answer.evidence))
        return behind

    def settle(self) -> None:
        self._record.settle()

    async def settled(self) -> None:
        await self._record.settled()

    def receipt(self) -> Receipt | None:
        return self._record.receipt()

    def close(self) -> None:
        self._record.close()
