"""Take games of others from the command line: py:module:Name wherever a verb takes a game, and --game with all verbs.

Where a verb has GAME among its words, --game stands for it. All others hear by it of a game that a file names.
"""

from typing import Any

import click

from fairplay.core.errors import BadRequest

HANDED = "--game"
NO_GAMES = ("course", "doctor", "status", "token")  # verbs to which it makes no difference
ELSEWHERE = {
    "config",
    "tournament",
    "course",
}  # options of a verb by which something else than GAME says what is played


class GameName(click.types.StringParamType):
    """What a game is called; one of somebody's own is handed over first."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name."""
        if not isinstance(value, str) or not value.startswith("py:"):
            return super().convert(value, param, ctx)
        from fairplay.games import hand_over

        return hand_over(value)


def handed(context: click.Context, _: click.Parameter, found: tuple[str, ...]) -> None:
    """Know games that are only needed to read what a file holds."""
    for address in found:
        if not address.startswith("py:"):
            raise BadRequest(f"{HANDED} {address}: write py:module:Name; a game that is installed is known by its name")
        GameName().convert(address, None, context)


def with_games(command: click.Command) -> click.Command:
    """A verb that takes games of others, if it has anything to do with games."""
    if command.name in NO_GAMES:
        return command
    for other in command.commands.values() if isinstance(command, click.Group) else ():
        with_games(other)
    for param in command.params:
        if param.name == "game" and isinstance(param.type, click.types.StringParamType):
            param.type = GameName()
    if not isinstance(command, click.Group) and not any(HANDED in param.opts for param in command.params):
        about = "A game of your own, instead of GAME." if game_of(command) else "Know this game of your own, too."
        command.params.append(
            click.Option(
                [HANDED, "handed"],
                multiple=True,
                metavar="py:module:Name",
                is_eager=True,
                expose_value=False,
                callback=handed,
                help=about,
            )
        )
    return command


def game_of(command: click.Command) -> click.Argument | None:
    """The word of a verb that names a game."""
    return next((one for one in command.params if isinstance(one, click.Argument) and one.name == "game"), None)


def with_game_first(command: click.Command, context: click.Context, words: list[str]) -> list[str]:
    """The words behind a verb, with the game of --game in its place unless it is named there."""
    from fairplay.games import hand_over

    place = next((at for at, word in enumerate(words) if word.partition("=")[0] == HANDED), None)
    if place is None or "--" in words[:place] or game_of(command) is None:
        return words
    _, equals, address = words[place].partition("=")
    behind = place + 1 if equals else place + 2
    address = address if equals else next(iter(words[place + 1 : behind]), "")
    others = [*words[:place], *words[behind:]]
    if not address:
        return words  # click says that it takes one
    name = hand_over(address) if address.startswith("py:") else address
    said, *_ = command.make_parser(context).parse_args(list(others))
    if said.keys() & ELSEWHERE:
        return words
    return others if said.get("game") == name else [name, *others]
