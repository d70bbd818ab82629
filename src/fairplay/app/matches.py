"""Play one match: prepare or resume it, show it, and return its outcome and files."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.core.roles import Observer
from fairplay.hosting.prepared_match import PreparedMatch
from fairplay.hosting.run import HostedMatch, new_match
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.options import check_match_id
from fairplay.players.location import Command, parse_remote_address
from fairplay.referee.referee import Referee

ShowMatch = Callable[[HostedMatch], AbstractContextManager[Sequence[Observer]]]


class PlayedMatch(NamedTuple):
    """The outcome of a match, and the files that it left besides its journal."""

    outcome: Outcome
    pictures: Path | None
    bot_logs: list[Path]


def prepare_match(spec: MatchSpec) -> PreparedMatch:
    """Resume the oldest interrupted match of this spec, or prepare a new one."""
    if spec.journal is None:
        return new_match(spec)
    from fairplay.hosting.records import resume_interrupted  # for a quick start: unrecorded matches do not need it

    return resume_interrupted(spec) or new_match(spec)


def play_match(
    prepared: PreparedMatch,
    observers: Sequence[Observer] = (),
    *,
    pictures: Path | None = None,
    show: ShowMatch | None = None,
) -> PlayedMatch:
    """Play a match to its end; its pictures are written to a subdirectory of `pictures`.

    The context `show` spans the match and may return observers. Raises HostFault if the match was interrupted.
    """
    referee, picture_dir = Referee(), None
    hosted = HostedMatch(prepared, referee)
    with closing(prepared.open_record), show(hosted) if show is not None else nullcontext(()) as more:
        if pictures is not None:
            picture_dir = picture_directory(prepared, pictures)
            from fairplay.observers.painter import (  # for a quick start: rarely needed
                Painter,
                file_writer,
                spectator_picture,
            )

            referee.subscribe(Painter(file_writer(picture_dir), spectator_picture, prepared.facts, digits=3))
        for observer in (*observers, *more):
            referee.subscribe(observer)
        hosted.play()
    found = picture_dir if picture_dir is not None and picture_dir.is_dir() else None  # it may be deleted by now
    return PlayedMatch(hosted.outcome(), found, bot_log_files(prepared))


def picture_directory(prepared: PreparedMatch, directory: Path) -> Path:
    """The directory for the pictures of a match. Raises BadRequest if it cannot be created."""
    check_match_id(prepared.match.id)  # before it is part of a path, as the record may be from another host
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{directory} cannot be created: {error.strerror}") from None
    return directory / prepared.match.id


def bot_log_files(prepared: PreparedMatch) -> list[Path]:
    """The bot logs of a match, if there are any."""
    if prepared.bot_logs is None:
        return []
    from fairplay.players.bot_log import log_path  # for a quick start: rarely needed

    match = prepared.match
    programs = [
        seat
        for seat in sorted(match.remaining_seats)
        if isinstance(parse_remote_address(prepared.addresses[seat]), Command)
    ]
    paths = [log_path(prepared.bot_logs, match.names[seat], match.id) for seat in programs]
    return [path for path in paths if path.is_file()]
