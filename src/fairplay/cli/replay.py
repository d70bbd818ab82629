"""fairplay replay: show a recorded match again."""

import sys
from functools import partial

import click

from fairplay.cli.options.files import GIF_FRAME_S, GifOptions, width_option, write_replay
from fairplay.cli.options.journals import file_argument
from fairplay.cli.options.match_options import lines_option
from fairplay.cli.options.viewpoint import viewing_seat
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ended, Started
from fairplay.games import game_info
from fairplay.journal.replay import journal_errors
from fairplay.journal.verification import read_legal
from fairplay.observers.reporter import Reporter, describe_event
from fairplay.terminal.output import supports_colour, supports_drawing, terminal_size
from fairplay.terminal.screen import keyboard_fd
from fairplay.terminal.stepper import step_through


@click.command()
@file_argument
@click.option("--at", type=int, metavar="N", help="Only the board after N facts.")
@click.option("--seat", metavar="SEAT|NAME", help="On a terminal or in a GIF, as this seat saw it.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.html|FILE.gif",
    type=click.Path(dir_okay=False),
    help="Write it into a file instead: a page for browsers, which needs nothing else, or a GIF that moves.",
)
@lines_option
@width_option
@click.option("--seconds", type=float, metavar="S", help=f"In a GIF, for each position.  [default: {GIF_FRAME_S}]")
@click.option("--dark", is_flag=True, help="In a GIF, for a dark page.")
def replay(
    file: str,
    at: int | None,
    seat: str | None,
    output: str | None,
    lines: bool,
    width: int | None,
    seconds: float | None,
    dark: bool,
) -> None:
    """Show the match in FILE again.

    On a terminal, step through it: by the arrow keys, Page Up and Page Down, Home and End; a number and Enter jumps,
    space plays, ? helps, q leaves.

    Where hands are hidden, --seat shows them once the match has ended and its deal is no secret any more.
    """
    film = GifOptions(width, seconds, seat, dark)
    if output is None and film != GifOptions(seat=seat):
        raise BadRequest("--width, --seconds and --dark are for a GIF, which -o names")
    if output is not None:
        if at is not None:
            raise BadRequest("--at is for a board on the terminal; a file has all of them")
        write_replay(file, output, film)
        return
    with journal_errors(file):
        recorded = read_legal(file)
    eyes, text = viewing_seat(recorded, file, seat), game_info(recorded.opening.game).text
    draw = partial(text, colour=supports_colour(sys.stdout), width=terminal_size(sys.stdout)[0])
    if at is not None:
        match = recorded.match_after(at)
        for fact in recorded.facts[:at][-1:]:
            click.echo("\n".join([*describe_event(fact, match.names), ""]))
        click.echo(draw(match.view(eyes), match.names))
        return
    if not lines and keyboard_fd() is not None and supports_drawing(sys.stdout):
        step_through(recorded, text, eyes)
        return
    match = recorded.match_after(0)
    reporter = Reporter(partial(click.echo, nl=False), draw, narrow=sys.stdout.isatty(), seat=eyes)
    reporter.observe(Started(match.names, match.commitment), match)
    for fact in recorded.facts:
        match = match.after(fact)
        reporter.observe(fact, match)
    if recorded.closing is None:
        click.echo(f"unfinished after fact {len(recorded.entries)}")
    else:
        reporter.observe(Ended(recorded.closing.result), match)
