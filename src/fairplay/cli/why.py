"""fairplay why: tell why players were ejected, and how to see it again."""

import sys

import click
import msgspec

from fairplay.cli.options.journals import file_argument
from fairplay.diagnosis.why import for_people, told
from fairplay.journal.appeal import appeals
from fairplay.journal.replay import about, seat_of
from fairplay.journal.verify import read_lawful
from fairplay.observers.reporter import label
from fairplay.render.words import plain
from fairplay.terminal.output import in_colour


@click.command()
@file_argument
@click.option("--seat", "whose", metavar="S", help="Only whoever had this seat: a number from 0, or a name.")
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object per ejection instead.")
def why(file: str, whose: str | None, as_data: bool) -> None:
    """Tell why players were ejected from the match in FILE.

    For each of them, in order: the fault, the rule and its text, what the player was shown, what it answered, what
    would have been lawful, and the commands that show it again. FILE is a journal, and is refereed again first.
    """
    with about(file):
        recorded = read_lawful(file)
    seat = None if whose is None else seat_of(recorded, whose)
    found = [appeal for appeal in appeals(recorded) if seat in (None, appeal.seat)]
    if as_data:
        for appeal in found:
            click.echo(plain({**msgspec.to_builtins(appeal), **for_people(appeal, recorded, file)}))
    elif found:
        colour = in_colour(sys.stdout)
        click.echo("\n\n\n".join("\n".join(told(appeal, recorded, file, colour=colour)) for appeal in found))
    elif seat is None:
        click.echo("nobody was ejected")
    else:
        click.echo(f"{label(recorded.names[seat])}, seat {seat}, was not ejected")
