"""fairplay draw: write the picture of a recorded position."""

import click

from fairplay.cli.options.eyes import eyes_of
from fairplay.cli.options.files import ending_of, is_small, put, warn_without_fonts, width_option
from fairplay.cli.options.journals import file_argument
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful
from fairplay.render.raster import png
from fairplay.render.svg import resized

STDOUT = "-"
WIDTH = 1200  # of a PNG


@click.command()
@file_argument
@click.option("--at", type=int, metavar="N", help="After so many facts; the end if not given.")
@click.option("--seat", metavar="SEAT|NAME", help="As this seat sees it; as spectators do if not given.")
@width_option
@click.option("--dark", is_flag=True, help="For a dark page.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE.svg|FILE.png|-",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where to; - prints SVG.",
)
def draw(file: str, at: int | None, seat: str | None, width: int | None, dark: bool, output: str) -> None:
    """Draw the board of the match in FILE.

    Where hands are hidden, they are drawn once the match has ended and its deal is no secret any more.
    """
    ending = STDOUT if output == STDOUT else ending_of(output, (".svg", ".png"), "pictures")
    with about(file):
        recorded = read_lawful(file)
    picture = picture_at(recorded, at, eyes_of(recorded, file, seat), dark=dark, small=is_small(width))
    if ending == ".png":
        warn_without_fonts()
        put(output, png(picture, width or WIDTH))
    else:
        picture = picture if width is None else resized(picture, width)
        if output == STDOUT:  # in ASCII, so that it is the same picture whatever the encoding of the output
            click.echo(picture.encode("ascii", "xmlcharrefreplace").decode(), nl=False)
            return
        put(output, picture.encode())
    click.echo(f"picture: {output}")
