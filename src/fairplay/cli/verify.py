"""fairplay verify: check recorded matches."""

import click

from fairplay.cli.output import about
from fairplay.journal.replay import read
from fairplay.journal.verify import verify as referee_again


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
def verify(files: tuple[str, ...]) -> None:
    """Check the matches in FILEs.

    The chain holds, every fact is lawful, the result is right: exit code 0. The first file of which that is not so is
    named, with what is wrong where, and the exit code is 2.
    """
    for file in files:
        with about(file):
            recorded = read(file)
            referee_again(recorded)
        click.echo(f"{file}: lawful and finished, {len(recorded.entries)} facts")
