"""Run a game server from Python, with its settings as arguments."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fairplay.app.arguments import GameArgument, parse_game, parse_limits_argument
from fairplay.protocol.limits import Limits
from fairplay.server.logs import log_to, write_stderr
from fairplay.server.settings import Offer, ServerSettings, check_offer, read_settings
from fairplay.tournament.spec_file import check_keys, convert_value
from fairplay.transport import event_loop

ServerArgument = GameArgument | list[GameArgument] | os.PathLike[str] | ServerSettings
PER_GAME = set(Offer.__struct_encode_fields__) - {"game", "parameters"}
PER_SERVER = set(ServerSettings.__struct_encode_fields__) - {"games"}


def serve(game: ServerArgument, **settings: Any) -> None:
    """Run a game server until Ctrl-C, which stops it in good order; the same call resumes its matches.

    Args:
        game: as for `play`, or a list of several; or the path of a TOML file, or `ServerSettings`, which say all.
        settings: of the server and of the games, by the names that docs/serving.md lists, such as `port`, `web`,
            `directory`, `min`, `max`, `wait`, `fill` and `limits`.
    """
    serving = serve_async(game, **settings)
    try:
        event_loop.run_anywhere(serving)
    except KeyboardInterrupt:
        return


async def serve_async(game: ServerArgument, **settings: Any) -> None:
    """Run a game server until this is cancelled. The arguments are those of `serve`."""
    whole = server_settings(game, settings)
    from fairplay.server.serving import serve as serve_settings  # needs the extra `server`

    with log_to(write_stderr, as_json=whole.log == "json"):
        await serve_settings(whole)


def server_settings(game: ServerArgument, settings: Mapping[str, Any]) -> ServerSettings:
    """The settings of a server from the arguments of `serve`."""
    if isinstance(game, ServerSettings | os.PathLike) or (isinstance(game, str) and game.endswith(".toml")):
        if settings:
            raise TypeError(f"{next(iter(settings))} must stand in the settings, which say all")
        return game if isinstance(game, ServerSettings) else read_settings(Path(game))
    check_keys(settings, sorted(PER_GAME | PER_SERVER), "serve")
    said = {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in settings.items()}
    limits = parse_limits_argument(said.pop("limits", None)) or Limits()
    offers = []
    for rules in map(parse_game, game if isinstance(game, list) else [game]):
        offered = {"game": rules.name, **{name: said[name] for name in PER_GAME & said.keys()}}
        offer = convert_value(offered, Offer, "")
        offers.append(check_offer(msgspec.structs.replace(offer, parameters=rules.parameters(), limits=limits)))
    whole = convert_value({name: said[name] for name in PER_SERVER & said.keys()}, ServerSettings, "")
    return msgspec.structs.replace(whole, offers=tuple(offers))
