"""Watch a match through a hub: those who take everything, those who take nothing now and then, and what they know."""

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from fairplay import Ejected, Ended, Event, Fault, Match, Moment, Started
from fairplay.core.chance import Lots
from fairplay.games import title
from fairplay.server.spectating.hub import Hub
from fairplay.server.spectating.patches import after_patch
from fairplay.testing.playouts import Sampling, playout

AnyMatch = Match[Any, Any, Any]
SEED = bytes(range(32))
Story = list[tuple[Event, AnyMatch]]  # every event of a match, with the match after it


class Spectator:
    """Makes for itself what it is told; `takes` says whether it can take a line now."""

    def __init__(self, takes: Callable[[], bool] = lambda: True) -> None:
        self.lines: list[dict[str, Any]] = []
        self.knows: dict[str, Any] = {}  # the snapshot as it stands for it
        self.takes = takes
        self.refused = 0

    def offer(self, text: bytes) -> bool:
        """Take a line, if it can."""
        if not self.takes():
            self.refused += 1
            return False
        assert text.endswith(b"\n") and text.count(b"\n") == 1 and text.isascii()
        line = json.loads(text)
        self.lines.append(line)
        self.knows = line if line["type"] == "snapshot" else after_patch(self.knows, line)
        return True

    @property
    def heard(self) -> list[tuple[str, int]]:
        """What came, and the numbers of it."""
        return [(line["type"], line["seq"]) for line in self.lines]


def story(game: str, seats: int = 3) -> Story:
    """All that happens in a match that is played at random; where there are three, one is ejected in the middle."""
    rules = title(game).rules(**title(game).quick)
    names = ("ann", "bob", "cyd")[:seats]
    state = rules.deal(seats, SEED)
    if hasattr(state, "pile"):  # so that it is over soon
        state = replace(state, pile=state.pile[:40])
    match: AnyMatch = Match(rules, state, names, seed=SEED, id=f"{game}-1")
    told: Story = [(Started(names, match.commitment), match), *played(match)]
    if seats > 2:
        told = told[: len(told) // 2]
        match = told[-1][1]
        assert match.turn is not None
        ejected = Ejected(match.turn, Fault.ILLEGAL, Moment.TURN, "rule 3.2: not \u202ehere\x1b[2J", "3.2")
        out = match.after(ejected)
        told += [(ejected, out), *played(out)]
    final = told[-1][1]
    return [*told, (Ended(final.result), final)]


def played(match: AnyMatch) -> Story:
    """What happens in a match from here on, if it is played at random."""
    positions = playout(match, Sampling(Lots(SEED), 10_000, 20), match.game.name)
    return [(one.fact, one.match) for one in positions if one.fact is not None]


def seen_now(hub: Hub) -> dict[str, Any]:
    """The snapshot that somebody gets who comes now."""
    late = Spectator()
    hub.add(late)
    hub.remove(late)
    assert [kind for kind, _ in late.heard] == ["snapshot"]
    return late.knows
