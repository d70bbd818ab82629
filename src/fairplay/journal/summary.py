"""Summarise a journal, also a damaged or unreadable one."""

from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadJournal, BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment, Ranking, Seat
from fairplay.games import make_game
from fairplay.journal.files import check_journal_file, open_journal_file
from fairplay.journal.lines import FORMAT
from fairplay.journal.replay import RecordedMatch, read_journal

MAX_OPENING_BYTES = 2**20


class Status(Enum):
    """The state of a journal."""

    FINISHED = "finished"
    UNFINISHED = "unfinished"  # intact so far
    DAMAGED = "damaged"  # not a journal, or a broken chain
    UNREADABLE = "unreadable"  # unknown rules, another format, or a file that cannot be opened


class SeatSummary(msgspec.Struct, frozen=True):
    """The player at a seat, and its outcome."""

    name: str
    address: str = ""
    rank: int | None = None  # from 1; None: ejected, or not ranked yet
    score: int | None = None  # None: the match is not finished, or the game has no points
    fault: Fault | None = None
    moment: Moment | None = None
    why: str = ""


class Summary(msgspec.Struct, frozen=True):
    """What the library lists of one journal, without the seed and the state."""

    id: str  # the name of the file: the match id, unless the file was renamed
    status: Status
    reason: str = ""  # why it is damaged or unreadable; the other fields are then unverified or missing
    match: str = ""  # the id in the journal
    game: str = ""
    rules: str = ""
    parameters: dict[str, Any] = {}  # of an unfinished match, only those that players may know
    started: float | None = None  # wall time in seconds, as in the journal
    last: float | None = None  # time of the last fact
    ended: float | None = None
    facts: int | None = None
    seats: tuple[SeatSummary, ...] = ()
    short: str = ""  # the shortest unique prefix of the id in the directory

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.id}.jsonl"


class OpeningHeader(msgspec.Struct, frozen=True, tag="opening"):
    """What the first line of a journal of any format says."""

    format: int
    match: str
    game: str
    rules: str
    names: tuple[str, ...]
    at: float
    players: tuple[str, ...] = ()
    parameters: dict[str, Any] = {}


def summarise_journal(path: Path) -> Summary:
    """Summarise the journal in this file; other problems are its reason. Raises FileNotFoundError if it is gone."""
    try:
        check_journal_file(path.stat())
        return summarise_sound(path.stem, read_journal(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        return Summary(path.stem, Status.UNREADABLE, f"cannot be read: {error.strerror}")
    except BadJournal as error:
        return summarise_unsound(path, error)


def summarise_sound(id: str, recorded: RecordedMatch) -> Summary:
    """Summarise a journal with a whole chain."""
    opening, entries, closing, game = recorded.opening, recorded.entries, recorded.closing, recorded.game
    ranks = ranks_by_seat(closing.result.ranking) if closing else {}
    scores = (closing.result.scores if closing else None) or ()
    out = {entry.fact.seat: entry.fact for entry in entries if isinstance(entry.fact, Ejected)}
    return Summary(
        id,
        Status.FINISHED if closing else Status.UNFINISHED,
        match=opening.match,
        game=opening.game,
        rules=opening.rules,
        parameters=game.parameters() if closing and not opening.sealed else game.public_parameters(),
        started=opening.at,
        last=entries[-1].at if entries else None,
        ended=closing.at if closing else None,
        facts=len(entries),
        seats=seat_summaries(recorded.names, opening.players, ranks, out, scores),
    )


def summarise_unsound(path: Path, error: BadJournal) -> Summary:
    """Summarise a file that cannot be read as a journal, from its first line if that can be decoded."""
    try:
        with open_journal_file(path) as file:
            head = msgspec.json.decode(file.readline(MAX_OPENING_BYTES), type=OpeningHeader)
    except FileNotFoundError:
        raise
    except OSError:
        return Summary(path.stem, Status.UNREADABLE, str(error))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Summary(path.stem, Status.DAMAGED, str(error))
    return Summary(
        path.stem,
        Status.DAMAGED if error.line != 1 or is_supported(head) else Status.UNREADABLE,
        str(error),
        match=head.match,
        game=head.game,
        rules=head.rules,
        started=head.at,
        seats=seat_summaries(head.names, head.players, {}, {}),
    )


def is_supported(head: OpeningHeader) -> bool:
    """Are the format and the rules of the journal known here?"""
    try:
        return head.format == FORMAT and make_game(head.game, head.parameters).version == head.rules
    except BadRequest:
        return False


def ranks_by_seat(ranking: Ranking) -> dict[Seat, int]:
    """The rank of each seat: tied seats share one, and an emptied group keeps its place.

    >>> ranks_by_seat((frozenset({2}), frozenset({0, 1}), frozenset({3})))
    {2: 1, 0: 2, 1: 2, 3: 4}
    """
    ranks, rank = {}, 1
    for group in ranking:
        ranks.update(dict.fromkeys(sorted(group), rank))
        rank += len(group) or 1
    return ranks


def seat_summaries(
    names: tuple[str, ...],
    addresses: tuple[str, ...],
    ranks: dict[Seat, int],
    out: dict[Seat, Ejected],
    scores: tuple[int, ...] = (),
) -> tuple[SeatSummary, ...]:
    """The players by seat; impossible values of an unverified journal are ignored."""
    table = []
    for seat, name in enumerate(names):
        address = addresses[seat] if seat < len(addresses) else ""
        score = scores[seat] if seat < len(scores) else None
        match out.get(seat):
            case Ejected(fault=fault, moment=moment, why=why):
                table.append(SeatSummary(name, address, None, score, fault, moment, why))
            case None:
                table.append(SeatSummary(name, address, ranks.get(seat), score))
    return tuple(table)
