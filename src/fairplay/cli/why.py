"""Explain ejections (fairplay why)."""

import sys

import click
import msgspec

from fairplay.cli.options.journals import file_argument
from fairplay.diagnosis.ejection_explanation import explain_ejection, text_fields
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.replay import find_seat, journal_errors
from fairplay.journal.verification import read_legal
from fairplay.observers.reporter import printable_name
from fairplay.render.formatting import format_json
from fairplay.terminal.output import supports_colour


@click.command()
@file_argument
@click.option(
    "--seat", "whose", metavar="S", help="Explain only the ejection of this seat: a number from 0, or a name."
)
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object per ejection.")
def why(file: str, whose: str | None, as_data: bool) -> None:
    """Explain ejections.

    For each ejected player: the fault, the rule and its text, what the player was shown, what it answered, what would
    have been legal, and the commands to reproduce it. FILE is a journal; it is refereed again first.
    """
    with journal_errors(file):
        recorded = read_legal(file)
    seat = None if whose is None else find_seat(recorded, whose)
    found = [report for report in ejection_reports(recorded) if seat in (None, report.seat)]
    if as_data:
        for report in found:
            click.echo(format_json({**msgspec.to_builtins(report), **text_fields(report, recorded, file)}))
    elif found:
        colour = supports_colour(sys.stdout)
        click.echo(
            "\n\n\n".join("\n".join(explain_ejection(report, recorded, file, colour=colour)) for report in found)
        )
    elif seat is None:
        click.echo("no player was ejected")
    else:
        click.echo(f"{printable_name(recorded.names[seat])}, seat {seat}, was not ejected")
