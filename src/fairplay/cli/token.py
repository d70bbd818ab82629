"""Create, list or revoke player tokens (fairplay token)."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import click

from fairplay.cli.options.match_options import refuse_unreadable
from fairplay.core.errors import BadRequest
from fairplay.server.sign_in.tokens import TOKENS_FILE, make_token, read_hashes, revoke_token
from fairplay.transport.endpoint import describe_os_error


@click.command()
@click.argument("name", required=False)
@click.option(
    "--dir",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Use the server in DIR.  [default: server-data]",
)
@click.option(
    "--tournament",
    metavar="FILE.toml",
    help="Use the directory of: fairplay serve --tournament FILE.toml",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the token to FILE, which must not exist, with mode 0600.  [default: print it]",
)
@click.option("--revoke", is_flag=True, help="Revoke the token of NAME.")
@click.option("--list", "listed", is_flag=True, help="List the names that have a token.")
def token(
    name: str | None, directory: str | None, tournament: str | None, output: str | None, revoke: bool, listed: bool
) -> None:
    """Create, list or revoke player tokens.

    Only a player with the token can play as NAME at the server. The token is shown only once, as the server keeps its
    hash alone. A running server accepts it at once. Players read it from a file or from the environment:

    \b
      fairplay token ann -o ann.token
      fairplay join HOST:PORT ./my_bot.py --name ann --token-file ann.token
    """
    refuse_unreadable((name or "", directory or "", tournament or "", output or ""))
    where = server_directory(directory, tournament)
    if output is not None and (revoke or listed):
        raise BadRequest("-o is for a new token; it cannot be used with --revoke or --list")
    if listed:
        if name is not None or revoke:
            raise BadRequest("--list takes no NAME and no --revoke")
        click.echo("".join(f"{each}\n" for each in sorted(read_hashes(where / TOKENS_FILE))), nl=False)
    elif name is None:
        raise BadRequest("missing NAME of a player, or --list")
    elif revoke:
        revoke_token(where, name)
    elif output is not None:
        with create_private_file(Path(output)) as file:
            file.write(f"{make_token(where, name)}\n")
    else:
        click.echo(make_token(where, name))


def server_directory(directory: str | None, tournament: str | None) -> Path:
    """The directory of the server."""
    if tournament is None:
        return Path("server-data" if directory is None else directory)
    if directory is not None:
        raise BadRequest("--dir and --tournament cannot be used together")
    from fairplay.tournament.spec_file import read_sign_up_settings  # imported late for a quick start

    read_sign_up_settings(Path(tournament))
    return Path(tournament).with_suffix("")


@contextmanager
def create_private_file(path: Path) -> Iterator[TextIO]:
    """Create a file that only its owner can read; delete it again if the `with` block fails."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise BadRequest(f"{path} exists already and is not overwritten") from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path} cannot be written: {describe_os_error(error)}") from None
    with ExitStack() as undo:
        undo.callback(path.unlink, missing_ok=True)
        with os.fdopen(file, "w") as opened:
            yield opened
        undo.pop_all()
