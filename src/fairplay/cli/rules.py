"""fairplay rules: print the rule book of a game, with a position to look at."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from fairplay.cli.options.game import game_argument
from fairplay.core.chance import seed_from
from fairplay.core.game import Game
from fairplay.core.roles import HousePlayer
from fairplay.games import Title, title
from fairplay.render.book import book
from fairplay.terminal.output import in_colour, size_of

NAMES = ("ann", "bob", "cyd", "dan", "eve")
SEED = "rules 284"  # of which every game makes a good picture
MOST_TURNS = 24  # of the match of which a position is drawn


@click.command()
@game_argument()
def rules(game: str) -> None:
    """Print the rules of GAME, with a picture.

    An illegal action names the clause that it breaks: these are the clauses.
    """
    shelf = title(game)
    width, colour = size_of(sys.stdout)[0], in_colour(sys.stdout)
    for line in book(shelf.book, width=width, colour=colour):
        click.echo(line)
    click.echo("")
    for line in book("## A position, as whoever is on turn sees it", width=width, colour=colour):
        click.echo(line)
    click.echo("")
    click.echo(picture(shelf, width=width, colour=colour))
    others = " ".join([next(iter(shelf.house))] * (shelf.rules.seats[0] - 1))
    click.echo(f"\nTry it: {' '.join(['fairplay play', game, 'human', others, *shelf.option])}")


def picture(shelf: Title, **look: Any) -> str:
    """Somewhere in a small match between house players, the same every time: two thirds of the way."""
    game = shelf.rules.with_parameters(shelf.quick)
    seats = game.seats[0]
    views = list(seen(game, next(iter(shelf.house.values())), seats))
    return shelf.text(views[len(views) * 2 // 3], NAMES[:seats], **look)


def seen(game: Game[Any, Any, Any], house: HousePlayer, seats: int) -> Iterator[Any]:
    """The first turns of a match, each as it is seen by whoever is on turn."""
    players = [house.make("", seed_from(f"{SEED} {seat}")) for seat in range(seats)]
    state = game.deal(seats, seed_from(SEED))
    for _ in range(MOST_TURNS):
        if (seat := game.turn(state)) is None:
            return
        view = game.view(state, seat)
        yield view
        state = game.apply(state, players[seat](view))
