"""Collect the verbs of the command, and turn errors into one line."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from fairplay.cli.options.handing import HANDED, with_game_first, with_games
from fairplay.cli.options.interrupts import sigterm_interrupts
from fairplay.core.errors import FairplayError, HostFault
from fairplay.core.version import VERSION
from fairplay.render.text import printable
from fairplay.terminal.output import plain_output, silence

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

LONGEST_ERROR = 2000
ASKED = "_FAIRPLAY_COMPLETE"  # in the environment: a shell wants to complete a command line
LISTED = ("game", "player", "players", "harness")  # if they are left out, it is said what there is
VERBS = {  # in the order in which a newcomer needs them; each has a file of its own, which says the same and more
    "games": "List the games and their parameters.",
    "rules": "Print the rules of GAME, with a picture.",
    "players": "List the players that GAME knows.",
    "play": "Play a match of GAME between PLAYERs and show it.",
    "tournament": "Run the tournament that FILE.toml describes.",
    "standings": "Show who is ahead in the tournament in DIR.",
    "new-bot": "Write a bot for GAME to begin with.",
    "check-bot": "Check that PLAYER is ready for matches of GAME.",
    "join": "Let PLAYER take part in matches that are hosted elsewhere.",
    "serve": "Keep a house where programs come to play GAME.",
    "token": "Make a token for NAME, and print it.",
    "status": "Ask a house what goes on there.",
    "watch": "Follow a match that is played at a house.",
    "replay": "Show the match in FILE again.",
    "draw": "Draw the board of the match in FILE.",
    "verify": "Referee the matches in FILEs again.",
    "resume": "Play the match in FILE on.",
    "why": "Tell why players were ejected from the match in FILE.",
    "why-not": "Say whether an ACTION is lawful in a view of GAME.",
    "debug": "Give PLAYER again what a seat of the match in FILE heard.",
    "library": "Look for matches in a folder of journals, or of a tournament.",
    "doctor": "Say what can be kept from players that are programs.",
    "course": "Answer a test HARNESS of the course, such as xstate.",
}


def load(verb: str) -> click.Command | None:
    """Load a verb, if there is such a one: nobody waits for what the others need."""
    name = verb.replace("-", "_")
    return with_games(getattr(import_module(f"fairplay.cli.{name}"), name)) if verb in VERBS else None


class Verbs(click.Group):
    """The verbs, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = load(cmd_name)
        if command is None or ASKED not in os.environ:
            return command
        from fairplay.cli.options.completion import known

        return known(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, and the words behind it; a game of somebody's own is in its place among them."""
        name, command, words = super().resolve_command(ctx, args)
        if command is not None and any(word.startswith(HANDED) for word in words):
            words = with_game_first(command, click.Context(command, ctx, name), words)
        return name, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The verbs that begin so."""
        from click.shell_completion import CompletionItem

        options = [] if incomplete.isalnum() or not incomplete else click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(verb) for verb in VERBS if verb.startswith(incomplete)), *options]


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="fairplay")
def fairplay() -> None:
    """The referee for board games played by programs.

    Begin with:  fairplay play fish random greedy
    """


def main() -> None:
    """Run the command; a bad request ends with one line and exit code 2, a fault of ours with 3, Ctrl-C with 130."""
    if ASKED in os.environ:
        from fairplay.cli.options.completion import answer

        answer(fairplay)
    with plain_output(), sigterm_interrupts():
        run()


def run() -> None:
    """Run the command, and say in one line what is wrong."""
    try:
        sys.exit(fairplay(prog_name="fairplay", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
    except click.MissingParameter as error:
        fail(f"{error.format_message()}{what_there_is(error)}", 2)
    except click.ClickException as error:
        fail(error.format_message(), 2)
    except HostFault as error:
        fail(str(error), 3)
    except FairplayError as error:
        fail(str(error), 2)
    except click.Abort as error:
        fail(str(error.__cause__ or "") or "interrupted", 130)
    except OSError as error:  # of all other files something was said before
        silence(sys.stdout)
        fail(f"the output cannot be written: {error.strerror}", 3)


def what_there_is(missing: click.MissingParameter) -> str:
    """What to say behind the name of something that was left out: what it may be, if that is known."""
    from fairplay.cli.options.completion import FINDERS, players

    param, context = missing.param, missing.ctx
    find = FINDERS.get((param.param_type_name, param.name or "")) if param and param.name in LISTED else None
    if find is None or context is None:
        return ""
    files = ["./file.py"] if find is players else []
    found = ", ".join([*find(context, ""), *files])
    return f" There is {found}" if found else ""


def fail(why: str, code: int) -> NoReturn:
    """Say in one line what is wrong, and end."""
    click.echo(f"fairplay: {printable(why, LONGEST_ERROR)}", err=True)
    sys.exit(code)
