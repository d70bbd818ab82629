"""Test that hidden tiles of Q appear only in messages to players that know them."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.errors import IllegalAction
from fairplay.core.events import Event, Fault
from fairplay.core.game import Moment, News, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed, Message
from fairplay.core.roles import Observer
from fairplay.games.q import Action, Q, State, View, pieces
from fairplay.games.q.pieces import NONE
from fairplay.observers.feed import EventFeed
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.local_channel import LocalChannel
from fairplay.server.spectating.hub import Hub
from tests.misbehaviour.hidden_information import (
    NUMBERED_TILE,
    SPECTATORS,
    STREAM,
    HubObserver,
    MessageTap,
    differences,
    find_leaks,
    number_the_tiles,
    numbered,
    record_all_messages,
)
from tests.misbehaviour.q_players import HonestPlayer, bad_player

PAIRS = 200
NAMES = ("ann", "bob", "cyd", "dan")
Options = dict[str, Any]


class Twins(msgspec.Struct, frozen=True):
    """Two matches that differ only in hidden tiles, with all their messages and events."""

    one: MessageTap
    other: MessageTap

    @property
    def leaks(self) -> list[str]:
        return [found for found in differences(self.one.heard, self.other.heard) if found is not None]


def short(state: State, tiles: int) -> State:
    """The same with fewer tiles in the pile, so that the match is over soon."""
    return msgspec.structs.replace(state, pile=state.pile[:tiles])


def twin_of(state: State, unseen: frozenset[int], seat: Seat, lots: SeededRandom) -> State:
    """The state with the tiles of some kinds mixed: in other hands than this seat's, and somewhere in the pile."""
    kept = lots.below(len(state.pile) + 1)  # so many tiles are drawn before anything differs
    pools = [hand for other, hand in enumerate(state.hands) if other != seat] + [state.pile[kept:]]
    loose = [kind for pool in pools for kind in pool if kind in unseen]
    lots.shuffle(loose)

    def mixed(pool: Sequence[int]) -> tuple[int, ...]:
        return tuple(loose.pop() if kind in unseen else kind for kind in pool)

    hands = tuple(hand if other == seat else mixed(hand) for other, hand in enumerate(state.hands))
    return msgspec.structs.replace(state, hands=hands, pile=state.pile[:kept] + mixed(state.pile[kept:]))


def players(seats: int, lots: SeededRandom, unseen: frozenset[int], turns: int) -> list[HonestPlayer]:
    """Honest and bad players; their lots are their own, so that twins draw the same."""
    table: list[HonestPlayer] = []
    for seat in range(seats):
        own = SeededRandom(bytes(lots.below(256) for _ in range(16)) + bytes([seat]))
        table.append(HonestPlayer(own, unseen, turns) if lots.below(2) else bad_player(own, unseen))
    return table


def twins(number: int, rules: Q, **options: Any) -> Twins | None:
    """A pair of matches; None if the tiles happen to fall as they were."""
    lots, seats = SeededRandom(seed_from_text(f"twins {number}")), 2 + number % 3
    unseen = frozenset(lots.sample(NONE, 5))
    state = short(rules.deal(seats, seed_from_text(f"deal {number}")), 12 + lots.below(30))
    other = twin_of(state, unseen, lots.below(seats), lots)
    if state == other:
        return None
    turns = lots.below(12) if lots.below(2) else 10**6
    seed = bytes(lots.below(256) for _ in range(32))
    taps = [
        record_all_messages(
            Match(rules, start, NAMES[:seats]), players(seats, SeededRandom(seed), unseen, turns), **options
        )
        for start in (state, other)
    ]
    return Twins(*taps)


def pairs(rules: Q, count: int = PAIRS, **options: Any) -> list[Twins]:
    found: list[Twins] = []
    number = 0
    while len(found) < count:
        if (pair := twins(number, rules, **options)) is not None:
            found.append(pair)
        number += 1
    return found


def with_numbers(rules: type[Q], count: int, **options: Any) -> list[MessageTap]:
    """Matches with honest and bad players in which every tile has its number."""
    game, taps = numbered(rules), []
    for number in range(count):
        lots, seats = SeededRandom(seed_from_text(f"numbers {number}")), 2 + number % 3
        state = short(game.deal(seats, seed_from_text(f"deal {number}")), 12 + lots.below(30))
        taps.append(
            record_all_messages(Match(game, state, NAMES[:seats]), players(seats, lots, frozenset(), 0), **options)
        )
    return taps


# The meters, on the rules as they are.


@pytest.fixture(scope="module")
def of_q() -> list[Twins]:
    return pairs(Q())


def test_messages_do_not_depend_on_hidden_tiles(of_q: list[Twins]) -> None:
    assert len(of_q) == PAIRS
    assert [leak for pair in of_q for leak in pair.leaks] == []


def test_the_compared_matches_are_long_and_have_every_kind_of_failure(of_q: list[Twins]) -> None:
    compared: Counter[object] = Counter()

    for pair in of_q:
        checked = sum(leak is None for leak in differences(pair.one.heard, pair.other.heard))
        compared["all"] += checked
        compared["whole matches"] += checked > 0 and len(pair.one.heard) == len(pair.other.heard)
        compared.update((out.moment, out.fault) for out in pair.one.ejected)
        compared.update(out.why.partition(":")[0] for out in pair.one.ejected if out.fault is Fault.ILLEGAL)

    assert compared["all"] > 20_000
    assert compared["whole matches"] > PAIRS / 4
    for moment in Moment:
        assert compared[moment, Fault.CRASHED] > 3
        assert compared[moment, Fault.MALFORMED] > 3
    for clause in ("3.1", "3.2", "3.4", "3.5"):
        assert compared[f"rule {clause}"]


