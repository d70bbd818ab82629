"""Define a tiny game with hidden hands and news, for tests of what real games may not need.

Each seat holds some cards of a shuffled deck 0, 1, 2 ... (§1). In its turn it plays any card of its hand, and scores
what is on it (§2); with an empty hand it passes (§3). Then it draws a card, and is told which (§4). A player that plays
the 0 is eliminated: its hand is laid aside, and it is still ranked (§5). The game is over when there is nothing left to
play or to draw, or when no player is left (§6). An ejected hand goes back under the pile; a card of which the seat
could not be told is laid aside (§7).
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadRequest, IllegalAction, NotOnTurn
from fairplay.core.game import Game, Moment, News, Ranking, Seat

Cards = tuple[int, ...]
Item = TypeVar("Item")


class Play(msgspec.Struct, frozen=True, tag="play", forbid_unknown_fields=True):
    """Lay down a card of the hand."""

    card: int


class Pass(msgspec.Struct, frozen=True, tag="pass", forbid_unknown_fields=True):
    """Lay down nothing, for there is nothing."""


Action = Play | Pass


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hands: tuple[Cards, ...]  # by seat
    pile: Cards  # the first is drawn next
    played: Cards
    aside: Cards  # out of the game, face down
    scores: tuple[int, ...]  # by seat
    order: tuple[Seat, ...]  # those who still act
    ranked: tuple[Seat, ...]  # those who were not ejected
    drawn: tuple[Seat, int] | None = None  # by the last action


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seat: Seat | None
    hand: Cards
    sizes: tuple[int, ...]  # of the hands
    pile: int
    played: Cards
    scores: tuple[int, ...]
    order: tuple[Seat, ...]


class Toy(Game[State, View, Action], frozen=True):
    """Play the cards that you hold."""

    name: ClassVar[str] = "toy"
    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(1, 6)
    youngest_first: ClassVar[bool] = False
    action: ClassVar[Any] = Action

    cards: Annotated[int, msgspec.Meta(ge=0)] = 16
    hand: int = 3

    def deal(self, seats: int, seed: bytes) -> State:
        deck = list(range(self.cards))
        if len(deck) < seats * self.hand:
            raise BadRequest(f"{self.cards} cards are too few for {seats} hands of {self.hand}")
        SeededRandom(seed).shuffle(deck)
        hands = tuple(tuple(deck[seat * self.hand : (seat + 1) * self.hand]) for seat in range(seats))
        all_seats = tuple(range(seats))
        return State(hands, tuple(deck[seats * self.hand :]), (), (), (0,) * seats, all_seats, all_seats)

    def turn(self, state: State) -> Seat | None:
        return state.order[0] if state.order and (state.pile or any(state.hands)) else None

    def order(self, state: State) -> tuple[Seat, ...]:
        return state.order

    def view(self, state: State, seat: Seat | None) -> View:
        sizes = tuple(len(hand) for hand in state.hands)
        hand = () if seat is None else state.hands[seat]
        return View(seat, hand, sizes, len(state.pile), state.played, state.scores, state.order)

    def actions(self, view: View) -> Iterator[Action]:
        if not self.may_act(view):
            raise NotOnTurn(view.seat, view.order[0] if view.order and (view.pile or any(view.sizes)) else None)
        return iter([Play(card) for card in view.hand]) if view.hand else iter([Pass()])

    def imagine(self, view: View, seed: bytes = b"") -> State:
        hidden = [card for card in range(self.cards) if card not in view.hand and card not in view.played]
        SeededRandom(seed).shuffle(hidden)
        rest = iter(hidden)
        hands = tuple(
            view.hand if seat == view.seat else remove_cards(rest, size) for seat, size in enumerate(view.sizes)
        )
        pile = remove_cards(rest, view.pile)
        return State(hands, pile, view.played, tuple(rest), view.scores, view.order, view.order)

    def check(self, view: View, action: Action) -> None:
        if not self.may_act(view):
            raise IllegalAction("6", "it is not your turn")
        match action:
            case Play(card):
                if card not in view.hand:
                    raise IllegalAction("2", "you do not hold this card")
            case Pass():
                if view.hand:
                    raise IllegalAction("3", "you hold a card, so play it")

    def apply(self, state: State, action: Action) -> State:
        seat = state.order[0]
        hand, played, gain = state.hands[seat], state.played, 0
        if isinstance(action, Play):
            hand = tuple(card for card in hand if card != action.card)
            played, gain = (*played, action.card), action.card
        last = isinstance(action, Play) and action.card == 0
        top = () if last else state.pile[:1]
        return State(
            replace_item(state.hands, seat, () if last else hand + top),
            state.pile[len(top) :],
            played,
            state.aside + hand if last else state.aside,
            replace_item(state.scores, seat, state.scores[seat] + gain),
            state.order[1:] if last else (*state.order[1:], seat),
            state.ranked,
            (seat, top[0]) if top else None,
        )

    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        return () if after.drawn is None else (News(*after.drawn),)

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        lost: Cards = ()
        if moment is Moment.NEWS and state.drawn is not None and state.drawn[0] == seat:
            lost = state.drawn[1:]
        kept = tuple(card for card in state.hands[seat] if card not in lost)
        return msgspec.structs.replace(
            state,
            hands=replace_item(state.hands, seat, ()),
            pile=state.pile + kept,
            aside=state.aside + lost,
            order=tuple(other for other in state.order if other != seat),
            ranked=tuple(other for other in state.ranked if other != seat),
            drawn=None if state.drawn is None or state.drawn[0] == seat else state.drawn,
        )

    def ranking(self, state: State) -> Ranking:
        best_first = sorted(state.ranked, key=lambda seat: -state.scores[seat])
        return tuple(frozenset(group) for _, group in groupby(best_first, key=lambda seat: state.scores[seat]))

    def scores(self, state: State) -> tuple[int, ...]:
        return state.scores

    def pack(self, view: View) -> Any:
        return msgspec.to_builtins(view)

    def unpack(self, plain: Any) -> View:
        return read_field(plain, View)

    def pack_state(self, state: State) -> Any:
        return msgspec.to_builtins(state)

    def unpack_state(self, plain: Any) -> State:
        return read_field(plain, State)

    def may_act(self, view: View) -> bool:
        return view.order[:1] == (view.seat,) and bool(view.pile or any(view.sizes))


def all_cards(state: State) -> object:
    """What neither actions nor ejections may change: every card is somewhere, and what was played was scored."""
    hands = [card for hand in state.hands for card in hand]
    return sorted([*hands, *state.pile, *state.played, *state.aside]), sum(state.played) - sum(state.scores)


def reshuffle(state: State, seat: Seat | None, lots: SeededRandom) -> State:
    """Another state that this seat cannot tell from the first."""
    others = [other for other in range(len(state.hands)) if other != seat]
    hidden = [card for other in others for card in state.hands[other]] + [*state.pile, *state.aside]
    lots.shuffle(hidden)
    rest = iter(hidden)
    hands = state.hands
    for other in others:
        hands = replace_item(hands, other, remove_cards(rest, len(hands[other])))
    drawn = state.drawn
    if drawn is not None and drawn[0] != seat:
        drawn = (drawn[0], hands[drawn[0]][-1])
    pile, aside = remove_cards(rest, len(state.pile)), remove_cards(rest, len(state.aside))
    return msgspec.structs.replace(state, hands=hands, pile=pile, aside=aside, drawn=drawn)


def replace_item(items: tuple[Item, ...], seat: Seat, item: Item) -> tuple[Item, ...]:
    return (*items[:seat], item, *items[seat + 1 :])


def remove_cards(cards: Iterator[int], count: int) -> Cards:
    return tuple(next(cards) for _ in range(count))


def read_field(plain: Any, what: type[Item]) -> Item:
    try:
        return msgspec.convert(plain, what)
    except msgspec.ValidationError as error:
        raise BadRequest(f"not of the toy: {error}") from None
