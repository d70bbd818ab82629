"""Play the golden matches, and write them as text for people to read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.games import game_info, make_game
from fairplay.observers.reporter import describe_event
from fairplay.players.address import open_player, split_label
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match

HERE = Path(__file__).parent


class Playthrough(msgspec.Struct, frozen=True):
    """A match that has to come out the same for ever, or the change is meant."""

    game: str
    parameters: dict[str, Any]
    players: tuple[str, ...]
    seed: str
    fails: dict[str, int] = {}  # which player raises on which of its turns


GOLDENS = {
    "fish-two": Playthrough("fish", {"rows": 4, "columns": 3, "fish": 2}, ("ann=lookahead:2", "bob=greedy"), "two"),
    "fish-holes": Playthrough(
        "fish", {"rows": 5, "columns": 5, "holes": 6}, ("ann=random", "bob=lookahead:1", "cyd=greedy"), "holes"
    ),
    "fish-four-colours": Playthrough(
        "fish",
        {"rows": 6, "columns": 4, "colours": "random"},
        ("a=greedy", "b=random", "c=lookahead:2", "d=random"),
        "4",
    ),
    "fish-ejections": Playthrough(
        "fish", {"rows": 4, "columns": 4}, ("ann=greedy", "bob=random", "cyd=greedy"), "out", {"ann": 2, "cyd": 5}
    ),
    "tsuro-three": Playthrough("tsuro", {"tiles": "cycle"}, ("ann=first", "bob=second", "cyd=third"), "three"),
    "tsuro-bag-five": Playthrough(
        "tsuro", {"size": 7}, ("a=random", "b=survivor", "c=random", "d=second", "e=random"), "five"
    ),
    "tsuro-ejections": Playthrough(
        "tsuro", {"size": 6}, ("ann=third", "bob=random", "cyd=survivor", "dan=random"), "out", {"bob": 1, "cyd": 3}
    ),
    "q-dag-ldasg": Playthrough("q", {}, ("ann=dag", "bob=ldasg"), "two"),
    "q-three": Playthrough("q", {"q_bonus": 6, "finish_bonus": 6}, ("ann=best", "bob=random", "cyd=dag"), "three"),
    "q-ejections": Playthrough(
        "q", {}, ("ann=random", "bob=best", "cyd=ldasg", "dan=dag"), "out", {"ann": 2, "dan": 4}
    ),
}


def failing_strategy(strategy: Callable[[Any], Any], turn: int | None) -> Callable[[Any], Any]:
    turns = iter(range(1, 1000))

    def take_turn(view: Any) -> Any:
        if next(turns) == turn:
            raise RuntimeError("as planned")
        return strategy(view)

    return take_turn


def playthrough_text(golden: Playthrough) -> str:
    """The text of a playthrough: what is played, then a line per fact, the result, and the final state."""
    game, shelf, seed = make_game(golden.game, golden.parameters), game_info(golden.game), seed_from_text(golden.seed)
    labels, addresses = zip(*map(split_label, golden.players), strict=True)
    table = [
        failing_strategy(open_player(address, shelf, derive_seed(seed, f"seat {seat}")), golden.fails.get(labels[seat]))  # type: ignore[arg-type]  # built-in players are strategies
        for seat, address in enumerate(addresses)
    ]
    begun = deal_match(game, labels, seed, match_id=golden.seed)  # a drawn id would change the commitment
    lines: list[str] = []
    match = play(
        begun,
        [LocalChannel(player, game) for player in table],
        on_event=lambda event, match: lines.extend(describe_event(event, match.names)),
    )
    heading = [f"{game} version {game.version}", f"seed {golden.seed!r}: {', '.join(golden.players)}", ""]
    final = msgspec.json.encode(game.pack_state(match.state)).decode()
    return "\n".join([*heading, *lines, "", final, ""])


def main() -> None:
    """Write all playthroughs anew."""
    for name, golden in GOLDENS.items():
        (HERE / f"{name}.txt").write_text(playthrough_text(golden), encoding="utf-8")


if __name__ == "__main__":
    main()
