"""Keep a house from the command line: what its options mean, and how it is told that it should stop."""

import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.match_options import limits_named
from fairplay.cli.options.match_options import settings as parameters_from
from fairplay.cli.options.tournament_options import refuse_without_extras, run_cup
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.server.logs import logging_to, on_stderr
from fairplay.server.settings import HouseSettings, offer, read_settings, settings, strangers_from
from fairplay.tournament import notebook
from fairplay.tournament.entrants import at
from fairplay.tournament.file import read_cup, read_sign_up
from fairplay.tournament.formats.allowed import check
from fairplay.tournament.running.gate import joins
from fairplay.tournament.running.runners import Runner
from fairplay.transport import event_loop

AS_THEY_ARE = (
    "port",
    "host",
    "websocket",
    "web",
    "web_host",
    "web_names",
    "name",
    "folder",
    "guests",
    "window",
    "back",
)
OF_AN_OFFER = ("least", "most", "wait", "policy", "fill")


def serve_house(game: str | None, config: Path | None, given: Mapping[str, Any]) -> None:
    """Keep a house for a game, or for what a file describes, until somebody stops it."""
    found = settings_from(game, config, given)
    from fairplay.server.serving import serve

    with logging_to(on_stderr, as_json=given.get("log") == "json"):
        run(serve(found))


def settings_from(game: str | None, config: Path | None, given: Mapping[str, Any]) -> HouseSettings:
    """What the options of the command say."""
    flags = doors_from(given)
    if config is not None:
        return read_settings(config, flags)
    terms: dict[str, Any] = {name: given[name] for name in OF_AN_OFFER if name in given}
    limits = limits_named(given.get("limit"))
    if limits is not None:
        terms["limits"] = limits
    return settings({"offers": (offer(game or "", parameters_from(given.get("parameters", ())), **terms),), **flags})


def doors_from(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of the doors, and of where things are kept."""
    flags = {name: given[name] for name in AS_THEY_ARE if name in given}
    if "tls" in given:
        flags["certificate"], flags["key"] = given["tls"]
    if "strangers" in given:
        limits = parameters_from(given["strangers"], "--strangers")
        with at("--strangers"):
            flags["strangers"] = strangers_from(limits)
    return flags


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until Ctrl-C or SIGTERM, which stops it in good order, with exit code 0; the second one does so at once."""
    from fairplay.server.serving import collect_seldom

    collect_seldom()
    try:
        event_loop.run(serving)
    except KeyboardInterrupt:
        click.echo("fairplay: stopped; the same command goes on with what was being played", err=True)


def serve_tournament(path: Path, given: Mapping[str, Any]) -> None:
    """Let players sign up for the tournament in a file, and run it; or go on with it."""
    from fairplay.server.cup import serve_cup

    refuse_without_extras()
    sign_up, drawn = read_sign_up(path), secrets.token_bytes(SEED_BYTES)
    folder = Path(given.get("folder", path.with_suffix("")))
    if folder == path:
        raise BadRequest(f"{path} would be its own folder; name another with --folder")
    before = notebook.read(folder).opening.cup.players if notebook.exists(folder) else ()
    joined = [entrant for entrant in before if joins(entrant.address)]
    trial = joined or [Entrant(f"visitor:{number}", f"client {number}") for number in range(1, 1 + sign_up.min)]
    check(cup := read_cup(path, drawn, trial))
    for address in {one.address for one in cup.players} - {one.address for one in trial}:
        if joins(address):
            raise BadRequest(f"{path}: {address} cannot be listed here: who comes in by a door signs up")
    flags = doors_from(given) | {"folder": str(folder), "guests": sign_up.guests, "name": path.stem}
    house = HouseSettings(offers=(), **flags)

    def conduct(joined: Sequence[Entrant], runner: Callable[[], Runner]) -> None:
        run_cup(read_cup(path, drawn, joined), str(folder), runner=runner, quiet=False, drawn=cup.seed == drawn)

    with logging_to(on_stderr, as_json=given.get("log") == "json"):
        run(serve_cup(house, cup.game, sign_up, joined, conduct))
