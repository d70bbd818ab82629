"""fairplay standings: show who is ahead in a tournament, running or finished."""

from pathlib import Path

import click

from fairplay.cli.options.tournament_options import rated, refuse_without_extras, show
from fairplay.tournament.running.conduct import progress_in


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
def standings(folder: str) -> None:
    """Show who is ahead in the tournament in DIR.

    It may be running, interrupted or finished.
    """
    refuse_without_extras()
    final = progress_in(Path(folder))
    state = "over" if final.over else "not over yet"
    click.echo(f"{final.cup.game}, {final.cup.format.__struct_config__.tag}: {len(final.counted)} matches, {state}\n")
    show(final, *rated(final))
