"""fairplay verify: check recorded matches."""

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
    "--receipt", metavar="SEQ:HEAD", help="What a player or an observer was handed. It covers the file up to that line."
)
@click.pass_context
def verify(context: click.Context, files: tuple[str, ...], receipt: str | None) -> None:
    """Referee the matches in FILEs again.

    The chain holds, the deal follows from the seed that the host was bound to, every fact is legal, the result is the
    same, the receipt fits: exit code 0. Every file of which that is not so is named, with what is wrong where, and the
    exit code is 2. Without a receipt nobody can tell whether a whole legal record was put in place of another; and
    one from before the result, as it comes with the message end, does not tell whether the result is what it was.
    """
    if receipt is not None and len(files) != 1:
        raise BadRequest("a receipt is for one match, so name one FILE")
    held = None if receipt is None else parse_receipt(receipt)
    wrong = False
    for name in files:
        try:
            file = find_journal(name)
            with journal_errors(file):
                recorded = read_journal(file)
                referee_again(recorded, held)
        except BadRequest as error:
            wrong = True
            click.echo(f"fairplay: {printable(str(error), MAX_PRINTED_CHARS)}", err=True)
            continue
        fits = "" if held is None else f", the receipt fits: {describe_coverage(recorded, held)}"
        click.echo(f"{file}: same result, {len(recorded.entries)} facts{fits}")
    context.exit(2 if wrong else 0)
