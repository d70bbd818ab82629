"""Test that hidden tiles of Q appear only in messages to players that know them."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, islice
from types import new_class
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fault
from fairplay.core.game import Game, Moment, Seat
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
from tests.misbehaviour.q_players import HonestPlayer, bad_player

SPECTATORS, STREAM = "spectators", "stream"
Receiver = int | str  # a seat, or one of those two


class SentMessage(NamedTuple):
    """Something that was said to a receiver, and how the match stood when it was said."""

    receiver: Receiver
    text: str
    state: State
    actions: tuple[Action, ...]  # all public actions so far


class MessageTap:
    def __init__(self, match: AnyMatch) -> None:
        self.heard: list[SentMessage] = []
        self.ejected: list[Ejected] = []
        self._match = match
        self._actions: tuple[Action, ...] = ()
        self._observers: list[Observer] = [
            EventFeed(self._publish),
            Reporter(self._publish),
            HubObserver(self._publish),
        ]

    def inform(self, event: Event, match: AnyMatch) -> None:
        self._match = match
        if isinstance(event, Acted):
            self._actions += (event.action,)
        if isinstance(event, Ejected):
            self.ejected.append(event)
        for observer in self._observers:
            observer.observe(event, match)
        self.record(SPECTATORS, match.game.pack(match.view(None)))

    def record(self, receiver: Receiver, plain: Any) -> None:
        text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
        self.heard.append(SentMessage(receiver, text, self._match.state, self._actions))

    def _publish(self, text: str) -> None:
        self.record(STREAM, text)


class HubObserver:
    """An observer that lets spectators watch through a hub: one from the start, and a new one at every event."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._hub = Hub(now=lambda: 0.0)
        self._hub.add(self)

    def observe(self, event: Event, match: AnyMatch) -> None:
        """Let all of it be told before the match goes on."""
        asyncio.run(self._tell(event, match))

    def offer(self, text: bytes) -> bool:
        self._write(text.decode())
        return True

    async def _tell(self, event: Event, match: AnyMatch) -> None:
        self._hub.observe(event, match)
        await self._hub.wait_until_sent()
        self.offer(self._hub.snapshot())


class TappedChannel:
    def __init__(self, channel: LocalChannel, seat: int, game: Game[Any, Any, Any], tap: MessageTap) -> None:
        self._channel, self._seat, self._game, self._tap = channel, seat, game, tap

    def ask(self, message: Message) -> Answer:
        self._tap.record(self._seat, message_as_json(message, self._game))
        return self._channel.ask(message)

    def record_change(self, change: Change) -> None:
        self._tap.record(self._seat, change.encode_once(wire.encode_changed).decode())

    def close(self, reason: CloseReason) -> None:
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


def record_all_messages(match: Match[Any, Any, Any], players: Sequence[Any]) -> MessageTap:
    tap, rules = MessageTap(match), match.game
    table = [TappedChannel(LocalChannel(player, rules), seat, rules, tap) for seat, player in enumerate(players)]
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
    tile: str


class NumberedPlace(Place, frozen=True, tag="place"):
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


# Matches.

PAIRS = 200
PLAYERS = ("ann", "bob", "cyd", "dan")
Twins = tuple[MessageTap, MessageTap]  # two matches that differ only in hidden tiles


def short(state: State, tiles: int) -> State:
    """The same with fewer tiles in the pile, so that the match is over soon."""
    return replace(state, pile=state.pile[:tiles])


def twin_of(state: State, unseen: frozenset[int], seat: Seat, lots: SeededRandom) -> State:
    """The state with the tiles of some kinds mixed: in other hands than this seat's, and somewhere in the pile."""
    kept = lots.below(len(state.pile) + 1)  # so many tiles are drawn before anything differs
    pools = [hand for other, hand in enumerate(state.hands) if other != seat] + [state.pile[kept:]]
    loose = [kind for pool in pools for kind in pool if kind in unseen]
    lots.shuffle(loose)

    def mixed(pool: Sequence[int]) -> tuple[int, ...]:
        return tuple(loose.pop() if kind in unseen else kind for kind in pool)

    hands = tuple(hand if other == seat else mixed(hand) for other, hand in enumerate(state.hands))
    return replace(state, hands=hands, pile=state.pile[:kept] + mixed(state.pile[kept:]))


