"""Compare a match with a golden file, which changes only if the rules are meant to change."""

from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.chance import Dice, seed_from_text
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.observers.reporter import describe_event, format_standings
from fairplay.render.formatting import format_json

MAX_GOLDEN_TURNS = 10_000


def golden_text(game: Game[Any, Any, Any], seed: str, *, seats: int | None = None) -> str:
    """A random match from this seed as text: what happened, how it ended, and the last state as JSON."""
    count, dealt = seats or game.seats[0], seed_from_text(seed)
    match = Match(game, game.deal(count, dealt), tuple(f"player-{seat + 1}" for seat in range(count)), seed=dealt)
    dice, lines = Dice(dealt, 0), [f"{game.name} {game.version}, seed {seed}, {count} seats"]
    while (seat := match.turn) is not None and len(lines) < MAX_GOLDEN_TURNS:
        action = game.random_action(match.view(seat), dice)
        fact: Fact = Acted(seat, action)
        if action is None:
            fact = Ejected(seat, Fault.ILLEGAL, Moment.TURN, "no legal option")
        match = match.after(fact)
        lines += describe_event(fact, match.names)
    lines += [
        *format_standings(match.result, match.names),
        format_json(msgspec.to_builtins(game.pack_state(match.state))),
    ]
    return "\n".join([*lines, ""])


def check_golden(
    game: Game[Any, Any, Any], file: Path | str, *, seed: str = "golden", seats: int | None = None
) -> None:
    """Raise AssertionError unless a match is the same as in this file; a missing file is written first."""
    path, text = Path(file), golden_text(game, seed, seats=seats)
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        raise AssertionError(f"{path} was missing and has been written: check it, and commit it")
    golden = path.read_text(encoding="utf-8")
    for number, (was, now) in enumerate(zip(golden.splitlines(), text.splitlines(), strict=False), 1):
        if was != now:
            raise AssertionError(
                f"{path}, line {number}: it was {was!r}, and now is {now!r}; if this is meant, delete the file"
            )
    if golden != text:
        raise AssertionError(
            f"{path}: it had {len(golden)} characters, and now has {len(text)}; if this is meant, delete the file"
        )
