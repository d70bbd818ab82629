"""fairplay course join: let a player of this machine play at the server of a course."""

from collections.abc import Iterator

import click

from fairplay.cli.client.joining import (
    LONGEST,
    LONGEST_LABEL,
    lost_by,
    named,
    patience_option,
    sandbox_option,
    say,
    wait_option,
)
from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.core.messages import End, Message, Start
from fairplay.course.channel.client import PlayerFailed
from fairplay.course.channel.visit import visit_course
from fairplay.course.verbs import Word, games
from fairplay.games import title
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.terminal.matches import MOST_EVIDENCE
from fairplay.transport import event_loop
from fairplay.transport.line import Lost

PERHAPS_EJECTED = "the player may have been ejected: ask the host what the server printed of it, or for the journal"


def players(context: click.Context) -> Iterator[str]:
    """The players of the game that is named before."""
    game = context.params.get("game", "")
    yield from (*(title(game).house if game in games() else ()), "exec:", "py:")


@click.command()
@click.argument("game", type=Word())
@click.argument("host", metavar="HOST:PORT")
@click.argument("player", type=Word(players))
@click.option("--name", metavar="NAME", help="What the player signs up as. [default: what it is called here]")
@wait_option
@patience_option
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
    name, address = named(player, name)
    scheme, slashes, place = host.partition("://")
    if slashes and scheme != "tcp":
        raise BadRequest(f"{host!r} is no server of a course; write HOST:PORT")
    ours: Seat | None = None  # in the last match

    def hear(message: Message) -> None:
        """Say how it goes."""
        nonlocal ours
        match message:
            case Start(ours, names, _):
                say(f"playing {game} as {printable(names[ours], LONGEST_LABEL)}")
            case End(result):
                say("won" if ours in result.ranking[0] else "did not win")

    try:
        ended = event_loop.run(
            visit_course(
                game,
                place if slashes else host,
                address,
                name=name,
                wait=wait,
                patience=patience,
                sandbox=sandbox,
                connected=lambda: say(f"connected to {host}"),
                hear=hear,
                tell=say,
                verbose=verbose,
            )
        )
    except PlayerFailed as error:
        say(f"the player failed, {error.failed.fault.in_words}: {printable(error.failed.why, LONGEST)}")
        for line in describe_evidence(error.failed.evidence)[-MOST_EVIDENCE:]:
            say(f"    {printable(line, LONGEST)}")
        context.exit(1)
    except Lost as error:
        say(lost_by(error))
        context.exit(1)
    if not ended:
        say(f"the server hung up before the end; {PERHAPS_EJECTED}")
        context.exit(1)
    if ours is None:
        say("it is over, and there was no match for the player")
