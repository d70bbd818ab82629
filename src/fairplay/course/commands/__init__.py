"""fairplay course: be the server of a course, join one, or answer its test harnesses."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COURSE_SUBCOMMANDS = {  # each has a file of its own, which says the same and more
    "serve": "Be the server of the course of GAME.",
    "join": "Let PLAYER play at the server of the course of GAME.",
}
HARNESS = "harness"  # what any other word leads to, which is a game then


def load_command(verb: str) -> click.Command:
    """Load a verb: nobody waits for what the others need."""
    command: click.Command = getattr(import_module(f"fairplay.course.commands.{verb}"), verb)
    return command


def games(_: click.Context | None = None) -> Iterable[str]:
    """The games of the courses."""
    from fairplay.course.dialects.servers import SERVERS  # start-up: `fairplay --help` needs none of them

    return SERVERS


class CourseCommands(click.Group):
    """The verbs, and the harnesses of a game behind its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COURSE_SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COURSE_SUBCOMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, and the words behind it; without one all words are those of a harness."""
        return (
            super().resolve_command(ctx, args)
            if args[0] in COURSE_SUBCOMMANDS
            else (HARNESS, load_command(HARNESS), args)
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [*COURSE_SUBCOMMANDS.items(), ("GAME HARNESS", "Answer a test harness of GAME, such as xstate.")]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The verbs and the games that begin so."""
        from click.shell_completion import CompletionItem  # start-up: only a shell that completes needs it

        return [CompletionItem(word) for word in (*COURSE_SUBCOMMANDS, *games()) if word.startswith(incomplete)]


@click.group(cls=CourseCommands, context_settings={"ignore_unknown_options": True})
def course() -> None:
    """Run the course's programs and test harnesses.

    \b
    fairplay course serve fish --port 45678             for programs that were written for the course
    fairplay course join fish HOST:45678 ./my_bot.py    with any player of this machine
    fairplay course fish xstate < state.json            a harness; see: fairplay course fish --help
    """


class SuggestedText(click.ParamType[str]):
    """A word of which it is known what it may be: a shell offers that, and it is said where the word is left out."""

    name = "text"

    def __init__(self, find: Callable[[click.Context], Iterable[str]] = games) -> None:
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Those that begin so; else a shell offers files."""
        from click.shell_completion import CompletionItem  # start-up: only a shell that completes needs it

        found = [CompletionItem(word) for word in self._find(ctx) if word.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str | None:
        """What there is."""
        return None if ctx is None else f"There is {', '.join(self._find(ctx))}"
