"""Play Fish with the kit of fairplay, which does the talking: any legal action will do, and this takes a random one.

fairplay play fish exec:"python3 fish_sdk.py" greedy
"""

import random

from fairplay.bot import run
from fairplay.games.fish import Action, Fish, View


def take_turn(view: View) -> Action:
    """Answer with an action. What is printed in here goes to stderr."""
    return random.choice(list(Fish().actions(view)))


if __name__ == "__main__":
    run(take_turn, name="random-walk")
