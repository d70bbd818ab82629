"""Play a match from a spec, and say what came of it."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.game import Seat
from fairplay.core.roles import AsyncChannel, Observer, Record
from fairplay.games import register
from fairplay.hosting.notes import Notes
from fairplay.hosting.sitting import AnyMatch, Sitting, in_journal, path_of, to_hide, unrecorded
from fairplay.hosting.spec import MatchSpec, Outcome, turns_of
from fairplay.hosting.terms import asked_for, terms_for
from fairplay.journal.requests import Finished, check_id
from fairplay.referee.blame import host_to_blame
from fairplay.referee.closing import close_all_async, surely
from fairplay.referee.drivers import play, play_async
from fairplay.referee.host import Referee, complain, dealt
from fairplay.referee.loading import loaded, named_in_module
from fairplay.referee.local import Local

if TYPE_CHECKING:  # where all players are in this process, nobody needs it
    import asyncio

    from fairplay.hosting.table import Seating, Table


def run(spec: MatchSpec, observers: Sequence[Observer] = ()) -> Outcome:
    """Play a match to its end, in this process. A fault of the host is in the outcome; raises only BadRequest."""
    hosted: Hosted | None = None
    try:
        hosted = hosted_for(spec, observers)
        hosted.play()
    except Finished:
        from fairplay.hosting.records import outcome_on_record  # where nothing is recorded, nobody needs it

        return outcome_on_record(spec)
    except HostFault as fault:
        return failed(spec, hosted, fault)
    return hosted.outcome()


async def run_async(
    spec: MatchSpec,
    observers: Sequence[Observer] = (),
    *,
    ready: "asyncio.Event | None" = None,
    gathered: Mapping[Seat, AsyncChannel] | None = None,
) -> Outcome:
    """The same, awaited: any number of matches can be played in one event loop.

    With an event, everybody sits down at once, and the match begins, and its record, when it is set. If those who play
    are gathered already, nobody is sent for.
    """
    import asyncio

    from fairplay.hosting.records import outcome_on_record  # where nobody is awaited, nobody needs them
    from fairplay.hosting.table import Gathering

    hosted: Hosted | None = None
    try:
        hosted = hosted_for(spec, observers, None if gathered is None else Gathering(gathered))
        await hosted.play_async(ready)
    except Finished:
        return outcome_on_record(spec)
    except HostFault as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # whoever called us off does not want to hear of anything else
            raise asyncio.CancelledError from fault
        return failed(spec, hosted, fault)
    return hosted.outcome()


def hosted_for(spec: MatchSpec, observers: Sequence[Observer], table: "Table | None" = None) -> "Hosted":
    """A match that is about to be played, watched by these observers and by those that the spec names."""
    referee = Referee()
    for observer in (*observers, *(opened_observer(address) for address in spec.observers)):
        referee.subscribe(observer)
    return Hosted(sitting_for(spec), referee, table)


class Hosted:
    """One match from the moment when its players are sent for, and what is known of it afterwards."""

    def __init__(self, sitting: Sitting, referee: Referee, table: "Table | None" = None) -> None:
        self.match: AnyMatch = sitting.match  # with the names that people have, once they sit; at last the final one
        self.notes = Notes()
        self.record: Record | None = None  # None: it was not begun
        self.ended = False
        self._took = 0.0
        self.sitting = sitting
        self._referee = referee
        self._own = table  # None: one is made for the sitting

    def play(self) -> AnyMatch:
        """Play the match to its end. Where all players are in this process, nobody has to be waited for."""
        with ExitStack() as leaving:
            leaving.callback(self.sitting.held.close)
            near = None if self._own else self.sitting.near()
            if near is None:
                from fairplay.transport import event_loop  # where all players are in this process, nobody needs it

                refuse_running_loop()
                return event_loop.run(self._play_at(self._table(leaving), leaving))
            self._begin(leaving)
            channels = {seat: Local(player, self.match.game, self.notes.clock) for seat, player in near.items()}
            inform = leaving.enter_context(self._referee.informing())
            with host_to_blame(self.match.game):
                return self._end(play(self.match, channels, self.notes, inform, resumed=self.sitting.resumed))

    async def play_async(self, ready: "asyncio.Event | None" = None) -> AnyMatch:
        """The same, awaited; with an event, those who sit wait for it."""
        with ExitStack() as leaving:
            leaving.callback(self.sitting.held.close)
            return await self._play_at(self._table(leaving), leaving, ready)

    def outcome(self, host_fault: str = "") -> Outcome:
        """What came of it."""
        record, written, result = self.record, in_journal(self.record), None
        if self.ended:
            result = replace(self.match.result, receipt=None if record is None else record.receipt())
        return Outcome(
            id=self.match.id,
            names=self.match.names,
            result=result,
            host_fault=host_fault,
            journal=None if written is None else written.file,
            evidence=tuple(self.notes.evidence),
            turns=() if record is None else turns_of(self.notes.took, len(self.match.names)),
            took=self._took,
        )

    async def _play_at(self, table: "Table", leaving: ExitStack, ready: "asyncio.Event | None" = None) -> AnyMatch:
        from fairplay.hosting.table import called  # where all players are in this process, nobody needs it

        sitting, match = self.sitting, self.match
        if ready is None:
            self._begin(leaving)
        inform = leaving.enter_context(self._referee.informing())
        try:
            seating = await table.seated(
                match.game, match_id=match.id, took=sitting.took, names=match.names, clock=self.notes.clock
            )
            if ready is not None:
                await self._begin_when(ready, seating, leaving)
            labels = list(sitting.labels)
            for ejected in match.ejected:  # who is out already is called what it was called
                labels[ejected.seat] = match.names[ejected.seat]
            self.match = replace(match, names=called(labels, sitting.addresses, seating.names))
            if (written := in_journal(self.record)) is not None:
                written.enforced = tuple(seating.enforced.get(seat, "") for seat in range(len(labels)))
            with host_to_blame(match.game):
                final = await play_async(self.match, seating.channels, self.notes, inform, resumed=sitting.resumed)
            return self._end(final)  # and all of it is settled
        except BaseException:
            if self.record is not None:
                with suppress(HostFault):  # which closing the record will tell
                    await surely(self.record.settled())  # so that closing it waits for no disk
            raise

    async def _begin_when(self, ready: "asyncio.Event", seating: "Seating", leaving: ExitStack) -> None:
        """Wait for the event with nothing on record, so that others may play the match meanwhile."""
        try:
            await ready.wait()
            self._begin(leaving)
        except BaseException:
            await close_all_async(seating.channels.values())
            raise

    def _table(self, leaving: ExitStack) -> "Table":
        """Where everybody sits; it is closed on every path, as everything is."""
        return leaving.enter_context(self._own or self.sitting.table())

    def _begin(self, leaving: ExitStack) -> Record:
        self.record = self.sitting.begin(self.match)
        leaving.callback(self.record.close)
        self.notes = Notes(self.record, self.sitting.took)
        self._since = time.monotonic()
        return self.record

    def _end(self, match: AnyMatch) -> AnyMatch:
        self.match, self.ended, self._took = match, True, time.monotonic() - self._since
        return match


def sitting_for(spec: MatchSpec) -> Sitting:
    """A new match; or the one with the id that the spec gives, if it was begun before and interrupted."""
    if spec.journal is not None and spec.id:
        check_id(spec.id)  # before it is part of a path
        if os.path.lexists(f"{spec.journal}/{spec.id}.jsonl"):  # in a tenth of the time of asking a Path
            from fairplay.hosting.records import gone_on_with_by  # where nothing is recorded, nobody needs them
            from fairplay.journal.unfinished import has_begun

            if has_begun(path_of(spec)):
                register(spec.game)
                return gone_on_with_by(spec, path_of(spec))
    return new_match(spec)


def new_match(spec: MatchSpec) -> Sitting:
    """A match that is dealt now."""
    game, journal, labels, addresses = spec.rules(), None, spec.labels, spec.addresses
    if spec.journal is not None:
        from fairplay.hosting.records import journal_in  # where nothing is recorded, nobody needs it

        journal = journal_in(spec.journal, spec.sync, spec.key, warn=complain)
    limits = asked_for(spec.limits, addresses)
    terms = terms_for(addresses, limits, spec.sandbox, to_hide(spec), [game.name], pondering=spec.pondering)
    with host_to_blame(game):
        match = dealt(game, labels, spec.seed, match_id=spec.id or None, sealed=spec.sealed)
    begin: Callable[[AnyMatch], Record] = unrecorded
    if journal is not None:
        begin = partial(
            journal.begin,
            players=addresses,
            drawn=spec.seed is None,
            guessable=spec.guessable,
            pondering=spec.pondering,
            **terms.kept,
        )
    return Sitting(match, labels, addresses, terms, begin, guessable=spec.guessable, bot_logs=spec.bot_logs)


def refuse_running_loop() -> None:
    """Raise BadRequest inside an event loop, as in a notebook: what plays a match there has to be awaited."""
    import asyncio  # start-up: where all players are in this process, nobody needs it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BadRequest(
        "players in other processes have to be waited for, and an event loop is running here, as in a notebook: "
        "write `await run_async(spec)` instead of `run(spec)`"
    )


def failed(spec: MatchSpec, hosted: Hosted | None, fault: HostFault) -> Outcome:
    """What comes of a match if the host fails; None: it did so before there was a match."""
    if hosted is None:
        return Outcome(id=spec.id, names=spec.labels, result=None, host_fault=str(fault))
    return hosted.outcome(str(fault))


def opened_observer(address: str) -> Observer:
    """The observer at an address, py:module:Name."""
    if not address.startswith("py:"):
        raise BadRequest(f"{address!r} names no observer; write py:module:Name")
    found = named_in_module(address, "observer")
    observer: Observer = loaded(address, found) if isinstance(found, type) else found
    if not callable(loaded(address, lambda: getattr(observer, "observe", None))):
        raise BadRequest(f"what {address} names is no observer: it has no method observe(event, match)")
    return observer
