"""Make example positions of any game of the kit: from its start, its middle, and shortly before its end."""

from collections.abc import Mapping
from typing import Any

from fairplay.core.chance import Dice, seed_from_text
from fairplay.kit.game import BoardGame, State

SEED = seed_from_text("examples")
MAX_TURNS = 10_000  # of a match, which might never end


def examples_of(rules: type[BoardGame[Any, Any]]) -> Mapping[str, State[Any]]:
    """Three positions of a random match, which is always the same."""
    states = random_match(rules())
    return {"start": states[0], "in the middle": states[len(states) // 2], "near the end": states[-2:][0]}


def random_match(game: BoardGame[Any, Any]) -> list[State[Any]]:
    """All states of a random match between as few players as possible."""
    dice, state = Dice(SEED, 0), game.deal(game.seats[0], SEED)
    states = [state]
    while (seat := game.turn(state)) is not None and len(states) < MAX_TURNS:
        options = list(game.moves(state.position, seat))
        state = game.apply(state, options[dice.below(len(options))])
        states.append(state)
    return states
