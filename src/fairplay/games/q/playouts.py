"""Play Q on at random from what one seat sees, and count how often that seat comes first."""

from collections.abc import Sequence

from msgspec import Struct

from fairplay.core.chance import Dice
from fairplay.games.q.board import Map
from fairplay.games.q.search import best_draft
from fairplay.games.q.state import Tiles
from fairplay.games.q.view import View

MAX_PLAYOUT_TURNS = 12  # then the scores decide; few playouts take so long
# The value of a playout for the player that comes first, alone or with others. A shared win is worth less than half of
# one: ending the game early against a player that is weaker than those of playouts gives a win away.
FIRST, SHARED = 3, 1


class Outlook(Struct, frozen=True):
    """A position after the action of the player on turn, before it draws. Seats count from that player on."""

    map: Map
    kept: Tiles  # of its hand
    drawn: int  # how many tiles it gets
    scores: tuple[int, ...]
    left: int  # tiles in the pile after that
    theirs: int  # how many tiles each of the others holds
    unseen: bytes  # the kinds that hands are drawn from, each as often as it may be there
    begins: int  # the seat that begins a round
    placed: bool  # has a player placed a tile in this round?


def playouts(start: Outlook, q_bonus: int, finish_bonus: int, numbers: range, seed: bytes) -> int:
    """The value of an outlook for the seat that has acted, summed over these playouts."""
    return sum(play_out(start, q_bonus, finish_bonus, Dice(seed, number)) for number in numbers)


def play_out(start: Outlook, q_bonus: int, finish_bonus: int, dice: Dice) -> int:
    """The value of one playout, in which each player places for the most points."""

    def draw(count: int) -> Tiles:
        return tuple(start.unseen[dice.below(len(start.unseen))] for _ in range(count))

    map, left, placed, scores = start.map, start.left, start.placed, list(start.scores)
    others = [draw(start.theirs) for _ in scores[1:]]
    hands = [draw(start.drawn) + start.kept, *others]
    for turn in range(1, MAX_PLAYOUT_TURNS + 1):
        seat = turn % len(scores)
        if seat == start.begins:
            if not placed:  # Q §5.1
                break
            placed = False
        hand = hands[seat]
        draft = best_draft(View(seat, map, hand, (), (), left), q_bonus, finish_bonus)
        if draft is None:
            hands[seat] = draw(len(hand)) if left >= len(hand) else hand
            continue
        scores[seat] += draft.score(q_bonus, finish_bonus)
        if not draft.hand:  # Q §5.2
            break
        map, placed, fresh = draft.map, True, min(left, len(draft.placed))
        left -= fresh
        hands[seat] = draw(fresh) + draft.hand
    return playout_value(scores)


def playout_value(scores: Sequence[int]) -> int:
    """The value for the first seat of a game that ends with these scores."""
    most = max(scores[1:], default=-1)
    return FIRST if scores[0] > most else SHARED if scores[0] == most else 0
