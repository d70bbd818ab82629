"""Connect a player to a match or server (fairplay join)."""

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

TOKEN_VARIABLE = "FAIRPLAY_TOKEN"  # environment variable


@click.command()
@click.argument("host", metavar="HOST:PORT")
@click.argument("player")
@click.option(
    "--name",
    metavar="NAME",
    help="Ask the host to call the player NAME.  [default for you as a person: your user name]",
)
@wait_option
@idle_timeout_option
@click.option(
    "--game", type=GAME, help="Play only this game at a server; py:module:Name for your own game.  [default: any]"
)
@click.option("--matches", type=click.IntRange(1), metavar="N", help="Leave a server after N matches.")
@click.option(
    "--token-file",
    metavar="FILE",
    help=f"Read the player's token for a server from FILE.  [default: the environment variable {TOKEN_VARIABLE}]",
)
@click.option("--ca", metavar="FILE", help="Trust the certificates in FILE for TLS.  [default: those of this machine]")
@sandbox_option
@pondering_option
@bot_logs_option
@click.option("--verbose", is_flag=True, help="Log each message with its time on stderr.")
@click.pass_context
def join(
    context: click.Context,
    host: str,
    player: str,
    name: str | None,
    wait: float,
    idle_timeout: float,
    game: str | None,
    matches: int | None,
    token_file: str | None,
    ca: str | None,
    sandbox: str | None,
    pondering: bool,
    bot_logs: str | None,
    verbose: bool,
) -> None:
    """Connect a player to a match or server.

    The host of a match waits for the player with: fairplay play GAME tcp:PORT ...; or with ws:PORT for a WebSocket,
    then HOST:PORT is ws://HOST:PORT. A person needs more time than a program; the host sets it: --limit 300

    PLAYER is a built-in player of the game, a file ./my_bot.py, py:module:Name or any program exec:"node bot.js",
    which run in a sandbox, or human: you. A program reads and writes lines as with fairplay play; it is started for
    each match. Its stderr is shown here.

    At a server (fairplay serve) the player signs in, with its token or as a guest, and stays until the server closes
    the connection. It reconnects by itself; after an ejection or a crash it signs in again for the next match, unless
    it is a person. Ctrl-C gives up its seat. For TLS write tls://HOST:PORT or wss://HOST:PORT.

    Exit code 0: the last match ended with the player in it. Exit code 1: the player failed or was ejected, or the
    connection was lost.
    """
    refuse_unreadable((host, player, name or "", game or "", token_file or "", ca or ""))
    name, player = parse_player(player, name)
    if verbose:
        log_messages()
    where = parse_remote_address(player, game_options())
    if isinstance(where, ListenAddress):
        raise BadRequest(f"{player!r} cannot join a match; use a built-in player, {JOINING_PLAYER_ADDRESSES}")
    for option, given in {"--sandbox": sandbox, "--pondering": pondering, "--bot-logs": bot_logs}.items():
        if given and not isinstance(where, Command):
            raise BadRequest(f"{option} cannot be used with {player}, which is not a program")
    wire.check_name(name)
    if game is not None:
        rules_of(game)
    of_a_game = where is None and not player.startswith(IN_PROCESS_PREFIX)
    if of_a_game and not any(is_built_in(player, one) for one in ([game] if game else GAMES)):
        raise BadRequest(
            f"there is no player {player!r} of {game or 'any game'}; use a built-in player, {JOINING_PLAYER_ADDRESSES}"
        )
    person = player == HUMAN
    name = name or user_name() if person else name

    token = read_token(token_file)
    if token and name is None:
        raise BadRequest("a token belongs to a name: add --name NAME")
    hidden = [place for place in (token_file, bot_logs) if place]
    conditions = match_conditions((player,), None, sandbox, hidden, EXTERNAL_GAMES, pondering=pondering)
    for missing in missing_protections(conditions):
        print_message(missing)

    side = PlayerSide(
        name=name, token=token, game=game or "", person=person, matches=matches, idle_timeout_s=idle_timeout
    )
    from fairplay.cli.client.playing import JoiningPlayer, play_session  # imported late for a quick --help

    joining = JoiningPlayer(player, where if isinstance(where, Command) else None, conditions, name, bot_logs)
    how = event_loop.run(play_session(joining, HostSession(host, side, on_status=print_message, wait=wait, ca=ca)))
    context.exit(0 if how is JoinOutcome.ENDED else 1)


def read_token(file: str | None) -> str:
    """Read the player's token from a file or the environment, not from the command line, which other users see."""
    where = TOKEN_VARIABLE if file is None else file
    try:
        token = os.environ.get(TOKEN_VARIABLE, "") if file is None else Path(file).read_text(encoding="ascii")
    except OSError as error:
        raise BadRequest(f"{where} cannot be read: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{where} does not hold a token") from None
    token = token.strip()
    if not token.isprintable() or len(token) > wire.MAX_TOKEN_CHARS or " " in token or (file is not None and not token):
        raise BadRequest(f"{where} does not hold a token")
    return token


def user_name() -> str | None:
    """The user's name on this machine, as a valid name of a player; None: there is none."""
    try:
        return re.sub(r"[^A-Za-z0-9_-]+", "-", getpass.getuser()).strip("-")[: wire.MAX_NAME_CHARS] or None
    except (KeyError, OSError, ImportError):  # the user has no name
        return None
