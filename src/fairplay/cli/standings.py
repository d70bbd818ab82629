"""Show the standings of a tournament (fairplay standings)."""

from pathlib import Path

import click

from fairplay.cli.options.game import game_option
from fairplay.terminal.progress import show_standings
from fairplay.tournament.result import read_result, require_extras


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@game_option
def standings(directory: str) -> None:
    """Show the standings of a tournament.

    DIR is its output directory. The tournament may be running, interrupted or finished.
    """
    require_extras()
    result = read_result(Path(directory))
    kind, state = result.spec.format.__struct_config__.tag, "finished" if result.finished else "not finished yet"
    click.echo(f"{result.spec.game}, {kind}: {len(result.counted)} matches, {state}\n")
    show_standings(result)
