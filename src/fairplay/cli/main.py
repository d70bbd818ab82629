"""Collect the subcommands, and report errors in one line."""

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
COMPLETION_VARIABLE = "_FAIRPLAY_COMPLETE"  # set in the environment when a shell completes a command line
COMPLETED_ARGUMENTS = ("game", "player", "players")  # if one is missing, the error lists the choices
ENTRY_POINT_GROUP = "fairplay.commands"  # of entry points: subcommands of other packages
SUBCOMMANDS = {  # in the order in which a newcomer needs them; each has a module whose docstring begins with this line
    "games": "List games and their parameters.",
    "rules": "Show a game's rules.",
    "players": "List built-in players and ratings.",
    "play": "Play one match, or many with --games.",
    "tournament": "Run or resume a tournament from a TOML file.",
    "standings": "Show the standings of a tournament.",
    "new-bot": "Create a bot from a template.",
    "check-bot": "Test a bot before it plays.",
    "join": "Connect a player to a match or server.",
    "serve": "Run a game server.",
    "token": "Create, list or revoke player tokens.",
    "status": "Show what a server is doing.",
    "watch": "Watch a match on a server.",
    "replay": "Replay a recorded match.",
    "draw": "Draw a position as SVG or PNG.",
    "verify": "Check recorded matches by refereeing them again.",
    "resume": "Resume a recorded match.",
    "why": "Explain ejections.",
    "why-not": "Explain why an action is illegal.",
    "debug": "Re-run a bot on what a recorded seat was shown.",
    "library": "Search recorded matches.",
    "doctor": "Check what this machine supports (sandbox, kernels).",
}


def load_command(name: str) -> click.Command | None:
    """Load one subcommand, so that the imports of the others cost no time; None: there is no such subcommand."""
    command: click.Command | None = None
    if name in SUBCOMMANDS:
        module = name.replace("-", "_")
        command = getattr(import_module(f"fairplay.cli.{module}"), module)
    elif entry := plugin_commands().get(name):
        command = entry.load()
    return command


@cache
def plugin_commands() -> "dict[str, EntryPoint]":
    """The subcommands of other packages, by name, not loaded yet."""
    from importlib.metadata import distributions  # slow to import, and seldom needed

    ours = islice(distributions(name="fairplay"), 1)  # none where fairplay was not installed
    return {entry.name: entry for one in ours for entry in one.entry_points.select(group=ENTRY_POINT_GROUP)}


class Commands(click.Group):
    """The subcommands, each loaded when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*SUBCOMMANDS, *plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = load_command(cmd_name)
        if command is None or COMPLETION_VARIABLE not in os.environ:
            return command
        from fairplay.cli.options.completion import add_suggestions  # imported late for a quick start

        return add_suggestions(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands, without loading those in SUBCOMMANDS."""
        plugins = {
            name: command.get_short_help_str(100) for name in plugin_commands() if (command := load_command(name))
        }
        with formatter.section("Commands"):
            formatter.write_dl([*SUBCOMMANDS.items(), *plugins.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The subcommands that begin with the typed text."""
        from click.shell_completion import CompletionItem  # imported late for a quick start

        options = [] if incomplete.isalnum() or not incomplete else click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name) for name in self.list_commands(ctx) if name.startswith(incomplete)), *options]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="fairplay")
def fairplay() -> None:
    """The referee for board games played by programs.

    Start with:  fairplay play fish random greedy
    """


def main() -> None:
    """Run the command. Exit code 2: bad request, 3: host fault, 130: interrupted; each with one line on stderr."""
    if COMPLETION_VARIABLE in os.environ:
        from fairplay.cli.options.completion import answer_shell  # imported late for a quick start

        answer_shell(fairplay)
    with use_safe_output(), interrupt_on_sigterm():
        run()


def run() -> None:
    """Run the command, and report an error in one line."""
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
    except OSError as error:  # errors of all other files are reported before
        discard_output(sys.stdout)
        fail(f"the output cannot be written: {error.strerror}", 3)


def describe_choices(missing: click.MissingParameter) -> str:
    """The choices for a missing argument, to follow the error, if they are known."""
    from fairplay.cli.options.completion import FINDERS, players  # imported late for a quick start

    param, context = missing.param, missing.ctx
    find = (
        FINDERS.get((param.param_type_name, param.name or "")) if param and param.name in COMPLETED_ARGUMENTS else None
    )
    if find is None or param is None or context is None or param.type.get_missing_message(param, context):
        return ""
    files = ["./file.py"] if find is players else []
    found = ", ".join([*find(context, ""), *files])
    return f" Choose from {found}" if found else ""


def fail(why: str, code: int) -> NoReturn:
    """Print an error in one line, and exit."""
    click.echo(f"fairplay: {printable(why, MAX_ERROR_CHARS)}", err=True)
    sys.exit(code)
