"""List the players of Tsuro with colours and status, for pictures and terminals."""

from collections.abc import Sequence

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.state import STILL_IN, Stage, Table
from fairplay.games.tsuro.view import View
from fairplay.render.roster import Look, Player, seat_name

# For people who do not see red or green, these differ in brightness; the letters and patterns help as well.
LOOKS = {
    "white": Look("W", "30;107", "#ffffff"),
    "black": Look("K", "97;40", "#26262c"),
    "red": Look("R", "97;41", "#c91b30"),
    "green": Look("G", "30;42", "#62d788"),
    "blue": Look("B", "97;44", "#2a6edb"),
}


def looks(view: View) -> list[Look]:
    """The look of each seat's avatar."""
    return [LOOKS[colour] for colour in view.table.colours]


def players_of(table: Table, names: Sequence[str]) -> list[Player]:
    """All players, by seat."""
    players = []
    for seat, colour in enumerate(table.colours):
        first = _is_first(table, seat)
        player = Player(
            LOOKS[colour],
            colour,
            seat_name(names, seat),
            _mark(table, seat),
            lit=first or seat in table.waiting[:1],
            out=table.fell[seat] < 0,
            facts=_where(table, seat),
        )
        players.append(player)
    return players


def _mark(table: Table, seat: Seat) -> str:
    """The status of a seat, for the list of players."""
    fell = table.fell[seat]
    if fell < 0:
        return "ejected"
    if fell != STILL_IN:
        return f"out in round {fell}"
    if table.stage is Stage.DONE:
        return "last one left"
    if seat not in table.waiting[:1]:
        return ""
    return "to place" if table.stage is Stage.PLACING else "to lay"


def _is_first(table: Table, seat: Seat) -> bool:
    """Has it come first? If no player is left, those that went out last have (Tsuro §5.2)."""
    latest = STILL_IN if table.alive else max(table.fell)
    return table.stage is Stage.DONE and table.fell[seat] == latest >= 0


def _where(table: Table, seat: Seat) -> str:
    if table.avatars[seat] == OUT:
        return ""
    (x, y), port = table.grid.place(table.avatars[seat])
    ahead = table.grid.squares[table.grid.ahead[table.avatars[seat]] >> 3]
    return f" [{x}, {y}] port {port}, faces {list(ahead)}"


def format_stage(table: Table) -> str:
    """The stage, and the round."""
    match table.stage:
        case Stage.PLACING:
            return "placing"
        case Stage.PLAYING:
            return f"playing, round {table.round}"
        case Stage.DONE:
            return f"done in round {table.round}"
