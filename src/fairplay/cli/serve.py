"""fairplay serve: play the role of a course's server."""

import asyncio
import json
from typing import Any

import click
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.dialects import DIALECTS
from fairplay.course.servers import SERVERS
from fairplay.referee.host import complain
from fairplay.server.course import serve as serve_course


@click.command()
@click.option("--course", "game", metavar="GAME", required=True, help=f"Whose: {', '.join(SERVERS)}.")
@click.option("--port", type=click.IntRange(0, 65535), required=True, help="Where clients connect; 0: any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0: all of them.")
@click.option("--min", "least", type=click.IntRange(1, 1000), metavar="N", help="Play with no fewer.")
@click.option("--max", "most", type=click.IntRange(1, 1000), metavar="N", help="Wait for no more.")
@click.option("--wait", type=click.FloatRange(0, 86400, min_open=True), metavar="S", help="Seconds of a period.")
@click.option("--tries", type=click.IntRange(1, 1000), metavar="N", help="So many waiting periods at most.")
@click.option("--turn", type=click.FloatRange(0, 86400, min_open=True), metavar="S", help="Seconds for each answer.")
@click.option("--journal", metavar="DIR", type=click.Path(file_okay=False), help="Record every match there.")
def serve(game: str, port: int, host: str, journal: str | None, **chosen: Any) -> None:
    """Serve the clients of a course.

    They sign up, play its tournament or its game, and the result is printed as the course has it. Where nothing else is
    said, the numbers are the course's.
    """
    if game not in SERVERS:
        raise BadRequest(f"there is no course of {game!r}; there is {', '.join(SERVERS)}")
    server = SERVERS[game]
    rules = replace(server.rules, **{name: value for name, value in chosen.items() if value is not None})
    if rules.least > rules.most:
        raise BadRequest(f"--min {rules.least} is more than --max {rules.most}")
    served = asyncio.run(serve_course(DIALECTS[game], rules, host, port, tell=complain, journal=journal))
    click.echo(json.dumps(server.result(served.ranks, served.out), separators=(",", ":")))
