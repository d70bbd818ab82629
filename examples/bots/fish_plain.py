"""Play Fish with only Python's standard library: read one JSON object per line, and write one.

    fairplay play fish exec:"python3 fish_plain.py" greedy

It chooses the action that ends on the most fish. docs/protocol.md describes the messages, RULES.md the game.
"""

import json
import sys
from typing import Any

STEPS = (  # to the six tiles around one: from even rows, and from odd rows
    ((-2, 0), (-1, 0), (1, 0), (2, 0), (1, -1), (-1, -1)),
    ((-2, 0), (-1, 1), (1, 1), (2, 0), (1, 0), (-1, 0)),
)


def choose(view: dict[str, Any]) -> dict[str, Any]:
    """The legal action that ends on the most fish."""
    board = view["board"]  # rows of tiles with 1 to 5 fish; 0: a hole
    taken = [penguin for player in view["players"] for penguin in player["penguins"]]

    def fish(at: list[int]) -> int:  # 0: no penguin can go there
        row, column = at
        on_board = row in range(len(board)) and column in range(len(board[0]))
        return board[row][column] if on_board and at not in taken else 0

    if view["stage"] == "placing":
        places = [[row, column] for row in range(len(board)) for column in range(len(board[0]))]
        return {"type": "place", "at": max(places, key=fish)}
    moves = []
    for penguin in view["players"][view["seat"]]["penguins"]:
        for direction in range(6):
            to = penguin
            while True:  # in a straight line, as far as tiles are free
                down, right = STEPS[to[0] % 2][direction]
                to = [to[0] + down, to[1] + right]
                if not fish(to):
                    break
                moves.append((fish(to), penguin, to))
    _, start, end = max(moves)  # a player on turn can always move
    return {"type": "move", "from": start, "to": end}


def main() -> None:
    """Answer each message with its nonce: an action to take_turn, null to all others; nothing after a goodbye."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "goodbye":
            break
        answer = choose(message["view"]) if message["type"] == "take_turn" else None
        print(
            json.dumps({"nonce": message["nonce"], "answer": answer}), flush=True
        )  # without a flush, it would stay in the buffer


if __name__ == "__main__":
    main()
