"""Describe the result of a match by the names of its players."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import HostFault
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.games import game_info
from fairplay.hosting.prepared_match import AnyMatch
from fairplay.hosting.spec import Outcome, TurnSummary
from fairplay.observers.reporter import format_standings
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable

MAX_NAME_CHARS = 40  # of a name in a repr


class Ejection(msgspec.Struct, frozen=True, kw_only=True):
    """Why a player was ejected from a match.

    Attributes:
        fault: what the player did wrong.
        reason: the reason, which is public.
        moment: when in the match.
        clause: the clause of the game's RULES.md that was broken; empty: none was.
        evidence: what else is known, line by line, for the host alone: it may tell of hidden things.
    """

    fault: Fault
    reason: str
    moment: Moment
    clause: str = ""
    evidence: tuple[str, ...] = ()


class MatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a match came out, by the names of the players.

    Attributes:
        names: the names of the players, by seat.
        ranking: groups of names, the winners first; ties share a set, and ejected players are in none.
        scores: points by name, of ejected players too; empty: the game has no points.
        ejected: why players were ejected, by name and in their order.
        journal: the file of the record; None: there is none.
        match: the final match, with its `game`, `state` and `id`.
        receipt: for the whole record; None: there is none.
        turns: how many turns a player took and for how long, by name; empty: that is not known.
        took: seconds.
    """

    names: tuple[str, ...]
    ranking: list[set[str]]
    scores: dict[str, int]
    ejected: dict[str, Ejection]
    journal: Path | None = None
    match: AnyMatch
    receipt: Receipt | None = None
    turns: dict[str, TurnSummary] = {}
    took: float = 0.0

    @property
    def winners(self) -> set[str]:
        """The first group of the ranking; empty: no player is left to be ranked."""
        return self.ranking[0] if self.ranking else set()

    @property
    def seed(self) -> str | None:
        """The seed of the deal, in hex; None: the match is sealed, or its state was given."""
        return self.match.result.seed

    def show(self) -> None:
        """Print the final position, the ranking and the ejections."""
        text = game_info(self.match.game.name).text
        board = text(self.match.view(None), self.names, colour=sys.stdout.isatty())
        print(board, "", *format_standings(self.match.result, self.names), sep="\n")

    def _repr_svg_(self) -> str | None:
        """The final position as a picture, which a notebook shows."""
        return self.match._repr_svg_()

    def __repr__(self) -> str:
        parts, rank = [], 1
        for group in self.ranking:
            parts.append(f"{rank}. {', '.join(map(self._scored, self._by_seat(group))) or '(no player)'}")
            rank += len(group) or 1
        out = [f"{self._scored(name)} ejected ({why.fault.description})" for name, why in self.ejected.items()]
        journal = "" if self.journal is None else f", journal {str(self.journal)!r}"
        return f"<MatchResult of {self.match.game.name}: {', '.join([*parts, *out])}{journal}>"

    def _by_seat(self, group: set[str]) -> list[str]:
        return [name for name in self.names if name in group]

    def _scored(self, name: str) -> str:
        label = printable(name, MAX_NAME_CHARS)
        return f"{label} {self.scores[name]}" if name in self.scores else label


def match_result(
    match: AnyMatch,
    result: Result | None = None,
    *,
    journal: Path | str | None = None,
    evidence: Sequence[tuple[int, Evidence]] = (),
    turns: Sequence[TurnSummary] = (),
    took: float = 0.0,
) -> MatchResult:
    """The result of a match that is over, from the final match."""
    names, result = match.names, match.result if result is None else result
    known = dict(evidence)
    return MatchResult(
        names=names,
        ranking=[{names[seat] for seat in group} for group in result.ranking],
        scores=dict(zip(names, result.scores or (), strict=result.scores is not None)),
        ejected={names[one.seat]: _ejection(one, known) for one in result.ejected},
        journal=None if journal is None else Path(journal),
        match=match,
        receipt=result.receipt,
        turns=dict(zip(names, turns, strict=bool(turns))),
        took=took,
    )


def result_of_outcome(outcome: Outcome, match: AnyMatch) -> MatchResult:
    """The result of a match by its outcome. Raises HostFault if the host failed."""
    if outcome.result is None:
        raise HostFault(outcome.host_fault)
    return match_result(
        match,
        outcome.result,
        journal=outcome.journal,
        evidence=outcome.evidence,
        turns=outcome.turns,
        took=outcome.took,
    )


def _ejection(ejected: Ejected, evidence: Mapping[int, Evidence]) -> Ejection:
    known = evidence.get(ejected.seat, NO_EVIDENCE)
    return Ejection(
        fault=ejected.fault,
        reason=ejected.why,
        moment=ejected.moment,
        clause=ejected.clause,
        evidence=tuple(describe_evidence(known)),
    )
