"""fairplay games: list the games and their parameters."""

from typing import get_type_hints

import click
import msgspec

from fairplay.games import GAMES, title


@click.command()
def games() -> None:
    """List the games and their parameters."""
    for name in GAMES:
        rules = title(name).rules
        purpose = (rules.__doc__ or "").splitlines()[0]
        click.echo(f"{name}: {purpose} {rules.seats[0]} to {rules.seats[-1]} players.")
        hints = get_type_hints(rules, include_extras=True)
        for field in msgspec.structs.fields(rules):
            about = next((meta.description for meta in getattr(hints[field.name], "__metadata__", ())[::-1]), "")
            click.echo(f"  --set {f'{field.name}={field.default}':<16}{about}")
