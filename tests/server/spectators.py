"""Watch a match through a hub, with watchers that take all lines or only some."""

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from fairplay import Ejected, Ended, Event, Fault, Moment, Started
from fairplay.core.chance import SeededRandom
from fairplay.core.match import Match
from fairplay.games import game_info
from fairplay.server.spectating.hub import Hub
from fairplay.server.spectating.patches import apply_patch_line
from fairplay.testing.playouts import Sampling, playout

AnyMatch = Match[Any, Any, Any]
SEED = bytes(range(32))
MatchEvents = list[tuple[Event, AnyMatch]]  # every event of a match, with the match after it


class Spectator:
    """A watcher that applies all patches; `takes` says whether it can take a line now."""

    def __init__(self, takes: Callable[[], bool] = lambda: True) -> None:
        self.texts: list[bytes] = []
        self.lines: list[dict[str, Any]] = []
        self.knows: dict[str, Any] = {}  # its current snapshot
        self.can_receive = takes
        self.refused = 0

    def offer(self, text: bytes) -> bool:
        if not self.can_receive():
            self.refused += 1
            return False
        assert text.endswith(b"\n") and text.count(b"\n") == 1 and text.isascii()
        line = json.loads(text)
        self.texts.append(text)
        self.lines.append(line)
        self.knows = line if line["type"] == "snapshot" else apply_patch_line(self.knows, line)
        return True

    @property
    def received(self) -> list[tuple[str, int]]:
        return [(line["type"], line["seq"]) for line in self.lines]


def play_match_events(game: str, seats: int = 3) -> MatchEvents:
    """All events of a random match; one of three players is ejected in the middle."""
    rules = game_info(game).rules(**game_info(game).quick)
    names = ("ann", "bob", "cyd")[:seats]
    state = rules.deal(seats, SEED)
    if hasattr(state, "pile"):  # for a short match
        state = replace(state, pile=state.pile[:40])
    match: AnyMatch = Match(rules, state, names, seed=SEED, id=f"{game}-1")
    events: MatchEvents = [(Started(names, match.commitment), match), *play_events(match)]
    if seats > 2:
        events = events[: len(events) // 2]
        match = events[-1][1]
        assert match.turn is not None
        ejected = Ejected(match.turn, Fault.ILLEGAL, Moment.TURN, "rule 3.2: not \u202ehere\x1b[2J", "3.2")
        out = match.after(ejected)
        events += [(ejected, out), *play_events(out)]
    final = events[-1][1]
    return [*events, (Ended(final.result), final)]


def play_events(match: AnyMatch) -> MatchEvents:
    """The further events of a match that is played at random."""
    positions = playout(match, Sampling(SeededRandom(SEED), 10_000, 20), match.game.name)
    return [(one.fact, one.match) for one in positions if one.fact is not None]


def current_snapshot(hub: Hub) -> dict[str, Any]:
    late = Spectator()
    hub.add(late)
    hub.remove(late)
    assert [kind for kind, _ in late.received] == ["snapshot"]
    return late.knows
