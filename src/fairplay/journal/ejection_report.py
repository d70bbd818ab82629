"""Gather what a journal says of each ejection into a report."""

import re
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, NotOnTurn
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.games import game_info, is_known
from fairplay.journal.lines import Entry, LateAnswer, Resumed, Seated
from fairplay.journal.replay import RecordedMatch

MAX_COUNTED_ACTIONS = 1000
CLAUSE = re.compile(r"^- \*\*(\d+(?:\.\d+)*)\*\* (.+(?:\n {2}.+)*)", re.MULTILINE)


class LegalActions(msgspec.Struct, frozen=True):
    """The legal actions in a view: their number, and the first of them."""

    count: int  # MAX_COUNTED_ACTIONS: that many or more
    example: Any = None


class EjectionReport(msgspec.Struct, frozen=True):
    """One ejection: the player, the time, the fault, and the legal alternatives."""

    match: str  # its id
    game: str
    parameters: dict[str, Any]  # without parameters that players may not know
    seat: Seat
    name: str
    address: str  # empty: the record does not say
    facts: int  # before it
    last: Fact | None  # the last of these facts
    turn: int  # the number of its own turn, from 1: this one or the last one; 0: it had none
    resumed: bool  # the match was resumed before this, with new greetings
    moment: Moment
    fault: Fault
    why: str
    clause: str  # empty: no rule of the game was broken
    rule: str  # the text of this clause
    at: float  # wall time, in seconds
    took: float  # seconds that the player took
    overrun: float | None  # seconds by which a late answer missed its deadline; None: there was none
    shown: Any  # the packed view, or the news; None: the result
    answer: Any  # the refused action; None: there was none
    evidence: Evidence
    legal: LegalActions | None  # None: only an acknowledgement was due


def ejection_reports(recorded: RecordedMatch) -> tuple[EjectionReport, ...]:
    """Every ejection of a match, in order."""
    return tuple(ejection_report(recorded, entry) for entry in recorded.entries if isinstance(entry.fact, Ejected))


def ejection_report(recorded: RecordedMatch, entry: Entry) -> EjectionReport:
    """The ejection on a line of a record that was verified before."""
    ejected, opening, game = entry.fact, recorded.opening, recorded.game
    if not isinstance(ejected, Ejected):
        raise BadRequest(f"line {entry.seq + 1} is not an ejection")
    seat, on_turn = ejected.seat, ejected.moment is Moment.TURN
    earlier = [line for line in recorded.middle if line.seq < entry.seq]
    facts = [line.fact for line in earlier if isinstance(line, Entry)]
    return EjectionReport(
        match=opening.match,
        game=opening.game,
        parameters=game.public_parameters(),
        seat=seat,
        name=next(line.names for line in reversed(earlier) if isinstance(line, Seated))[seat],
        address=opening.players[seat] if seat < len(opening.players) else "",
        facts=len(facts),
        last=facts[-1] if facts else None,
        turn=sum(isinstance(fact, Acted) and fact.seat == seat for fact in facts) + on_turn,
        resumed=any(isinstance(line, Resumed) for line in earlier),
        moment=ejected.moment,
        fault=ejected.fault,
        why=ejected.why,
        clause=ejected.clause,
        rule=clauses(opening.game).get(ejected.clause, ""),
        at=entry.at,
        took=entry.took,
        overrun=next(
            (line.overrun for line in recorded.middle if isinstance(line, LateAnswer) and line.seat == seat), None
        ),
        shown=entry.shown,
        answer=entry.answer,
        evidence=entry.evidence or NO_EVIDENCE,
        legal=legal_actions(game, game.unpack(entry.shown)) if on_turn else None,
    )


def legal_actions(game: Game[Any, Any, Any], view: Any) -> LegalActions:
    """The legal actions in a view, counted up to a limit.

    >>> from fairplay.games.fish import Fish
    >>> game = Fish(rows=3, columns=3)
    >>> legal_actions(game, game.view(game.deal(2, bytes(32)), 0))
    LegalActions(count=9, example=Place(at=(0, 0)))
    """
    found = first_legal_actions(game, view)
    return LegalActions(len(found), found[0] if found else None)


def first_legal_actions(game: Game[Any, Any, Any], view: Any) -> list[Any]:
    """The first legal actions in a view, up to a limit; none if its seat is not on turn."""
    try:
        return list(islice(game.actions(view), MAX_COUNTED_ACTIONS))
    except NotOnTurn:
        return []


@cache
def clauses(game: str) -> Mapping[str, str]:
    """The numbered clauses of a game's rule book; none if the game is not registered.

    >>> clauses("fish")["3.3"]
    'The tile must be free: no penguin stands on it.'
    """
    book = game_info(game).rule_book if is_known(game) else ""
    return {number: " ".join(text.split()) for number, text in CLAUSE.findall(book)}
