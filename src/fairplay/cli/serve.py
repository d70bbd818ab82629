"""fairplay serve: keep a server where programs come to play."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.game import game_argument
from fairplay.cli.options.match_options import log_messages, refuse_unreadable, verbose_option
from fairplay.cli.serving.options import (
    OFFER_OPTIONS,
    SERVER_OPTIONS,
    apply_options,
    offer_from_options,
    server_options,
)
from fairplay.core.errors import BadRequest
from fairplay.server.settings import ServerSettings, read_settings

ALLOWED_OPTIONS = {  # what makes sense beside what is served
    "GAME": SERVER_OPTIONS | OFFER_OPTIONS,
    "--config": SERVER_OPTIONS,
    "--tournament": SERVER_OPTIONS - {"guests", "name"},
}


@click.command()
@game_argument(required=False)
@click.option("--config", metavar="FILE.toml", help="What is played, and all else that can be said here.")
@click.option("--tournament", metavar="CUP.toml", help="Players sign up for this tournament, and play it.")
@server_options
@verbose_option
@click.pass_context
def serve(
    context: click.Context,
    /,
    game: str | None,
    config: str | None,
    tournament: str | None,
    verbose: bool,
    **chosen: Any,
) -> None:
    """Keep a server where programs come to play GAME.

    \b
    fairplay serve fish                                 for players on this machine
    fairplay serve fish --host 0.0.0.0 --web 8080       from anywhere, with a page to watch
    fairplay serve q --min 2 --max 4 --wait 5 --fill best
    fairplay serve --config server.toml                  several games, and all settings
    fairplay serve --tournament cup.toml                players sign up, and play it

    Players come by: fairplay join HOST:PORT ./my_bot.py; spectators by: fairplay watch HOST:PORT. A room opens when a
    table is full, or when others were waited for long enough. A name can be kept for one player by: fairplay token NAME

    Every match is recorded. Whatever stops the server, the same command goes on with all that was being played, as soon
    as the players are back.
    """
    given = {name: value for name, value in chosen.items() if value not in (None, ())}
    served = {"GAME": game, "--config": config, "--tournament": tournament}
    named = [kind for kind, value in served.items() if value is not None]
    refuse_unreadable(list_texts([*served.values(), *given.values()]))
    if not named:
        raise BadRequest("name a game, --config or --tournament; see: fairplay serve --help")
    if len(named) > 1:
        raise BadRequest(f"{named[0]} and {named[1]} make no sense together; see: fairplay serve --help")
    for option in context.command.params:
        if option.name in given.keys() - ALLOWED_OPTIONS[named[0]]:
            raise BadRequest(f"{option.opts[0]} makes no sense with {named[0]}; see: fairplay serve --help")
    if verbose:
        log_messages()
    refuse_without_server()
    from fairplay.cli.serving.server import run_server, serve_tournament  # need the extra `server`

    if tournament is not None:
        serve_tournament(Path(tournament), given)
    elif config is not None:
        run_server(apply_options(read_settings(Path(config)), given))
    else:
        run_server(apply_options(ServerSettings(offers=(offer_from_options(game or "", given),)), given))


def refuse_without_server() -> None:
    """Say in one line what is missing to keep a server."""
    for library in ("prometheus_client", "starlette", "uvicorn", "websockets"):
        if find_spec(library) is None:
            raise BadRequest(f"{library} is missing, which a server needs: pip install 'fairplay[server]'")


def list_texts(values: Iterable[Any]) -> list[str]:
    """All texts among these."""
    return [text for one in values for text in (one if isinstance(one, tuple) else (one,)) if isinstance(text, str)]
