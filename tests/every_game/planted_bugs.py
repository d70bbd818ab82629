"""Break each law of a game on purpose, so that tests can check that the break is noticed."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import IllegalAction
from fairplay.core.game import Game, Moment, News, Ranking, Seat
from fairplay.games.fish import Action as FishAction
from fairplay.games.fish import Fish
from fairplay.games.fish import Place as FishPlace
from fairplay.games.fish import State as FishState
from fairplay.games.fish import View as FishView
from fairplay.testing import laws
from fairplay.testing.laws import Law
from tests.toy import Action, Play, State, Toy, View

AnyGame = Game[Any, Any, Any]

BUGS: list[tuple[str, str, AnyGame]] = []  # the law that is broken, what the meter must say, and the game
TICKS = count(1)  # what no game may depend on
UNSPEAKABLE = object()


def planted_bug(law: Law | None, message: str) -> Callable[[type[AnyGame]], type[AnyGame]]:
    """Put a game on the list; None is the law that is tried before all others: that a match ends."""
    name = "every match comes to its end" if law is None else law.__name__.replace("_", " ")

    def plant(game: type[AnyGame]) -> type[AnyGame]:
        BUGS.append((name, message, game(rows=4, columns=4) if issubclass(game, Fish) else game()))
        return game

    return plant


@planted_bug(None, "the game is not over after 200 turns")
class Endless(Toy, frozen=True):
    def turn(self, state: State) -> Seat | None:
        return state.order[0] if state.order else None

    def may_act(self, view: View) -> bool:
        return view.order[:1] == (view.seat,)


@planted_bug(None, "ValueError: no card to draw")
class Crashing(Toy, frozen=True):
    def apply(self, state: State, action: Action) -> State:
        if not state.pile:
            raise ValueError("no card to draw")
        return super().apply(state, action)


@planted_bug(laws.values_never_change, "this state changed while the match went on")
class Scribbling(Toy, frozen=True):
    def deal(self, seats: int, seed: bytes) -> State:
        state = super().deal(seats, seed)
        return replace(state, pile=list(state.pile))

    def apply(self, state: State, action: Action) -> State:
        after = super().apply(replace(state, pile=tuple(state.pile)), action)
        if after.drawn is not None:
            state.pile.pop(0)  # type: ignore[attr-defined]
        return replace(after, pile=state.pile)


@planted_bug(laws.values_never_change, "looking at this state changed it")
class Touching(Toy, frozen=True):
    def deal(self, seats: int, seed: bytes) -> State:
        return replace(super().deal(seats, seed), played=[])

    def view(self, state: State, seat: Seat | None) -> View:
        if seat is None and isinstance(state.played, list):
            state.played.append(0)
        return super().view(state, seat)

    def apply(self, state: State, action: Action) -> State:
        return super().apply(replace(state, played=tuple(state.played)), action)


@planted_bug(laws.same_seed_same_deal, "the second deal differs from the first")
class Whimsical(Toy, frozen=True):
    def deal(self, seats: int, seed: bytes) -> State:
        return super().deal(seats, seed + bytes([next(TICKS) % 256]))


@planted_bug(laws.same_answers_same_match, "the second time")
class Gambling(Toy, frozen=True):
    def apply(self, state: State, action: Action) -> State:
        after = super().apply(state, action)
        turns = next(TICKS) % max(1, len(after.pile))
        return replace(after, pile=after.pile[turns:] + after.pile[:turns])


@planted_bug(laws.same_answers_same_match, "the actions differ from one look to the next")
class Unsteady(Fish, frozen=True):
    def actions(self, view: FishView) -> Iterator[FishAction]:
        return iter(sorted(super().actions(view), key=str, reverse=bool(next(TICKS) % 2)))


@planted_bug(laws.what_is_written_can_be_read, "unpack_state does not give back what pack_state took")
class Forgetful(Fish, frozen=True):
    def pack_state(self, state: FishState) -> Any:
        return super().pack_state(replace(state, scores=(0,) * len(state.scores)))


@planted_bug(laws.what_is_written_can_be_read, "the state does not survive JSON")
class Keyed(Toy, frozen=True):
    def pack_state(self, state: State) -> Any:
        return {**super().pack_state(state), "scores": dict(enumerate(state.scores))}

    def unpack_state(self, plain: Any) -> State:
        if isinstance(plain, dict) and "scores" in plain:
            plain = {**plain, "scores": [plain["scores"].get(seat, 0) for seat in range(len(plain["scores"]))]}
        return super().unpack_state(plain)


@planted_bug(laws.what_is_written_can_be_read, "unpack does not give back what pack took")
class Anonymous(Fish, frozen=True):
    def pack(self, view: FishView) -> Any:
        return {**super().pack(view), "seat": None}


@planted_bug(laws.what_is_written_can_be_read, "TypeError: Encoding objects of type object is unsupported")
class Unspeakable(Toy, frozen=True):
    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        return tuple(News(news.seat, UNSPEAKABLE) for news in super().news(before, action, after))


@planted_bug(laws.nothing_else_can_be_read, "unpack accepts None")
class Credulous(Fish, frozen=True):
    def unpack(self, plain: Any) -> FishView:
        return super().unpack(plain or self.pack(self.view(self.deal(2, bytes(32)), None)))


@planted_bug(laws.nothing_else_can_be_read, "KeyError: 'seat'")
class Trusting(Toy, frozen=True):
    def unpack(self, plain: Any) -> View:
        return super().unpack({**plain, "seat": plain["seat"]} if isinstance(plain, dict) else plain)


@planted_bug(laws.turn_and_order_agree, "it is the turn of seat 0, but the order is (1, ")
class Backwards(Fish, frozen=True):
    def order(self, state: FishState) -> tuple[Seat, ...]:
        return state.order[1:] + state.order[:1]


@planted_bug(laws.turn_and_order_agree, "the order (0, 0) names a seat twice")
class Doubled(Fish, frozen=True):
    def order(self, state: FishState) -> tuple[Seat, ...]:
        return state.order[:1] * 2


@planted_bug(laws.only_the_seat_on_turn_acts, "seat None may ask for actions, but it is not its turn")
class Open(Fish, frozen=True):
    def actions(self, view: FishView) -> Iterator[FishAction]:
        turn = self.turn(view.state)
        return super().actions(self.view(view.state, turn if view.seat is None else view.seat))


@planted_bug(laws.what_is_offered_is_legal, "an action is offered twice")
class Stuttering(Toy, frozen=True):
    def actions(self, view: View) -> Iterator[Action]:
        return (action for action in super().actions(view) for _ in range(2))


@planted_bug(laws.what_is_offered_is_legal, "is offered, but check refuses it")
class Tempting(Fish, frozen=True):
    def check(self, view: FishView, action: FishAction) -> None:
        if isinstance(action, FishPlace) and action.at == (0, 0):
            raise IllegalAction("3.9", "not in the corner")
        super().check(view, action)


class Exotic(msgspec.Struct, frozen=True, tag="play"):
    card: int
    flavour: Any = None


@planted_bug(laws.what_is_offered_is_legal, "does not survive JSON")
class Outlandish(Toy, frozen=True):
    def actions(self, view: View) -> Iterator[Any]:
        return (Exotic(action.card) if isinstance(action, Play) else action for action in super().actions(view))

    def apply(self, state: State, action: Action) -> State:
        return super().apply(state, Play(action.card) if isinstance(action, Exotic) else action)


@planted_bug(laws.what_is_not_offered_is_illegal, "is not offered, but check accepts it")
class Hasty(Fish, frozen=True):
    def check(self, view: FishView, action: FishAction) -> None:
        super().check(self.view(view.state, self.turn(view.state)), action)


@planted_bug(laws.what_is_not_offered_is_illegal, "ValueError: tuple.index(x): x not in tuple")
class Rough(Toy, frozen=True):
    def check(self, view: View, action: Action) -> None:
        if self.may_act(view) and isinstance(action, Play):
            view.hand.index(action.card)
        super().check(view, action)


@planted_bug(laws.what_is_not_offered_is_illegal, "is refused without a clause or a reason")
class Curt(Fish, frozen=True):
    def check(self, view: FishView, action: FishAction) -> None:
        try:
            super().check(view, action)
        except IllegalAction:
            raise IllegalAction("", "no") from None


@planted_bug(laws.exactly_the_seated_are_ranked, "seats [1] are ranked, but [0, 1] are seated")
class Snobbish(Fish, frozen=True):
    def ranking(self, state: FishState) -> Ranking:
        return tuple(group - {0} for group in super().ranking(state) if group - {0})


@planted_bug(laws.exactly_the_seated_are_ranked, "the ranking (frozenset(),")
class Hollow(Fish, frozen=True):
    def ranking(self, state: FishState) -> Ranking:
        return (frozenset(), *super().ranking(state))


@planted_bug(laws.scores_are_by_seat_and_rank, "there are 2 seats, but the scores are (")
class Tallying(Fish, frozen=True):
    def scores(self, state: FishState) -> tuple[int, ...]:
        return (*super().scores(state), sum(state.scores))


@planted_bug(laws.scores_are_by_seat_and_rank, "the scores in the order of the ranking are [")
class Misranked(Toy, frozen=True):
    def ranking(self, state: State) -> Ranking:
        return super().ranking(state)[::-1]


@planted_bug(laws.scores_are_by_seat_and_rank, "some share a rank with different scores: [[")
class Levelling(Toy, frozen=True):
    def ranking(self, state: State) -> Ranking:
        return (frozenset(state.ranked),)


@planted_bug(laws.scores_are_by_seat_and_rank, "there are points in one state and none in the next: (")
class Shy(Fish, frozen=True):
    def scores(self, state: FishState) -> Any:
        return None if any(state.scores) else super().scores(state)


@planted_bug(laws.scores_are_by_seat_and_rank, "not all scores are whole numbers: (")
class Splitting(Toy, frozen=True):
    def scores(self, state: State) -> tuple[Any, ...]:
        return tuple(score / 2 for score in state.scores)


@planted_bug(laws.news_is_for_the_seated, "there is news for seat 7, which is not seated")
class Gossiping(Toy, frozen=True):
    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        return (News(7, "psst"),)


@planted_bug(laws.pieces_are_kept, "the pieces were ")
class Leaky(Toy, frozen=True):
    def apply(self, state: State, action: Action) -> State:
        return replace(super().apply(state, action), aside=())


@planted_bug(laws.views_hide_what_they_must, "seat 0 sees what it may not know")
class Transparent(Toy, frozen=True):
    def view(self, state: State, seat: Seat | None) -> View:
        return replace(super().view(state, seat), played=state.pile[:1])


@planted_bug(laws.views_hide_what_they_must, "seat None sees what it may not know")
class Indiscreet(Toy, frozen=True):
    def view(self, state: State, seat: Seat | None) -> View:
        view = super().view(state, seat)
        return replace(view, hand=state.hands[0]) if seat is None else view


@planted_bug(laws.what_is_imagined_may_be, "seat 0 sees something else in what was imagined from its view")
class Dreaming(Toy, frozen=True):
    def imagine(self, view: View, seed: bytes = b"") -> State:
        return replace(super().imagine(view, seed), pile=(99,))


@planted_bug(laws.what_is_imagined_may_be, "what is imagined from one seed differs the second time")
class Fickle(Toy, frozen=True):
    def imagine(self, view: View, seed: bytes = b"") -> State:
        return super().imagine(view, bytes([next(TICKS) % 256]))


@planted_bug(laws.what_is_imagined_may_be, "in what was imagined: IndexError: a card that is not there")
class Conjuring(Toy, frozen=True):
    def imagine(self, view: View, seed: bytes = b"") -> State:
        return replace(super().imagine(view, seed), aside=(99,))

    def apply(self, state: State, action: Action) -> State:
        if 99 in state.aside:
            raise IndexError("a card that is not there")
        return super().apply(state, action)


@planted_bug(
    laws.ejection_leaves_a_game,
    "seat 0 was ejected at the greeting; then the order (0, 1) names a seat that was ejected",
)
class Clinging(Fish, frozen=True):
    def eject(self, state: FishState, seat: Seat, moment: Moment) -> FishState:
        return replace(super().eject(state, seat, moment), order=state.order)


@planted_bug(
    laws.ejection_leaves_a_game, "seat 0 was ejected at the greeting; then seats [0] are ranked, but [] are seated"
)
class Haunted(Toy, frozen=True):
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        return replace(super().eject(state, seat, moment), ranked=state.ranked)


@planted_bug(laws.ejection_leaves_a_game, "; then the pieces were ")
class Greedy(Toy, frozen=True):
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        return replace(super().eject(state, seat, moment), aside=state.aside)


@planted_bug(laws.ejection_leaves_a_game, " is ejected, and its score went from ")
class Vindictive(Toy, frozen=True):
    def scores(self, state: State) -> tuple[int, ...]:
        return tuple(score * (seat in state.ranked) for seat, score in enumerate(state.scores))


@planted_bug(laws.ejection_leaves_a_game, "was ejected at the news; then ValueError: not now")
class Stubborn(Toy, frozen=True):
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        if moment is Moment.NEWS:
            raise ValueError("not now")
        return super().eject(state, seat, moment)


@planted_bug(laws.ejection_leaves_a_game, "seat 0 was ejected at the greeting; then once more, with another result")
class Capricious(Toy, frozen=True):
    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        after = super().eject(state, seat, moment)
        return replace(after, pile=after.pile[::-1]) if next(TICKS) % 2 else after


@planted_bug(laws.ejection_leaves_a_game, "; then the game is not over after 200 turns")
class Stalled(Toy, frozen=True):
    def turn(self, state: State) -> Seat | None:
        return state.order[0] if state.order and len(state.scores) > len(state.hands) else super().turn(state)

    def may_act(self, view: View) -> bool:
        return super().may_act(view) or (view.order[:1] == (view.seat,) and len(view.scores) > len(view.sizes))

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        return super().eject(replace(state, scores=(*state.scores, 0)), seat, moment)

    def scores(self, state: State) -> tuple[int, ...]:
        return state.scores[: len(state.hands)]


@planted_bug(laws.players_can_leave_in_any_order, "IndexError: nobody to go on with")
class Sociable(Fish, frozen=True):
    def eject(self, state: FishState, seat: Seat, moment: Moment) -> FishState:
        if len(state.order) == 1:
            raise IndexError("nobody to go on with")
        return super().eject(state, seat, moment)


@planted_bug(laws.players_can_leave_in_any_order, "it is the turn of seat 0, but the order is ()")
class Ghostly(Fish, frozen=True):
    def turn(self, state: FishState) -> Seat | None:
        return super().turn(state) if state.order else 0
