"""fairplay serve: keep a house where programs come to play, or be the server of a course."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.match_options import limit_option, log_messages, refuse_unreadable, verbose_option
from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest

DOORS = {"port", "host", "websocket", "tls", "web", "web_host", "folder", "guests", "window", "back", "log"}
DOORS |= {"name", "web_names", "strangers"}
ALLOWED = {  # what makes sense beside what is served
    "GAME": DOORS | {"parameters", "least", "most", "wait", "policy", "fill", "limit"},
    "--config": DOORS,
    "--tournament": DOORS - {"guests", "name"},
    "--course": {"port", "host", "least", "most", "wait", "tries", "turn", "journal"},
}


@click.command()
@click.argument("game", required=False)
@click.option("--config", metavar="FILE.toml", help="What is played, and all else that can be said here.")
@click.option("--tournament", metavar="CUP.toml", help="Players sign up for this tournament, and play it.")
@click.option("--course", metavar="GAME", help="Be the server of a course instead.")
@click.option("--port", type=click.IntRange(0, 65535), help="Where players connect; 0: any free one.  [default: 4000]")
@click.option("--host", help="The address to listen at; 0.0.0.0: all of them.  [default: 127.0.0.1]")
@click.option("--websocket", type=click.IntRange(0, 65535), metavar="PORT", help="Let players in over WebSocket, too.")
@click.option("--tls", nargs=2, metavar="CERT KEY", help="Encrypt all lines, with these files.")
@click.option(
    "--web", type=click.IntRange(0, 65535), metavar="PORT", help="For browsers and monitors; /metrics, /healthz."
)
@click.option("--web-host", metavar="HOST", help="The address for that.  [default: 127.0.0.1]")
@click.option("--web-name", "web_names", multiple=True, metavar="HOST", help="A name by which browsers may call it.")
@click.option("--name", help="What the house is called.")
@click.option("--strangers", multiple=True, metavar="NAME=N", help="A limit for strangers; see docs/serving.md.")
@click.option("--folder", metavar="DIR", help="Where all is kept that happens.  [default: house]")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.option("--min", "least", type=click.IntRange(1, 10_000), metavar="N", help="Play with no fewer.")
@click.option("--max", "most", type=click.IntRange(1, 10_000), metavar="N", help="Wait for no more.")
@click.option("--wait", type=Seconds(), metavar="S", help="Seconds for which others are waited for.  [default: 10]")
@click.option("--policy", metavar="HOW", help="Who plays with whom: order, shuffled, new-faces.  [default: order]")
@click.option("--fill", metavar="PLAYER", help="A house player for seats that stay free.")
@limit_option
@verbose_option
@click.option("--guests/--no-guests", default=None, help="May those play who have no token?  [default: they may]")
@click.option("--window", type=Seconds(), metavar="S", help="Seconds to come back to a seat.  [default: 30]")
@click.option("--back", type=Seconds(), metavar="S", help="Seconds to come back after a restart.  [default: 60]")
@click.option("--log", "log", type=click.Choice(["lines", "json"]), help="How to tell what happens.  [default: lines]")
@click.option("--tries", type=click.IntRange(1, 1000), metavar="N", help="Of a course: waiting periods at most.")
@click.option("--turn", type=Seconds(), metavar="S", help="Of a course: seconds for each answer.")
@click.option("--journal", metavar="DIR", type=click.Path(file_okay=False), help="Of a course: record matches there.")
@click.pass_context
def serve(
    context: click.Context,
    /,
    game: str | None,
    config: str | None,
    tournament: str | None,
    course: str | None,
    verbose: bool,
    **chosen: Any,
) -> None:
    """Keep a house where programs come to play GAME.

    \b
    fairplay serve fish                                 for players on this machine
    fairplay serve fish --host 0.0.0.0 --web 8080       from anywhere, with a page to watch
    fairplay serve q --min 2 --max 4 --wait 5 --fill best
    fairplay serve --config house.toml                  several games, and all settings
    fairplay serve --tournament cup.toml                players sign up, and play it
    fairplay serve --course fish --port 45678           programs written for a course

    Players come by: fairplay join HOST:PORT ./my_bot.py; spectators by: fairplay watch HOST:PORT. A room opens when a
    table is full, or when others were waited for long enough. A name can be kept for one player by: fairplay token NAME

    Every match is recorded. Whatever stops the house, the same command goes on with all that was being played, as soon
    as the players are back.
    """
    given = {name: value for name, value in chosen.items() if value not in (None, ())}
    served = {"GAME": game, "--config": config, "--tournament": tournament, "--course": course}
    named = [kind for kind, value in served.items() if value is not None]
    refuse_unreadable(words_in([*served.values(), *given.values()]))
    if not named:
        raise BadRequest("name a game, or --config, --tournament or --course; see: fairplay serve --help")
    if len(named) > 1:
        raise BadRequest(f"{named[0]} and {named[1]} make no sense together; see: fairplay serve --help")
    for option in context.command.params:
        if option.name in given.keys() - ALLOWED[named[0]]:
            raise BadRequest(f"{option.opts[0]} makes no sense with {named[0]}; see: fairplay serve --help")
    if verbose:
        log_messages()
    if course is not None:
        from fairplay.cli.serving.course import serve_course

        serve_course(course, given)
        return
    refuse_without_server()
    if tournament is not None:
        from fairplay.cli.serving.server import serve_tournament

        serve_tournament(Path(tournament), given)
    else:
        from fairplay.cli.serving.server import serve_house

        serve_house(game, None if config is None else Path(config), given)


def refuse_without_server() -> None:
    """Say in one line what is missing to keep a house."""
    for library in ("prometheus_client", "starlette", "uvicorn", "websockets"):
        if find_spec(library) is None:
            raise BadRequest(f"{library} is missing, which a house needs: pip install 'fairplay[server]'")


def words_in(values: Iterable[Any]) -> list[str]:
    """All texts among these."""
    return [text for one in values for text in (one if isinstance(one, tuple) else (one,)) if isinstance(text, str)]
