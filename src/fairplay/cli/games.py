"""fairplay games: list the games and their parameters."""

from functools import partial

import click

from fairplay.cli.options.game import game_option
from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, Rules, external_names, title
from fairplay.referee.host import seats_in_words
from fairplay.referee.loading import loaded
from fairplay.render.text import printable

MAX_LINE_CHARS = 300  # of what others wrote


@click.command()
@game_option
def games() -> None:
    """List the games and their parameters."""
    for name in (*GAMES, *external_names()):
        try:
            rules = title(name).rules
            lines = loaded(f"the description of {name}", partial(description, rules))
        except BadRequest as error:
            lines = [f"{name}: {error}"]
        for line in lines:
            click.echo(printable(line, MAX_LINE_CHARS))
    click.echo("\nHow one of them is played: fairplay rules GAME")


def description(rules: Rules) -> list[str]:
    """What a game is about, and a line for each of its parameters."""
    purpose, *_ = (rules.__doc__ or "").splitlines() or [""]
    defaults = rules().parameters()
    return [
        f"{rules.name}: {purpose} {seats_in_words(rules.seats)} players.",
        *(
            f"  --set {f'{parameter}={defaults[parameter]}':<18}{about}"
            for parameter, about in rules.about_parameters().items()
            if about
        ),
    ]
