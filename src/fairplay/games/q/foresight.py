"""Search Q by playouts for the action that wins most often.

The most points now are not always best: a player that places its whole hand ends the game (Q §5.2), nearly always as
the winner, and each tile on the map makes that easier for the next. So the candidates are the placement with the most
points for each part of the hand, an exchange and passing. All are tried with the same dice; then the worse half is
dropped, and so on, until one is left (sequential halving).
"""

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace

from fairplay.core.chance import derive_seed
from fairplay.games.q.actions import Action, Exchange, Pass
from fairplay.games.q.draft import Draft
from fairplay.games.q.imagine import unseen_tiles
from fairplay.games.q.kernel import best_draft, playouts
from fairplay.games.q.pieces import HAND_SIZE, NONE
from fairplay.games.q.playouts import FIRST, Outlook, playout_value
from fairplay.games.q.search import MAX_HAND_TILES
from fairplay.games.q.view import View

NO_LIMIT = 10**6  # a bonus for placing a whole part of the hand, more than any points

Option = tuple[Action, Outlook]


def most_wins(view: View, q_bonus: int, finish_bonus: int, nodes: int, key: bytes) -> Action | None:
    """The action that wins most often in about so many playouts, with dice from a key; None: the hand is not legal."""
    if not 0 < len(view.kinds) <= MAX_HAND_TILES:
        return None
    alive = list[Option]()
    for option in options(view, q_bonus, finish_bonus):
        action, start = option
        if is_over(start) and playout_value(start.scores) == FIRST:
            return action
        if not is_over(start) or playout_value(start.scores):  # any other option is no worse than to have lost
            alive.append(option)
    seed = derive_seed(key, f"{len(view.map.tiles)},{view.left},{view.kinds},{view.points}")
    halvings, done = (len(alive) - 1).bit_length(), 0
    wins = dict.fromkeys((action for action, _ in alive), 0)
    while len(alive) > 1:
        numbers = range(done, done + max(1, nodes // (halvings * len(alive))))
        done = numbers.stop
        for action, start in alive:
            wins[action] += weight(start, q_bonus, finish_bonus, numbers, seed)
        alive.sort(key=lambda option: (wins[option[0]], option[1].scores[0]), reverse=True)
        del alive[(len(alive) + 1) // 2 :]
    return alive[0][0]


def options(view: View, q_bonus: int, finish_bonus: int) -> Iterator[Option]:
    """The actions to compare, with their outlooks; those that end the game come first."""
    now = outlook(view)
    for count in range(len(view.kinds), 0, -1):
        for part in sorted(set(combinations(sorted(view.kinds), count))):
            draft = best_draft(replace(view, kinds=part), q_bonus, NO_LIMIT)
            if draft is not None and not draft.hand:
                yield draft.action, outlook_after(now, draft, q_bonus, finish_bonus)
    if view.left >= len(view.kinds):
        yield Exchange(), replace(now, kept=(), drawn=len(view.kinds))
    yield Pass(), now


def outlook(view: View) -> Outlook:
    """The outlook after passing.

    A view does not tell whether a player has placed a tile in this round, except to the first in it; mostly one has.
    """
    hidden = bytes(unseen_tiles(view)) or bytes(range(NONE))
    others, begins = len(view.order) - 1, view.order.index(min(view.order))
    return Outlook(
        map=view.map,
        kept=view.kinds,
        drawn=0,
        scores=view.points,
        left=view.left,
        theirs=min(HAND_SIZE, max(0, len(hidden) - view.left) // others) if others else 0,
        unseen=hidden,
        begins=begins,
        placed=begins > 0 and len(view.map.tiles) > 1,
    )


def outlook_after(now: Outlook, draft: Draft, q_bonus: int, finish_bonus: int) -> Outlook:
    """The outlook after a placement."""
    kept, placed = list(now.kept), len(draft.placed)
    for _, kind in draft.placed:
        kept.remove(kind)
    points = draft.score(q_bonus, 0) + (0 if kept else finish_bonus)
    drawn = min(now.left, placed) if kept else 0
    return replace(
        now,
        map=draft.map,
        kept=tuple(kept),
        drawn=drawn,
        scores=(now.scores[0] + points, *now.scores[1:]),
        left=now.left - drawn,
        placed=True,
    )


def is_over(start: Outlook) -> bool:
    """Has the player placed all its tiles?"""
    return not start.kept and not start.drawn


def weight(start: Outlook, q_bonus: int, finish_bonus: int, numbers: range, seed: bytes) -> int:
    """The value of an outlook, summed over these playouts."""
    if is_over(start):
        return playout_value(start.scores) * len(numbers)
    return playouts(start, q_bonus, finish_bonus, numbers, seed)
