"""Play a match in a room, which tells its players and spectators of every change."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Game
from fairplay.core.roles import Observer, Record
from fairplay.hosting.conditions import MatchConditions
from fairplay.hosting.match_result import MatchResult, result_of_outcome
from fairplay.hosting.prepared_match import AnyMatch, PreparedMatch, begin_unrecorded
from fairplay.hosting.records import open_journal
from fairplay.hosting.run import HostedMatch
from fairplay.hosting.spec import Outcome
from fairplay.hosting.table import ConnectedTable, Table
from fairplay.journal.options import Durability, check_match_id
from fairplay.players.remote import DEFAULT_LIMITS, RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import Referee, deal_match, print_warning, seats_by_age
from fairplay.server.mailbox import Deliver, Mailbox
from fairplay.server.spectating.hub import Hub


class RoomOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a room; the size of the board is among the parameters of the game.

    Attributes:
        game: with its parameters, such as the size of the board.
        player_ids: in the order of the seats.
        room_id: unique among rooms; empty: one is drawn.
        seed: of the deal; None: one is drawn.
        limits: of the players.
        journal: the directory of the match's journal; None: the match is not recorded.
    """

    game: Game[Any, Any, Any]
    player_ids: tuple[str, ...]
    room_id: str = ""
    seed: bytes | None = None
    limits: Limits = DEFAULT_LIMITS
    journal: str | None = None


class Room:
    """A match with a hub for its spectators. `play` plays it."""

    def __init__(
        self,
        name: str,
        prepared: PreparedMatch,
        player_ids: Sequence[str],
        *,
        table: Table | None = None,  # None: the one of the prepared match
        observers: Sequence[Observer] = (),
        hub: Hub | None = None,
        mailboxes: Mapping[str, Mailbox] | None = None,  # by player, if the players are connected by function calls
    ) -> None:
        self.id = prepared.match.id
        self.name = name
        self.player_ids = tuple(player_ids)
        self.hub = Hub(self.id, name) if hub is None else hub
        self._prepared = prepared
        self._table = table
        self._observers = observers
        self._mailboxes = mailboxes or {}
        self._hosted: HostedMatch | None = None  # None: the match has not begun
        self._callback_watchers: dict[str, list[CallbackWatcher]] = {}  # by player
        self.is_over = False

    @property
    def match(self) -> AnyMatch:
        """The current match."""
        return self._prepared.match if self.hub.last is None else self.hub.last.match

    @property
    def has_begun(self) -> bool:
        """Were all players seated, so that the match could begin?"""
        return self.hub.last is not None

    @property
    def stage(self) -> str:
        """How far the game has come: placing, in games that begin so, then playing, then done."""
        match = self.match
        if match.turn is None:
            return "done"
        return str(match.game.pack(match.view(None)).get("stage", "playing"))

    def set_state(self, state: Any) -> None:
        """Begin with this state instead of the dealt one."""
        match = self._prepared.match
        if self._hosted is not None or self._prepared.resumed:
            raise BadRequest(f"cannot set the state of room {self.id}: its match has begun")
        if type(state) is not type(match.state) or not match.game.fits(state):
            raise BadRequest(
                f"cannot set the state of room {self.id}: it is of another game, or of a board of another size"
            )
        if frozenset().union(*match.game.ranking(state)) != frozenset(range(len(self.player_ids))):
            raise BadRequest(f"cannot set the state of room {self.id}: it is not for {len(self.player_ids)} players")
        self._prepared = self._prepared._replace(match=replace(match, state=state, seed=None))

    def on_state_change(self, deliver: Deliver, player_id: str | None = None) -> None:
        """Call a function with a snapshot, and then with every change.

        A player also gets the messages to its seat; once it is out, it gets nothing else.
        """
        watcher = CallbackWatcher(deliver)
        if player_id is not None:
            self._mailbox(player_id).deliver = deliver
            self._callback_watchers.setdefault(player_id, []).append(watcher)
        self.hub.add(watcher)

    def kick(self, player_id: str) -> None:
        """Eject a player, as `gone`: now if a question is open, or else when the next one is asked.

        It hears of no more changes.
        """
        mailbox = self._mailbox(player_id)
        if self.is_over or self.player_ids.index(player_id) not in self.match.remaining_seats:
            raise BadRequest(f"{player_id} is out of the match in room {self.id} already")
        mailbox.kick()
        self._unsubscribe(player_id)

    def on_message(self, player_id: str, message: Any) -> bool:
        """Take a message of a player, as JSON or as plain data. True: it is the answer to the open question."""
        return self._mailbox(player_id).put(message)

    async def play(self) -> MatchResult:
        """Play the match to its end, once. Raises HostFault if something of ours fails."""
        if self._hosted is not None:
            raise BadRequest(f"the match in room {self.id} has begun already")
        referee = Referee()
        observers: tuple[Observer, ...] = (self.hub, DepartureObserver(self._drop_departed), *self._observers)
        for observer in observers:
            referee.subscribe(observer)
        self._hosted = HostedMatch(self._prepared, referee, self._mailbox_table() if self._mailboxes else self._table)
        ready = asyncio.Event()  # so that nothing is recorded before all players are seated
        ready.set()
        try:
            final = await self._hosted.play_async(ready)
        finally:
            self.is_over = True
        await self.hub.wait_until_sent()
        return result_of_outcome(self._hosted.outcome(), final)

    def outcome(self, host_fault: str = "") -> Outcome:
        """The outcome of the match."""
        if self._hosted is None:
            raise BadRequest(f"the match in room {self.id} has not begun")
        return self._hosted.outcome(host_fault)

    def _mailbox_table(self) -> Table:
        """A table for players connected by function calls."""
        game, limits = self._prepared.match.game, self._prepared.conditions.limits or DEFAULT_LIMITS
        mailboxes = [self._mailboxes[player_id] for player_id in self.player_ids]
        channels = [RemoteChannel(mailbox, game, match_id=self.id, limits=limits) for mailbox in mailboxes]
        return ConnectedTable(dict(enumerate(channels)))

    def _drop_departed(self, match: AnyMatch) -> None:
        """Tell players that are out of no more changes."""
        remaining = match.game.order(match.state)
        for seat, player_id in enumerate(self.player_ids):
            if seat not in remaining:
                self._unsubscribe(player_id)

    def _unsubscribe(self, player_id: str) -> None:
        for watcher in self._callback_watchers.pop(player_id, ()):
            self.hub.remove(watcher)

    def _mailbox(self, player_id: str) -> Mailbox:
        if player_id not in self._mailboxes:
            raise BadRequest(f"no player {player_id!r} is connected by function calls to room {self.id}")
        return self._mailboxes[player_id]


