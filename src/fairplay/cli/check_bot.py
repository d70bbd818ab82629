"""fairplay check-bot: let a bot show that it is ready to play, before it matters."""

import sys
from contextlib import redirect_stdout

import click

from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import (
    bot_logs_option,
    in_process_option,
    limit_option,
    limits_named,
    placed,
    refuse_unreadable,
    sandbox_option,
    settings,
)
from fairplay.diagnosis.gate import Gate
from fairplay.diagnosis.trials import bot_named, trials_for
from fairplay.players.address import split_label
from fairplay.players.bot_log import log_path
from fairplay.terminal.output import Teller, in_colour


@click.command("check-bot")
@game_argument()
@click.argument("player")
@limit_option
@sandbox_option
@in_process_option
@bot_logs_option
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.pass_context
def check_bot(
    context: click.Context,
    game: str,
    player: str,
    limit: str | None,
    sandbox: str | None,
    in_process: bool,
    bot_logs: str | None,
    parameters: tuple[str, ...],
) -> None:
    """Check that PLAYER is ready for matches of GAME.

    It is started, plays three small games with house players and one alone, and takes a turn in odd positions: all as
    in a real match, and the same every time. The exit code is 0 if it is ready, and 1 if not.

    \b
    For example:
      fairplay check-bot fish ./my_bot.py
      fairplay check-bot q exec:"node my_bot.js" --limit 2
    """
    refuse_unreadable((player, *parameters))
    (player,) = placed([player], in_process=in_process)
    chosen, named = settings(parameters), {"--limit": limit, "--sandbox": sandbox}
    options = [word for name, value in named.items() if value for word in (name, value)]
    bot = bot_named(player, game, limits_named(limit), sandbox, options, logs=bot_logs)
    trials = trials_for(bot, chosen)
    gate = Gate(bot, Teller(sys.stdout), colour=in_colour(sys.stdout))
    with redirect_stdout(sys.stderr):  # what players in this process print must not come between our lines
        gate.check_all(trials)
    if bot_logs is not None and bot.command is not None:
        click.echo(f"bot logs: {log_path(bot_logs, split_label(player)[0], 'start').parent}")
    context.exit(1 if gate.failed else 0)
