"""Replay a recorded match (fairplay replay)."""

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
@click.option("--at", type=int, metavar="N", help="Print only the position after N facts.")
@click.option(
    "--seat",
    metavar="SEAT|NAME",
    help="Show what this seat saw, on a terminal or in a GIF.  [default: what spectators saw]",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html|FILE.gif",
    type=click.Path(dir_okay=False),
    help="Write a self-contained page for browsers, or an animated GIF.",
)
@lines_option
@width_option
@click.option(
    "--seconds", type=float, metavar="S", help=f"Show each position of a GIF for S seconds.  [default: {GIF_FRAME_S}]"
)
@click.option("--dark", is_flag=True, help="Use dark colours in a GIF.")
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
    """Replay a recorded match.

    On a terminal, step through it with the arrow keys, Page Up and Page Down, Home and End; a number and Enter jumps,
    space plays, ? helps, q leaves.

    Hidden hands are only shown, with --seat, once the match has ended and its seed is public.
    """
    options = GifOptions(width, seconds, seat, dark)
    if output is None and options != GifOptions(seat=seat):
        raise BadRequest("--width, --seconds and --dark are for a GIF: add -o FILE.gif")
    if output is not None:
        if at is not None:
            raise BadRequest("--at is for a position on the terminal; a file shows all positions")
        write_replay(file, output, options)
        return
    with journal_errors(file):
        recorded = read_legal(file)
    viewer, text = viewing_seat(recorded, file, seat), game_info(recorded.opening.game).text
    draw = partial(text, colour=supports_colour(sys.stdout), width=terminal_size(sys.stdout)[0])
    if at is not None:
        match = recorded.match_after(at)
        for fact in recorded.facts[:at][-1:]:
            click.echo("\n".join([*describe_event(fact, match.names), ""]))
        click.echo(draw(match.view(viewer), match.names))
        return
    if not lines and keyboard_fd() is not None and supports_drawing(sys.stdout):
        step_through(recorded, text, viewer)
        return
    match = recorded.match_after(0)
    reporter = Reporter(partial(click.echo, nl=False), draw, narrow=sys.stdout.isatty(), seat=viewer)
    reporter.observe(Started(match.names, match.commitment), match)
    for fact in recorded.facts:
        match = match.after(fact)
        reporter.observe(fact, match)
    if recorded.closing is None:
        click.echo(f"unfinished after fact {len(recorded.entries)}")
    else:
        reporter.observe(Ended(recorded.closing.result), match)
