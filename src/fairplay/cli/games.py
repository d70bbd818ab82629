"""fairplay games: list the games and their parameters."""

import click

from fairplay.games import GAMES, title


@click.command()
def games() -> None:
    """List the games and their parameters."""
    for name in GAMES:
        rules = title(name).rules
        purpose = (rules.__doc__ or "").splitlines()[0]
        click.echo(f"{name}: {purpose} {rules.seats[0]} to {rules.seats[-1]} players.")
        defaults = rules().parameters()
        for parameter, about in rules.about_parameters().items():
            if about:
                click.echo(f"  --set {f'{parameter}={defaults[parameter]}':<18}{about}")
