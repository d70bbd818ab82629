"""Keep a house from the command line: what its options mean, and how it is told that it should stop."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fairplay.cli.serving.options import changed
from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.server.logs import logging_to, on_stderr
from fairplay.server.settings import HouseSettings
from fairplay.terminal.progress import show_tournament
from fairplay.tournament import notebook
from fairplay.tournament.file import read_cup, read_sign_up
from fairplay.tournament.formats.allowed import check
from fairplay.tournament.result import require_extras
from fairplay.tournament.running.gate import joins
from fairplay.tournament.running.runners import Runner
from fairplay.transport import event_loop


def serve_house(settings: HouseSettings) -> None:
    """Keep a house until somebody stops it."""
    from fairplay.server.serving import serve  # needs the extra `server`

    with logging_to(on_stderr, as_json=settings.log == "json"):
        run(serve(settings))


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until Ctrl-C or SIGTERM, which stops it in good order, with exit code 0; the second one does so at once."""
    from fairplay.server.serving import collect_seldom  # needs the extra `server`

    collect_seldom()
    try:
        event_loop.run(serving)
    except KeyboardInterrupt:
        click.echo("fairplay: stopped; the same command goes on with what was being played", err=True)


def serve_tournament(path: Path, given: Mapping[str, Any]) -> None:
    """Let players sign up for the tournament in a file, and run it; or go on with it."""
    from fairplay.server.cup import serve_cup  # needs the extra `server`

    require_extras()
    sign_up = read_sign_up(path)
    folder = Path(given.get("folder", path.with_suffix("")))
    if folder == path:
        raise BadRequest(f"{path} would be its own folder; name another with --folder")
    before = notebook.read(folder).opening.cup.players if notebook.exists(folder) else ()
    joined = [entrant for entrant in before if joins(entrant.address)]
    trial = joined or [Entrant(f"visitor:{number}", f"client {number}") for number in range(1, 1 + sign_up.min)]
    check(cup := read_cup(path, trial))
    for address in {one.address for one in cup.players} - {one.address for one in trial}:
        if joins(address):
            raise BadRequest(f"{path}: {address} cannot be listed here: who comes in by a door signs up")
    named = HouseSettings(folder=str(folder), guests=sign_up.guests, name=path.stem)
    house = changed(named, given)

    def conduct(joined: Sequence[Entrant], runner: Callable[[], Runner]) -> None:
        show_tournament(read_cup(path, joined), str(folder), runner=runner, quiet=False)

    with logging_to(on_stderr, as_json=house.log == "json"):
        run(serve_cup(house, cup.game, sign_up, joined, conduct))
