"""Make illegal actions in any game of the kit: one far off the board, and one that is legal in another position."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.roles import Cheat
from fairplay.kit.examples import random_match
from fairplay.kit.game import BoardGame, View

FAR_NUMBER = 10**6
MAX_CHEAT_CANDIDATES = 1000


def action_far_away(view: View[Any]) -> Any:
    """§0.2: an action with a number that is far beyond any board."""
    for action in islice(view.game.actions(view), MAX_CHEAT_CANDIDATES):
        changed = replace_first_number(msgspec.to_builtins(action))
        with suppress(msgspec.ValidationError):  # if its type does not allow the number
            if changed is not None:
                return msgspec.convert(changed, view.game.action)
    return None


def action_not_offered(view: View[Any]) -> Any:
    """§0.2: an action that is legal in another position, but not in this one."""
    offered = list(islice(view.game.actions(view), MAX_CHEAT_CANDIDATES))
    for state in random_match(view.game):
        if (seat := view.game.turn(state)) is not None:
            for action in islice(view.game.moves(state.position, seat), MAX_CHEAT_CANDIDATES):
                if action not in offered:
                    return action
    return None


def replace_first_number(plain: Any) -> Any:
    """Plain JSON with FAR_NUMBER for its first number; None: it has no number."""
    match plain:
        case dict():
            for key, value in plain.items():
                if (changed := replace_first_number(value)) is not None:
                    return {**plain, key: changed}
        case list() | tuple():
            for index, value in enumerate(plain):
                if (changed := replace_first_number(value)) is not None:
                    return [*plain[:index], changed, *plain[index + 1 :]]
        case bool():
            return None
        case int():
            return FAR_NUMBER
    return None


def cheats_of(rules: type[BoardGame[Any, Any]]) -> Mapping[str, Cheat]:
    """Both illegal actions, by names that no other game has."""
    return {
        f"goes far away in {rules.name}": action_far_away,
        f"does what is not offered in {rules.name}": action_not_offered,
    }


def rare_cheats_of(rules: type[BoardGame[Any, Any]]) -> frozenset[str]:
    """The names of the illegal actions that are not possible at the start."""
    view = rules().view(rules().deal(rules.seats[0], bytes(32)), 0)
    return frozenset(name for name, cheat in cheats_of(rules).items() if cheat(view) is None)
