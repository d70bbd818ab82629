"""Answer the course's test harnesses of Tsuro: xtiles, xboard, xrules, xref, xadmin."""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.course.tsuro import SIZE, action_from, place_to, read, table_from, turn_from
from fairplay.games.tsuro import strategies
from fairplay.games.tsuro.board import OUT, prospect
from fairplay.games.tsuro.pieces import EXITS, PORTS, Degrees, Port, Tile, code_of
from fairplay.games.tsuro.rules import STANDARD
from fairplay.games.tsuro.state import View
from fairplay.harness.cases import Each
from fairplay.harness.knockout import Entrant, Standing, played, tournament

STRATEGIES = {"first": strategies.first, "second": strategies.second, "third": strategies.third}
Names = Annotated[tuple[str, ...], Meta(min_length=3, max_length=5)]


class PlayerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What xadmin reads of a player; the name of the strategy may be the path of a program."""

    name: str
    strategy: str


def xtiles(*plain: Any) -> Each:
    """For each tile and entrance, the exit."""
    answers = Each()
    for one in plain:
        tile, degrees, port = read(one, tuple[Tile, Degrees, Port], "a tile with an entrance")
        leave = PORTS[EXITS[code_of(tile, degrees) << 3 | PORTS.index(port)]]
        answers.append(["if ", port, " is the entrance, ", leave, " is the exit."])
    return answers


def xboard(plain: Any, *actions: Any) -> Any:
    """What becomes of red when tiles are laid, lawfully or not."""
    table, seats = table_from(plain)
    moves = [action_from(action) for action in actions]
    if "red" not in seats:
        return "red never played"
    red, board, avatars = seats["red"], table.board, table.avatars
    for colour, lay in moves:
        seat = seats.get(colour)
        if seat is None or avatars[seat] == OUT:
            continue
        square = table.grid.ahead[avatars[seat]] >> 3
        what = prospect(SIZE, board, avatars, square, code_of(lay.tile, lay.degrees))
        if what.looping:
            return "infinite"
        if any(meet(what.avatars, pair) and not meet(avatars, pair) for pair in combinations(seats.values(), 2)):
            return "collision"
        if what.avatars[red] == OUT:
            return "red died"
        board, avatars = what.board, what.avatars
    return place_to(board, "red", avatars[red])


def meet(avatars: tuple[int, ...], pair: tuple[int, int]) -> bool:
    """Do two avatars stand on one port?"""
    one, other = pair
    return avatars[one] == avatars[other] != OUT


def xrules(plain: Any, turn: Any) -> str:
    """Is a turn lawful?"""
    table, seats = table_from(plain)
    colour, lay, dealt = turn_from(turn)
    if colour not in seats:
        return "cheating"
    on_turn = msgspec.structs.replace(table, waiting=(seats[colour],))
    try:
        STANDARD.check_lay(View(seats[colour], on_turn, dealt), lay)
    except IllegalAction:
        return "cheating"
    return "legal"


def xref(plain: Any) -> dict[str, Any]:
    """How a game of the first strategy comes out, whatever its players are called."""
    names = read(plain, Names, "a list of three to five names")
    return report(played([Entrant(age, name, strategies.first) for age, name in enumerate(names)]))


def xadmin(plain: Any) -> dict[str, Any]:
    """How a tournament comes out."""
    players = read(plain, tuple[PlayerSpec, ...], "a list of players")
    return report(tournament([Entrant(age, one.name, strategy(one.strategy)) for age, one in enumerate(players)]))


def strategy(path: str) -> Callable[[View], Any]:
    """The strategy that the name of a program speaks of, as in Players/first-s.rkt."""
    file = path.rpartition("/")[2].lower()
    for name, found in STRATEGIES.items():
        if name in file:
            return found
    raise BadRequest(f"there is no strategy {path!r}; there is {', '.join(STRATEGIES)}")


def report(standing: Standing) -> dict[str, Any]:
    """The names by rank, and of those who cheated; what is empty is left out."""
    winners = [sorted(entrant.name for entrant in rank) for rank in standing.ranks]
    cheaters = sorted(entrant.name for entrant in standing.cheaters)
    return {key: names for key, names in (("winners", winners), ("cheaters", cheaters)) if names}


HARNESSES: Mapping[str, Callable[..., Any]] = {
    "xtiles": xtiles,
    "xboard": xboard,
    "xrules": xrules,
    "xref": xref,
    "xadmin": xadmin,
}
