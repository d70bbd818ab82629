"""Answer the course's test harnesses of Tsuro: xtiles, xboard, xrules, xref, xadmin."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.course.formats.plain import read
from fairplay.course.formats.tsuro import SIZE, action_from, place_to, table_from, turn_from
from fairplay.course.harness.cases import Each
from fairplay.games.tsuro.board import OUT, prospect
from fairplay.games.tsuro.pieces import EXITS, PORTS, Degrees, Port, Tile, code_of
from fairplay.games.tsuro.rules import STANDARD
from fairplay.games.tsuro.view import View
from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted import Names, Ranking
from fairplay.tournament.courses import TsuroCourse
from fairplay.tournament.events import Audience
from fairplay.tournament.notebook import begun
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import here
from fairplay.tournament.spec import Cup

STRATEGIES = ("first", "second", "third")  # of the house
CYCLE = {"tiles": "cycle"}  # how the course deals
Players = Annotated[tuple[str, ...], Meta(min_length=3, max_length=5)]


class PlayerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What xadmin reads of a player; the name of the strategy may be the path of a program."""

    name: str
    strategy: str


def xtiles(*plain: Any) -> Each:
    """For each tile and entrance, the exit."""
    answers = Each()
    for one in plain:
        tile, degrees, port = read(one, tuple[Tile, Degrees, Port], "a tile with an entrance of Tsuro")
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
    names = read(plain, Players, "a list of three to five names of Tsuro")
    cup = cup_of([STRATEGIES[0]] * len(names))
    return report(names, *conducted(cup))


def xadmin(plain: Any) -> dict[str, Any]:
    """How a tournament comes out."""
    players = read(plain, tuple[PlayerSpec, ...], "a list of players of Tsuro")
    cup = cup_of([strategy(player.strategy) for player in players])
    return report([player.name for player in players], *conducted(cup))


def strategy(path: str) -> str:
    """The strategy that the name of a program speaks of, as in Players/first-s.rkt."""
    file = path.rpartition("/")[2].lower()
    for name in STRATEGIES:
        if name in file:
            return name
    raise BadRequest(f"there is no strategy {path!r}; there is {', '.join(STRATEGIES)}")


def cup_of(addresses: Sequence[str]) -> Cup:
    """A tournament of the course. People may have the same name there, so players are called by their age."""
    players = tuple(Entrant(address, str(age)) for age, address in enumerate(addresses))
    return Cup(game="tsuro", parameters=CYCLE, players=players, format=TsuroCourse(), seed=bytes(SEED_BYTES))


def conducted(cup: Cup) -> tuple[Ranking, Names]:
    """The winners by rank, and who was expelled; nothing is drawn, so any seed will do."""
    with TemporaryDirectory() as name, begun(Path(name), cup) as notebook, here() as runner:
        ranking = Manager(cup, Path(name), notebook, runner, Audience([])).run()
        return ranking, tuple(player for one in notebook.counted.values() for player in one.expelled)


def report(names: Sequence[str], ranks: Ranking, expelled: Names) -> dict[str, Any]:
    """The names by rank, and of those who cheated; what is empty is left out."""
    winners = [sorted(names[int(age)] for age in rank) for rank in ranks if rank]
    cheaters = sorted(names[int(age)] for age in expelled)
    return {key: found for key, found in (("winners", winners), ("cheaters", cheaters)) if found}


HARNESSES: Mapping[str, Callable[..., Any]] = {
    "xtiles": xtiles,
    "xboard": xboard,
    "xrules": xrules,
    "xref": xref,
    "xadmin": xadmin,
}
