"""Play a match from a spec, and return its outcome."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.game import Game, Seat
from fairplay.core.roles import AsyncChannel, Observer, Record
from fairplay.games import register
from fairplay.hosting.conditions import match_conditions, with_people_limit
from fairplay.hosting.prepared_match import (
    AnyMatch,
    PreparedMatch,
    as_match_record,
    begin_unrecorded,
    hidden_paths,
    journal_path,
)
from fairplay.hosting.spec import MatchSpec, Outcome, summarise_turns
from fairplay.hosting.timing_record import TimingRecord
from fairplay.journal.options import Finished, check_match_id
from fairplay.referee.closing import close_all_async, finish_despite_cancellation
from fairplay.referee.drivers import play, play_async
from fairplay.referee.host_faults import as_host_fault
from fairplay.referee.loading import load_from_module, run_loader
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match, print_warning

if TYPE_CHECKING:  # for a quick start: local matches do not need it
    import asyncio

    from fairplay.hosting.table import Seating, Table


def run(spec: MatchSpec, observers: Sequence[Observer] = ()) -> Outcome:
    """Play a match to its end. A host fault is in the outcome; only BadRequest is raised."""
    hosted: HostedMatch | None = None
    try:
        hosted = host_match(spec, observers)
        hosted.play()
    except Finished:
        from fairplay.hosting.records import recorded_outcome  # for a quick start: unrecorded matches do not need it

        return recorded_outcome(spec)
    except HostFault as fault:
        return failed_outcome(spec, hosted, fault)
    return hosted.outcome()


async def run_async(
    spec: MatchSpec,
    observers: Sequence[Observer] = (),
    *,
    ready: "asyncio.Event | None" = None,
    channels: Mapping[Seat, AsyncChannel] | None = None,
) -> Outcome:
    """Play a match to its end; any number of matches can be played in one event loop.

    With `ready`, the players are seated at once, but the match and its record begin when the event is set. With
    `channels`, the players are connected already.
    """
    import asyncio

    from fairplay.hosting.records import recorded_outcome  # for a quick start: `run` does not need them
    from fairplay.hosting.table import ConnectedTable

    hosted: HostedMatch | None = None
    try:
        hosted = host_match(spec, observers, None if channels is None else ConnectedTable(channels))
        await hosted.play_async(ready)
    except Finished:
        return recorded_outcome(spec)
    except HostFault as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # a cancellation takes precedence
            raise asyncio.CancelledError from fault
        return failed_outcome(spec, hosted, fault)
    return hosted.outcome()


def host_match(spec: MatchSpec, observers: Sequence[Observer], table: "Table | None" = None) -> "HostedMatch":
    """Prepare a match with these observers and those of the spec."""
    referee = Referee()
    for observer in (*observers, *(load_observer(address) for address in spec.observers)):
        referee.subscribe(observer)
    return HostedMatch(prepare_from_spec(spec), referee, table)


class HostedMatch:
    """A match that is hosted: it seats the players, plays the match and keeps its outcome."""

    def __init__(self, prepared: PreparedMatch, referee: Referee, table: "Table | None" = None) -> None:
        self.match: AnyMatch = prepared.match  # with the real names once seated; at last the final match
        self.timing = TimingRecord()
        self.record: Record | None = None  # None: not begun
        self.ended = False
        self._took = 0.0
        self.prepared = prepared
        self._referee = referee
        self._given_table = table  # None: the prepared match makes one

    def play(self) -> AnyMatch:
        """Play the match to its end, without an event loop if all players are in this process."""
        with ExitStack() as cleanup:
            cleanup.callback(self.prepared.open_record.close)
            local = None if self._given_table else self.prepared.local_players()
            if local is None:
                from fairplay.transport import event_loop  # for a quick start: local matches do not need it

                refuse_running_loop()
                return event_loop.run(self._play_at(self._table(cleanup), cleanup))
            self._begin(cleanup)
            game, clock = self.match.game, self.timing.clock
            channels = {seat: LocalChannel(player, game, clock) for seat, player in local.items()}
            inform = cleanup.enter_context(self._referee.match_observers())
            with as_host_fault(self.match.game):
                return self._end(play(self.match, channels, self.timing, inform, resumed=self.prepared.resumed))

    async def play_async(self, ready: "asyncio.Event | None" = None) -> AnyMatch:
        """Play the match to its end; with `ready`, the seated players wait for the event."""
        with ExitStack() as cleanup:
            cleanup.callback(self.prepared.open_record.close)
            return await self._play_at(self._table(cleanup), cleanup, ready)

    def outcome(self, host_fault: str = "") -> Outcome:
        """The outcome of the match."""
        record, written, result = self.record, as_match_record(self.record), None
        if self.ended:
            result = replace(self.match.result, receipt=None if record is None else record.receipt())
        return Outcome(
            id=self.match.id,
            names=self.match.names,
            result=result,
            host_fault=host_fault,
            journal=None if written is None else written.file,
            evidence=tuple(self.timing.evidence),
            turns=() if record is None else summarise_turns(self.timing.turn_times, len(self.match.names)),
            took=self._took,
        )

    async def _play_at(self, table: "Table", cleanup: ExitStack, ready: "asyncio.Event | None" = None) -> AnyMatch:
        from fairplay.hosting.table import resolve_names  # for a quick start: local matches do not need it

        prepared, match = self.prepared, self.match
        if ready is None:
            self._begin(cleanup)
        inform = cleanup.enter_context(self._referee.match_observers())
        try:
            seating = await table.seat_players(
                match.game,
                match_id=match.id,
                turn_times=prepared.turn_times,
                names=match.names,
                clock=self.timing.clock,
            )
            if ready is not None:
                await self._begin_on_event(ready, seating, cleanup)
            labels = list(prepared.labels)
            for ejected in match.ejected:  # ejected players keep their names
                labels[ejected.seat] = match.names[ejected.seat]
            self.match = replace(match, names=resolve_names(labels, prepared.addresses, seating.names))
            if (written := as_match_record(self.record)) is not None:
                written.enforced = tuple(seating.enforced.get(seat, "") for seat in range(len(labels)))
            with as_host_fault(match.game):
                final = await play_async(self.match, seating.channels, self.timing, inform, resumed=prepared.resumed)
            return self._end(final)  # everything is durable by now
        except BaseException:
            if self.record is not None:
                with suppress(HostFault):  # closing the record reports it
                    await finish_despite_cancellation(
                        self.record.make_durable_async()
                    )  # so that closing does not block
            raise

    async def _begin_on_event(self, ready: "asyncio.Event", seating: "Seating", cleanup: ExitStack) -> None:
        """Wait for the event before the record begins, so that another process may play the match meanwhile."""
        try:
            await ready.wait()
            self._begin(cleanup)
        except BaseException:
            await close_all_async(seating.channels.values())
            raise

    def _table(self, cleanup: ExitStack) -> "Table":
        """The table of the match, which is closed with everything else."""
        return cleanup.enter_context(self._given_table or self.prepared.table())

    def _begin(self, cleanup: ExitStack) -> Record:
        self.record = self.prepared.begin_record(self.match)
        cleanup.callback(self.record.close)
        self.timing = TimingRecord(self.record, self.prepared.turn_times)
        self._since = time.monotonic()
        return self.record

    def _end(self, match: AnyMatch) -> AnyMatch:
        self.match, self.ended, self._took = match, True, time.monotonic() - self._since
        return match


def prepare_from_spec(spec: MatchSpec) -> PreparedMatch:
    """Prepare a new match, or resume the one with the id of the spec."""
    if spec.journal is not None and spec.id:
        check_match_id(spec.id)  # before it is part of a path
        if os.path.lexists(f"{spec.journal}/{spec.id}.jsonl"):  # ten times as fast as a Path
            from fairplay.hosting.records import (
                resume_spec_match,  # for a quick start: unrecorded matches do not need them
            )
            from fairplay.journal.unfinished_matches import has_begun

            if has_begun(journal_path(spec)):
                register(spec.game)
                return resume_spec_match(spec, journal_path(spec))
    return new_match(spec)


def new_match(spec: MatchSpec, game: Game[Any, Any, Any] | None = None) -> PreparedMatch:
    """Deal and prepare a new match, of a game that may exist in this process alone."""
    game = spec.load_game() if game is None else game
    journal, labels, addresses = None, spec.labels, spec.addresses
    if spec.journal is not None:
        from fairplay.hosting.records import open_journal  # for a quick start: unrecorded matches do not need it

        journal = open_journal(spec.journal, spec.sync, spec.key, warn=print_warning)
    limits = with_people_limit(spec.limits, addresses)
    conditions = match_conditions(
        addresses, limits, spec.sandbox, hidden_paths(spec), [game.name], pondering=spec.pondering
    )
    with as_host_fault(game):
        match = deal_match(game, labels, spec.seed, match_id=spec.id or None, sealed=spec.sealed)
    begin: Callable[[AnyMatch], Record] = begin_unrecorded
    if journal is not None:
        begin = partial(
            journal.begin,
            players=addresses,
            random_seed=spec.seed is None,
            guessable=spec.guessable,
            pondering=spec.pondering,
            **conditions.journal_fields,
        )
    return PreparedMatch(match, labels, addresses, conditions, begin, guessable=spec.guessable, bot_logs=spec.bot_logs)


def refuse_running_loop() -> None:
    """Raise BadRequest inside a running event loop, as in Jupyter, where a match has to be awaited."""
    import asyncio  # for a quick start: local matches do not need it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BadRequest(
        "players in other processes need an event loop, and one is running here already, as in Jupyter: "
        "write `await run_async(spec)` instead of `run(spec)`"
    )


def failed_outcome(spec: MatchSpec, hosted: HostedMatch | None, fault: HostFault) -> Outcome:
    """The outcome after a host fault; hosted is None if there was no match yet."""
    if hosted is None:
        return Outcome(id=spec.id, names=spec.labels, result=None, host_fault=str(fault))
    return hosted.outcome(str(fault))


def load_observer(address: str) -> Observer:
    """Load the observer at an address py:module:Name."""
    if not address.startswith("py:"):
        raise BadRequest(f"{address!r} names no observer; write py:module:Name")
    found = load_from_module(address, "observer")
    observer: Observer = run_loader(address, found) if isinstance(found, type) else found
    if not callable(run_loader(address, lambda: getattr(observer, "observe", None))):
        raise BadRequest(f"{address} is not an observer: it has no method observe(event, match)")
    return observer
