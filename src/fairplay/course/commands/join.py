"""fairplay course join: let a player of this machine play at the server of a course."""

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

MAYBE_EJECTED_HINT = "the player may have been ejected: ask the host what the server printed of it, or for the journal"


def players(context: click.Context) -> Iterator[str]:
    """The players of the game that is named before."""
    game = context.params.get("game", "")
    yield from (*(game_info(game).built_in if game in games() else ()), "exec:", "py:")


@click.command()
@click.argument("game", type=SuggestedText())
@click.argument("host", metavar="HOST:PORT")
@click.argument("player", type=SuggestedText(players))
@click.option("--name", metavar="NAME", help="What the player signs up as. [default: what it is called here]")
@wait_option
@idle_timeout_option
@sandbox_option
@click.option("--verbose", is_flag=True, help="Log each call and answer with its time, on stderr.")
@click.pass_context
def join(
    context: click.Context,
    game: str,
    host: str,
    player: str,
    name: str | None,
    wait: float,
    patience: float,
    sandbox: str | None,
    verbose: bool,
) -> None:
    """Let PLAYER play at the server of the course of GAME.

    The player is a built-in player of the game, a file ./my_bot.py, py:module:Name or any program exec:"node bot.js",
    which speaks the protocol of fairplay. It is started before it signs up, and for later matches of a tournament
    ahead of them: a server may allow a call less time than that takes.

    The exit code is 0 when the server said the end, and 1 if the player failed, or the server hung up before.
    """
    refuse_unreadable((game, host, player, name or ""))
    name, address = parse_player(player, name)
    scheme, slashes, place = host.partition("://")
    if slashes and scheme != "tcp":
        raise BadRequest(f"{host!r} is no server of a course; write HOST:PORT")
    ours: Seat | None = None  # in the last match

    def hear(message: Message) -> None:
        """Say how it goes."""
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
                idle_timeout=patience,
                sandbox=sandbox,
                on_connected=lambda: print_message(f"connected to {host}"),
                on_message=hear,
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
        print_message(f"the server hung up before the end; {MAYBE_EJECTED_HINT}")
        context.exit(1)
    if ours is None:
        print_message("it is over, and there was no match for the player")
