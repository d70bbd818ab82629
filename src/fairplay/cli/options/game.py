"""Parse games on the command line: a name, or py:module:Name, which registers an external game."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from fairplay.core.errors import BadRequest
from fairplay.games import register

Command = TypeVar("Command", bound=Callable[..., Any])
GAME_REPLACEMENTS = {"config", "tournament"}  # options that replace GAME


class GameType(click.ParamType[str]):
    """The name of a game; an external game, py:module:Name, is loaded and registered."""

    name = "game"

    def __init__(self, *, is_address: bool = False) -> None:
        self._is_address = is_address

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of the game."""
        is_empty = not value and isinstance(param, click.Option)
        if is_empty or (self._is_address and not value.startswith("py:")):
            raise BadRequest(f"--game {value}: expected py:module:Name; installed games are known by name without it")
        return register(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The games whose names begin with the typed text."""
        from fairplay.cli.options.completion import (  # imported late for a quick start
            SuggestedValue,
            games,
        )

        return SuggestedValue(games).shell_complete(ctx, param, incomplete)


class GameArgument(click.Argument):
    """GAME. With --game, the words belong to the next arguments; the first may still be the game."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> tuple[Any, list[str]]:
        """Take the game from the option --game, if it was given."""
        named = next(iter(opts.get("external", ())), "")
        if named and not opts.keys() & GAME_REPLACEMENTS:
            arguments, words = [param for param in ctx.command.params if isinstance(param, click.Argument)], list[str]()
            for param in arguments:
                given = opts.pop(param.name)  # a word, some words, or a sentinel for none
                words += [given] if isinstance(given, str) else given if isinstance(given, tuple) else ()
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
    type=GameType(is_address=True), help="Register this game of your own."
)  # of commands without GAME


def game_argument(**settings: Any) -> Callable[[Command], Command]:
    """Add GAME, and --game as another way to name it."""
    argument = click.argument("game", cls=GameArgument, type=GAME, is_eager=True, **settings)
    option = external_game_option(type=GAME, help="Play this game of your own, instead of GAME.")
    return lambda command: argument(option(command))
