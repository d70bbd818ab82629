"""Translate the calls of the course's Fish: from our messages, and to messages for our players."""

from collections.abc import Sequence
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import Message, Start, TakeTurn
from fairplay.course.dialects.dialect import Call, Dialect, end_message
from fairplay.course.formats.fish import Colour, CourseState, format_state, parse_state
from fairplay.course.formats.plain import action_reader, read, reader
from fairplay.games.fish.actions import Action, Move
from fairplay.games.fish.game import Fish
from fairplay.games.fish.pieces import COLOURS, Position, penguins_each
from fairplay.games.fish.state import PLACING, PLAYING, Stage, State
from fairplay.games.fish.view import View

read_position = reader(Position, "a position of Fish")
read_move = reader(tuple[Position, Position], "a move of Fish")
read_action = action_reader(Action, "an action of Fish")


class FishCallee:
    """A player of the course in one match of ours."""

    def __init__(self, game: Game[Any, Any, Any], name: str) -> None:
        self._placing = True
        self._last_state: State | None = None  # at its last take-turn

    def calls(self, message: Message) -> Sequence[Call]:
        """The greeting is two calls; the end of a match has none, only that of the tournament."""
        if isinstance(message, TakeTurn):
            return (self._turn(message.view.state),)
        if isinstance(message, Start):
            colours = message.view.state.colours
            own = colours[message.seat]
            others = [colour for colour in colours if colour != own]  # also those that failed at the greeting
            return Call("playing-as", (own,)), Call("playing-with", (others,))
        return ()

    def _turn(self, state: State) -> Call:
        self._placing = state.stage is PLACING
        if self._placing:
            return Call("setup", (format_state(state),))
        before, self._last_state = self._last_state, state
        return Call("take-turn", (format_state(state), [] if before is None else moves_between(before, state)))

    def action(self, reply: Any) -> Any:
        """A position while placing, then a pair of them."""
        if self._placing:
            read_position(reply)
            return {"type": "place", "at": reply}
        read_move(reply)
        return {"type": "move", "from": reply[0], "to": reply[1]}


def moves_between(before: State, now: State) -> list[Any]:
    """The moves of the others between two turns of a player; with its own move, they lead from `before` to `now`.

    Empty, which means "look at the state", if a player left or was skipped. A stuck player stays stuck until a player
    leaves, so each of the others has moved once.
    """
    if before.order != now.order:  # both begin with the player
        return []
    positions, moves = now.grid.positions, list[Any]()
    for seat in now.order[1:]:
        if before.penguins[seat] == now.penguins[seat]:  # it was skipped
            return []
        for start, to in zip(before.penguins[seat], now.penguins[seat], strict=True):
            if start != to:
                moves.append([[*positions[start]], [*positions[to]]])
    return moves


def game_with_board(rows: int, columns: int) -> Fish:
    """A game on a board of this size, with unknown origin."""
    return Fish(rows=rows, columns=columns, holes="random")


class FishCaller:
    """A server of the course that our player plays at; seats follow the fixed order of the colours.

    Unknown are the scores of players that left (the last known ones are kept), the number of penguins (it follows from
    the number of players), and how the board was made (assumed: fish and holes at random).
    """

    def __init__(self, name: str) -> None:
        self.warning = ""
        self._colour = ""  # ours
        self._table: tuple[str, ...] = ()  # the colours of a match, by seat; none: it has not begun
        self._game = game_with_board(5, 5)  # usual; the first state of a match tells
        self._has_begun = False
        self._scores: tuple[int, ...] = ()

    @property
    def game(self) -> Fish:
        """The game with a board as large as in the last state."""
        return self._game

    def messages(self, call: Call) -> Sequence[Message]:
        """A match starts for our player with its first state."""
        match call.method, call.arguments:
            case "take-turn", (plain, list()):
                return self._turn(plain, PLAYING)
            case "setup", (plain,):
                return self._turn(plain, PLACING)
            case "playing-as", (colour,):
                self._colour = read(colour, Colour, "a colour of Fish")
                self._table, self._has_begun = (), False
                return ()
            case "playing-with", (others,):
                known = {self._colour, *read(others, tuple[Colour, ...], "a list of colours of Fish")}
                self._table = tuple(colour for colour in COLOURS if colour in known)
                self._scores = (0,) * len(self._table)
                return ()
            case "start", (bool(),):
                return ()
            case "end", (bool(won),):
                return (end_message(self._table.index(self._colour), won),) if self._has_begun else ()
        raise BadRequest(f"not a call of Fish: {call.method[:20]} with {len(call.arguments)} arguments")

    def _turn(self, plain: Any, stage: Stage) -> Sequence[Message]:
        state = self._state(parse_state(read(plain, CourseState, "a state of Fish")), stage)
        view = View(state.order[0], state)
        turn = TakeTurn(view)
        if self._has_begun:
            return (turn,)
        self._has_begun, self._game = True, game_with_board(state.grid.rows, state.grid.columns)
        return Start(state.order[0], self._table, view), turn

    def _state(self, shown: State, stage: Stage) -> State:
        """The state, with seats in the order of the colours."""
        table = self._table
        if shown.colours[:1] != (self._colour,) or not set(shown.colours) <= set(table):
            raise BadRequest(f"not a state of Fish for {self._colour or 'a player without colour'}")
        order = tuple(table.index(colour) for colour in shown.colours)
        if len(set(order)) < len(order):
            raise BadRequest("not a state of Fish: a colour comes twice")
        if stage is PLAYING and not shown.can_move(0):
            raise BadRequest("not a turn of Fish: there is nothing to move")
        penguins: list[tuple[int, ...]] = [()] * len(table)
        scores = list(self._scores)
        for place, seat in enumerate(order):
            penguins[seat], scores[seat] = shown.penguins[place], shown.scores[place]
        self._scores = tuple(scores)
        each = max(penguins_each(len(table)), shown.each, len(shown.penguins[0]) + (stage is PLACING))
        return State(shown.grid, shown.fish, shown.free, tuple(penguins), self._scores, order, stage, each, table)

    def reply(self, action: Any) -> Any:
        """A position, or a pair of them; the server checks which is due."""
        action = read_action(action)
        return [action.start, action.to] if isinstance(action, Move) else action.at


DIALECT = Dialect(
    "fish",
    FishCallee,
    FishCaller,
    name=r"\A[a-zA-Z]{1,12}\Z",
    name_rule="1 to 12 letters",
    opening=Call("start", (True,)),
    closing="end",
)
