"""Re-run a bot on what a recorded seat was shown (fairplay debug)."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from fairplay.cli.options.journals import file_argument
from fairplay.cli.options.match_options import limit_option, parse_limit_option, refuse_unreadable, sandbox_option
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Moment, Seat
from fairplay.diagnosis.advice import format_count
from fairplay.diagnosis.comparison import ejection_reason, format_moment
from fairplay.diagnosis.debug_session import DebugSession
from fairplay.diagnosis.traced_player import open_traced_player
from fairplay.games import game_info
from fairplay.hosting.conditions import recorded_conditions
from fairplay.hosting.prepared_match import AnyMatch, seat_key
from fairplay.hosting.table import NO_SANDBOX, Table
from fairplay.journal.replay import RecordedMatch, find_seat, journal_errors
from fairplay.journal.transcript import TranscriptEntry, transcript
from fairplay.journal.verification import read_legal
from fairplay.players.address import IN_PROCESS_PREFIX, split_label
from fairplay.players.location import (
    HUMAN,
    LocalAddress,
    Location,
    is_built_in,
    parse_local_address,
    parse_remote_address,
)
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.referee.referee import distinct_names
from fairplay.terminal.matches import print_evidence
from fairplay.terminal.output import FlushingWriter, supports_colour
from fairplay.transport import event_loop


@click.command()
@file_argument
@click.argument("player")
@click.argument("others", nargs=-1, metavar="[--play-on [PLAYER]...]")
@click.option(
    "--seat", "whose", required=True, metavar="S", help="Let PLAYER take this seat: a number from 0, or a name."
)
@click.option("--turn", type=int, metavar="N", help="Stop after turn N of the seat, from 1.  [default: the last turn]")
@click.option("--play-on", is_flag=True, help="Then play on from there; nothing is recorded.")
@click.option(
    "--in-process", is_flag=True, help="Load PLAYER into this process, without sandbox and limits, for breakpoints."
)
@limit_option
@sandbox_option
@click.pass_context
def debug(
    context: click.Context,
    file: str,
    player: str,
    others: tuple[str, ...],
    whose: str,
    turn: int | None,
    play_on: bool,
    in_process: bool,
    limit: str | None,
    sandbox: str | None,
) -> None:
    """Re-run a bot on what a recorded seat was shown.

    PLAYER runs as in a match, in a sandbox and within the limits of the record. All its messages are shown as they
    come: what it is asked (>), its stderr (|), and its replies (<). Its answers are compared with the record. Exit
    code 0: the answer on turn N is the same, or without --turn all are. Exit code 1: it differs.

    With --play-on the match continues with that answer. The other players answer as recorded until the match differs
    from the record; then built-in players take their seats. Or name a player for each other seat that was not ejected
    by then, in the order of the seats. No player is run because the record names it.

    \b
    Write breakpoint() where your PLAYER should stop, or start in the debugger:
      fairplay debug FILE --seat 1 --turn 3 ./bot.py --in-process
      python -m pdb -m fairplay debug FILE --seat 1 --turn 3 ./bot.py --in-process
    """
    refuse_unreadable((player, *others))
    if others and not play_on:
        raise BadRequest("other players need --play-on: add it, or leave them out")
    if play_on and turn is None:
        raise BadRequest("--play-on needs a turn: add --turn N")
    with journal_errors(file):
        recorded = read_legal(file)
    seat, (_, address) = find_seat(recorded, whose), split_label(player)
    heard = list(transcript(recorded, seat))
    heard = heard if turn is None else cut_at_turn(turn, heard, recorded, seat)
    match, rest = recorded.match_after(heard[-1].facts), dict[Seat, str]()
    if play_on:
        names, rest = seat_others(recorded, match, seat, others)
        match = replace(match, names=names)
    check_player(address, rest.values(), in_process=in_process)
    programs = [*([] if in_process else [address]), *rest.values()]
    conditions = recorded_conditions(recorded, programs, parse_limit_option(limit), sandbox, [str(Path(file).parent)])
    game = recorded.game.name
    seed = recorded.match_after(0).seed or bytes(SEED_BYTES)  # if unknown, the same every time

    def find(address: str, seat: Seat) -> Location:
        return parse_remote_address(address, game_info(game).option) or parse_local_address(
            address, game, seat_key(seed, seat)
        )

    def find_player() -> Location:
        return LocalAddress(open_traced_player(game, address, seat, seed)) if in_process else find(address, seat)

    places, tell = {other: find(one, other) for other, one in rest.items()}, FlushingWriter(sys.stdout)
    session = DebugSession(recorded, seat, turn, heard, match, tell, colour=supports_colour(sys.stdout))
    with Table(places, limits=conditions.limits or DEFAULT_LIMITS, sandbox=conditions.sandbox or NO_SANDBOX) as table:
        same = event_loop.run(session.run(address, find_player, conditions, table, rest if play_on else None))
    tell.check()
    print_evidence(session.timing.evidence, match.names)
    context.exit(0 if same else 1)


def check_player(address: str, others: Iterable[str], *, in_process: bool) -> None:
    """Refuse players that cannot be started here, or not in this process."""
    if in_process and not (address.startswith(("py:", IN_PROCESS_PREFIX)) or address.endswith(".py")):
        raise BadRequest(f"{address} cannot be loaded in this process; use ./file.py or py:module:Name")
    for other in (*(() if in_process else (address,)), *others):
        if other.startswith(IN_PROCESS_PREFIX):
            raise BadRequest(f"{other} would be loaded into this process; only PLAYER can be, with --in-process")
        if other == HUMAN or other.startswith(("tcp:", "ws:")):
            raise BadRequest(f"{other} cannot be debugged: name a program that can be started here")


def cut_at_turn(
    turn: int, heard: Sequence[TranscriptEntry], recorded: RecordedMatch, seat: Seat
) -> list[TranscriptEntry]:
    """What a seat heard up to one of its turns."""
    name, turns = recorded.names[seat], heard[-1].turn
    if turn < 1:
        raise BadRequest(f"turns are counted from 1, so there is no turn {turn}")
    if turn > turns:
        had = f"{name} had only {format_count(turns, 'turn')}, so there is no turn {turn}"
        for fact in recorded.facts:
            if isinstance(fact, Ejected) and fact.seat == seat and fact.moment is not Moment.END:
                moment = format_moment(heard[-1])
                had = f"{name} was ejected ({moment}), so there is no turn {turn}: {ejection_reason(fact)}"
        raise BadRequest(had)
    last = next(index for index, one in enumerate(heard) if one.turn == turn)
    return list(heard[: last + 1])


def seat_others(
    recorded: RecordedMatch, match: AnyMatch, seat: Seat, others: Sequence[str]
) -> tuple[tuple[str, ...], dict[Seat, str]]:
    """The names of all players, and the players of the other seats once the match differs from the record.

    These are the named ones; otherwise the recorded built-in player, or the first one in place of any other player.
    """
    rest = [other for other in sorted(match.remaining_seats) if other != seat]
    names, game = list(match.names), recorded.opening.game
    if not others:
        sat = dict(enumerate(recorded.opening.players))
        first = next(iter(game_info(game).built_in))
        return match.names, {one: sat[one] if is_built_in(sat.get(one, ""), game) else first for one in rest}
    if len(others) != len(rest):
        raise BadRequest(f"expected {len(rest)} players after PLAYER, one for each other seat, not {len(others)}")
    chosen = {}
    for other, text in zip(rest, others, strict=True):
        name, chosen[other] = split_label(text)
        names[other] = names[other] if name == text else name
    return tuple(distinct_names(names)), chosen
