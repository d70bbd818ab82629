"""Make illegal actions, one for each clause of the rules that an action can break."""

from collections.abc import Mapping

from fairplay.core.roles import Cheat
from tests.toy import Action, Pass, Play, View


def not_held(view: View) -> Action:
    """§2: a card that is not in the hand."""
    return Play(10**6)


def passing(view: View) -> Action | None:
    """§3: to pass with a card in the hand."""
    return Pass() if view.hand else None


CHEATS: Mapping[str, Cheat] = {"plays a card of nobody's": not_held, "passes with a card": passing}
