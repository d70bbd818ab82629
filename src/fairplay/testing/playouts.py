"""Play matches at random, so that laws can be tried at every position of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match

AnyMatch = Match[Any, Any, Any]


class Position(msgspec.Struct, frozen=True):
    """A match at one point of a playout, and how it came there."""

    match: AnyMatch
    packed: bytes  # its state in JSON, before any check
    where: str  # the seed and the number of actions, for people
    before: AnyMatch | None = None
    fact: Fact | None = None  # what led here from `before`
    seed: bytes | None = None  # of its deal, if this is the deal


class Sampling(msgspec.Struct, frozen=True):
    """The limits of a playout, and its randomness."""

    lots: SeededRandom
    turns: int  # at most, of a match
    breadth: int  # actions at most, among which one is drawn


def playout(match: AnyMatch, sampling: Sampling, label: str, seed: bytes | None = None) -> list[Position]:
    """Every position of a match that is played at random from here to its end."""
    positions: list[Position] = []
    acts = 0
    facts = play_events(match, sampling)
    while True:
        with law_failure_heading(f"every match comes to its end: {{}} ({describe_position(label, match, acts)})"):
            if not positions:
                positions.append(Position(match, pack_state(match), describe_position(label, match, acts), seed=seed))
            fact, after = next(facts, (None, match))
            if fact is None:
                return positions
            acts += isinstance(fact, Acted)
            positions.append(Position(after, pack_state(after), describe_position(label, after, acts), match, fact))
            match = after


def play_events(match: AnyMatch, sampling: Sampling) -> Iterator[tuple[Fact, AnyMatch]]:
    """Each next fact, and the match after it, until the game is over."""
    for _ in range(sampling.turns):
        seat = match.turn
        if seat is None:
            return
        fact = next_fact(match, seat, sampling)
        match = match.after(fact)
        yield fact, match
    if match.turn is not None:
        raise AssertionError(f"the game is not over after {sampling.turns} turns")


def next_fact(match: AnyMatch, seat: Seat, sampling: Sampling) -> Fact:
    """A random action of the seat on turn; a seat without legal options is ejected."""
    options = list(islice(match.game.actions(match.view(seat)), sampling.breadth))
    if not options:
        return Ejected(seat, Fault.ILLEGAL, Moment.TURN, "no legal option")
    return Acted(seat, options[sampling.lots.below(len(options))])


def possible_ejections(match: AnyMatch) -> list[Ejected]:
    """All ejections that are possible now: a greeting comes again when a match is resumed."""
    ways = [(seat, Moment.GREETING) for seat in match.remaining_seats]
    ways += [(news.seat, Moment.NEWS) for news in match.pending_news]
    if match.turn is not None:
        ways.append((match.turn, Moment.TURN))
    return [Ejected(seat, Fault.GONE, moment, "tried out") for seat, moment in ways]


def pack_state(match: AnyMatch) -> bytes:
    """The state as JSON."""
    return msgspec.json.encode(match.game.pack_state(match.state))


def describe_position(label: str, match: AnyMatch, acts: int) -> str:
    """A position as text: how to get there again."""
    ejections = f" and {len(match.ejected)} ejected" if match.ejected else ""
    return f"{label}, {len(match.names)} seats, after {acts} actions{ejections}"


@contextmanager
def law_failure_heading(heading: str) -> Iterator[None]:
    """Turn every exception into a broken law, with this heading."""
    try:
        yield
    except AssertionError as broken:
        raise AssertionError(heading.format(broken)) from broken
    except Exception as error:
        raise AssertionError(heading.format(f"{type(error).__name__}: {error}")) from error
