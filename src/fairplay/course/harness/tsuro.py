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
from fairplay.course.formats.tsuro import COURSE_BOARD_SIZE, format_place, parse_action, parse_table, parse_turn
from fairplay.course.harness.cases import AnswerList
from fairplay.games.tsuro.board import OUT, prospect
from fairplay.games.tsuro.pieces import EXITS, PORTS, Degrees, Port, Tile, code_of
from fairplay.games.tsuro.rules import STANDARD
from fairplay.games.tsuro.view import View
from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import Names, Ranking
from fairplay.tournament.courses import TsuroCourse
from fairplay.tournament.events import TournamentObservers
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import inline_runner
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.tournament_log import create_log

STRATEGIES = ("first", "second", "third")  # built-in players
CYCLE_PARAMETERS = {"tiles": "cycle"}  # the deal of the course
Players = Annotated[tuple[str, ...], Meta(min_length=3, max_length=5)]


class PlayerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What xadmin reads of a player; the name of the strategy may be the path of a program."""

    name: str
    strategy: str


def xtiles(*plain: Any) -> AnswerList:
    """The exit for each tile and entrance."""
    answers = AnswerList()
    for one in plain:
        tile, degrees, port = read(one, tuple[Tile, Degrees, Port], "a tile with an entrance of Tsuro")
        leave = PORTS[EXITS[code_of(tile, degrees) << 3 | PORTS.index(port)]]
        answers.append(["if ", port, " is the entrance, ", leave, " is the exit."])
    return answers


def xboard(plain: Any, *actions: Any) -> Any:
    """The fate of red when tiles are laid, legally or not."""
    table, seats = parse_table(plain)
    moves = [parse_action(action) for action in actions]
    if "red" not in seats:
        return "red never played"
    red, board, avatars = seats["red"], table.board, table.avatars
    for colour, lay in moves:
        seat = seats.get(colour)
        if seat is None or avatars[seat] == OUT:
            continue
        square = table.grid.ahead[avatars[seat]] >> 3
        what = prospect(COURSE_BOARD_SIZE, board, avatars, square, code_of(lay.tile, lay.degrees))
        if what.looping:
            return "infinite"
        if any(meet(what.avatars, pair) and not meet(avatars, pair) for pair in combinations(seats.values(), 2)):
            return "collision"
        if what.avatars[red] == OUT:
            return "red died"
        board, avatars = what.board, what.avatars
    return format_place(board, "red", avatars[red])


def meet(avatars: tuple[int, ...], pair: tuple[int, int]) -> bool:
    """Do two avatars stand on the same port?"""
    one, other = pair
    return avatars[one] == avatars[other] != OUT


def xrules(plain: Any, turn: Any) -> str:
    """Is a turn legal?"""
    table, seats = parse_table(plain)
    colour, lay, dealt = parse_turn(turn)
    if colour not in seats:
        return "cheating"
    on_turn = msgspec.structs.replace(table, waiting=(seats[colour],))
    try:
        STANDARD.check_lay(View(seats[colour], on_turn, dealt), lay)
    except IllegalAction:
        return "cheating"
    return "legal"


def xref(plain: Any) -> dict[str, Any]:
    """The result of a game in which all players use the first strategy."""
    names = read(plain, Players, "a list of three to five names of Tsuro")
    tournament = make_tournament([STRATEGIES[0]] * len(names))
    return format_report(names, *run_tournament(tournament))


def xadmin(plain: Any) -> dict[str, Any]:
    """The result of a tournament."""
    players = read(plain, tuple[PlayerSpec, ...], "a list of players of Tsuro")
    tournament = make_tournament([parse_strategy(player.strategy) for player in players])
    return format_report([player.name for player in players], *run_tournament(tournament))


def parse_strategy(path: str) -> str:
    """The strategy in the name of a program, as in Players/first-s.rkt."""
    file = path.rpartition("/")[2].lower()
    for name in STRATEGIES:
        if name in file:
            return name
    raise BadRequest(f"there is no strategy {path!r}; there is {', '.join(STRATEGIES)}")


def make_tournament(addresses: Sequence[str]) -> TournamentSpec:
    """A tournament of the course. Names may repeat there, so players are named by their age."""
    players = tuple(Entrant(address, str(age)) for age, address in enumerate(addresses))
    return TournamentSpec(
        game="tsuro", parameters=CYCLE_PARAMETERS, players=players, format=TsuroCourse(), seed=bytes(SEED_BYTES)
    )


def run_tournament(tournament: TournamentSpec) -> tuple[Ranking, Names]:
    """The winners by rank, and the expelled players; nothing is random, so any seed will do."""
    with TemporaryDirectory() as name, create_log(Path(name), tournament) as log, inline_runner() as runner:
        ranking = Manager(tournament, Path(name), log, runner, TournamentObservers([])).run()
        return ranking, tuple(player for one in log.counted.values() for player in one.expelled)


def format_report(names: Sequence[str], ranks: Ranking, expelled: Names) -> dict[str, Any]:
    """The names by rank, and those of cheaters, without empty parts."""
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
