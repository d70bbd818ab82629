"""List the players of Fish with colours, scores and status, for pictures and terminals."""

from collections.abc import Mapping, Sequence

from fairplay.core.game import Seat
from fairplay.games.fish.state import Stage, State
from fairplay.games.fish.view import View
from fairplay.render.roster import Look, Player, seat_name

# For people who do not see red, red and brown differ in brightness; the letters help as well.
LOOKS = {
    "red": Look("R", "97;41", "#f4525a"),
    "white": Look("W", "30;107", "#ffffff"),
    "brown": Look("B", "97;48;5;94", "#6f4218"),
    "black": Look("K", "97;40", "#15181d"),
}
UNKNOWN = Look("?", "7", "#8d99a6")


def looks(view: View) -> list[Look]:
    """The look of each seat's penguins."""
    return [look_of(view.state, seat) for seat in range(len(view.state.colours))]


def players_of(state: State, names: Sequence[str]) -> list[Player]:
    """All players, by seat."""
    players = []
    for seat, score in enumerate(state.scores):
        mark = _mark(state, seat)
        out = seat not in state.order
        player = Player(
            look_of(state, seat),
            state.colours[seat],
            seat_name(names, seat),
            mark,
            lit=bool(mark) and not out,
            out=out,
            facts=f"{score:4} fish",
            score=str(score),
        )
        players.append(player)
    return players


def _mark(state: State, seat: Seat) -> str:
    """The status of a seat, for the list of players."""
    if seat not in state.order:
        return "ejected"
    if state.stage is Stage.DONE:
        return "most fish" if state.scores[seat] == max(state.scores[other] for other in state.order) else ""
    if seat != state.order[0]:
        return ""
    return "to place" if state.stage is Stage.PLACING else "to move"


def look_of(state: State, seat: Seat) -> Look:
    """The look of a seat's penguins."""
    return LOOKS.get(state.colours[seat], UNKNOWN)


def occupants(state: State) -> Mapping[int, Seat]:
    """The seat of the penguin on each taken cell."""
    return {cell: seat for seat, cells in enumerate(state.penguins) for cell in cells}
