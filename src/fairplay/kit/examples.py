"""Find positions of any game of the kit worth a name: its beginning, its middle, and shortly before its end."""

from collections.abc import Mapping
from typing import Any

from fairplay.core.chance import Dice, seed_from_text
from fairplay.kit.game import BoardGame, State

SEED = seed_from_text("examples")
MAX_TURNS = 10_000  # of a match, which may never end


def examples_of(rules: type[BoardGame[Any, Any]]) -> Mapping[str, State[Any]]:
    """Three positions of a match that is played at random, always the same."""
    story = random_match(rules())
    return {"start": story[0], "in the middle": story[len(story) // 2], "near the end": story[-2:][0]}


def random_match(game: BoardGame[Any, Any]) -> list[State[Any]]:
    """Every state of a match between as few as possible."""
    dice, state = Dice(SEED, 0), game.deal(game.seats[0], SEED)
    story = [state]
    while (seat := game.turn(state)) is not None and len(story) < MAX_TURNS:
        options = list(game.moves(state.position, seat))
        state = game.apply(state, options[dice.below(len(options))])
        story.append(state)
    return story
