"""Write pictures and whole matches into files, each as its ending says."""

from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import click

from fairplay.cli.options.eyes import eyes_of
from fairplay.core.errors import BadRequest
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful
from fairplay.render.raster import LONGEST_SIDE, gif, letters_are_drawn
from fairplay.terminal.output import with_bar

SMALL = 450  # pixels: a picture that is not as wide leaves out what could not be seen
WIDTH, SECONDS = 600, 0.7  # of a GIF
MOST_POSITIONS = 300  # of a GIF; of a longer match some are left out
MANY = 40  # pictures that are worth a bar

width_option = click.option(
    "--width",
    type=click.IntRange(20, LONGEST_SIDE),
    metavar="PX",
    help=f"So many pixels wide; below {SMALL} with less detail.",
)


class Film(NamedTuple):
    """What a person says about a GIF."""

    width: int | None = None
    seconds: float | None = None
    seat: str | None = None
    dark: bool = False


def write_replay(file: str, output: str, film: Film) -> None:
    """Write the match in a file into another, from which it can be watched."""
    make = REPLAYS[ending_of(output, REPLAYS, "replays")]
    put(output, make(file, film))
    click.echo(f"replay: {output}")


def page_of(file: str, film: Film) -> bytes:
    """A match as a page for browsers."""
    if film != Film():
        raise BadRequest(
            "--width, --seconds, --seat and --dark are for a GIF; "
            "a page has buttons for it, and is as wide as its window"
        )
    from fairplay.page.replay import replay_of  # for a quick start: few want a page
    from fairplay.tournament.notebook import is_revealed

    return replay_of(file, is_revealed).encode()


def gif_of(file: str, film: Film) -> bytes:
    """A match as a GIF, as spectators see it, or a seat that is named."""
    with about(file):
        recorded = read_lawful(file)
    seat = eyes_of(recorded, file, film.seat)
    warn_without_fonts()
    width, count = film.width or WIDTH, len(recorded.entries) + 1
    last = recorded.at(count - 1).view(seat)
    step = ceil(count / MOST_POSITIONS)
    if step > 1:
        click.echo(f"fairplay: the match has {count} positions; one of {step} is shown", err=True)
    drawn = pictures(recorded, seat, around=last, dark=film.dark, small=is_small(width))
    shown = [picture for facts, picture in enumerate(drawn) if facts % step == 0 or facts == count - 1]
    return gif(shown, width, SECONDS if film.seconds is None else film.seconds, watched)


REPLAYS = {".html": page_of, ".gif": gif_of}  # by ending


def ending_of(output: str, known: Iterable[str], what: str) -> str:
    """The ending of a file that is to be written. Raises BadRequest if nothing is written like that."""
    ending = Path(output).suffix.lower()
    if ending not in known:
        raise BadRequest(f"{output}: {what} are written as {' or '.join(known)}")
    return ending


def is_small(width: int | None) -> bool:
    """Is a picture of this width one with less detail?"""
    return width is not None and width < SMALL


def warn_without_fonts() -> None:
    """Say in one line what is wrong with the letters, if anything is."""
    if not letters_are_drawn():
        click.echo(
            "fairplay: this machine has no fonts, so there are boxes instead of letters; "
            "install some, as by: apt-get install fontconfig fonts-dejavu-core",
            err=True,
        )


def watched(frames: Sequence[Any]) -> Iterable[Any]:
    """The pictures that are to be drawn, with a bar where there are many."""
    return with_bar(frames, "drawing", MANY)


def put(output: str, content: bytes) -> None:
    """Write a file. Raises BadRequest if it cannot be."""
    try:
        Path(output).write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}") from None
