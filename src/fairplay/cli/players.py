"""List built-in players and ratings (fairplay players)."""

import click

from fairplay.cli.options.game import game_argument
from fairplay.games import game_info
from fairplay.players.location import HUMAN
from fairplay.render.formatting import format_interval


@click.command()
@game_argument()
def players(game: str) -> None:
    """List built-in players and ratings."""
    info = game_info(game)
    for name, player in info.built_in.items():
        click.echo(f"{name:<16}{player.description}")
    click.echo(f"{HUMAN:<16}you, at this terminal; without time limit unless --limit sets one")
    click.echo(
        f"{'./my_bot.py':<16}your bot: a file with a class Player or a function take_turn(view); runs as a program"
    )
    click.echo(f"{'exec:COMMAND':<16}your bot: any program that speaks the protocol (docs/protocol.md)")
    click.echo(f"{'tcp:PORT':<16}a player that joins with: fairplay join HOST:PORT PLAYER; ws:PORT for a WebSocket")
    click.echo(f"{'py:module:Name':<16}your bot: a class or a function of a module; runs as a program")
    click.echo(f"{'NAME=PLAYER':<16}any of these with a label")
    if info.ratings:
        click.echo("\nRatings, in Elo among themselves, with 95 % confidence intervals:")
    for name, rated in info.ratings.items():
        click.echo(f"{name:<16}{rated.rating:>5}  {format_interval(rated.low, rated.high):<12}{rated.matches} matches")
