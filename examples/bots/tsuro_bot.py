"""Play Tsuro in Python.

    fairplay check-bot tsuro ./tsuro_bot.py
    fairplay play tsuro me=./tsuro_bot.py second third

Change `take_turn`, right below: it is asked for an action on each of your turns. Print what you like, and
`--bot-logs DIR` keeps it. `fairplay rules tsuro` prints the rules.
"""

from fairplay.games.tsuro import Action, Tsuro, View

RULES = Tsuro()


def take_turn(view: View) -> Action:
    """Change this function: it takes the first of the lawful actions."""
    return next(RULES.actions(view))
