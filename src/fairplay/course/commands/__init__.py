"""Run the course's programs and test harnesses (fairplay course)."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COURSE_SUBCOMMANDS = {  # each has a module whose docstring begins with this line
    "serve": "Run the server of a course.",
    "join": "Connect a player to the server of a course.",
}
HARNESS = "harness"  # the command for any other word, which is a game


def load_command(name: str) -> click.Command:
    """Load one subcommand, so that the imports of the others cost no time."""
    command: click.Command = getattr(import_module(f"fairplay.course.commands.{name}"), name)
    return command


def games(_: click.Context | None = None) -> Iterable[str]:
    """The games of the courses."""
    from fairplay.course.dialects.servers import SERVERS  # imported late for a quick start

    return SERVERS


class CourseCommands(click.Group):
    """The subcommands; any other word is a game, followed by one of its harnesses."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COURSE_SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COURSE_SUBCOMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand and its words; without one all words are those of a harness."""
        return (
            super().resolve_command(ctx, args)
            if args[0] in COURSE_SUBCOMMANDS
            else (HARNESS, load_command(HARNESS), args)
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [*COURSE_SUBCOMMANDS.items(), ("GAME HARNESS", "Answer a test harness of GAME, such as xstate.")]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The subcommands and games that begin with the typed text."""
        from click.shell_completion import CompletionItem  # imported late for a quick start

        return [CompletionItem(word) for word in (*COURSE_SUBCOMMANDS, *games()) if word.startswith(incomplete)]


@click.group(cls=CourseCommands, context_settings={"ignore_unknown_options": True})
def course() -> None:
    """Run the course's programs and test harnesses.

    \b
    fairplay course serve fish --port 45678             for programs written for the course
    fairplay course join fish HOST:45678 ./my_bot.py    with a player of this machine
    fairplay course fish xstate < state.json            a harness; see: fairplay course fish --help
    """


class SuggestedText(click.ParamType[str]):
    """A word with known choices, for completion and for the error if it is missing."""

    name = "text"

    def __init__(self, find: Callable[[click.Context], Iterable[str]] = games) -> None:
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """The choices that begin with the typed text; without any, the shell completes files."""
        from click.shell_completion import CompletionItem  # imported late for a quick start

        found = [CompletionItem(word) for word in self._find(ctx) if word.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str | None:
        """The choices."""
        return None if ctx is None else f"Choose from {', '.join(self._find(ctx))}"
