"""Tell why players were ejected, from the journals of a tournament's matches, as far as these are there."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Receipt
from fairplay.diagnosis.why import told
from fairplay.journal.appeal import appeals
from fairplay.journal.replay import Recorded, read
from fairplay.journal.verify import lawful
from fairplay.tournament.places import MATCHES
from fairplay.tournament.report.figures import Ejection

MOST_TOLD = 200


class Told(msgspec.Struct, frozen=True):
    """An ejection, and what its journal has to say of it."""

    ejection: Ejection
    why: str  # in one line
    story: tuple[str, ...]  # the answer of `fairplay why`; empty: there is none


def chosen(found: Iterable[Ejection], most: int = MOST_TOLD) -> list[Ejection]:
    """Some ejections, in order: of every player and fault as many, so that who fails often hides nobody."""
    kinds: dict[tuple[str, str], list[Ejection]] = defaultdict(list)
    for ejection in found:
        kinds[ejection.name, ejection.fault.value].append(ejection)
    turns = [(turn, kind, ejection) for kind, some in kinds.items() for turn, ejection in enumerate(some[:most])]
    first = sorted(turns, key=lambda it: it[0])[:most]
    return [ejection for _, _, ejection in sorted(first, key=lambda it: it[1])]


def tell(folder: Path | str, some: Sequence[Ejection]) -> list[Told]:
    """Why these were ejected. A journal that is missing or damaged is said to be so."""
    journals: dict[str, Recorded | str] = {}
    for ejection in some:
        if ejection.match not in journals:
            journals[ejection.match] = journal_of(folder, ejection.match, ejection.receipt)
    return [told_of(ejection, journals[ejection.match]) for ejection in some]


def journal_of(folder: Path | str, match: str, receipt: str) -> Recorded | str:
    """The journal of a match, refereed again unless it is the one of the receipt; or why there is none."""
    file = file_of(match)
    if "/" in match or not (Path(folder) / file).is_file():
        return f"there is no journal {file}"
    try:
        recorded = read(Path(folder) / file)
        head = Receipt(len(recorded.heads) - 1, recorded.heads[-1])
        return recorded if str(head) == receipt else lawful(recorded)
    except BadRequest as error:
        return f"{file}: {error}"


def told_of(ejection: Ejection, journal: Recorded | str) -> Told:
    """Why this one was ejected, by a journal or by what is known without."""
    if isinstance(journal, str):
        return Told(ejection, journal, ())
    for appeal in appeals(journal):
        if appeal.seat == ejection.seat:
            return Told(ejection, appeal.why, tuple(told(appeal, journal, file_of(ejection.match))))
    return Told(ejection, f"{file_of(ejection.match)} says nothing of it", ())


def file_of(match: str) -> str:
    """The journal of a match, as seen from the folder of the tournament."""
    return f"{MATCHES}/{match}.jsonl"
