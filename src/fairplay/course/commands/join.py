"""Connect a player to the server of a course (fairplay course join)."""

from collections.abc import Iterator

import click

from fairplay.cli.client.joining import (
    MAX_LABEL_CHARS,
    MAX_MESSAGE_CHARS,
    describe_loss,
    idle_timeout_option,
    parse_player,
    print_message,
    sandbox_option,
    wait_option,
)
from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.core.messages import End, Message, Start
from fairplay.course.channel.client import PlayerFailed
from fairplay.course.channel.joining import join_with_player
from fairplay.course.commands import SuggestedText, games
from fairplay.games import game_info
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.terminal.matches import MAX_FAILURE_LINES
from fairplay.transport import event_loop
from fairplay.transport.connection import ConnectionLost

MAYBE_EJECTED_HINT = "the player may have been ejected: ask the host for the output of the server, or for the journal"


def players(context: click.Context) -> Iterator[str]:
    """The players of the game on the command line."""
    game = context.params.get("game", "")
    yield from (*(game_info(game).built_in if game in games() else ()), "exec:", "py:")


@click.command()
@click.argument("game", type=SuggestedText())
@click.argument("host", metavar="HOST:PORT")
@click.argument("player", type=SuggestedText(players))
@click.option("--name", metavar="NAME", help="Sign up as NAME.  [default: from PLAYER]")
@wait_option
@idle_timeout_option
@sandbox_option
@click.option("--verbose", is_flag=True, help="Log each call and answer with its time on stderr.")
@click.pass_context
def join(
    context: click.Context,
    game: str,
    host: str,
    player: str,
    name: str | None,
    wait: float,
    idle_timeout: float,
    sandbox: str | None,
    verbose: bool,
) -> None:
    """Connect a player to the server of a course.

    PLAYER is a built-in player of GAME, a file ./my_bot.py, py:module:Name or any program exec:"node bot.js", which
    speaks the protocol of fairplay. It is started before it signs up, and before each match of a tournament, as a
    server may allow a call less time than that takes.

    Exit code 0: the server announced the end. Exit code 1: the player failed, or the server closed the connection
    before.
    """
    refuse_unreadable((game, host, player, name or ""))
    name, address = parse_player(player, name)
    scheme, slashes, place = host.partition("://")
    if slashes and scheme != "tcp":
        raise BadRequest(f"{host!r} is not the server of a course; expected HOST:PORT")
    ours: Seat | None = None  # in the last match

    def report_message(message: Message) -> None:
        """Print the progress of a match."""
        nonlocal ours
        match message:
            case Start(ours, names, _):
                print_message(f"playing {game} as {printable(names[ours], MAX_LABEL_CHARS)}")
            case End(result):
                print_message("won" if ours in result.ranking[0] else "did not win")

    try:
        ended = event_loop.run(
            join_with_player(
                game,
                place if slashes else host,
                address,
                name=name,
                wait=wait,
                idle_timeout=idle_timeout,
                sandbox=sandbox,
                on_connected=lambda: print_message(f"connected to {host}"),
                on_message=report_message,
                report=print_message,
                verbose=verbose,
            )
        )
    except PlayerFailed as error:
        print_message(
            f"the player failed, {error.failed.fault.description}: {printable(error.failed.why, MAX_MESSAGE_CHARS)}"
        )
        for line in describe_evidence(error.failed.evidence)[-MAX_FAILURE_LINES:]:
            print_message(f"    {printable(line, MAX_MESSAGE_CHARS)}")
        context.exit(1)
    except ConnectionLost as error:
        print_message(describe_loss(error))
        context.exit(1)
    if not ended:
        print_message(f"the server closed the connection before the end; {MAYBE_EJECTED_HINT}")
        context.exit(1)
    if ours is None:
        print_message("the tournament is over; the player had no match")
