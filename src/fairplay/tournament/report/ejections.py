"""Explain the ejections of a tournament from the journals of its matches, as far as these exist."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Receipt
from fairplay.diagnosis.ejection_explanation import explain_ejection
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.journal.verification import require_legal
from fairplay.tournament.layout import MATCHES_DIR
from fairplay.tournament.report.figures import Ejection

MAX_EXPLAINED_EJECTIONS = 200


class ExplainedEjection(msgspec.Struct, frozen=True):
    """An ejection, and its explanation from the journal."""

    ejection: Ejection
    why: str  # in one line
    details: tuple[str, ...]  # the lines of `fairplay why`; empty: there is no journal


def choose_ejections(found: Iterable[Ejection], most: int = MAX_EXPLAINED_EJECTIONS) -> list[Ejection]:
    """Some ejections, in order: equally many of each player and fault, so that frequent failures hide no others."""
    kinds: dict[tuple[str, str], list[Ejection]] = defaultdict(list)
    for ejection in found:
        kinds[ejection.name, ejection.fault.value].append(ejection)
    turns = [(turn, kind, ejection) for kind, some in kinds.items() for turn, ejection in enumerate(some[:most])]
    first = sorted(turns, key=lambda it: it[0])[:most]
    return [ejection for _, _, ejection in sorted(first, key=lambda it: it[1])]


def explain_ejections(directory: Path | str, some: Sequence[Ejection]) -> list[ExplainedEjection]:
    """Explain ejections; where a journal is missing or damaged, the explanation says so."""
    journals: dict[str, RecordedMatch | str] = {}
    for ejection in some:
        if ejection.match not in journals:
            journals[ejection.match] = find_journal(directory, ejection.match, ejection.receipt)
    return [explain_from_journal(ejection, journals[ejection.match]) for ejection in some]


def find_journal(directory: Path | str, match: str, receipt: str) -> RecordedMatch | str:
    """The journal of a match, verified unless it has the receipt; or why there is none."""
    file = journal_link(match)
    if "/" in match or not (Path(directory) / file).is_file():
        return f"there is no journal {file}"
    try:
        recorded = read_journal(Path(directory) / file)
        head = Receipt(len(recorded.heads) - 1, recorded.heads[-1])
        return recorded if str(head) == receipt else require_legal(recorded)
    except BadRequest as error:
        return f"{file}: {error}"


def explain_from_journal(ejection: Ejection, journal: RecordedMatch | str) -> ExplainedEjection:
    """Explain one ejection by its journal, or by why there is none."""
    if isinstance(journal, str):
        return ExplainedEjection(ejection, journal, ())
    for report in ejection_reports(journal):
        if report.seat == ejection.seat:
            return ExplainedEjection(
                ejection, report.why, tuple(explain_ejection(report, journal, journal_link(ejection.match)))
            )
    return ExplainedEjection(ejection, f"{journal_link(ejection.match)} has no such ejection", ())


def journal_link(match: str) -> str:
    """The journal of a match, relative to the directory of the tournament."""
    return f"{MATCHES_DIR}/{match}.jsonl"
