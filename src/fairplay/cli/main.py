"""Collect the verbs of the command, and turn errors into one line."""

import os
import sys
from functools import cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

import click

from fairplay.cli.options.interrupts import interrupt_on_sigterm
from fairplay.core.errors import FairplayError, HostFault
from fairplay.core.version import VERSION
from fairplay.render.text import printable
from fairplay.terminal.output import discard_output, use_safe_output

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from click.shell_completion import CompletionItem

MAX_ERROR_CHARS = 2000
COMPLETION_VARIABLE = "_FAIRPLAY_COMPLETE"  # in the environment: a shell wants to complete a command line
COMPLETED_ARGUMENTS = ("game", "player", "players")  # if they are left out, it is said what there is
ENTRY_POINT_GROUP = "fairplay.commands"  # of entry points: verbs that are no part of this package of verbs
SUBCOMMANDS = {  # in the order in which a newcomer needs them; each has a file of its own, which says the same and more
    "games": "List the games and their parameters.",
    "rules": "Print the rules of GAME, with a picture.",
    "players": "List the players that GAME knows.",
    "play": "Play a match of GAME between PLAYERs and show it.",
    "tournament": "Run the tournament that FILE.toml describes.",
    "standings": "Show who is ahead in the tournament in DIR.",
    "new-bot": "Write a bot for GAME to begin with.",
    "check-bot": "Check that PLAYER is ready for matches of GAME.",
    "join": "Let PLAYER take part in matches that are hosted elsewhere.",
    "serve": "Keep a server where programs come to play GAME.",
    "token": "Make a token for NAME, and print it.",
    "status": "Ask a server what goes on there.",
    "watch": "Follow a match that is played at a server.",
    "replay": "Show the match in FILE again.",
    "draw": "Draw the board of the match in FILE.",
    "verify": "Referee the matches in FILEs again.",
    "resume": "Play the match in FILE on.",
    "why": "Tell why players were ejected from the match in FILE.",
    "why-not": "Say whether an ACTION is legal in a view of GAME.",
    "debug": "Give PLAYER again what a seat of the match in FILE heard.",
    "library": "Look for matches in a directory of journals, or of a tournament.",
    "doctor": "Say what can be kept from players that are programs.",
}


def load_command(verb: str) -> click.Command | None:
    """Load a verb, if there is such a one: nobody waits for what the others need."""
    command: click.Command | None = None
    if verb in SUBCOMMANDS:
        name = verb.replace("-", "_")
        command = getattr(import_module(f"fairplay.cli.{name}"), name)
    elif entry := plugin_commands().get(verb):
        command = entry.load()
    return command


@cache
def plugin_commands() -> "dict[str, EntryPoint]":
    """The verbs that stand beside this package, by name; nothing of them is loaded."""
    from importlib.metadata import distributions  # which takes a while, and few verbs need

    ours = islice(distributions(name="fairplay"), 1)  # none, where it runs from a directory and was not installed
    return {entry.name: entry for one in ours for entry in one.entry_points.select(group=ENTRY_POINT_GROUP)}


class Commands(click.Group):
    """The verbs, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*SUBCOMMANDS, *plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = load_command(cmd_name)
        if command is None or COMPLETION_VARIABLE not in os.environ:
            return command
        from fairplay.cli.options.completion import add_suggestions  # for a quick start: only a shell asks

        return add_suggestions(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, without loading what has a line here."""
        beside = {
            verb: command.get_short_help_str(100) for verb in plugin_commands() if (command := load_command(verb))
        }
        with formatter.section("Commands"):
            formatter.write_dl([*SUBCOMMANDS.items(), *beside.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The verbs that begin so."""
        from click.shell_completion import CompletionItem  # start-up: only a shell that completes needs it

        options = [] if incomplete.isalnum() or not incomplete else click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(verb) for verb in self.list_commands(ctx) if verb.startswith(incomplete)), *options]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="fairplay")
def fairplay() -> None:
    """The referee for board games played by programs.

    Begin with:  fairplay play fish random greedy
    """


def main() -> None:
    """Run the command; a bad request ends with one line and exit code 2, a fault of ours with 3, Ctrl-C with 130."""
    if COMPLETION_VARIABLE in os.environ:
        from fairplay.cli.options.completion import answer_shell  # for a quick start: only a shell asks

        answer_shell(fairplay)
    with use_safe_output(), interrupt_on_sigterm():
        run()


def run() -> None:
    """Run the command, and say in one line what is wrong."""
    try:
        sys.exit(fairplay(prog_name="fairplay", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
    except click.MissingParameter as error:
        fail(f"{error.format_message()}{describe_choices(error)}", 2)
    except click.ClickException as error:
        fail(error.format_message(), 2)
    except HostFault as error:
        fail(str(error), 3)
    except FairplayError as error:
        fail(str(error), 2)
    except click.Abort as error:
        fail(str(error.__cause__ or "") or "interrupted", 130)
    except OSError as error:  # of all other files something was said before
        discard_output(sys.stdout)
        fail(f"the output cannot be written: {error.strerror}", 3)


def describe_choices(missing: click.MissingParameter) -> str:
    """What to say behind the name of something that was left out: what it may be, if that is known."""
    from fairplay.cli.options.completion import FINDERS, players  # for a quick start: only errors need them

    param, context = missing.param, missing.ctx
    find = (
        FINDERS.get((param.param_type_name, param.name or "")) if param and param.name in COMPLETED_ARGUMENTS else None
    )
    if find is None or param is None or context is None or param.type.get_missing_message(param, context):
        return ""
    files = ["./file.py"] if find is players else []
    found = ", ".join([*find(context, ""), *files])
    return f" There is {found}" if found else ""


def fail(why: str, code: int) -> NoReturn:
    """Say in one line what is wrong, and end."""
    click.echo(f"fairplay: {printable(why, MAX_ERROR_CHARS)}", err=True)
    sys.exit(code)
