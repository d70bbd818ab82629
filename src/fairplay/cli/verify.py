"""fairplay verify: check a recorded match."""

import click

from fairplay.journal.replay import read
from fairplay.journal.verify import verify as referee_again


@click.command()
@click.argument("file", type=click.Path())
def verify(file: str) -> None:
    """Check the match in FILE.

    The chain holds, every fact is lawful, the result is right: exit code 0. Otherwise one line says what is wrong
    where, and the exit code is 2.
    """
    recorded = read(file)
    referee_again(recorded)
    click.echo(f"{file}: lawful and finished, {len(recorded.entries)} facts")
