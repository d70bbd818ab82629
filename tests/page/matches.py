"""Record matches of every game for pages to show, some with a player that fails."""

from collections.abc import Sequence
from itertools import accumulate, cycle
from pathlib import Path
from typing import Any

from fairplay import Journal, Local, house_strategy, play
from fairplay.core.game import Game
from fairplay.games import title
from fairplay.referee.host import dealt

PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "dag"}


class Failing:
    """A good player for some turns, and then none at all."""

    def __init__(self, game: str, turns: int) -> None:
        self._good, self._turns = house_strategy(game, PLAYERS[game]), turns

    def take_turn(self, view: Any) -> Any:
        self._turns -= 1
        if self._turns < 0:
            raise RuntimeError("a bad day")
        return self._good(view)


def record(
    folder: Path,
    game: str,
    names: Sequence[str] = ("ann", "bob", "cyd"),
    *,
    seed: int = 3,
    fails: int | None = 2,
    quick: bool = True,
    sealed: bool = False,
) -> Path:
    """The journal of a match in which the second player fails after so many turns, if it does."""
    rules: Game[Any, Any, Any] = title(game).rules.with_parameters(title(game).quick if quick else {})
    players: list[Any] = [house_strategy(game, PLAYERS[game]) for _ in names]
    if fails is not None:
        players[1] = Failing(game, fails)
    match = dealt(rules, names, bytes([seed] * 32), match_id=f"{game}-{len(list(folder.iterdir()))}", sealed=sealed)
    clock = accumulate(cycle((0.0007, 0.031, 0.4, 1.9, 25.0))).__next__
    with Journal(folder, clock=clock).begin(match) as kept:
        play(match, [Local(player, rules, clock) for player in players], record=kept)
    return folder / f"{match.id}.jsonl"
