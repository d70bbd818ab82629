"""Format and parse actions of the toy, as people type them."""

from fairplay.core.errors import BadRequest
from tests.toy import Action, Pass, Play, View

HELP = "A card by its number, or pass."


def write(action: Action) -> str:
    return str(action.card) if isinstance(action, Play) else "pass"


def read(view: View, words: str) -> Action:
    if words == "pass":
        return Pass()
    if not words.isdecimal():
        raise BadRequest(f"{words!r} is no card; write its number, or pass")
    return Play(int(words))
