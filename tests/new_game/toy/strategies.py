"""Play the toy for the house: the lowest card, or the highest."""

from fairplay.core.roles import HousePlayer, house_player
from tests.toy import Action, Pass, Play, View


def lowest(view: View) -> Action:
    return Play(min(view.hand)) if view.hand else Pass()


def highest(view: View) -> Action:
    return Play(max(view.hand)) if view.hand else Pass()


HOUSE: dict[str, HousePlayer] = {
    "lowest": house_player("lowest", "the lowest card of the hand", lambda key: lowest),
    "highest": house_player("highest", "the highest card of the hand", lambda key: highest),
}
