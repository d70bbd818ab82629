"""Tell whose eyes a person may see a recorded match by."""

from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.journal.replay import RecordedMatch, find_seat


def viewing_seat(recorded: RecordedMatch, file: str, text: str | None) -> Seat | None:
    """The seat that a person wants to see by; None: as spectators do. Raises BadRequest for what is hidden yet."""
    seat = None if text is None else find_seat(recorded, text)
    if seat is None or not recorded.game.hidden:
        return seat
    from fairplay.tournament.tournament_log import (
        is_seed_revealed,  # for a quick start: few matches are of a tournament
    )

    if recorded.closing is None:
        why = "unfinished, and what is hidden in it stays so until it ends"
    elif recorded.opening.sealed and not is_seed_revealed(Path(file)):
        why = "sealed, and stays so until the seed of its deal is revealed"
    else:
        return seat
    raise BadRequest(f"{file}: this match is {why}; show it without --seat")
