"""Describe the public status of a server: no addresses, no tokens, no hidden information."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairplay.core.events import Result
from fairplay.core.match import Match
from fairplay.render.formatting import format_json

MAX_FINISHED_MATCHES = 50


class OfferStatus(msgspec.Struct, frozen=True):
    """A game that the server offers."""

    game: str
    parameters: dict[str, Any]  # the public ones
    min_players: int
    max_players: int


class RoomStatus(msgspec.Struct, frozen=True):
    """An open room."""

    id: str
    name: str
    game: str
    names: tuple[str, ...]  # by seat
    stage: str
    seq: int  # the number of the last event, as on the spectators' wire
    turn: int | None  # the seat that is to act; None: the game is over
    scores: tuple[int, ...] | None  # by seat; None: the game has none
    ejected: tuple[int, ...]  # seats
    spectators: int


class WaitingStatus(msgspec.Struct, frozen=True):
    """A client that waits for a room."""

    name: str
    game: str  # the game that it wants to play; empty: any
    waited_s: float


class FinishedStatus(msgspec.Struct, frozen=True):
    """A match that is over."""

    match: str  # its id
    game: str
    names: tuple[str, ...]  # by seat
    ranking: tuple[tuple[int, ...], ...]  # seats, best first, ties together
    ejected: tuple[int, ...]  # seats
    scores: tuple[int, ...] | None
    ended_at: float  # in seconds since 1970
    recorded: bool  # a replay can be shown


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True, tag="status"):
    """The public status of a server."""

    name: str
    version: str
    started_at: float  # in seconds since 1970
    uptime_s: float
    offers: tuple[OfferStatus, ...] = ()
    rooms: tuple[RoomStatus, ...] = ()
    waiting: tuple[WaitingStatus, ...] = ()
    players: tuple[str, ...] = ()  # the names of all connected clients
    finished: tuple[FinishedStatus, ...] = ()  # the newest first


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(ServerStatus).decode


def encode_status(status: ServerStatus) -> bytes:
    """The answer to a client that asks for the status, as a line of ASCII."""
    return format_json(status).encode() + b"\n"


def room_status(
    room_id: str, name: str, match: Match[Any, Any, Any], *, stage: str, seq: int, spectators: int
) -> RoomStatus:
    """The public status of a room."""
    return RoomStatus(
        id=room_id,
        name=name,
        game=match.game.name,
        names=match.names,
        stage=stage,
        seq=seq,
        turn=match.turn,
        scores=match.game.scores(match.state),
        ejected=tuple(ejected.seat for ejected in match.ejected),
        spectators=spectators,
    )


def finished_status(
    match_id: str, game: str, names: Sequence[str], result: Result, *, ended_at: float, recorded: bool
) -> FinishedStatus:
    """The public status of a finished match."""
    return FinishedStatus(
        match=match_id,
        game=game,
        names=tuple(names),
        ranking=tuple(tuple(sorted(group)) for group in result.ranking),
        ejected=tuple(ejected.seat for ejected in result.ejected),
        scores=result.scores,
        ended_at=ended_at,
        recorded=recorded,
    )
