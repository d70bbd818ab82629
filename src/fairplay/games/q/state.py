"""Define a position of Q: the map, the hands, the pile and the round."""

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat, check_seat
from fairplay.games.q.board import Map

Tiles = tuple[int, ...]  # kinds


class State(msgspec.Struct, frozen=True, gc=False):
    """The whole position, which only the referee knows."""

    map: Map
    hands: tuple[Tiles, ...]  # by seat
    scores: tuple[int, ...]  # by seat; those of the ejected are kept
    pile: Tiles  # drawn from the front, returned to the end
    order: tuple[Seat, ...]  # the seats still in, starting with the one on turn
    to_act: int  # how many of them have yet to act in this round
    placed: bool = False  # has a player placed a tile in this round?
    done: bool = False
    fresh: Tiles = ()  # the tiles drawn for the last action: lost, if the player does not acknowledge them
    lost: Tiles = ()


def finish_turn(
    state: State,
    *,
    map: Map,
    hand: Tiles,
    scores: tuple[int, ...],
    pile: Tiles,
    fresh: Tiles = (),
    placed: bool = False,
) -> State:
    """End the turn of the seat on turn; the next seat follows."""
    seat = state.order[0]
    return next_turn(
        State(
            map,
            (*state.hands[:seat], hand, *state.hands[seat + 1 :]),
            scores,
            pile,
            (*state.order[1:], seat),
            state.to_act - 1,
            state.placed or placed,
            False,
            fresh,
            state.lost,
        )
    )


def next_turn(state: State) -> State:
    """Begin a new round if this one is over, or end the game if no player placed a tile in it (Q §5.1)."""
    if state.done or (state.order and state.to_act):
        return state
    if not state.order or not state.placed:
        return msgspec.structs.replace(state, done=True)
    return msgspec.structs.replace(state, to_act=len(state.order), placed=False)


def remove_seat(state: State, seat: Seat, *, lost: Tiles) -> State:
    """Take a seat out: its tiles go to the end of the pile, except the lost ones."""
    check_seat(seat, len(state.scores))
    if seat not in state.order:
        raise BadRequest(f"seat {seat} is out already")
    place = state.order.index(seat)
    hand = state.hands[seat][len(lost) :]  # the tiles just drawn come first in a hand
    return next_turn(
        msgspec.structs.replace(
            state,
            hands=(*state.hands[:seat], (), *state.hands[seat + 1 :]),
            pile=state.pile + hand,
            order=state.order[:place] + state.order[place + 1 :],
            to_act=state.to_act - (place < state.to_act),
            fresh=() if lost else state.fresh,
            lost=state.lost + lost,
        )
    )
