"""Check recorded matches by refereeing them again (fairplay verify)."""

import click

from fairplay.cli.options.game import game_option
from fairplay.cli.options.journals import find_journal
from fairplay.core.errors import BadRequest
from fairplay.journal.replay import journal_errors, read_journal
from fairplay.journal.verification import describe_coverage, parse_receipt
from fairplay.journal.verification import verify as referee_again
from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.render.text import printable


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@game_option
@click.option(
    "--receipt",
    metavar="SEQ:HEAD",
    help="Check this receipt of a player or observer, which covers the file up to line SEQ.",
)
@click.pass_context
def verify(context: click.Context, files: tuple[str, ...], receipt: str | None) -> None:
    """Check recorded matches by refereeing them again.

    Exit code 0: in each FILE the hash chain holds, the deal follows from the committed seed, every fact is legal, and
    the result and the receipt fit. Otherwise exit code 2, with a line for each file that says what is wrong where.
    Without a receipt, a whole legal record that replaced another is not detected; a receipt from before the result, as
    in the message `end`, does not cover the result.
    """
    if receipt is not None and len(files) != 1:
        raise BadRequest("a receipt is for one match: name one FILE")
    parsed = None if receipt is None else parse_receipt(receipt)
    wrong = False
    for name in files:
        try:
            file = find_journal(name)
            with journal_errors(file):
                recorded = read_journal(file)
                referee_again(recorded, parsed)
        except BadRequest as error:
            wrong = True
            click.echo(f"fairplay: {printable(str(error), MAX_PRINTED_CHARS)}", err=True)
            continue
        fits = "" if parsed is None else f", the receipt fits: {describe_coverage(recorded, parsed)}"
        click.echo(f"{file}: same result, {len(recorded.entries)} facts{fits}")
    context.exit(2 if wrong else 0)
