"""Define the options of all commands that run a tournament."""

import click


def refuse_nameless(_: click.Context, option: click.Parameter, directory: str | None) -> str | None:
    """Refuse an empty name, as of an unset shell variable: it would mean the current directory."""
    if directory == "":
        raise click.BadParameter("the name of the directory is empty", param=option)
    return directory


out_option = click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    callback=refuse_nameless,
    help="Write journals, results and the report to DIR.",
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 1024), metavar="N", help="Play N matches in parallel.  [default: one per core]"
)