def test_a_seat_that_draws_a_tile_is_told(of_q: list[Twins]) -> None:
    told = [
        (here, there)
        for pair in of_q
        for here, there in zip(pair.one.heard, pair.other.heard, strict=False)
        if here.actions == there.actions and here.receiver == there.receiver and here.text != there.text
    ]

    assert len(told) > PAIRS
    assert all(isinstance(here.receiver, int) for here, _ in told)


def test_a_numbered_tile_appears_only_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_tiles(monkeypatch.setattr)

    taps = with_numbers(Q, 60)

    seen = [sighting for tap in taps for sighting in find_leaks(tap.heard)]
    assert [sighting for sighting in seen if sighting is not None] == []
    assert len(seen) > 50_000
    assert len({out.moment for tap in taps for out in tap.ejected}) == len(Moment)


def test_all_tiles_are_numbered_and_every_seat_learns_some(monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_tiles(monkeypatch.setattr)
    game = numbered(Q)

    state = game.deal(4, bytes(32))
    tap = with_numbers(Q, 1)[0]

    sheet_of_all = str(game.pack_state(state))
    assert len(set(NUMBERED_TILE.findall(sheet_of_all))) == 1080
    for receiver in (0, 1, SPECTATORS, STREAM):
        assert any(NUMBERED_TILE.search(one.text) for one in tap.heard if one.receiver == receiver)


def test_numbered_tiles_eject_no_player(monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_tiles(monkeypatch.setattr)
    game = numbered(Q)
    state = short(game.deal(4, bytes(32)), 100)

    tap = record_all_messages(
        Match(game, state, NAMES), [HonestPlayer(SeededRandom(bytes([seat]))) for seat in range(4)]
    )

    assert tap.ejected == []
    assert len(tap.heard[-1].state.map.tiles) > 60


# A meter that cannot fail is no meter.


class Wide(View, frozen=True):
    neighbour: tuple[str, ...] = ()


class Peeping(Q, frozen=True):
    def view(self, state: State, seat: Seat | None) -> View:
        next_hand = state.hands[((seat or 0) + 1) % len(state.hands)]
        plain = msgspec.structs.asdict(super().view(state, seat))
        return Wide(**plain, neighbour=tuple(pieces.NAMES[kind] for kind in next_hand))

    def pack(self, view: View) -> Any:
        return {**super().pack(view), "neighbour": getattr(view, "neighbour", ())}


class Blabbing(Q, frozen=True):
    def check(self, view: View, action: Action) -> None:
        try:
            super().check(view, action)
        except IllegalAction as illegal:
            why = f"{illegal.why}, and you have {[pieces.NAMES[kind] for kind in view.kinds]}"
            raise IllegalAction(illegal.clause, why) from None


class Gossiping(Q, frozen=True):
    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        told = super().news(before, action, after)
        return tuple(News(seat, news.content) for news in told for seat in after.order)


class Counting(Q, frozen=True):
    def view(self, state: State, seat: Seat | None) -> View:
        view = super().view(state, seat)
        return msgspec.structs.replace(view, left=view.left + sum(state.pile[:3]))


class OpenFeed(EventFeed):
    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__(write)
        self._tell = write

    def observe(self, event: Event, match: AnyMatch) -> None:
        super().observe(event, match)
        self._tell(f"{[pieces.NAMES[kind] for kind in match.state.pile]}\n")


class OpenHub(Hub):
    def snapshot(self) -> bytes:
        assert self.last is not None
        return super().snapshot() + repr([pieces.NAMES[kind] for kind in self.last.match.state.pile]).encode()


class Loud(LocalChannel):
    def ask(self, message: Message) -> Answer:
        answer = super().ask(message)
        if isinstance(answer, Failed):
            return msgspec.structs.replace(answer, why=f"{answer.why}: {answer.evidence}")
        return answer


def open_feed(write: Callable[[str], object]) -> Observer:
    return OpenFeed(write)


def open_hub(write: Callable[[str], object]) -> Observer:
    return HubObserver(write, OpenHub)


PLANTED: dict[str, tuple[type[Q], Options]] = {
    "a view with the hand of a neighbour": (Peeping, {}),
    "a reason that names the hand": (Blabbing, {}),
    "news for all seats": (Gossiping, {}),
    "a stream with the pile in it": (Q, {"feed": open_feed}),
    "a snapshot with the pile in it": (Q, {"feed": open_hub}),
    "what an exception said": (Q, {"channel": Loud}),
}


@pytest.mark.parametrize("leak", PLANTED)
def test_the_comparison_of_matches_detects_a_planted_leak(leak: str) -> None:
    rules, options = PLANTED[leak]

    found = pairs(rules(), 20, **options)

    assert [told for pair in found for told in pair.leaks]


def test_the_comparison_of_matches_detects_a_leak_without_a_name() -> None:
    found = pairs(Counting(), 20)

    assert [told for pair in found for told in pair.leaks]


@pytest.mark.parametrize("leak", PLANTED)
def test_numbered_tiles_detect_a_planted_leak(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, options = PLANTED[leak]
    number_the_tiles(monkeypatch.setattr)

    taps = with_numbers(rules, 12, **options)

    assert [sighting for tap in taps for sighting in find_leaks(tap.heard) if sighting is not None]
