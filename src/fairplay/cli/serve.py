"""Run a game server (fairplay serve)."""

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

ALLOWED_OPTIONS = {  # by what is served
    "GAME": SERVER_OPTIONS | OFFER_OPTIONS,
    "--config": SERVER_OPTIONS,
    "--tournament": SERVER_OPTIONS - {"guests", "name"},
}


@click.command()
@game_argument(required=False)
@click.option("--config", metavar="FILE.toml", help="Read the games and settings from FILE.toml.")
@click.option("--tournament", metavar="FILE.toml", help="Let players sign up for this tournament, and run it.")
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
    """Run a game server.

    \b
    fairplay serve fish                                 for players on this machine
    fairplay serve fish --host 0.0.0.0 --web 8080       from anywhere, with a page to watch
    fairplay serve q --min 2 --max 4 --wait 5 --fill best
    fairplay serve --config server.toml                 several games, and all settings
    fairplay serve --tournament my.toml                 players sign up for a tournament

    Players connect with: fairplay join HOST:PORT ./my_bot.py; spectators with: fairplay watch HOST:PORT. A room opens
    when it is full, or after the time to wait for players. To reserve a name for one player: fairplay token NAME

    Every match is recorded. When the server was stopped, the same command resumes all matches as soon as their players
    are back.
    """
    given = {name: value for name, value in chosen.items() if value not in (None, ())}
    served = {"GAME": game, "--config": config, "--tournament": tournament}
    named = [kind for kind, value in served.items() if value is not None]
    refuse_unreadable(list_texts([*served.values(), *given.values()]))
    if not named:
        raise BadRequest("missing GAME, --config or --tournament; see: fairplay serve --help")
    if len(named) > 1:
        raise BadRequest(f"{named[0]} and {named[1]} cannot be used together; see: fairplay serve --help")
    for option in context.command.params:
        if option.name in given.keys() - ALLOWED_OPTIONS[named[0]]:
            raise BadRequest(f"{option.opts[0]} cannot be used with {named[0]}; see: fairplay serve --help")
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
    """Raise BadRequest if a library of the extra `server` is missing."""
    for library in ("prometheus_client", "starlette", "uvicorn", "websockets"):
        if find_spec(library) is None:
            raise BadRequest(f"a server needs {library}: pip install 'fairplay[server]'")


def list_texts(values: Iterable[Any]) -> list[str]:
    """All texts among these values."""
    return [text for one in values for text in (one if isinstance(one, tuple) else (one,)) if isinstance(text, str)]
