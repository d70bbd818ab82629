"""fairplay replay: show a recorded match again."""

import sys
from functools import partial

import click

from fairplay.cli.output import in_colour
from fairplay.core.events import Ended, Started
from fairplay.games import title
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful
from fairplay.observers.reporter import Reporter, in_words


@click.command()
@click.argument("file", type=click.Path())
@click.option("--at", type=int, metavar="N", help="Only the board after N facts.")
def replay(file: str, at: int | None) -> None:
    """Show the match in FILE again."""
    with about(file):
        recorded = read_lawful(file)
    draw = partial(title(recorded.opening.game).text, colour=in_colour(sys.stdout))
    if at is not None:
        match = recorded.at(at)
        for fact in recorded.facts[:at][-1:]:
            click.echo("\n".join([*in_words(fact, match.names), ""]))
        click.echo(draw(match.view(None), match.names))
        return
    match = recorded.at(0)
    reporter = Reporter(partial(click.echo, nl=False), draw)
    reporter.observe(Started(match.names, match.commitment), match)
    for fact in recorded.facts:
        match = match.after(fact)
        reporter.observe(fact, match)
    if recorded.closing is None:
        click.echo(f"unfinished after fact {len(recorded.entries)}")
    else:
        reporter.observe(Ended(recorded.closing.result), match)
