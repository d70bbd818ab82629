"""fairplay join: let a player of this machine take part in a match elsewhere."""

import getpass
import os
import re
from pathlib import Path

import click

from fairplay.cli.client.joining import (
    JOINING_PLAYER_ADDRESSES,
    JoinOutcome,
    idle_timeout_option,
    parse_player,
    print_message,
    sandbox_option,
    wait_option,
)
from fairplay.cli.options.game import GAME
from fairplay.cli.options.match_options import bot_logs_option, log_messages, pondering_option, refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.games import EXTERNAL_GAMES, GAMES, game_options, rules_of
from fairplay.hosting.conditions import match_conditions, missing_protections
from fairplay.players.address import IN_PROCESS_PREFIX
from fairplay.players.location import HUMAN, Command, ListenAddress, is_built_in, parse_remote_address
from fairplay.players.session import HostSession
from fairplay.protocol import wire
from fairplay.protocol.player_side import PlayerSide
from fairplay.transport import event_loop
from fairplay.transport.endpoint import describe_os_error

TOKEN_VARIABLE = "FAIRPLAY_TOKEN"  # the variable of the environment that may have one


@click.command()
@click.argument("host", metavar="HOST:PORT")
@click.argument("player")
@click.option(
    "--name",
    metavar="NAME",
    help="What others are to call the player, if the host agrees; you are called by your name on this machine.",
)
@wait_option
@idle_timeout_option
@click.option(
    "--game", type=GAME, help="What to play at a server, if not anything; py:module:Name for a game of your own."
)
@click.option("--matches", type=click.IntRange(1), metavar="N", help="Leave a server after so many matches.")
@click.option(
    "--token-file",
    metavar="FILE",
    help=f"A file with the token of the player at a server; or put it into the environment, as {TOKEN_VARIABLE}.",
)
@click.option(
    "--ca", metavar="FILE", help="With TLS: a file with the certificates to trust, if not those of this machine."
)
@sandbox_option
@pondering_option
@bot_logs_option
@click.option("--verbose", is_flag=True, help="Log each message with its time, on stderr.")
@click.pass_context
def join(
    context: click.Context,
    host: str,
    player: str,
    name: str | None,
    wait: float,
    patience: float,
    game: str | None,
    matches: int | None,
    token_file: str | None,
    ca: str | None,
    sandbox: str | None,
    pondering: bool,
    bot_logs: str | None,
    verbose: bool,
) -> None:
    """Let PLAYER take part in matches that are hosted elsewhere.

    The host waits for it with: fairplay play GAME tcp:PORT ...; over WebSocket with ws:PORT, and then write
    ws://HOST:PORT here. People need more time than programs, so the host should give it: --limit 300

    The player is any that can play on this machine: a built-in player of the game, a file ./my_bot.py, py:module:Name or
    any program exec:"node bot.js", which run in a sandbox, or human: you. A program reads and writes lines as it
    does with fairplay play; it is started for each match, and ends with it. What it says on stderr is shown here.

    At a server (fairplay serve) the player signs up, with its token or as a guest, and stays until the server hangs up.
    When the line is lost, it comes back by itself; when it is ejected or crashes, it signs in again for the next match,
    unless it is you. Ctrl-C gives its seat up. Where there is a certificate, write tls://HOST:PORT or wss://HOST:PORT.

    The exit code is 0 when the last match ended with the player in it, and 1 if it failed or was ejected, or the line
    was lost.
    """
    refuse_unreadable((host, player, name or "", game or "", token_file or "", ca or ""))
    name, player = parse_player(player, name)
    if verbose:
        log_messages()
    where = parse_remote_address(player, game_options())
    if isinstance(where, ListenAddress):
        raise BadRequest(f"{player!r} cannot join a match: it takes a built-in player, {JOINING_PLAYER_ADDRESSES}")
    for option, given in {"--sandbox": sandbox, "--pondering": pondering, "--bot-logs": bot_logs}.items():
        if given and not isinstance(where, Command):
            raise BadRequest(f"{option} makes no sense with {player}, which is no program")
    wire.check_name(name)
    if game is not None:
        rules_of(game)
    of_a_game = where is None and not player.startswith(IN_PROCESS_PREFIX)
    if of_a_game and not any(is_built_in(player, one) for one in ([game] if game else GAMES)):
        raise BadRequest(
            f"there is no player {player!r} of {game or 'any game'}; "
            f"it takes a built-in player, {JOINING_PLAYER_ADDRESSES}"
        )
    person = player == HUMAN
    name = name or user_name() if person else name

    token = read_token(token_file)
    if token and name is None:
        raise BadRequest("a token is of a name: say which, with --name")
    hidden = [place for place in (token_file, bot_logs) if place]
    conditions = match_conditions((player,), None, sandbox, hidden, EXTERNAL_GAMES, pondering=pondering)
    for missing in missing_protections(conditions):
        print_message(missing)

    side = PlayerSide(name=name, token=token, game=game or "", person=person, matches=matches, idle_timeout_s=patience)
    from fairplay.cli.client.playing import JoiningPlayer, play_session  # which need much that --help does not

    joining = JoiningPlayer(player, where if isinstance(where, Command) else None, conditions, name, bot_logs)
    how = event_loop.run(play_session(joining, HostSession(host, side, on_status=print_message, wait=wait, ca=ca)))
    context.exit(0 if how is JoinOutcome.ENDED else 1)


def read_token(file: str | None) -> str:
    """The token of the player, from a file or the environment; never from the command line, which everybody sees."""
    where = TOKEN_VARIABLE if file is None else file
    try:
        token = os.environ.get(TOKEN_VARIABLE, "") if file is None else Path(file).read_text(encoding="ascii")
    except OSError as error:
        raise BadRequest(f"{where} cannot be read: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{where} holds no token") from None
    token = token.strip()
    if not token.isprintable() or len(token) > wire.MAX_TOKEN_CHARS or " " in token or (file is not None and not token):
        raise BadRequest(f"{where} holds no token")
    return token


def user_name() -> str | None:
    """What whoever sits here is called on this machine, as far as it is a name here; None: not at all."""
    try:
        return re.sub(r"[^A-Za-z0-9_-]+", "-", getpass.getuser()).strip("-")[: wire.MAX_NAME_CHARS] or None
    except (KeyError, OSError, ImportError):  # nobody has heard of them
        return None
