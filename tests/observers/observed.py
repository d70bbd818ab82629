"""Play a small match of Fish that is observed."""

from typing import Any

from fairplay import Observer
from fairplay.core.match import Match
from fairplay.games.fish import Action, Fish, Place, View
from fairplay.referee.referee import Referee

GAME = Fish(rows=3, columns=3, fish=1)


def first(view: View) -> Action:
    return next(GAME.actions(view))


def cheat(view: View) -> Action:
    return Place((99, 99))


def observe_match(
    observer: Observer, players: list[Any], names: tuple[str, ...], **options: Any
) -> Match[Any, Any, Any]:
    referee = Referee(**options)
    referee.subscribe(observer)
    return referee.run(GAME, players, names=names, seed=bytes(32), match_id="feed-1")
