"""Play a match in a room: whoever watches hears of every change, and whoever runs it gets the final state."""

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
    """What a manager decides about a room; the size of the board is among the parameters of the game.

    Attributes:
        game: with its parameters, such as the size of the board.
        player_ids: in the order of the seats.
        room_id: which no other room has; empty: one is drawn.
        seed: of the deal; None: one is drawn.
        limits: of the players.
        journal: the directory in which the match is recorded; None: it is not.
    """

    game: Game[Any, Any, Any]
    player_ids: tuple[str, ...]
    room_id: str = ""
    seed: bytes | None = None
    limits: Limits = DEFAULT_LIMITS
    journal: str | None = None


class Room:
    """A match with a hub: `play` plays it, whoever sits there."""

    def __init__(
        self,
        name: str,
        prepared: PreparedMatch,
        player_ids: Sequence[str],
        *,
        table: Table | None = None,  # None: one is made for the prepared
        observers: Sequence[Observer] = (),
        hub: Hub | None = None,
        mailboxes: Mapping[str, Mailbox] | None = None,  # by player, if those who play are told and answer here
    ) -> None:
        self.id = prepared.match.id
        self.name = name
        self.player_ids = tuple(player_ids)
        self.hub = Hub(self.id, name) if hub is None else hub
        self._prepared = prepared
        self._table = table
        self._observers = observers
        self._mailboxes = mailboxes or {}
        self._hosted: HostedMatch | None = None  # None: it has not begun
        self._callback_watchers: dict[str, list[CallbackWatcher]] = {}  # by player: what hears of changes on its behalf
        self.is_over = False

    @property
    def match(self) -> AnyMatch:
        """The match as it stands."""
        return self._prepared.match if self.hub.last is None else self.hub.last.match

    @property
    def has_begun(self) -> bool:
        """Did everybody sit, so that the match could begin?"""
        return self.hub.last is not None

    @property
    def stage(self) -> str:
        """How far the game has come: placing, in games that begin with that, then playing, then done."""
        match = self.match
        if match.turn is None:
            return "done"
        return str(match.game.pack(match.view(None)).get("stage", "playing"))

    def set_state(self, state: Any) -> None:
        """Begin with this state instead of the one that was dealt."""
        match = self._prepared.match
        if self._hosted is not None or self._prepared.resumed:
            raise BadRequest(f"the match in room {self.id} has begun, and its state is not to be set any more")
        if type(state) is not type(match.state) or not match.game.fits(state):
            raise BadRequest(f"this state is of another game than room {self.id} plays, or of a board of another size")
        if frozenset().union(*match.game.ranking(state)) != frozenset(range(len(self.player_ids))):
            raise BadRequest(f"this is no state for {len(self.player_ids)} players")
        self._prepared = self._prepared._replace(match=replace(match, state=state, seed=None))

    def on_state_change(self, deliver: Deliver, player_id: str | None = None) -> None:
        """Let somebody hear how it stands, and of every change.

        One of the players hears what it is asked, too; and when it is out, nothing but what is said to its seat.
        """
        ear = CallbackWatcher(deliver)
        if player_id is not None:
            self._mailbox(player_id).deliver = deliver
            self._callback_watchers.setdefault(player_id, []).append(ear)
        self.hub.add(ear)

    def kick(self, player_id: str) -> None:
        """Eject a player, as `gone`: now if it is asked, or else when it is asked next. It hears of no more changes."""
        mailbox = self._mailbox(player_id)
        if self.is_over or self.player_ids.index(player_id) not in self.match.remaining_seats:
            raise BadRequest(f"{player_id} does not play in room {self.id} any more")
        mailbox.kick()
        self._unsubscribe(player_id)

    def on_message(self, player_id: str, message: Any) -> bool:
        """Take what a player says, as JSON or as plain data. Is it taken for the answer to what the player is asked?"""
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
        ready = asyncio.Event()  # so that nothing is on record before everybody sits
        ready.set()
        try:
            final = await self._hosted.play_async(ready)
        finally:
            self.is_over = True
        await self.hub.wait_until_sent()
        return result_of_outcome(self._hosted.outcome(), final)

    def outcome(self, host_fault: str = "") -> Outcome:
        """What came of it, or why nothing did."""
        if self._hosted is None:
            raise BadRequest(f"the match in room {self.id} has not begun")
        return self._hosted.outcome(host_fault)

    def _mailbox_table(self) -> Table:
        """A table of those who are told and answer here."""
        game, limits = self._prepared.match.game, self._prepared.conditions.limits or DEFAULT_LIMITS
        lines = [self._mailboxes[player_id] for player_id in self.player_ids]
        remotes = [RemoteChannel(line, game, match_id=self.id, limits=limits) for line in lines]
        return ConnectedTable(dict(enumerate(remotes)))

    def _drop_departed(self, match: AnyMatch) -> None:
        """Let players that are out hear of no more changes."""
        still_in = match.game.order(match.state)
        for seat, player_id in enumerate(self.player_ids):
            if seat not in still_in:
                self._unsubscribe(player_id)

    def _unsubscribe(self, player_id: str) -> None:
        for ear in self._callback_watchers.pop(player_id, ()):
            self.hub.remove(ear)

    def _mailbox(self, player_id: str) -> Mailbox:
        if player_id not in self._mailboxes:
            raise BadRequest(f"nobody called {player_id!r} is told and answers in room {self.id}")
        return self._mailboxes[player_id]


CREATED_ROOMS: WeakValueDictionary[str, Room] = (
    WeakValueDictionary()
)  # those that were created, for as long as they are used


class CallbackWatcher:
    """A function as a watcher."""

    def __init__(self, hear: Deliver) -> None:
        self._deliver = hear

    def offer(self, text: bytes) -> bool:
        self._deliver(text)
        return True


class DepartureObserver:
    """An observer that calls a function after everything that can put a player out."""

    def __init__(self, then: Callable[[AnyMatch], None]) -> None:
        self._callback = then

    def observe(self, event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            self._callback(match)


def create_room(name: str, options: RoomOptions, observers: Sequence[Observer] = ()) -> Room:
    """A room with a state that is dealt, where players are told by functions and answer by messages."""
    game, player_ids = options.game, options.player_ids
    if len(set(player_ids)) < len(player_ids):
        raise BadRequest("every player has an id of its own")
    seats_by_age(game, len(player_ids))
    if options.room_id:
        check_match_id(options.room_id)
        other = CREATED_ROOMS.get(options.room_id)
        if other is not None and not other.is_over:
            raise BadRequest(f"there is a room {options.room_id} already: give each room an id of its own, or none")
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
