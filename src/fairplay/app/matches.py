"""Play one match: prepare or resume it, have it shown, and say what it left behind."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.core.roles import Observer
from fairplay.hosting.run import Hosted, new_match
from fairplay.hosting.sitting import Sitting
from fairplay.hosting.spec import MatchSpec, Outcome
from fairplay.journal.requests import check_id
from fairplay.players.location import Command, far
from fairplay.referee.host import Referee

Show = Callable[[Hosted], AbstractContextManager[Sequence[Observer]]]


class PlayedMatch(NamedTuple):
    """What came of a match, and where the files are that it left, besides its journal."""

    outcome: Outcome
    pictures: Path | None
    bot_logs: list[Path]


def prepare_match(spec: MatchSpec) -> Sitting:
    """The oldest match of this very spec that was interrupted in its journal, or else a new one."""
    if spec.journal is None:
        return new_match(spec)
    from fairplay.hosting.records import interrupted  # for a quick start: only what is recorded needs it

    return interrupted(spec) or new_match(spec)


def play_match(
    sitting: Sitting, observers: Sequence[Observer] = (), *, pictures: Path | None = None, show: Show | None = None
) -> PlayedMatch:
    """Play a match to its end; its pictures are drawn into a directory of its own in `pictures`.

    What shows it is entered before the match and left after it, and may bring observers. Raises HostFault if the match
    was interrupted.
    """
    referee, drawn = Referee(), None
    hosted = Hosted(sitting, referee)
    with closing(sitting.held), show(hosted) if show is not None else nullcontext(()) as more:
        if pictures is not None:
            drawn = pictures_of(sitting, pictures)
            from fairplay.observers.painter import Painter, for_spectators, into  # for a quick start: few want any

            referee.subscribe(Painter(into(drawn), for_spectators, sitting.facts, digits=3))
        for observer in (*observers, *more):
            referee.subscribe(observer)
        hosted.play()
    found = drawn if drawn is not None and drawn.is_dir() else None  # it may have vanished meanwhile
    return PlayedMatch(hosted.outcome(), found, bot_logs_of(sitting))


def pictures_of(sitting: Sitting, directory: Path) -> Path:
    """Where the pictures of a match are drawn. Raises BadRequest if there is no such place."""
    check_id(sitting.match.id)  # before it is part of a path: somebody else may have written the record
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{directory} cannot be made: {error.strerror}") from None
    return directory / sitting.match.id


def bot_logs_of(sitting: Sitting) -> list[Path]:
    """The files with what programs said on stderr, if it is kept."""
    if sitting.bot_logs is None:
        return []
    from fairplay.players.bot_log import log_path  # for a quick start: few want any

    match = sitting.match
    programs = [seat for seat in sorted(match.seated) if isinstance(far(sitting.addresses[seat]), Command)]
    paths = [log_path(sitting.bot_logs, match.names[seat], match.id) for seat in programs]
    return [path for path in paths if path.is_file()]
