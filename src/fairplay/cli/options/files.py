"""Write pictures and whole matches into files, each as its ending says."""

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

SMALL_WIDTH_PX = 450  # pixels: a picture that is not as wide leaves out what could not be seen
GIF_WIDTH_PX, GIF_FRAME_S = 600, 0.7  # of a GIF
MAX_GIF_POSITIONS = 300  # of a GIF; of a longer match some are left out
MIN_FRAMES_FOR_PROGRESS = 40  # pictures that are worth a bar

width_option = click.option(
    "--width",
    type=click.IntRange(20, MAX_SIDE_PIXELS),
    metavar="PX",
    help=f"So many pixels wide; below {SMALL_WIDTH_PX} with less detail.",
)


class GifOptions(NamedTuple):
    """What a person says about a GIF."""

    width: int | None = None
    seconds: float | None = None
    seat: str | None = None
    dark: bool = False


def write_replay(file: str, output: str, film: GifOptions) -> None:
    """Write the match in a file into another, from which it can be watched."""
    make = REPLAY_WRITERS[file_suffix(output, REPLAY_WRITERS, "replays")]
    write_file(output, make(file, film))
    click.echo(f"replay: {output}")


def render_page(file: str, film: GifOptions) -> bytes:
    """A match as a page for browsers."""
    if film != GifOptions():
        raise BadRequest(
            "--width, --seconds, --seat and --dark are for a GIF; "
            "a page has buttons for it, and is as wide as its window"
        )
    from fairplay.page.replay import render_replay  # for a quick start: few want a page
    from fairplay.tournament.tournament_log import is_seed_revealed

    return render_replay(file, is_seed_revealed).encode()


def render_gif(file: str, film: GifOptions) -> bytes:
    """A match as a GIF, as spectators see it, or a seat that is named."""
    with journal_errors(file):
        recorded = read_legal(file)
    seat = viewing_seat(recorded, file, film.seat)
    warn_without_fonts()
    width, count = film.width or GIF_WIDTH_PX, len(recorded.entries) + 1
    last = recorded.match_after(count - 1).view(seat)
    step = ceil(count / MAX_GIF_POSITIONS)
    if step > 1:
        click.echo(f"fairplay: the match has {count} positions; one of {step} is shown", err=True)
    drawn = pictures(recorded, seat, around=last, dark=film.dark, small=is_small(width))
    shown = [picture for facts, picture in enumerate(drawn) if facts % step == 0 or facts == count - 1]
    return gif(shown, width, GIF_FRAME_S if film.seconds is None else film.seconds, show_progress)


REPLAY_WRITERS = {".html": render_page, ".gif": render_gif}  # by ending


def file_suffix(output: str, known: Iterable[str], what: str) -> str:
    """The ending of a file that is to be written. Raises BadRequest if nothing is written like that."""
    ending = Path(output).suffix.lower()
    if ending not in known:
        raise BadRequest(f"{output}: {what} are written as {' or '.join(known)}")
    return ending


def is_small(width: int | None) -> bool:
    """Is a picture of this width one with less detail?"""
    return width is not None and width < SMALL_WIDTH_PX


def warn_without_fonts() -> None:
    """Say in one line what is wrong with the letters, if anything is."""
    if not has_fonts():
        click.echo(
            "fairplay: this machine has no fonts, so there are boxes instead of letters; "
            "install some, as by: apt-get install fontconfig fonts-dejavu-core",
            err=True,
        )


def show_progress(frames: Sequence[Any]) -> Iterable[Any]:
    """The pictures that are to be drawn, with a bar where there are many."""
    return progress_bar(frames, "drawing", MIN_FRAMES_FOR_PROGRESS)


def write_file(output: str, content: bytes) -> None:
    """Write a file. Raises BadRequest if it cannot be."""
    try:
        Path(output).write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}") from None
