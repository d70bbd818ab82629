"""fairplay token: make a token for a player of a house, by which it is known again."""

from pathlib import Path

import click

from fairplay.cli.match_options import refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.server.tokens import TOKENS, hashes_in, make_token, revoke_token


@click.command()
@click.argument("name", required=False)
@click.option(
    "--folder",
    metavar="DIR",
    default="house",
    show_default=True,
    type=click.Path(file_okay=False),
    help="The folder of the house.",
)
@click.option("--revoke", is_flag=True, help="Let the token of NAME count no more.")
@click.option("--list", "listed", is_flag=True, help="Print the names that have a token.")
def token(name: str | None, folder: str, revoke: bool, listed: bool) -> None:
    """Make a token for NAME, and print it.

    Only whoever has the token can play as NAME at the house. It is shown this once, as only its hash is kept. A house
    that is open knows it at once. Players take it from a file or from the environment:

    \b
      fairplay token ann > ann.token
      fairplay join HOST:PORT ./my_bot.py --name ann --token-file ann.token
    """
    refuse_unreadable((name or "", folder))
    if listed:
        if name is not None or revoke:
            raise BadRequest("--list stands alone")
        click.echo("".join(f"{each}\n" for each in sorted(hashes_in(Path(folder, TOKENS)))), nl=False)
    elif name is None:
        raise BadRequest("for whom? Name a player, or say --list")
    elif revoke:
        revoke_token(Path(folder), name)
    else:
        click.echo(make_token(Path(folder), name))
