"""Test a bot before it plays (fairplay check-bot)."""

import sys
from contextlib import redirect_stdout

import click

from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import (
    bot_logs_option,
    in_process_option,
    limit_option,
    parse_limit_option,
    parse_pairs,
    place_players,
    refuse_unreadable,
    sandbox_option,
)
from fairplay.diagnosis.bot_check import BotChecker
from fairplay.diagnosis.bot_trials import list_trials, parse_bot
from fairplay.players.address import split_label
from fairplay.players.bot_log import log_path
from fairplay.terminal.output import FlushingWriter, supports_colour


@click.command("check-bot")
@game_argument()
@click.argument("player")
@limit_option
@sandbox_option
@in_process_option
@bot_logs_option
@click.option(
    "--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the game; see: fairplay games."
)
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
    """Test a bot before it plays.

    The tests start PLAYER, let it play three small games of GAME with built-in players and one alone, and ask it in
    unusual positions: as in a real match, and the same every time. Exit code 0: it passed. Exit code 1: it failed.

    \b
    For example:
      fairplay check-bot fish ./my_bot.py
      fairplay check-bot q exec:"node my_bot.js" --limit 2
    """
    refuse_unreadable((player, *parameters))
    (player,) = place_players([player], in_process=in_process)
    chosen, named = parse_pairs(parameters), {"--limit": limit, "--sandbox": sandbox}
    options = [word for name, value in named.items() if value for word in (name, value)]
    bot = parse_bot(player, game, parse_limit_option(limit), sandbox, options, logs=bot_logs)
    trials = list_trials(bot, chosen)
    checker = BotChecker(bot, FlushingWriter(sys.stdout), colour=supports_colour(sys.stdout))
    with redirect_stdout(sys.stderr):  # keeps the prints of players in this process out of our lines
        checker.check_all(trials)
    if bot_logs is not None and bot.command is not None:
        click.echo(f"bot logs: {log_path(bot_logs, split_label(player)[0], 'start').parent}")
    context.exit(1 if checker.checks_failed else 0)
