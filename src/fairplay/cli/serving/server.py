"""Run a server from the command line until it is stopped."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fairplay.cli.serving.options import apply_options
from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.server.logs import log_to, write_stderr
from fairplay.server.settings import ServerSettings
from fairplay.terminal.progress import show_tournament
from fairplay.tournament import tournament_log
from fairplay.tournament.formats.validation import check_format
from fairplay.tournament.result import require_extras
from fairplay.tournament.running.bot_checks import is_invitation
from fairplay.tournament.running.runners import Runner
from fairplay.tournament.spec_file import read_sign_up_settings, read_tournament
from fairplay.transport import event_loop


def run_server(settings: ServerSettings) -> None:
    """Run a server until it is stopped."""
    from fairplay.server.serving import serve  # needs the extra `server`

    with log_to(write_stderr, as_json=settings.log == "json"):
        run_until_stopped(serve(settings))


def run_until_stopped(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until Ctrl-C or SIGTERM, which stops the server gracefully with exit code 0, a second one at once."""
    from fairplay.server.serving import reduce_garbage_collection  # needs the extra `server`

    reduce_garbage_collection()
    try:
        event_loop.run(serving)
    except KeyboardInterrupt:
        click.echo("fairplay: stopped; the same command goes on with what was being played", err=True)


def serve_tournament(path: Path, given: Mapping[str, Any]) -> None:
    """Let players sign up for the tournament in a file, and run or resume it."""
    from fairplay.server.tournament import host_tournament  # needs the extra `server`

    require_extras()
    sign_up = read_sign_up_settings(path)
    directory = Path(given.get("directory", path.with_suffix("")))
    if directory == path:
        raise BadRequest(f"{path} would be its own directory; choose another with --dir")
    before = tournament_log.read_log(directory).opening.spec.players if tournament_log.log_exists(directory) else ()
    known = [entrant for entrant in before if is_invitation(entrant.address)]
    trial = known or [Entrant(f"client:{number}", f"client {number}") for number in range(1, 1 + sign_up.min)]
    check_format(tournament := read_tournament(path, trial))
    for address in {one.address for one in tournament.players} - {one.address for one in trial}:
        if is_invitation(address):
            raise BadRequest(f"{path}: {address} cannot be listed here: players from the network sign up")
    defaults = ServerSettings(directory=str(directory), guests=sign_up.guests, name=path.stem)
    server = apply_options(defaults, given)

    def conduct(joined: Sequence[Entrant], runner: Callable[[], Runner]) -> None:
        show_tournament(read_tournament(path, joined), str(directory), runner=runner, quiet=False)

    with log_to(write_stderr, as_json=server.log == "json"):
        run_until_stopped(host_tournament(server, tournament.game, sign_up, known, conduct))
