"""Compare players of your own with built-in ones in a small tournament, and print how often each was better.

python examples/a_tournament.py DIRECTORY
"""

import sys
from typing import Any

import fairplay as fp
from fairplay.games.fish import Fish, Move, View

FISH = Fish(rows=5, columns=5)


def most_fish(view: View) -> Any:
    """Go where the most fish are."""
    return max(FISH.actions(view), key=lambda action: view.board[action.to if isinstance(action, Move) else action.at])


class Careless:
    """Takes the last action that there is, and nothing at all when it has few of them."""

    def take_turn(self, view: View) -> Any:
        """Answer with an action, or with None, for which a player is ejected."""
        actions = list(FISH.actions(view))
        return actions[-1] if len(actions) > 2 else None


def main(directory: str) -> None:
    """Play the tournament into a directory, or resume it there."""
    players = {"ann": most_fish, "bob": Careless, "greedy": "greedy"}
    result = fp.run_tournament(FISH, players, format=fp.RoundRobin(games=30), seed=7, directory=directory)
    for row in result.standings:
        ejected = ", ".join(f"{count} x {fault}" for fault, count in row.faults.items())
        print(f"{row.place}. {row.name:<8}{row.points:>5} of {row.games} {ejected}".rstrip())
    print(f"report: {result.report}")


if __name__ == "__main__":
    main(sys.argv[1])
