"""fairplay resume: play a recorded match on, where it was interrupted or from any point."""

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
@click.option("--at", type=int, metavar="N", help="After N facts; where the record ends if not given.")
@click.option("--trust", is_flag=True, help="Run the players that FILE names even if nobody began it here.")
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
    """Play the match in FILE on.

    Without anything else: where it was interrupted, in the same file, with the players that it names.

    With PLAYERs or --at a branch begins, and FILE stays as it is. There is a player for each seat that was not ejected
    by then, in the order of the seats; with NAME=PLAYER it takes that name, else the one in the record. With --journal
    the branch is recorded as a match of its own.

    Players that only FILE names are run if you began the match, which its mark shows, or with --trust; those that
    would be loaded into this process, in-process:module:Name, never are. Without --trust the refusal names the programs
    and ports that FILE names.
    """
    refuse_unreadable(players)
    if verbose:
        log_messages()
    players = place_players(players, in_process=in_process)
    limits, here = parse_limit_option(limit), not players and at is None
    if here and directory is not None:
        raise BadRequest("--journal is for a branch, with PLAYERs or --at; else the match goes on in its own file")
    if here:
        journal = open_journal(Path(file).parent, Durability(sync), warn=print_warning if trust else None)
        with name_refused_players(file):
            prepared = resume_match(file, limits, sandbox, journal, trusted=trust, bot_logs=bot_logs)
        if trust:
            announce_players(file, prepared)
        return show_match(prepared, **shown)
    with journal_errors(file), name_refused_players(file):
        vouched_for = trust or bool(players)  # on the command line
        recorded = read_legal(file) if vouched_for else open_journal(Path(file).parent, Durability(sync)).read_own(file)
    match = recorded.match_after(at)
    names, addresses = seat_players(recorded, match, players)
    run = [addresses[seat] for seat in sorted(match.remaining_seats)]  # whoever was ejected is of no concern any more
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
    """Say which programs and ports of a journal are about to be run and opened, before any of them is."""
    for seat in sorted(prepared.match.remaining_seats):
        for address in programs_and_ports(prepared.match.game.name, [prepared.addresses[seat]]):
            print_warning(f"{shell_quote(file)} names the player of seat {seat}: {shell_quote(address)}")


@contextmanager
def name_refused_players(file: str) -> Iterator[None]:
    """Let the refusal of a journal that is not ours name the programs and ports that --trust would run and open."""
    try:
        yield
    except WithoutMac as error:
        try:
            opening = read_journal(file).opening
        except BadRequest:  # nobody can resume it
            raise error from None
        named = ", ".join(shell_quote(address) for address in programs_and_ports(opening.game, opening.players))
        raise WithoutMac(f"{error}; it names these players: {named}" if named else str(error)) from None


def programs_and_ports(game: str, addresses: Iterable[str]) -> list[str]:
    """The players that a journal can have run or let in; clients that came to a server cannot be sent for."""
    return [one for one in external_players(game, addresses) if not one.startswith("client:")]


def seat_players(
    recorded: RecordedMatch, match: Match[Any, Any, Any], players: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names and the addresses by seat: those of the record, and of whoever takes a seat now."""
    names, addresses = list(match.names), list(recorded.opening.players)
    if len(addresses) != len(names):
        if not players:
            raise BadRequest("the record does not say who played, so name the players")
        addresses = list(names)
    seats = sorted(match.remaining_seats)
    if players and len(players) != len(seats):
        raise BadRequest(f"{len(seats)} players are still at the table, not {len(players)}")
    for seat, text in zip(seats, players, strict=False):
        label, addresses[seat] = split_label(text)
        names[seat] = names[seat] if label == text else label
    return tuple(distinct_names(names)), tuple(addresses)
