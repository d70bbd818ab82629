"""Answer the course's test harnesses of Fish: xboard, xstate, xtree, xstrategy, xref."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.course.formats.fish import Board, CourseState, format_action, format_state, pad_rows, parse_state
from fairplay.course.formats.plain import read
from fairplay.games.fish.actions import Move
from fairplay.games.fish.game import Fish, Side
from fairplay.games.fish.pieces import MAX_FISH, Position
from fairplay.games.fish.search import best_move
from fairplay.games.fish.state import move_penguin, state_of
from fairplay.games.fish.strategies import DEPTHS, lookahead
from fairplay.games.fish.tree import Node
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel

Depth = Annotated[int, msgspec.Meta(ge=0, le=DEPTHS[-1])]  # 0 in one edition of the course: the first move of all


class BoardPosition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What xboard reads."""

    position: Position
    board: Board


class MoveResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """What xtree reads: a position, and a move of the player on turn."""

    state: CourseState
    start: Position
    to: Position


class GameDescription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What xref reads: the players by age, each with the depth of its look-ahead."""

    row: Side
    column: Side
    players: Annotated[tuple[tuple[str, Depth], ...], msgspec.Meta(min_length=Fish.seats[0], max_length=Fish.seats[-1])]
    fish: Annotated[int, msgspec.Meta(ge=1, le=MAX_FISH)]


def xboard(plain: Any) -> int:
    """How many tiles can be reached from a position, on a board without penguins?"""
    asked = read(plain, BoardPosition, "a Board-Position of Fish")
    state = state_of(pad_rows(asked.board), [])
    cell = state.grid.cell(asked.position)
    if cell is None:
        raise BadRequest(f"the position {list(asked.position)} is not on the board")
    return len(state.grid.moves([cell], state.free))


def xstate(plain: Any) -> Any:
    """The position after the silly move: the first penguin of the first player, one step, in the first direction."""
    state = parse_state(read(plain, CourseState, "a state of Fish"))
    if not state.order or not state.penguins[state.order[0]]:
        return False
    first = state.penguins[state.order[0]][0]
    for line in state.grid.lines[first]:
        if line and state.free >> line[0] & 1:
            return format_state(move_penguin(state, first, line[0]))
    return False


def xtree(plain: Any) -> Any:
    """The answer of the next player to a move: a penguin beside it, in the first direction that can be reached."""
    asked = read(plain, MoveResponse, "a Move-Response-Query of Fish")
    node = Node(parse_state(asked.state)).child(Move(asked.start, asked.to))
    answers = [branch for branch in node.branches() if isinstance(branch, Move)]
    grid = node.state.grid
    for line in grid.lines[grid.positions.index(asked.to)]:
        beside = [answer.start for answer in answers if line and answer.to == grid.positions[line[0]]]
        if beside:
            return format_action(Move(min(beside), grid.positions[line[0]]))
    return False


def xstrategy(plain: Any) -> Any:
    """The move of the first player, looking ahead as deep as asked."""
    depth, course = read(plain, tuple[Depth, CourseState], "a Depth-State of Fish")
    state = parse_state(course)
    return format_action(best_move(state, state.order[0], depth) if state.order else None)


def xref(plain: Any) -> list[str]:
    """The names of the winners of a whole game, sorted."""
    asked = read(plain, GameDescription, "a Game-Description of Fish")
    game = Fish(rows=asked.row, columns=asked.column, fish=asked.fish, cramped=True)
    names = tuple(name for name, _ in asked.players)
    match = Match(game, game.deal(len(names), bytes(SEED_BYTES)), names)  # nothing is random, so any seed will do
    ranking = play(match, [LocalChannel(lookahead(depth), game) for _, depth in asked.players]).result.ranking
    return sorted(names[seat] for seat in ranking[0]) if ranking else []


HARNESSES: Mapping[str, Callable[..., Any]] = {
    "xboard": xboard,
    "xstate": xstate,
    "xtree": xtree,
    "xstrategy": xstrategy,
    "xref": xref,
}