CREATED_ROOMS: WeakValueDictionary[str, Room] = WeakValueDictionary()  # for as long as they are used


class CallbackWatcher:
    """A function as a watcher."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver

    def offer(self, text: bytes) -> bool:
        self._deliver(text)
        return True


class DepartureObserver:
    """An observer that calls a function after each event that can put a player out."""

    def __init__(self, callback: Callable[[AnyMatch], None]) -> None:
        self._callback = callback

    def observe(self, event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            self._callback(match)


def create_room(name: str, options: RoomOptions, observers: Sequence[Observer] = ()) -> Room:
    """A room with a dealt state, whose players are connected by function calls."""
    game, player_ids = options.game, options.player_ids
    if len(set(player_ids)) < len(player_ids):
        raise BadRequest(f"player ids must be unique: {', '.join(player_ids)}")
    seats_by_age(game, len(player_ids))
    if options.room_id:
        check_match_id(options.room_id)
        other = CREATED_ROOMS.get(options.room_id)
        if other is not None and not other.is_over:
            raise BadRequest(f"there is a room {options.room_id} already: choose another room_id, or none")
    match: AnyMatch = deal_match(game, player_ids, options.seed, match_id=options.room_id or None)
    addresses, conditions = (
        tuple(f"client:{player_id}" for player_id in player_ids),
        MatchConditions(options.limits, None),
    )
    journal = None if options.journal is None else open_journal(options.journal, Durability.BATCH, warn=print_warning)

    def begin(match: AnyMatch) -> Record:
        if journal is None:
            return begin_unrecorded(match)
        random_seed = match.seed is not None and options.seed is None
        return journal.begin(match, players=addresses, random_seed=random_seed, **conditions.journal_fields)

    prepared = PreparedMatch(match, player_ids, addresses, conditions, begin)
    mailboxes = {player_id: Mailbox(game) for player_id in player_ids}
    room = CREATED_ROOMS[match.id] = Room(name, prepared, player_ids, observers=observers, mailboxes=mailboxes)
    return room
