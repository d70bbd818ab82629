"""fairplay players: list the house players of a game."""

import click

from fairplay.games import title
from fairplay.players.location import HUMAN


@click.command()
@click.argument("game")
def players(game: str) -> None:
    """List the players that GAME knows."""
    for name, player in title(game).house.items():
        click.echo(f"{name:<16}{player.about}")
    click.echo(f"{HUMAN:<16}you, at this terminal; no time limit but with --limit")
    click.echo(f"{'./my_bot.py':<16}your own: a class Player, or a function take_turn(view), in a file; as a program")
    click.echo(f"{'exec:COMMAND':<16}your own: any program that speaks the protocol (docs/protocol.md)")
    click.echo(f"{'tcp:PORT':<16}whoever joins there: fairplay join HOST:PORT PLAYER; ws:PORT for a WebSocket")
    click.echo(f"{'py:module:Name':<16}your own: a class or a function of a module, in this process and trusted")
    click.echo(f"{'NAME=PLAYER':<16}any of these, with a label")
