"""Collect the verbs of the command, and turn errors into one line."""

import sys
from typing import NoReturn

import click

from fairplay.cli.check_bot import check_bot
from fairplay.cli.course import course
from fairplay.cli.debug import debug
from fairplay.cli.doctor import doctor
from fairplay.cli.draw import draw
from fairplay.cli.games import games
from fairplay.cli.interrupts import sigterm_interrupts
from fairplay.cli.join import join
from fairplay.cli.library import library
from fairplay.cli.output import plain_output, silence
from fairplay.cli.play import play
from fairplay.cli.players import players
from fairplay.cli.replay import replay
from fairplay.cli.resume import resume
from fairplay.cli.standings import standings
from fairplay.cli.tournament import tournament
from fairplay.cli.verify import verify
from fairplay.cli.why import why
from fairplay.cli.why_not import why_not
from fairplay.core.errors import FairplayError, HostFault
from fairplay.core.version import VERSION
from fairplay.render.text import printable

LONGEST_ERROR = 2000


class InOrder(click.Group):
    """A group that lists its verbs in the order in which a newcomer needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        return list(self.commands)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="fairplay")
def fairplay() -> None:
    """The referee for board games played by programs.

    Begin with:  fairplay play fish random greedy
    """


for verb in (
    games,
    players,
    play,
    tournament,
    standings,
    check_bot,
    join,
    replay,
    draw,
    verify,
    resume,
    why,
    why_not,
    debug,
    library,
    doctor,
    course,
):
    fairplay.add_command(verb)


def main() -> None:
    """Run the command; a bad request ends with one line and exit code 2, a fault of ours with 3, Ctrl-C with 130."""
    with plain_output(), sigterm_interrupts():
        run()


def run() -> None:
    """Run the command, and say in one line what is wrong."""
    try:
        sys.exit(fairplay(prog_name="fairplay", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
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


def fail(why: str, code: int) -> NoReturn:
    """Say in one line what is wrong, and end."""
    click.echo(f"fairplay: {printable(why, LONGEST_ERROR)}", err=True)
    sys.exit(code)
