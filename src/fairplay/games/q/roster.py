"""List the players of Q with scores and status, for pictures and terminals."""

from collections.abc import Mapping, Sequence

from fairplay.core.game import Seat
from fairplay.games.q.view import View
from fairplay.render.roster import Look, Player, seat_name

WAITS, ACTS, LEADS, OUT = Look(" ", "2", ""), Look(">", "30;103", ""), Look("*", "30;103", ""), Look("x", "2", "")


def players_of(view: View, names: Sequence[str], seats: int = 0) -> dict[Seat, Player]:
    """All players, by seat; a view has no ejected players, so they are listed only if `names` has them."""
    scores = view.scores
    known = {*range(max(len(names), seats)), *view.order, *(() if view.seat is None else (view.seat,))}
    players, longest = {}, max((len(str(score)) for score in view.points), default=0)
    for seat in sorted(known):
        mark, score = _mark(view, scores, seat), scores.get(seat)
        out = seat not in scores
        players[seat] = Player(
            OUT if out else WAITS if not mark else LEADS if view.done else ACTS,
            f"seat {seat}",
            seat_name(names, seat),
            mark,
            lit=bool(mark) and not out,
            out=out,
            facts="" if score is None else f" {score:{longest}} {'point' if score == 1 else 'points'}",
            score="" if score is None else str(score),
        )
    return players


def _mark(view: View, scores: Mapping[Seat, int], seat: Seat) -> str:
    """The status of a seat, for the list of players."""
    if seat not in scores:
        return "ejected"
    if view.done:
        return "most points" if scores[seat] == max(scores.values()) else ""
    return "to act" if seat == view.order[0] else ""


def format_stage(view: View) -> str:
    """The stage, and how many tiles are in the pile."""
    return f"{'done' if view.done else 'playing'}, {view.left} {'tile' if view.left == 1 else 'tiles'} left"
