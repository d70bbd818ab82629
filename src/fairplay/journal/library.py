"""Search a directory of journals."""

import json
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.journal.index import ReportProgress, query_index, unpack_summary
from fairplay.journal.summary import Status, Summary

MIN_SHORT_ID_CHARS = 7  # as in git
MAX_LISTED_IDS = 4  # in the error about an ambiguous id

FIND_SQL = """
    select id, summary from matches as one where
        (:game is null or game = :game)
        and (:status is null or status = :status)
        and (:since is null or started >= :since)
        and (:until is null or started < :until)
        and (:winner is null or exists (
            select 1 from seats where seats.id = one.id and rank = 1 and name = :winner))
        and not exists (select 1 from json_each(:players) as asked where not exists (
            select 1 from seats where seats.id = one.id and asked.value in (name, address)))
        and (:fault is null or exists (
            select 1 from seats where seats.id = one.id and fault is not null and :fault in (fault, 'any')
            and (:players = '[]' or exists (
                select 1 from json_each(:players) as asked where asked.value in (name, address)))))
        and not exists (select 1 from json_each(:parameters) as asked where not exists (
            select 1 from parameters as given
            where given.id = one.id and given.name = asked.key and given.value = asked.value))
    order by started desc, id limit :limit
"""
LOOK_UP_SQL = (
    "select id, summary from matches where substr(id, 1, length(:prefix)) = :prefix order by id <> :prefix, id"
)


class Query(msgspec.Struct, frozen=True):
    """A filter of matches: all of these conditions hold."""

    game: str | None = None
    status: Status | None = None
    players: tuple[str, ...] = ()  # names or addresses: all of them played
    winner: str | None = None  # the name of a player with rank 1
    fault: Fault | None = None  # of any player, or of one of `players` if there are some
    any_fault: bool = False  # like `fault`, for any fault
    since: float | None = None  # the match started then, or later
    until: float | None = None  # it started before
    parameters: dict[str, str] = {}  # case is ignored
    limit: int | None = None  # only the newest so many


ALL_MATCHES = Query()


def no_progress(ids: Sequence[str]) -> Iterable[str]:
    """Report no progress."""
    return ids


def find_matches(
    directory: Path | str, query: Query = ALL_MATCHES, *, progress: ReportProgress = no_progress
) -> list[Summary]:
    """The matches in a directory that fit a query, the newest first."""
    fault = "any" if query.any_fault else None
    asked = {
        "game": query.game,
        "status": query.status.value if query.status else None,
        "players": json.dumps(query.players),
        "winner": query.winner,
        "fault": query.fault.value if query.fault else fault,
        "since": query.since,
        "until": query.until,
        "parameters": json.dumps({name: value.casefold() for name, value in query.parameters.items()}),
        "limit": -1 if query.limit is None else min(query.limit, sys.maxsize),
    }
    return query_index(Path(directory), lambda index, ids: summaries(index, ids, FIND_SQL, asked), progress)


def find_match(directory: Path | str, prefix: str, *, progress: ReportProgress = no_progress) -> Summary:
    """The match whose id begins like this. Raises BadRequest unless there is exactly one."""
    found = query_index(
        Path(directory), lambda index, ids: summaries(index, ids, LOOK_UP_SQL, {"prefix": prefix}), progress
    )
    match found:
        case []:
            raise BadRequest(f"no match in {directory} has an id that begins with {prefix!r}")
        case [one, *others] if not others or one.id == prefix:
            return one
    named = ", ".join(
        [*(one.short for one in found[:MAX_LISTED_IDS]), *(["..."] if len(found) > MAX_LISTED_IDS else [])]
    )
    raise BadRequest(f"{len(found)} matches in {directory} have ids that begin with {prefix!r}: {named}")


def summaries(index: sqlite3.Connection, ids: Sequence[str], select: str, asked: dict[str, Any]) -> list[Summary]:
    """The selected summaries, each with the shortest unique prefix of its id."""
    short = short_ids(ids)
    found = [unpack_summary(id, summary) for id, summary in index.execute(select, asked)]
    return [msgspec.structs.replace(one, short=short[one.id]) for one in found if one.id in short]


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """The shortest unique prefix of each of the sorted ids.

    >>> short_ids(["0123456789", "0123456889", "abc", "ffffffffff"])
    {'0123456789': '01234567', '0123456889': '01234568', 'abc': 'abc', 'ffffffffff': 'fffffff'}
    """
    enough = dict.fromkeys(ids, MIN_SHORT_ID_CHARS)
    for one, other in pairwise(ids):
        while one[: enough[one]] == other[: enough[one]] and enough[one] < len(one):
            enough[one] += 1
        while one[: enough[other]] == other[: enough[other]] and enough[other] < len(other):
            enough[other] += 1
    return {id: id[:length] for id, length in enough.items()}
