"""Name games on the command line: by their names, or by py:module:Name, which registers an external game."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from fairplay.core.errors import BadRequest
from fairplay.games import register

Command = TypeVar("Command", bound=Callable[..., Any])
GAME_REPLACEMENTS = {"config", "tournament"}  # options of a verb that say instead of GAME what is played


class GameType(click.ParamType[str]):
    """The name of a game; the one of py:module:Name is loaded and registered."""

    name = "game"

    def __init__(self, *, is_address: bool = False) -> None:
        self._is_address = is_address

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        is_empty = not value and isinstance(param, click.Option)
        if is_empty or (self._is_address and not value.startswith("py:")):
            raise BadRequest(f"--game {value}: write py:module:Name; a game that is installed is known by its name")
        return register(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The games whose names begin so."""
        from fairplay.cli.options.completion import (  # start-up: only a shell that completes needs it
            SuggestedValue,
            games,
        )

        return SuggestedValue(games).shell_complete(ctx, param, incomplete)


class GameArgument(click.Argument):
    """GAME. If --game names it, the words are those of the arguments behind it; the first may be the game as well."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> tuple[Any, list[str]]:
        """Take the game from the option, if it is there."""
        named = next(iter(opts.get("external", ())), "")
        if named and not opts.keys() & GAME_REPLACEMENTS:
            arguments, words = [param for param in ctx.command.params if isinstance(param, click.Argument)], list[str]()
            for param in arguments:
                said = opts.pop(param.name)  # a word, some words, or a sign that there is none
                words += [said] if isinstance(said, str) else said if isinstance(said, tuple) else ()
            game = register(named)
            args = [game, *words[words[:1] == [game] :], *args]
            for param in arguments:
                if param.nargs == -1:
                    opts[param.name], args = tuple(args), []
                elif args:
                    opts[param.name] = args.pop(0)
        return super().handle_parse_result(ctx, opts, args)


GAME = GameType()
external_game_option = partial(
    click.option, "--game", "external", multiple=True, metavar="py:module:Name", is_eager=True, expose_value=False
)
game_option = external_game_option(
    type=GameType(is_address=True), help="Know this game of your own, too."
)  # of verbs without GAME


def game_argument(**settings: Any) -> Callable[[Command], Command]:
    """GAME, which --game may name as well."""
    argument = click.argument("game", cls=GameArgument, type=GAME, is_eager=True, **settings)
    option = external_game_option(type=GAME, help="A game of your own, instead of GAME.")
    return lambda verb: argument(option(verb))