def players(seats: int, lots: SeededRandom, unseen: frozenset[int], turns: int) -> list[HonestPlayer]:
    """Honest and bad players; their lots are their own, so that twins draw the same."""
    table: list[HonestPlayer] = []
    for seat in range(seats):
        own = SeededRandom(bytes(lots.below(256) for _ in range(16)) + bytes([seat]))
        table.append(HonestPlayer(own, unseen, turns) if lots.below(2) else bad_player(own, unseen))
    return table


def twins(number: int) -> Twins | None:
    """A pair of matches; None if the tiles happen to fall as they were."""
    lots, seats = SeededRandom(seed_from_text(f"twins {number}")), 2 + number % 3
    unseen = frozenset(lots.sample(NONE, 5))
    state = short(Q().deal(seats, seed_from_text(f"deal {number}")), 12 + lots.below(30))
    other = twin_of(state, unseen, lots.below(seats), lots)
    if state == other:
        return None
    turns = lots.below(12) if lots.below(2) else 10**6
    seed = bytes(lots.below(256) for _ in range(32))

    def tap(start: State) -> MessageTap:
        match = Match(Q(), start, PLAYERS[:seats])
        return record_all_messages(match, players(seats, SeededRandom(seed), unseen, turns))

    return tap(state), tap(other)


@pytest.fixture(scope="module")
def pairs() -> list[Twins]:
    return list(islice(filter(None, map(twins, count())), PAIRS))


def test_messages_do_not_depend_on_hidden_tiles(pairs: list[Twins]) -> None:
    assert [leak for one, other in pairs for leak in differences(one.heard, other.heard) if leak is not None] == []


def test_the_compared_matches_are_long_and_have_every_kind_of_failure(pairs: list[Twins]) -> None:
    compared: Counter[object] = Counter()

    for one, other in pairs:
        checked = sum(leak is None for leak in differences(one.heard, other.heard))
        compared["all"] += checked
        compared["whole matches"] += checked > 0 and len(one.heard) == len(other.heard)
        compared.update((out.moment, out.fault) for out in one.ejected)
        compared.update(out.why.partition(":")[0] for out in one.ejected if out.fault is Fault.ILLEGAL)

    assert compared["all"] > 20_000
    assert compared["whole matches"] > PAIRS / 4
    assert all(compared[moment, fault] > 3 for moment in Moment for fault in (Fault.CRASHED, Fault.MALFORMED))
    assert all(compared[f"rule {clause}"] for clause in ("3.1", "3.2", "3.4", "3.5"))


def test_a_seat_that_draws_a_tile_is_told(pairs: list[Twins]) -> None:
    told = [
        here.receiver
        for one, other in pairs
        for here, there in zip(one.heard, other.heard, strict=False)
        if here.actions == there.actions and here.receiver == there.receiver and here.text != there.text
    ]

    assert len(told) > PAIRS
    assert all(isinstance(receiver, int) for receiver in told)


def test_a_numbered_tile_appears_only_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_tiles(monkeypatch.setattr)
    rules, taps = numbered(Q), list[MessageTap]()
    for number in range(60):
        lots, seats = SeededRandom(seed_from_text(f"numbers {number}")), 2 + number % 3
        state = short(rules.deal(seats, seed_from_text(f"deal {number}")), 12 + lots.below(30))
        table = players(seats, lots, frozenset(), 0)
        taps.append(record_all_messages(Match(rules, state, PLAYERS[:seats]), table))

    seen = [sighting for tap in taps for sighting in find_leaks(tap.heard)]
    assert [sighting for sighting in seen if sighting is not None] == []
    assert len(seen) > 50_000
    assert len({out.moment for tap in taps for out in tap.ejected}) == len(Moment)


def test_all_tiles_are_numbered_every_seat_learns_some_and_no_player_is_ejected_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number_the_tiles(monkeypatch.setattr)
    rules = numbered(Q)
    state = rules.deal(4, bytes(32))
    table = [HonestPlayer(SeededRandom(bytes([seat]))) for seat in range(4)]

    tap = record_all_messages(Match(rules, short(state, 100), PLAYERS), table)

    assert len(set(NUMBERED_TILE.findall(str(rules.pack_state(state))))) == 1080
    for receiver in (0, 1, 2, 3, SPECTATORS, STREAM):
        assert any(NUMBERED_TILE.search(one.text) for one in tap.heard if one.receiver == receiver)
    assert tap.ejected == []
    assert len(tap.heard[-1].state.map.tiles) > 60
