"""fairplay players: list the built-in players of a game, and how strong they are."""

import click

from fairplay.cli.options.game import game_argument
from fairplay.games import game_info
from fairplay.players.location import HUMAN
from fairplay.render.formatting import format_interval


@click.command()
@game_argument()
def players(game: str) -> None:
    """List the players that GAME knows."""
    shelf = game_info(game)
    for name, player in shelf.built_in.items():
        click.echo(f"{name:<16}{player.description}")
    click.echo(f"{HUMAN:<16}you, at this terminal; no time limit but with --limit")
    click.echo(f"{'./my_bot.py':<16}your own: a class Player, or a function take_turn(view), in a file; as a program")
    click.echo(f"{'exec:COMMAND':<16}your own: any program that speaks the protocol (docs/protocol.md)")
    click.echo(f"{'tcp:PORT':<16}whoever joins there: fairplay join HOST:PORT PLAYER; ws:PORT for a WebSocket")
    click.echo(f"{'py:module:Name':<16}your own: a class or a function of a module; as a program")
    click.echo(f"{'NAME=PLAYER':<16}any of these, with a label")
    if shelf.ratings:
        click.echo("\nHow strong they are, in Elo among themselves, and where that may be (95 %):")
    for name, rated in shelf.ratings.items():
        click.echo(f"{name:<16}{rated.rating:>5}  {format_interval(rated.low, rated.high):<12}{rated.matches} matches")
