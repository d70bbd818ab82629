"""List games and their parameters (fairplay games)."""

from functools import partial

import click

from fairplay.cli.options.game import game_option
from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, Rules, external_names, game_info
from fairplay.referee.loading import run_loader
from fairplay.referee.referee import format_seats
from fairplay.render.text import printable

MAX_LINE_CHARS = 300  # of texts of external games


@click.command()
@game_option
def games() -> None:
    """List games and their parameters."""
    for name in (*GAMES, *external_names()):
        try:
            rules = game_info(name).rules
            lines = run_loader(f"the description of {name}", partial(describe_game, rules))
        except BadRequest as error:
            lines = [f"{name}: {error}"]
        for line in lines:
            click.echo(printable(line, MAX_LINE_CHARS))
    click.echo("\nTo read the rules of a game: fairplay rules GAME")


def describe_game(rules: Rules) -> list[str]:
    """A line about a game, and one for each of its parameters."""
    purpose, *_ = (rules.__doc__ or "").splitlines() or [""]
    defaults = rules().parameters()
    return [
        f"{rules.name}: {purpose} {format_seats(rules.seats)} players.",
        *(
            f"  --set {f'{parameter}={defaults[parameter]}':<18}{about}"
            for parameter, about in rules.parameter_descriptions().items()
            if about
        ),
    ]
