"""Write pictures and replays to files, in the format of their suffix."""

from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import click

from fairplay.cli.options.viewpoint import viewing_seat
from fairplay.core.errors import BadRequest
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import journal_errors
from fairplay.journal.verification import read_legal
from fairplay.render.raster import MAX_SIDE_PIXELS, gif, has_fonts
from fairplay.terminal.output import progress_bar

SMALL_WIDTH_PX = 450  # narrower pictures have less detail
GIF_WIDTH_PX, GIF_FRAME_S = 600, 0.7  # of a GIF
MAX_GIF_POSITIONS = 300  # of a longer match some positions are left out
MIN_FRAMES_FOR_PROGRESS = 40  # from which on a progress bar is shown

width_option = click.option(
    "--width",
    type=click.IntRange(20, MAX_SIDE_PIXELS),
    metavar="PX",
    help=f"Make the picture PX pixels wide; below {SMALL_WIDTH_PX} with less detail.",
)


class GifOptions(NamedTuple):
    """The options of a GIF."""

    width: int | None = None
    seconds: float | None = None
    seat: str | None = None
    dark: bool = False


def write_replay(file: str, output: str, options: GifOptions) -> None:
    """Write a replay of the match in a journal to another file."""
    make = REPLAY_WRITERS[file_suffix(output, REPLAY_WRITERS, "replays")]
    write_file(output, make(file, options))
    click.echo(f"replay: {output}")


def render_page(file: str, options: GifOptions) -> bytes:
    """Render a match as a page for browsers."""
    if options != GifOptions():
        raise BadRequest(
            "--width, --seconds, --seat and --dark are for a GIF; a page has buttons for these, and fits its window"
        )
    from fairplay.page.replay import render_replay  # imported late for a quick start
    from fairplay.tournament.tournament_log import is_seed_revealed

    return render_replay(file, is_seed_revealed).encode()


def render_gif(file: str, options: GifOptions) -> bytes:
    """Render a match as a GIF, as spectators or one seat see it."""
    with journal_errors(file):
        recorded = read_legal(file)
    seat = viewing_seat(recorded, file, options.seat)
    warn_without_fonts()
    width, count = options.width or GIF_WIDTH_PX, len(recorded.entries) + 1
    last = recorded.match_after(count - 1).view(seat)
    step = ceil(count / MAX_GIF_POSITIONS)
    if step > 1:
        click.echo(f"fairplay: the match has {count} positions; one in {step} is shown", err=True)
    frames = pictures(recorded, seat, around=last, dark=options.dark, small=is_small(width))
    selected = [picture for facts, picture in enumerate(frames) if facts % step == 0 or facts == count - 1]
    return gif(selected, width, GIF_FRAME_S if options.seconds is None else options.seconds, show_progress)


REPLAY_WRITERS = {".html": render_page, ".gif": render_gif}  # by suffix


def file_suffix(output: str, known: Iterable[str], what: str) -> str:
    """The suffix of an output file. Raises BadRequest for an unknown format."""
    ending = Path(output).suffix.lower()
    if ending not in known:
        raise BadRequest(f"{output}: the suffix for {what} must be {' or '.join(known)}")
    return ending


def is_small(width: int | None) -> bool:
    """Does a picture of this width have less detail?"""
    return width is not None and width < SMALL_WIDTH_PX


def warn_without_fonts() -> None:
    """Print a warning if this machine has no fonts."""
    if not has_fonts():
        click.echo(
            "fairplay: this machine has no fonts, so letters become boxes; "
            "to install some: apt-get install fontconfig fonts-dejavu-core",
            err=True,
        )


def show_progress(frames: Sequence[Any]) -> Iterable[Any]:
    """The pictures to draw, with a progress bar where there are many."""
    return progress_bar(frames, "drawing", MIN_FRAMES_FOR_PROGRESS)


def write_file(output: str, content: bytes) -> None:
    """Write a file. Raises BadRequest if that fails."""
    try:
        Path(output).write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}") from None
