"""fairplay games: list the games and their parameters."""

import click

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, others, title
from fairplay.referee.host import seats_in_words
from fairplay.render.text import printable

LONGEST = 300  # characters of why somebody's game cannot be loaded


@click.command()
def games() -> None:
    """List the games and their parameters."""
    for name in (*GAMES, *others()):
        try:
            rules = title(name).rules
        except BadRequest as error:
            click.echo(f"{name}: {printable(str(error), LONGEST)}")
            continue
        purpose = (rules.__doc__ or "").splitlines()[0]
        click.echo(f"{name}: {purpose} {seats_in_words(rules.seats)} players.")
        defaults = rules().parameters()
        for parameter, about in rules.about_parameters().items():
            if about:
                click.echo(f"  --set {f'{parameter}={defaults[parameter]}':<18}{about}")
    click.echo("\nHow one of them is played: fairplay rules GAME")
