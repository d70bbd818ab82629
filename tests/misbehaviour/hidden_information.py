"""Record everything that leaves the referee of Q, and find the hidden tiles in it."""

import asyncio
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from types import new_class
from typing import Any

import msgspec

from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answer, End, Message, Start, TakeTurn, Tell
from fairplay.core.roles import CloseReason, Observer
from fairplay.games.q import Action, Exchange, Pass, Place, Placement, Q, State, board, codec, draft, game, pieces
from fairplay.games.q.pieces import BETWEEN, COLOURS, COPIES, NAMES, NONE, SHAPES
from fairplay.observers.feed import EventFeed
from fairplay.observers.reporter import Reporter
from fairplay.protocol import wire
from fairplay.referee.changes import Change
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.server.spectating.hub import Hub

SPECTATORS, STREAM = "spectators", "stream"
Receiver = int | str  # a seat, or one of those two


class SentMessage(msgspec.Struct, frozen=True):
    """Something that was said to a receiver, and how the match stood when it was said."""

    receiver: Receiver
    text: str
    state: State
    actions: tuple[Action, ...]  # all public actions so far


class MessageTap:
    """Keeps all messages and events in order; `feed` makes the observer for public events."""

    def __init__(self, match: AnyMatch, feed: Callable[[Callable[[str], object]], Observer]) -> None:
        self.heard: list[SentMessage] = []
        self.ejected: list[Ejected] = []
        self._match = match
        self._actions: tuple[Action, ...] = ()
        self._observers = [feed(self._publish), Reporter(self._publish), HubObserver(self._publish)]

    def inform(self, event: Event, match: AnyMatch) -> None:
        """Tell observers of an event, and show spectators the board."""
        self._match = match
        if isinstance(event, Acted):
            self._actions += (event.action,)
        if isinstance(event, Ejected):
            self.ejected.append(event)
        for observer in self._observers:
            observer.observe(event, match)
        self.record(SPECTATORS, match.game.pack(match.view(None)))

    def record(self, receiver: Receiver, plain: Any) -> None:
        """Keep it."""
        text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
        self.heard.append(SentMessage(receiver, text, self._match.state, self._actions))

    def _publish(self, text: str) -> None:
        self.record(STREAM, text)


class HubObserver:
    """An observer that lets spectators watch through a hub: one from the start, and a new one at every event."""

    def __init__(self, write: Callable[[str], object], hub: type[Hub] = Hub) -> None:
        self._write = write
        self._hub = hub(now=lambda: 0.0)
        self._hub.add(self)

    def observe(self, event: Event, match: AnyMatch) -> None:
        """Let all of it be told before the match goes on."""
        asyncio.run(self._tell(event, match))

    def offer(self, text: bytes) -> bool:
        """Take every line."""
        self._write(text.decode())
        return True

    async def _tell(self, event: Event, match: AnyMatch) -> None:
        self._hub.observe(event, match)
        await self._hub.wait_until_sent()
        self.offer(self._hub.snapshot())


class TappedChannel:
    """A channel on which everything that goes to the player is kept."""

    def __init__(self, channel: LocalChannel, seat: int, game: Game[Any, Any, Any], tap: MessageTap) -> None:
        self._channel, self._seat, self._game, self._tap = channel, seat, game, tap

    def ask(self, message: Message) -> Answer:
        """Keep what is asked, and ask it."""
        self._tap.record(self._seat, message_as_json(message, self._game))
        return self._channel.ask(message)

    def record_change(self, change: Change) -> None:
        """Keep what it would hear of a change."""
        self._tap.record(self._seat, change.encode_once(wire.encode_changed).decode())

    def close(self, reason: CloseReason) -> None:
        """Keep the goodbye."""
        self._tap.record(self._seat, {"goodbye": reason})
        self._channel.close(reason)


def message_as_json(message: Message, game: Game[Any, Any, Any]) -> Any:
    """A message as it goes over a wire."""
    match message:
        case Start(seat, names, view):
            return {"start": seat, "names": names, "view": game.pack(view)}
        case TakeTurn(view):
            return {"take_turn": game.pack(view)}
        case Tell(news):
            return {"tell": news}
        case End(result):
            return {"end": [sorted(group) for group in result.ranking], "ejected": result.ejected}


