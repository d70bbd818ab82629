"""Run the server of a course (fairplay course serve)."""

import json
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from fairplay.cli.options.match_options import log_messages, refuse_unreadable, verbose_option
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest
from fairplay.course.commands import SuggestedText
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.servers import SERVERS, CourseServerSettings
from fairplay.course.server import serving
from fairplay.render.formatting import shell_quote
from fairplay.terminal.server_output import make_server_output
from fairplay.tournament.layout import MATCHES_DIR
from fairplay.transport import event_loop


@click.command("serve")
@click.argument("game", type=SuggestedText())
@click.option("--port", type=click.IntRange(0, 65535), required=True, help="Listen at this port; 0: any free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen at this address; 0.0.0.0: at all.")
@click.option("--min", "least", type=click.IntRange(1, 10_000), metavar="N", help="Play with at least N clients.")
@click.option(
    "--max",
    "most",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Play with at most N clients, and start as soon as they are there.",
)
@click.option("--wait", type=Seconds(), metavar="S", help="Wait for clients for S seconds in each waiting period.")
@click.option("--waiting-periods", type=click.IntRange(1, 1000), metavar="N", help="Wait for at most N periods.")
@click.option("--turn", type=Seconds(), metavar="S", help="Limit each answer to S seconds.")
@click.option("--journal", metavar="DIR", type=click.Path(file_okay=False), help="Record the matches in DIR.")
@verbose_option
def serve(game: str, port: int, host: str, journal: str | None, verbose: bool, **chosen: Any) -> None:
    """Run the server of a course.

    Clients sign up and play the tournament or the game of the course; the result is printed in the format of the
    course. The defaults of all numbers are those of the course: see docs/course.md.

    Clients cannot reconnect to an interrupted match; its journal is kept.
    """
    refuse_unreadable((game, host, journal or ""))
    if game not in SERVERS:
        raise BadRequest(f"there is no course of {game!r}; there is {', '.join(SERVERS)}")
    if verbose:
        log_messages()
    server, output = SERVERS[game], make_server_output()
    rules = choose_settings(server.rules, {name: value for name, value in chosen.items() if value is not None})
    before = list_journals(journal)
    try:
        served = event_loop.run(
            serving.serve(DIALECTS[game], rules, host, port, report=output.tell, show=output.show, journal=journal)
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{describe_new_journals(journal, before)}") from None
    click.echo(json.dumps(server.result(served.ranks, served.out), separators=(",", ":")))


def choose_settings(usual: CourseServerSettings, chosen: dict[str, Any]) -> CourseServerSettings:
    """The course's settings with those that the host chose. Raises BadRequest if they contradict each other."""
    rules = replace(usual, **chosen)
    if rules.least > rules.most:
        least, most = (
            f"{option} {number}" if name in chosen else f"the course's {option} {number}"
            for name, option, number in (("least", "--min", rules.least), ("most", "--max", rules.most))
        )
        raise BadRequest(f"{least} is more than {most}")
    return rules


def list_journals(directory: str | None) -> set[Path]:
    """All journals in a directory, also of a tournament."""
    return (
        set()
        if directory is None
        else {*Path(directory).glob("*.jsonl"), *Path(directory, MATCHES_DIR).glob("*.jsonl")}
    )


def describe_new_journals(directory: str | None, before: set[Path]) -> str:
    """The end of the message about an interruption, if anything was recorded since."""
    if directory is None or not list_journals(directory) - before:
        return ""
    return (
        f", and the clients are disconnected; to see what was recorded: fairplay library list {shell_quote(directory)}"
    )
