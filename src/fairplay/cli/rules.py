"""Show a game's rules (fairplay rules)."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from fairplay.cli.options.game import game_argument
from fairplay.core.chance import seed_from_text
from fairplay.core.game import Game
from fairplay.core.roles import BuiltInPlayer
from fairplay.games import GameInfo, game_info
from fairplay.render.rule_book import format_rule_book
from fairplay.terminal.output import supports_colour, terminal_size

EXAMPLE_NAMES = ("ann", "bob", "cyd", "dan", "eve")
EXAMPLE_SEED = "rules 284"  # that gives a good picture for each game
MAX_EXAMPLE_TURNS = 24  # of the match with the drawn position


@click.command()
@game_argument()
def rules(game: str) -> None:
    """Show a game's rules.

    They are followed by a position. Ejections for illegal actions name one of these clauses.
    """
    info = game_info(game)
    width, colour = terminal_size(sys.stdout)[0], supports_colour(sys.stdout)
    for line in format_rule_book(info.rule_book, width=width, colour=colour):
        click.echo(line)
    click.echo("")
    for line in format_rule_book("## A position, as the player on turn sees it", width=width, colour=colour):
        click.echo(line)
    click.echo("")
    click.echo(draw_example(info, width=width, colour=colour))
    others = " ".join([next(iter(info.built_in))] * (info.rules.seats[0] - 1))
    click.echo(f"\nTry it: {' '.join(['fairplay play', game, 'human', others, *info.option])}")


def draw_example(info: GameInfo, **look: Any) -> str:
    """A position of a small match between built-in players, the same every time."""
    game = info.rules.with_parameters(info.quick)
    seats = game.seats[0]
    views = list(example_views(game, next(iter(info.built_in.values())), seats))
    return info.text(views[len(views) * 2 // 3], EXAMPLE_NAMES[:seats], **look)


def example_views(game: Game[Any, Any, Any], built_in: BuiltInPlayer, seats: int) -> Iterator[Any]:
    """The views of the first turns of a match, each of the player on turn."""
    players = [built_in.make("", seed_from_text(f"{EXAMPLE_SEED} {seat}")) for seat in range(seats)]
    state = game.deal(seats, seed_from_text(EXAMPLE_SEED))
    for _ in range(MAX_EXAMPLE_TURNS):
        if (seat := game.turn(state)) is None:
            return
        view = game.view(state, seat)
        yield view
        state = game.apply(state, players[seat](view))
