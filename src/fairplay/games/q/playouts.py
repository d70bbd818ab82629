"""Play Q on from what one seat sees, drawing at random what it does not see, and count how often it comes first."""

from collections.abc import Sequence

from msgspec import Struct

from fairplay.core.chance import Dice
from fairplay.games.q.board import Map
from fairplay.games.q.search import best_draft
from fairplay.games.q.state import Tiles
from fairplay.games.q.view import View

MAX_PLAYOUT_TURNS = 12  # then the scores decide; hardly a playout takes so long
# What a playout counts for whoever comes first, alone or with others. To share is less than half of a win: there are
# weaker players than those of playouts, and to end the game early against one gives a win away.
FIRST, SHARED = 3, 1


class Outlook(Struct, frozen=True):
    """Whoever was on turn has acted and is about to draw. Seats are counted from there, in the order of turns."""

    map: Map
    kept: Tiles  # of its hand
    drawn: int  # how many tiles it gets
    scores: tuple[int, ...]
    left: int  # in the pile after that
    theirs: int  # how many tiles each of the others holds
    unseen: bytes  # the kinds that hands are drawn from, each as often as it may be there
    begins: int  # the seat that begins a round
    placed: bool  # has anybody placed a tile in this round?


def playouts(start: Outlook, q_bonus: int, finish_bonus: int, numbers: range, seed: bytes) -> int:
    """How well the seat that has acted does in all of these playouts."""
    return sum(play_out(start, q_bonus, finish_bonus, Dice(seed, number)) for number in numbers)


def play_out(start: Outlook, q_bonus: int, finish_bonus: int, dice: Dice) -> int:
    """What one playout counts, in which everybody places what brings the most points."""

    def draw(count: int) -> Tiles:
        return tuple(start.unseen[dice.below(len(start.unseen))] for _ in range(count))

    shown, left, placed, scores = start.map, start.left, start.placed, list(start.scores)
    others = [draw(start.theirs) for _ in scores[1:]]
    hands = [draw(start.drawn) + start.kept, *others]
    for turn in range(1, MAX_PLAYOUT_TURNS + 1):
        seat = turn % len(scores)
        if seat == start.begins:
            if not placed:  # Q §5.1
                break
            placed = False
        hand = hands[seat]
        draft = best_draft(View(seat, shown, hand, (), (), left), q_bonus, finish_bonus)
        if draft is None:
            hands[seat] = draw(len(hand)) if left >= len(hand) else hand
            continue
        scores[seat] += draft.score(q_bonus, finish_bonus)
        if not draft.hand:  # Q §5.2
            break
        shown, placed, fresh = draft.map, True, min(left, len(draft.placed))
        left -= fresh
        hands[seat] = draw(fresh) + draft.hand
    return standing(scores)


def standing(scores: Sequence[int]) -> int:
    """What it counts for the first seat that the game ends like this."""
    most = max(scores[1:], default=-1)
    return FIRST if scores[0] > most else SHARED if scores[0] == most else 0
