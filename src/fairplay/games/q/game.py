"""Implement the rules of Q; § cites a clause of RULES.md."""

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from fairplay.core.chance import Dice, SeededRandom
from fairplay.core.errors import IllegalAction, NotOnTurn
from fairplay.core.game import Game, Moment, News, Ranking, Seat
from fairplay.games.q import codec
from fairplay.games.q.actions import Action, Exchange, Pass, Place
from fairplay.games.q.board import cell_at, fitting_kinds, map_of, score_of
from fairplay.games.q.draft import drafts
from fairplay.games.q.imagine import imagine_state
from fairplay.games.q.pieces import ANY, COPIES, FINISH_BONUS, HAND_SIZE, KINDS, NAMES, Q_BONUS
from fairplay.games.q.state import State, finish_turn, remove_seat
from fairplay.games.q.view import View

ALL_TILES = tuple(kind for kind in range(len(NAMES)) for _ in range(COPIES))
Bonus = Annotated[int, Meta(ge=0, le=10**6)]


class Q(Game[State, View, Action], frozen=True, forbid_unknown_fields=True):
    """Place lines of tiles that share a shape or a colour, on a map without edges."""

    name: ClassVar[str] = "q"
    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(2, 5)
    youngest_first: ClassVar[bool] = False
    action: ClassVar[Any] = Action

    q_bonus: Annotated[Bonus, Meta(description="for a line of exactly all shapes or all colours")] = Q_BONUS
    finish_bonus: Annotated[Bonus, Meta(description="for placing all tiles of the hand")] = FINISH_BONUS

    @property
    def hidden(self) -> str:
        """§2.3: the tiles that the other players hold and will draw."""
        return "all hands and the pile"

    def deal(self, seats: int, seed: bytes) -> State:
        """§1.3, §2.2: one tile on the map, six in every hand, the rest in the pile."""
        tiles = list(ALL_TILES)
        SeededRandom(seed).shuffle(tiles)
        hands = tuple(tuple(tiles[1 + HAND_SIZE * seat : 1 + HAND_SIZE * (seat + 1)]) for seat in range(seats))
        return State(
            map=map_of([((0, 0), tiles[0])]),
            hands=hands,
            scores=(0,) * seats,
            pile=tuple(tiles[1 + HAND_SIZE * seats :]),
            order=tuple(range(seats)),
            to_act=seats,
        )

    def turn(self, state: State) -> Seat | None:
        """§2.1, §5: the first seat in the order, until the game is over."""
        return None if state.done else state.order[0]

    def order(self, state: State) -> tuple[Seat, ...]:
        """§2.1: one after the other, even when a player leaves."""
        return state.order

    def view(self, state: State, seat: Seat | None) -> View:
        """§2.3: the map, the own hand, the scores, and how many tiles are left."""
        hand = () if seat is None else state.hands[seat]
        scores = tuple(state.scores[other] for other in state.order)
        return View(seat, state.map, hand, state.order, scores, len(state.pile), state.done)

    def actions(self, view: View) -> Iterator[Action]:
        """§3: pass, exchange, then the placements of one tile, of two, and so on."""
        if view.done or view.order[:1] != (view.seat,):
            raise NotOnTurn(view.seat, view.turn)
        return options(view)

    def imagine(self, view: View, seed: bytes = b"") -> State:
        """§2.3: draw the other hands and the pile from the tiles that this seat does not see."""
        return imagine_state(view, seed)

    def random_action(self, view: View, dice: Dice) -> Action:
        """As the built-in player `random` draws: listing all placements of a turn may take minutes."""
        from fairplay.games.q.strategies import random_strategy  # start-up: only playouts need it

        return random_strategy(dice.below(2**32).to_bytes(4, "big"))(view)

    def check(self, view: View, action: Action) -> None:
        """§2.1 and §3, from the view alone."""
        if view.done or view.order[:1] != (view.seat,):
            raise IllegalAction("2.1", "it is not your turn")
        if isinstance(action, Place):
            check_place(view, action)
        elif isinstance(action, Exchange) and view.left < len(view.kinds):
            raise IllegalAction("3.6", f"{view.left} tiles are left, too few to exchange a hand for")
        elif not isinstance(action, (Exchange, Pass)):
            raise TypeError(f"{action!r} is not an action of Q")

    def apply(self, state: State, action: Action) -> State:
        """§3.1, §3.6, §3.7, §3.8: carry out the action; the next seat is on turn, unless the game is over."""
        seat, pile = state.order[0], state.pile
        hand = state.hands[seat]
        if isinstance(action, Place):
            return self._place(state, seat, action)
        if isinstance(action, Exchange):
            fresh, rest = pile[: len(hand)], pile[len(hand) :]
            return finish_turn(state, map=state.map, hand=fresh, scores=state.scores, pile=rest + hand, fresh=fresh)
        return finish_turn(state, map=state.map, hand=hand, scores=state.scores, pile=pile)

    def _place(self, state: State, seat: Seat, action: Place) -> State:
        """§4: put the tiles on the map and score them; §4.4: with the bonus for finishing."""
        placed = [(cell_at(one.at), KINDS[one.tile]) for one in action.tiles]
        extended = state.map.with_tiles(placed)
        hand = list(state.hands[seat])
        for _, kind in placed:
            hand.remove(kind)
        points = score_of(extended, [cell for cell, _ in placed], self.q_bonus) + (0 if hand else self.finish_bonus)
        scores = (*state.scores[:seat], state.scores[seat] + points, *state.scores[seat + 1 :])
        if not hand:  # §5.2: the game is over at once, and the player that finished stays first in the order
            hands = (*state.hands[:seat], (), *state.hands[seat + 1 :])
            return msgspec.structs.replace(
                state, map=extended, hands=hands, scores=scores, placed=True, done=True, fresh=()
            )
        fresh, rest = state.pile[: len(placed)], state.pile[len(placed) :]
        kept = fresh + tuple(hand)
        return finish_turn(state, map=extended, hand=kept, scores=scores, pile=rest, fresh=fresh, placed=True)

    def news(self, before: State, action: Action, after: State) -> tuple[News, ...]:
        """§3.8: the new tiles, after a placement that did not finish the game, or an exchange."""
        seat = before.order[0]
        if isinstance(action, Pass) or (isinstance(action, Place) and not after.hands[seat]):
            return ()
        return (News(seat, tuple(NAMES[kind] for kind in after.fresh)),)

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """§6: its tiles go back to the pile; new tiles that it did not acknowledge are lost."""
        return remove_seat(state, seat, lost=state.fresh if moment is Moment.NEWS else ())

    def ranking(self, state: State) -> Ranking:
        """§5.3, §5.4: the seats still in, by their points."""
        best_first = sorted(state.order, key=lambda seat: -state.scores[seat])
        return tuple(frozenset(group) for _, group in groupby(best_first, key=lambda seat: state.scores[seat]))

    def scores(self, state: State) -> tuple[int, ...]:
        """§4: the points of each seat, including the ejected."""
        return state.scores

    def pack(self, view: View) -> Any:
        return codec.write_view(view)

    def unpack(self, plain: Any) -> View:
        return codec.read_view(plain)

    def pack_state(self, state: State) -> Any:
        return codec.write_state(state)

    def unpack_state(self, plain: Any) -> State:
        return codec.read_state(plain)


