"""Run or resume a tournament from a TOML file (fairplay tournament)."""

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
@click.option("--init", "game", type=GAME, help="Print a template of FILE.toml for this game, and exit.")
@out_option
@jobs_option
@click.option(
    "--executor",
    default="pool",
    show_default=True,
    metavar="HOW",
    help="Run matches in: here (this process), pool (processes on this machine), dask (a local cluster), dask:ADDRESS.",
)
@game_option
@bot_logs_option
@in_process_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
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
    """Run or resume a tournament from a TOML file.

    Start with:  fairplay tournament --init fish > my.toml

    The output directory, by default FILE, holds tournament.jsonl, the journals of all matches, and at the end
    results.json, results.csv and report.html. If the tournament is interrupted, the same command resumes it and its
    matches.
    """
    if game is not None:
        if file is not None:
            raise BadRequest("--init takes no FILE.toml: it prints one")
        click.echo(tournament_template(game), nl=False)
        return
    if file is None:
        raise BadRequest("missing FILE.toml; to create one: fairplay tournament --init GAME > my.toml")
    path = Path(file)
    spec = read_tournament(path)
    if in_process:
        spec = replace(spec, players=tuple(replace(one, address=keep_in_process(one.address)) for one in spec.players))
    if out is None:
        out = str(path.with_suffix(""))
        if out == file:
            raise BadRequest(f"{file} would be its own output directory; choose another with --out")
    show_tournament(spec, out, jobs=jobs, executor=executor, quiet=quiet, hidden=[file], bot_logs=bot_logs)
