"""Share the options of all verbs that run a tournament."""

import click


def refuse_nameless(_: click.Context, option: click.Parameter, directory: str | None) -> str | None:
    """Take no directory without a name, as when a shell's variable is not set: it would be the one where we are."""
    if directory == "":
        raise click.BadParameter("this names no directory", param=option)
    return directory


out_option = click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    callback=refuse_nameless,
    help="Write journals, results and the report to DIR.",
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 1024), metavar="N", help="So many matches at once. [default: one per core]"
)