def options(view: View) -> Iterator[Action]:
    """§3: the legal actions of the player on turn."""
    yield Pass()
    if view.left >= len(view.kinds):
        yield Exchange()
    for draft in drafts(view):
        yield draft.action


def check_place(view: View, action: Place) -> None:
    """§3.1 to §3.5: may the player on turn place these tiles in this order? Raises IllegalAction.

    Reasons are public, so they name no tile: a tile that stays off the map stays hidden.
    """
    if not action.tiles:
        raise IllegalAction("3.1", "a placement has at least one tile")
    hand = list(view.kinds)
    for one in action.tiles:
        kind = KINDS[one.tile]
        if kind not in hand:
            raise IllegalAction("3.2", "these tiles are not all in the hand")
        hand.remove(kind)
    if len({one.at[0] for one in action.tiles}) > 1 and len({one.at[1] for one in action.tiles}) > 1:
        raise IllegalAction("3.3", "the tiles are neither in one row nor in one column")
    tiles, new = view.map.tiles, dict[int, int]()
    for one in action.tiles:
        cell, kind = cell_at(one.at), KINDS[one.tile]
        if cell in tiles or cell in new:
            raise IllegalAction("3.4", f"there is a tile at {list(one.at)} already")
        fits = fitting_kinds(view.map, new, cell)
        if fits == ANY:
            raise IllegalAction("3.4", f"there is no tile beside {list(one.at)}")
        if not fits >> kind & 1:
            raise IllegalAction("3.5", f"the tile does not fit at {list(one.at)}")
        new[cell] = kind
