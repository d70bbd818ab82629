"""Play Fish at random with `fairplay.bot.run`, which speaks the protocol.

fairplay play fish exec:"python3 fish_sdk.py" greedy
"""

import random

from fairplay.bot import run
from fairplay.games.fish import Action, Fish, View


def take_turn(view: View) -> Action:
    """Answer with a random legal action. What this function prints goes to stderr."""
    return random.choice(list(Fish().actions(view)))


if __name__ == "__main__":
    run(take_turn, name="random-walk")
