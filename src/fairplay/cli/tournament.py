"""fairplay tournament: play any number of matches between any players, and tell who is better."""

from pathlib import Path

import click
from msgspec.structs import replace

from fairplay.cli.options.game import GAME, game_option
from fairplay.cli.options.match_options import bot_logs_option, in_process_option
from fairplay.cli.options.tournament_options import jobs_option, out_option
from fairplay.core.errors import BadRequest
from fairplay.players.location import keep_in_process
from fairplay.terminal.progress import show_tournament
from fairplay.tournament.spec_file import read_tournament
from fairplay.tournament.template import tournament_template


@click.command()
@click.argument("file", metavar="FILE.toml", required=False)
@click.option("--init", "game", type=GAME, help="Print a file to begin with, and do nothing else.")
@out_option
@jobs_option
@click.option(
    "--executor",
    default="pool",
    show_default=True,
    metavar="HOW",
    help="Who plays: here, pool (processes on this machine), dask (a cluster on this machine), dask:ADDRESS.",
)
@game_option
@bot_logs_option
@in_process_option
@click.option("--quiet", is_flag=True, help="Show nothing while it runs.")
def tournament(
    file: str | None,
    game: str | None,
    out: str | None,
    jobs: int | None,
    executor: str,
    bot_logs: str | None,
    in_process: bool,
    quiet: bool,
) -> None:
    """Run the tournament that FILE.toml describes.

    Begin with:  fairplay tournament --init fish > cup.toml

    All that happens is kept in a directory, by default FILE: tournament.jsonl, the journals of all matches, and at the end
    results.json, results.csv and report.html. If it is interrupted, by whatever, the same command again goes on with
    it, also with the matches that were being played.
    """
    if game is not None:
        if file is not None:
            raise BadRequest("--init takes no file: it prints one")
        click.echo(tournament_template(game), nl=False)
        return
    if file is None:
        raise BadRequest("name a file, such as cup.toml; to begin with: fairplay tournament --init GAME > cup.toml")
    path = Path(file)
    spec = read_tournament(path)
    if in_process:
        spec = replace(spec, players=tuple(replace(one, address=keep_in_process(one.address)) for one in spec.players))
    if out is None:
        out = str(path.with_suffix(""))
        if out == file:
            raise BadRequest(f"{file} would be its own directory; name another with --out")
    show_tournament(spec, out, jobs=jobs, executor=executor, quiet=quiet, hidden=[file], bot_logs=bot_logs)
