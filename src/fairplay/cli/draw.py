"""Draw a position as SVG or PNG (fairplay draw)."""

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
@click.option("--at", type=int, metavar="N", help="Draw the position after N facts.  [default: all]")
@click.option("--seat", metavar="SEAT|NAME", help="Draw what this seat sees.  [default: what spectators see]")
@width_option
@click.option("--dark", is_flag=True, help="Use dark colours.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE.svg|FILE.png|-",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the picture to this file; - prints SVG.",
)
def draw(file: str, at: int | None, seat: str | None, width: int | None, dark: bool, output: str) -> None:
    """Draw a position as SVG or PNG.

    Hidden hands are only drawn once the match has ended and its seed is public.
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
        if output == STDOUT:  # in ASCII, which any encoding of the output has
            click.echo(picture.encode("ascii", "xmlcharrefreplace").decode(), nl=False)
            return
        write_file(output, picture.encode())
    click.echo(f"picture: {output}")
