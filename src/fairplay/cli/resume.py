"""Resume a recorded match (fairplay resume)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.journals import file_argument
from fairplay.cli.options.match_options import (
    log_messages,
    match_options,
    parse_limit_option,
    place_players,
    refuse_unreadable,
)
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.hosting.conditions import recorded_conditions
from fairplay.hosting.prepared_match import PreparedMatch, external_players
from fairplay.hosting.records import open_journal, prepare_branch, refuse_imports, resume_match
from fairplay.journal.options import Durability, WithoutMac
from fairplay.journal.replay import RecordedMatch, journal_errors, read_journal
from fairplay.journal.verification import read_legal
from fairplay.players.address import split_label
from fairplay.referee.referee import distinct_names, print_warning
from fairplay.render.formatting import shell_quote
from fairplay.terminal.matches import show_match


@click.command()
@file_argument
@click.argument("players", nargs=-1)
@click.option("--at", type=int, metavar="N", help="Branch after N facts.  [default: all]")
@click.option(
    "--trust", is_flag=True, help="Run the players that FILE names even if it was not recorded with your key."
)
@match_options
def resume(
    file: str,
    players: tuple[str, ...],
    at: int | None,
    trust: bool,
    limit: str | None,
    sandbox: str | None,
    in_process: bool,
    directory: str | None,
    sync: str,
    verbose: bool,
    bot_logs: str | None,
    **shown: Any,
) -> None:
    """Resume a recorded match.

    By default the match continues where it was interrupted, in the same file, with the players that it names.

    With PLAYERs or --at a branch starts, and FILE is not changed. Name a player for each seat that was not ejected by
    then, in the order of the seats; NAME=PLAYER also changes its name. With --journal the branch is recorded as a match
    of its own.

    The players that FILE names are run only if it was recorded with your key, or with --trust; players in this process
    (in-process:module:Name) never are. Without --trust the error lists the programs and ports that FILE names.
    """
    refuse_unreadable(players)
    if verbose:
        log_messages()
    players = place_players(players, in_process=in_process)
    limits, here = parse_limit_option(limit), not players and at is None
    if here and directory is not None:
        raise BadRequest(
            "--journal is for a branch, with PLAYERs or --at; otherwise the match is resumed in its own file"
        )
    if here:
        journal = open_journal(Path(file).parent, Durability(sync), warn=print_warning if trust else None)
        with name_refused_players(file):
            prepared = resume_match(file, limits, sandbox, journal, trusted=trust, bot_logs=bot_logs)
        if trust:
            announce_players(file, prepared)
        return show_match(prepared, **shown)
    with journal_errors(file), name_refused_players(file):
        is_trusted = trust or bool(players)  # of the command line
        recorded = read_legal(file) if is_trusted else open_journal(Path(file).parent, Durability(sync)).read_own(file)
    match = recorded.match_after(at)
    names, addresses = seat_players(recorded, match, players)
    run = [addresses[seat] for seat in sorted(match.remaining_seats)]  # without the ejected
    if not players:
        refuse_imports(file, run)
    directories = [place for place in (directory, bot_logs, str(Path(file).parent)) if place]
    conditions = recorded_conditions(recorded, run, limits, sandbox, directories)
    branches = None if directory is None else open_journal(directory, Durability(sync), warn=print_warning)
    prepared = prepare_branch(recorded, at, names, addresses, conditions, branches)._replace(bot_logs=bot_logs)
    if trust and not players:
        announce_players(file, prepared)
    return show_match(prepared, **shown)


def announce_players(file: str, prepared: PreparedMatch) -> None:
    """Print the programs and ports of a journal before they are run and opened."""
    for seat in sorted(prepared.match.remaining_seats):
        for address in programs_and_ports(prepared.match.game.name, [prepared.addresses[seat]]):
            print_warning(f"{shell_quote(file)} names the player of seat {seat}: {shell_quote(address)}")


@contextmanager
def name_refused_players(file: str) -> Iterator[None]:
    """Add to the refusal of a journal the programs and ports that --trust would run and open."""
    try:
        yield
    except WithoutMac as error:
        try:
            opening = read_journal(file).opening
        except BadRequest:  # it cannot be resumed anyway
            raise error from None
        named = ", ".join(shell_quote(address) for address in programs_and_ports(opening.game, opening.players))
        raise WithoutMac(f"{error}; it names these players: {named}" if named else str(error)) from None


def programs_and_ports(game: str, addresses: Iterable[str]) -> list[str]:
    """The players that resuming a journal would run or let in, without clients of a server."""
    return [one for one in external_players(game, addresses) if not one.startswith("client:")]


def seat_players(
    recorded: RecordedMatch, match: Match[Any, Any, Any], players: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names and addresses by seat: those of the record, or of the new players."""
    names, addresses = list(match.names), list(recorded.opening.players)
    if len(addresses) != len(names):
        if not players:
            raise BadRequest("the record does not name the players; add a PLAYER for each seat")
        addresses = list(names)
    seats = sorted(match.remaining_seats)
    if players and len(players) != len(seats):
        raise BadRequest(f"expected {len(seats)} players, one for each seat that was not ejected, not {len(players)}")
    for seat, text in zip(seats, players, strict=False):
        label, addresses[seat] = split_label(text)
        names[seat] = names[seat] if label == text else label
    return tuple(distinct_names(names)), tuple(addresses)
