"""fairplay draw: write the picture of a recorded position."""

import click

from fairplay.cli.options.files import file_suffix, is_small, warn_without_fonts, width_option, write_file
from fairplay.cli.options.journals import file_argument
from fairplay.cli.options.viewpoint import viewing_seat
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import journal_errors
from fairplay.journal.verification import read_legal
from fairplay.render.raster import png
from fairplay.render.svg import resize

STDOUT = "-"
DEFAULT_PICTURE_WIDTH_PX = 1200  # of a PNG


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
    ending = STDOUT if output == STDOUT else file_suffix(output, (".svg", ".png"), "pictures")
    with journal_errors(file):
        recorded = read_legal(file)
    picture = picture_at(recorded, at, viewing_seat(recorded, file, seat), dark=dark, small=is_small(width))
    if ending == ".png":
        warn_without_fonts()
        write_file(output, png(picture, width or DEFAULT_PICTURE_WIDTH_PX))
    else:
        picture = picture if width is None else resize(picture, width)
        if output == STDOUT:  # in ASCII, so that it is the same picture whatever the encoding of the output
            click.echo(picture.encode("ascii", "xmlcharrefreplace").decode(), nl=False)
            return
        write_file(output, picture.encode())
    click.echo(f"picture: {output}")
