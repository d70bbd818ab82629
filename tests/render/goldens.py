"""Draw the golden pictures, and write them to files for people to look at."""

from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fairplay.core.chance import seed_from_text
from fairplay.core.game import Moment
from fairplay.games import game_info, make_game

HERE = Path(__file__).parent / "goldens"
DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("Ann", "Bob", "Cyd", "Dee", "Eve")
WIDE_NAMES = ("W" * 60, "漢字" * 30, "🐧" * 60, "<b>&amp;</b>")
CHOICE_RANGES = {
    "fish": (0, 5000),
    "tsuro": (0, 5000),
    "q": (2, 60),
}  # which actions to choose from; in Q, neither to pass


class Position(NamedTuple):
    """A position of a match at random."""

    game: str
    parameters: dict[str, Any]
    seats: int
    steps: int
    names: tuple[str, ...] = NAMES
    seed: str = "1"
    ejected: int | None = None  # a seat, after half of the steps
    mine: bool = False  # as whoever is on turn sees it


POSITIONS = {
    "fish": Position("fish", {"rows": 8, "columns": 6}, 4, 20, seed="2"),
    "fish-placing": Position("fish", {"rows": 2, "columns": 3, "cramped": True}, 2, 3, WIDE_NAMES),
    "fish-ejection": Position("fish", {"rows": 5, "columns": 4, "holes": 3}, 3, 12, ejected=1),
    "fish-large": Position("fish", {"rows": 9, "columns": 24}, 4, 30),
    "fish-huge": Position("fish", {"rows": 25, "columns": 40}, 4, 60),
    "tsuro": Position("tsuro", {"size": 10}, 5, 38, seed="37"),
    "tsuro-large": Position("tsuro", {"size": 30}, 5, 30),
    "tsuro-placing": Position("tsuro", {"size": 4}, 3, 1, mine=True),
    "tsuro-laying": Position("tsuro", {"size": 6}, 4, 12, WIDE_NAMES, ejected=1, mine=True),
    "q": Position("q", {}, 4, 26, seed="4", mine=True),
    "q-beginning": Position("q", {}, 2, 1, WIDE_NAMES),
    "q-ejection": Position("q", {}, 3, 11, ejected=0),
    "q-large": Position("q", {}, 4, 90),
}
# Which of them are kept, and how they look.
GOLDENS = {
    HERE / "fish.svg": ("fish", {}),
    HERE / "fish-dark.svg": ("fish", {"dark": True}),
    HERE / "fish-small.svg": ("fish", {"small": True}),
    HERE / "fish-placing.svg": ("fish-placing", {}),
    HERE / "fish-large.svg": ("fish-large", {}),
    HERE / "tsuro-laying.svg": ("tsuro-laying", {}),
    HERE / "tsuro-laying-dark.svg": ("tsuro-laying", {"dark": True}),
    HERE / "tsuro-laying-small.svg": ("tsuro-laying", {"small": True}),
    HERE / "tsuro-placing.svg": ("tsuro-placing", {}),
    HERE / "q-ejection.svg": ("q-ejection", {}),
    HERE / "q-dark.svg": ("q", {"dark": True}),
    HERE / "q-small.svg": ("q", {"small": True}),
    HERE / "q-beginning.svg": ("q-beginning", {}),
    DOCS / "board.svg": ("fish", {}),
    DOCS / "tsuro.svg": ("tsuro", {}),
    DOCS / "q.svg": ("q", {}),
}


@cache
def position_views(name: str) -> tuple[Any, Any]:
    position = POSITIONS[name]
    game, lots = make_game(position.game, position.parameters), Random(position.seed)
    states = [game.deal(position.seats, seed_from_text(position.seed))]
    for step in range(position.steps):
        state = states[-1]
        seat = game.turn(state)
        if seat is None:
            break
        actions = list(islice(game.actions(game.view(state, seat)), *CHOICE_RANGES[position.game]))
        if position.ejected is not None and step == position.steps // 2:
            states.append(game.eject(state, position.ejected, Moment.TURN))
        elif actions:
            states.append(game.apply(state, lots.choice(actions)))
        else:
            states.append(game.eject(state, seat, Moment.TURN))
    viewer = game.turn(states[-1]) if position.mine else None
    return game.view(states[-1], viewer), game.view(states[-2], viewer)


def draw_position(name: str, **look: bool) -> str:
    position = POSITIONS[name]
    view, before = position_views(name)
    return game_info(position.game).svg(view, position.names[: position.seats], before=before, **look)


def main() -> None:
    """Write all pictures anew."""
    for path, (name, look) in GOLDENS.items():
        path.write_text(draw_position(name, **look), encoding="utf-8")


if __name__ == "__main__":
    main()
