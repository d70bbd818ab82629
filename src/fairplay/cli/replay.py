"""fairplay replay: show a recorded match again."""

import sys
from functools import partial
from pathlib import Path

import click

from fairplay.cli.output import in_colour
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ended, Started
from fairplay.games import title
from fairplay.journal.replay import about
from fairplay.journal.verify import read_lawful
from fairplay.observers.reporter import Reporter, in_words


@click.command()
@click.argument("file", type=click.Path())
@click.option("--at", type=int, metavar="N", help="Only the board after N facts.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(dir_okay=False),
    help="Write a page for browsers instead, which needs nothing else.",
)
def replay(file: str, at: int | None, output: str | None) -> None:
    """Show the match in FILE again."""
    if output is not None:
        if at is not None:
            raise BadRequest("--at is for a board on the terminal; a page has all of them")
        write(file, output)
        return
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


def write(file: str, output: str) -> None:
    """Write the match in a file as a page."""
    if not output.endswith(".html"):
        raise BadRequest(f"{output}: a replay is written as .html")
    from fairplay.page.replay import replay_of
    from fairplay.tournament.notebook import is_revealed

    page = replay_of(file, is_revealed)
    try:
        Path(output).write_text(page, encoding="utf-8", newline="")
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}") from None
    click.echo(f"replay: {output}")
