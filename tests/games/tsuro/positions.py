"""Set up positions of Tsuro by hand, and seat players at them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Event
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.games.tsuro import Action, Lay, Place, Stage, State, Tsuro, View
from fairplay.games.tsuro.board import EMPTY
from fairplay.games.tsuro.pieces import COLOURS
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel, strategy_script

TSURO = Tsuro(tiles="cycle")
NAMES = ("ann", "bob", "cyd", "dan", "eve")

Spot = tuple[int, int, str]  # x, y and the port

# Tiles that look the same however they lie.
DIAGONAL = 1  # straight over to the other port of the far side
STRAIGHT = 2  # straight over
CORNERS = 4  # round the nearest corner
UTURN = 34  # back to where one came from


def make_position(
    tiles: Mapping[tuple[int, int], int | tuple[int, int]],
    avatars: Sequence[Spot | None],
    dealt: Sequence[int] = (),
    *,
    size: int = 10,
    stage: str = "playing",
    round: int = 1,
    waiting: Sequence[Seat] | None = None,
    fell: Sequence[int] | None = None,
    starts: Sequence[Spot | None] | None = None,
) -> State:
    """Tiles by their squares, bare or with degrees; avatars by seat; the tiles to be dealt next.

    A player with an avatar is still in, waits for its turn, and stands at its start, if nothing else is said.
    """
    plain = {
        "size": size,
        "stage": stage,
        "round": round,
        "waiting": [seat for seat, spot in enumerate(avatars) if spot] if waiting is None else list(waiting),
        "players": [
            {
                "colour": COLOURS[seat],
                "avatar": spot and list(spot),
                "start": start and list(start),
                "fell": (0 if spot else round) if fell is None else fell[seat],
            }
            for seat, (spot, start) in enumerate(zip(avatars, starts or avatars, strict=True))
        ],
        "tiles": [
            {"tile": tile, "degrees": degrees, "at": list(at)}
            for at, (tile, degrees) in (
                (at, (what, 0) if isinstance(what, int) else what) for at, what in tiles.items()
            )
        ],
        "source": list(dealt),
        "drawn": 0,
    }
    return TSURO.unpack_state(plain)


def spots(state: State) -> list[Spot | None]:
    places = [None if spot < 0 else state.table.grid.place(spot) for spot in state.table.avatars]
    return [place and (*place[0], place[1]) for place in places]


def placed_tiles(state: State) -> dict[tuple[int, int], tuple[int, int]]:
    return {tuple(tile["at"]): (tile["tile"], tile["degrees"]) for tile in TSURO.pack_state(state)["tiles"]}


def legal_actions(state: State, game: Tsuro = TSURO) -> list[Action]:
    return list(game.actions(game.view(state, game.turn(state))))


def play_actions(state: State, *actions: Action, game: Tsuro = TSURO) -> State:
    for action in actions:
        game.check(game.view(state, game.turn(state)), action)
        state = game.apply(state, action)
    return state


def first_action(view: View) -> Action:
    """The first legal option; where there is none, something."""
    something = Place(view.dealt[0], 0, "C", (0, 0)) if view.table.stage is Stage.PLACING else Lay(view.dealt[0], 0)
    return next(TSURO.actions(view), something)


def match_from(state: State, game: Tsuro = TSURO) -> Match[State, View, Action]:
    return Match(game, state, NAMES[: len(state.table.avatars)])


def all_tiles(state: State) -> object:
    """What neither actions nor ejections may change: every tile is on the board, discarded or yet to be dealt.

    Of what was dealt, whatever is not on the board was discarded; a tile that nobody was dealt is one too many.
    """
    on_board = Counter(code // 4 for code in state.table.board if code != EMPTY)
    dealt, ahead = Counter(state.source[: state.drawn]), Counter(state.source[state.drawn :])
    discarded = dealt - on_board
    standing = [spot for spot in state.table.avatars if spot >= 0]
    on_tiles = all(state.table.board[spot >> 3] != EMPTY for spot in standing)
    return on_board + discarded + ahead, on_tiles, state.table.colours, state.table.grid.size


def reshuffle(state: State, seat: Seat | None, lots: SeededRandom) -> State:
    """Another state that this seat cannot tell from the first: what is yet to be dealt, and what others were dealt."""
    known = state.drawn + (len(state.dealt) if seat is not None and TSURO.turn(state) == seat else 0)
    hidden = list(state.source[known:])
    lots.shuffle(hidden)
    return msgspec.structs.replace(state, source=(*state.source[:known], *hidden))


class EventLog:
    """What was announced in a match, with the state after it."""

    def __init__(self) -> None:
        self.heard: list[tuple[Event, State]] = []

    def __call__(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match.state))


def referee_match(
    state: State, scripts: Sequence[Callable[..., Any]] | None = None, game: Tsuro = TSURO
) -> tuple[AnyMatch, list[ScriptedChannel], EventLog]:
    """A match from a position to its end: how it came out, the players with what they heard, and what was announced."""
    seats = len(state.table.avatars)
    table, told = [ScriptedChannel(script) for script in scripts or [strategy_script(first_action)] * seats], EventLog()
    return play(match_from(state, game), table, on_event=told), table, told