def record_all_messages(
    match: Match[Any, Any, Any],
    players: Sequence[Any],
    feed: Callable[[Callable[[str], object]], Observer] = EventFeed,
    channel: Callable[[Any, Any], LocalChannel] = LocalChannel,
) -> MessageTap:
    """Play a match, and keep all messages and events."""
    tap = MessageTap(match, feed)
    rules = match.game
    table = [TappedChannel(channel(player, rules), seat, rules, tap) for seat, player in enumerate(players)]
    play(match, table, on_event=tap.inform)
    return tap


# The first meter: two matches that differ only in hidden tiles sound alike.


def differences(one: Sequence[SentMessage], other: Sequence[SentMessage]) -> Iterator[str | None]:
    """Whatever a receiver heard differently before it could know; None where all is well.

    A seat may know once its own hand differs, and all seats once a player acts differently.
    """
    knowing: set[Receiver] = set()
    for here, there in zip(one, other, strict=False):
        if here.actions != there.actions:
            return
        hands = enumerate(zip(here.state.hands, there.state.hands, strict=True))
        knowing |= {seat for seat, (mine, theirs) in hands if mine != theirs}
        if here.receiver != there.receiver:
            yield f"{here.receiver} hears {here.text}, but in the other match {there.receiver} hears {there.text}"
        elif here.receiver not in knowing:
            yield None if here.text == there.text else f"{here.receiver} hears {here.text}, or else {there.text}"
    if len(one) != len(other):
        yield "one match is longer than the other"


# The second meter: every tile has a number of its own, which shows up only where it is known.

NUMBERED_TILE = re.compile(rf"(?:{'|'.join(COLOURS)}) (?:{'|'.join(SHAPES)}) #\d\d")
NUMBERED_NAMES = tuple(f"{name} #{copy:02}" for name in NAMES for copy in range(COPIES))
NUMBERED_KINDS = {name: kind for kind, name in enumerate(NUMBERED_NAMES)}


class NumberedPlacement(Placement, frozen=True):
    """A tile with its number."""

    tile: str


class NumberedPlace(Place, frozen=True, tag="place"):
    """Tiles with their numbers."""

    tiles: tuple[NumberedPlacement, ...]


class NumberedFits:
    """What fits between two tiles with numbers, worked out from their kinds."""

    def __init__(self, one: int | None = None) -> None:
        self._one = one

    def __getitem__(self, kind: int) -> Any:
        plain = kind // COPIES  # no tile has no number
        if self._one is None:
            return NumberedFits(plain)
        fits, copies = BETWEEN[self._one][plain], (1 << COPIES) - 1
        return sum(copies << COPIES * each for each in range(NONE) if fits >> each & 1)


def number_the_tiles(replace: Callable[[Any, str, Any], None]) -> None:
    """Make all 1080 tiles kinds of their own, by replacing the tables of Q for as long as a test lasts."""
    for module in (pieces, draft, game, codec):
        replace(module, "NAMES", NUMBERED_NAMES)
        if hasattr(module, "KINDS"):
            replace(module, "KINDS", NUMBERED_KINDS)
    replace(game, "ALL_TILES", tuple(range(len(NUMBERED_NAMES))))
    replace(board, "NONE", len(NUMBERED_NAMES))
    replace(board, "BETWEEN", NumberedFits())
    replace(board, "TRAITS", tuple(traits for traits in board.TRAITS for _ in range(COPIES)))


def numbered(rules: type[Q]) -> Q:
    """These rules, played with numbered tiles."""
    name, actions = f"Numbered{rules.__name__}", NumberedPlace | Exchange | Pass
    made: Any = new_class(name, (rules,), {"frozen": True}, lambda body: body.update(action=actions))
    ready: Q = made()
    return ready


def find_leaks(heard: Sequence[SentMessage]) -> Iterator[str | None]:
    """Whatever tile a receiver heard of that it may not know; None for each that it may."""
    known: dict[Receiver, set[str]] = {}
    for one in heard:
        public = tile_names(one.state.map.tiles.values())
        for seat, hand in enumerate(one.state.hands):
            known.setdefault(seat, set()).update(tile_names(hand))
        for tile in NUMBERED_TILE.findall(one.text):
            allowed = tile in public or tile in known.get(one.receiver, ())
            yield None if allowed else f"{one.receiver} hears of {tile}: {one.text}"


def tile_names(tiles: Collection[int]) -> set[str]:
    return {NUMBERED_NAMES[kind] for kind in tiles}
