"""fairplay resume: play a recorded match on from any point."""

import secrets
from typing import Any

import click

from fairplay.cli.output import about
from fairplay.cli.stage import Notes, events_option, journal_option, quiet_option, refuse_unreadable, show
from fairplay.core.chance import SEED_BYTES, derive
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.games import title
from fairplay.journal.record import Journal
from fairplay.journal.verify import read_lawful
from fairplay.players.address import open_player, split_label
from fairplay.referee.host import Referee, distinct


@click.command()
@click.argument("file", type=click.Path())
@click.argument("players", nargs=-1, required=True)
@click.option("--at", type=int, metavar="N", help="After N facts; where the record ends if not given.")
@journal_option
@quiet_option
@events_option
def resume(
    file: str, players: tuple[str, ...], at: int | None, directory: str | None, quiet: bool, events: bool
) -> None:
    """Play the match in FILE on, with other PLAYERs.

    There is a player for each seat that was not ejected by then, in the order of the seats; with NAME=PLAYER it takes
    that name, else the one in the record. With --journal the match from its beginning is recorded as a new one.
    """
    refuse_unreadable(players)
    with about(file):
        recorded = read_lawful(file)
    match = recorded.at(at)
    seats = sorted(match.seated)
    if len(players) != len(seats):
        raise BadRequest(f"{len(seats)} players are still at the table, not {len(players)}")
    names, addresses = list(match.names), list(recorded.opening.players or match.names)
    for seat, text in zip(seats, players, strict=True):
        label, addresses[seat] = split_label(text)
        names[seat] = label if "=" in text else names[seat]
    match = Match(match.game, match.state, tuple(distinct(names)), match.ejected, match.owed)
    seed = bytes.fromhex(recorded.opening.seed) if recorded.opening.seed else secrets.token_bytes(SEED_BYTES)
    shelf = title(recorded.opening.game)
    journal = None if directory is None else Journal(directory, players=addresses)

    def run(referee: Referee, notes: Notes) -> Match[Any, Any, Any]:
        table = [open_player(addresses[seat], shelf, derive(seed, f"seat {seat}")) for seat in seats]
        if journal is not None:
            journal.branch(recorded.opening, recorded.entries[:at], match.names)
        return referee.resume(match, table, record=notes)

    show(shelf, journal, run, quiet=quiet, events=events)
