"""List the players of a game of the kit with signs, scores and status, for pictures and terminals."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairplay.core.game import Seat
from fairplay.kit.game import State, View
from fairplay.render.roster import Look, Player, seat_name

HUES = {  # they all differ in brightness; the signs help as well
    "red": ("97;41", "#c8323c"),
    "blue": ("97;44", "#2a78c8"),
    "yellow": ("30;103", "#ffd23f"),
    "green": ("97;48;5;22", "#1c5c38"),
    "white": ("30;107", "#ffffff"),
    "black": ("97;40", "#15181d"),
    "pink": ("30;48;5;218", "#f7a8c4"),
    "grey": ("30;47", "#93a0ab"),
}
PLAIN = ("7", "#93a0ab")  # for an unknown colour


def looks(view: View[Any]) -> list[Look]:
    """The look of each seat's pieces."""
    return [Look(player.sign, *HUES.get(player.colour, PLAIN)) for player in view.players]


def sign_owners(view: View[Any]) -> Mapping[str, Seat]:
    """The seat of each sign."""
    return {player.sign: player.seat for player in view.players}


def players_of(view: View[Any], names: Sequence[str]) -> list[Player]:
    """All players, by seat."""
    players = []
    for one, look in zip(view.players, looks(view), strict=True):
        mark, out = _mark(view, view.state, one.seat), one.seat not in view.state.order
        score, lit = "" if one.score is None else str(one.score), bool(mark) and not out
        players.append(
            Player(look, one.colour, seat_name(names, one.seat), mark, lit=lit, out=out, facts=score, score=score)
        )
    return players


def _mark(view: View[Any], state: State[Any], seat: Seat) -> str:
    """The status of a seat, for the list of players."""
    if seat not in state.order:
        return "ejected"
    on_turn = view.game.turn(state)
    if on_turn is not None:
        return "to move" if seat == on_turn else ""
    first, *others = view.game.ranking(state)
    if seat not in first:
        return ""
    return "has won" if len(first) == 1 else "shares the win" if others else "a draw"
