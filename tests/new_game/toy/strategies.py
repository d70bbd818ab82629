"""Define the built-in players of the toy: one plays its lowest card, the other its highest."""

from fairplay.core.roles import BuiltInPlayer, built_in_player
from tests.toy import Action, Pass, Play, View


def lowest(view: View) -> Action:
    return Play(min(view.hand)) if view.hand else Pass()


def highest(view: View) -> Action:
    return Play(max(view.hand)) if view.hand else Pass()


BUILT_IN: dict[str, BuiltInPlayer] = {
    "lowest": built_in_player("lowest", "the lowest card of the hand", lambda key: lowest),
    "highest": built_in_player("highest", "the highest card of the hand", lambda key: highest),
}
