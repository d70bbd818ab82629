"""fairplay draw: write the picture of a recorded position."""

from pathlib import Path

import click

from fairplay.core.errors import BadRequest
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful


@click.command()
@click.argument("file", type=click.Path())
@click.option("--at", type=int, metavar="N", help="After so many facts; the end if not given.")
@click.option("-o", "--output", required=True, metavar="FILE.svg", type=click.Path(dir_okay=False))
def draw(file: str, at: int | None, output: str) -> None:
    """Draw the board of the match in FILE."""
    if not output.endswith(".svg"):
        raise BadRequest(f"{output}: pictures are written as .svg")
    with about(file):
        recorded = read_lawful(file)
    picture = picture_at(recorded, at)
    try:
        Path(output).write_text(picture, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}") from None
    click.echo(f"picture: {output}")
