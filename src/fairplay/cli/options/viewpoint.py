"""Decide which seat's view of a recorded match may be shown."""

from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.journal.replay import RecordedMatch, find_seat


def viewing_seat(recorded: RecordedMatch, file: str, text: str | None) -> Seat | None:
    """The seat of --seat; None: spectators. Raises BadRequest if its hand is still hidden."""
    seat = None if text is None else find_seat(recorded, text)
    if seat is None or not recorded.game.hidden:
        return seat
    from fairplay.tournament.tournament_log import is_seed_revealed  # imported late: few matches need it

    if recorded.closing is None:
        why = "unfinished, and its hidden hands are not shown before it ends"
    elif recorded.opening.sealed and not is_seed_revealed(Path(file)):
        why = "sealed until the seed of its deal is revealed"
    else:
        return seat
    raise BadRequest(f"{file}: this match is {why}; show it without --seat")
