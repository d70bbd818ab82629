"""Record matches of every game for pages to show, some with a player that fails."""

from collections.abc import Sequence
from itertools import accumulate, cycle
from pathlib import Path
from typing import Any

from fairplay import built_in_strategy
from fairplay.core.game import Game
from fairplay.games import game_info
from fairplay.journal.record import Journal
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match

PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "dag"}


class FailingPlayer:
    """A good player for some turns, and then none at all."""

    def __init__(self, game: str, turns: int) -> None:
        self._good, self._turns = built_in_strategy(game, PLAYERS[game]), turns

    def take_turn(self, view: Any) -> Any:
        self._turns -= 1
        if self._turns < 0:
            raise RuntimeError("a bad day")
        return self._good(view)


def record_match(
    directory: Path,
    game: str,
    names: Sequence[str] = ("ann", "bob", "cyd"),
    *,
    seed: int = 3,
    fails: int | None = 2,
    quick: bool = True,
    sealed: bool = False,
) -> Path:
    """The journal of a match in which the second player fails after so many turns, if it does."""
    rules: Game[Any, Any, Any] = game_info(game).rules.with_parameters(game_info(game).quick if quick else {})
    players: list[Any] = [built_in_strategy(game, PLAYERS[game]) for _ in names]
    if fails is not None:
        players[1] = FailingPlayer(game, fails)
    match = deal_match(
        rules, names, bytes([seed] * 32), match_id=f"{game}-{len(list(directory.iterdir()))}", sealed=sealed
    )
    clock = accumulate(cycle((0.0007, 0.031, 0.4, 1.9, 25.0))).__next__
    with Journal(directory, clock=clock).begin(match) as kept:
        play(match, [LocalChannel(player, rules, clock) for player in players], record=kept)
    return directory / f"{match.id}.jsonl"
