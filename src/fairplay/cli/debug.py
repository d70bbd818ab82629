"""fairplay debug: give a player again what a seat heard in a recorded match."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from fairplay.cli.options.journals import file_argument
from fairplay.cli.options.match_options import limit_option, limits_named, refuse_unreadable, sandbox_option
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Moment, Seat
from fairplay.diagnosis.comparison import reason, when
from fairplay.diagnosis.in_process import candid
from fairplay.diagnosis.stage import Stage
from fairplay.diagnosis.troubles import counted
from fairplay.games import title
from fairplay.hosting.sitting import AnyMatch, seat_key
from fairplay.hosting.table import OPEN, Table
from fairplay.hosting.terms import terms_on_record
from fairplay.journal.replay import Recorded, about, seat_of
from fairplay.journal.transcript import Heard, transcript
from fairplay.journal.verify import read_lawful
from fairplay.players.address import IN_PROCESS, split_label
from fairplay.players.location import HUMAN, Location, Near, far, near, of_the_house
from fairplay.players.remote import DEFAULT
from fairplay.referee.host import distinct
from fairplay.terminal.matches import tell_evidence
from fairplay.terminal.output import Teller, in_colour
from fairplay.transport import event_loop


@click.command()
@file_argument
@click.argument("player")
@click.argument("others", nargs=-1, metavar="[--play-on [PLAYER]...]")
@click.option(
    "--seat", "whose", required=True, metavar="S", help="Whose place PLAYER takes: a number from 0, or a name."
)
@click.option("--turn", type=int, metavar="N", help="Up to that turn of the seat, counted from 1; all if not given.")
@click.option("--play-on", is_flag=True, help="Then play the match on from there; nothing is recorded.")
@click.option(
    "--in-process", is_flag=True, help="Load PLAYER into this process, unguarded and untimed, for breakpoints."
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
    """Give PLAYER again what a seat of the match in FILE heard.

    It is run as in a match: shut in, and within the limits of the record. All that goes over its line is shown as it
    comes: what it is asked (>), what it says on stderr (|), and what it replies (<). Its answers are compared with the
    record. The exit code is 0 if the answer on turn N is the same; without --turn, if all are. Otherwise it is 1.

    With --play-on the match then goes on with that answer. The others answer as in the record, as long as all goes as
    it did; then players of the house take their seats. Or name one for each other seat that was not ejected by then, in
    the order of the seats. Nobody is run because the record names it.

    \b
    Write breakpoint() where your own PLAYER is to stop, or begin in the debugger:
      fairplay debug FILE --seat 1 --turn 3 ./bot.py --in-process
      python -m pdb -m fairplay debug FILE --seat 1 --turn 3 ./bot.py --in-process
    """
    refuse_unreadable((player, *others))
    if others and not play_on:
        raise BadRequest("other players are for a match that goes on: write --play-on, or leave them out")
    if play_on and turn is None:
        raise BadRequest("--play-on goes on from a turn: write --turn N")
    with about(file):
        recorded = read_lawful(file)
    seat, (_, address) = seat_of(recorded, whose), split_label(player)
    heard = list(transcript(recorded, seat))
    heard = heard if turn is None else up_to(turn, heard, recorded, seat)
    match, rest = recorded.at(heard[-1].facts), dict[Seat, str]()
    if play_on:
        names, rest = with_others(recorded, match, seat, others)
        match = replace(match, names=names)
    refuse_unfit(address, rest.values(), in_process=in_process)
    programs = [*([] if in_process else [address]), *rest.values()]
    terms = terms_on_record(recorded, programs, limits_named(limit), sandbox, [str(Path(file).parent)])
    game, seed = recorded.game.name, recorded.at(0).seed or bytes(SEED_BYTES)  # if not known, the same every time

    def find(address: str, seat: Seat) -> Location:
        return far(address, title(game).option) or near(address, game, seat_key(seed, seat))

    def find_player() -> Location:
        return Near(candid(game, address, seat, seed)) if in_process else find(address, seat)

    places, tell = {other: find(one, other) for other, one in rest.items()}, Teller(sys.stdout)
    stage = Stage(recorded, seat, turn, heard, match, tell, colour=in_colour(sys.stdout))
    with Table(places, limits=terms.limits or DEFAULT, sandbox=terms.sandbox or OPEN) as table:
        same = event_loop.run(stage.perform(address, find_player, terms, table, rest if play_on else None))
    tell.check()
    tell_evidence(stage.notes.evidence, match.names)
    context.exit(0 if same else 1)


def refuse_unfit(address: str, others: Iterable[str], *, in_process: bool) -> None:
    """Take players that can be started here; into this process only what is asked for, and is for Python."""
    if in_process and not (address.startswith(("py:", IN_PROCESS)) or address.endswith(".py")):
        raise BadRequest(f"{address} cannot be loaded in this process: name ./file.py or py:module:Name")
    for other in (*(() if in_process else (address,)), *others):
        if other.startswith(IN_PROCESS):
            raise BadRequest(
                f"{other} would be loaded into this process, which is for PLAYER and with --in-process only"
            )
        if other == HUMAN or other.startswith(("tcp:", "ws:")):
            raise BadRequest(f"{other} cannot be debugged: name the program, for it is started here")


def up_to(turn: int, heard: Sequence[Heard], recorded: Recorded, seat: Seat) -> list[Heard]:
    """What a seat heard up to and with a turn of its own."""
    name, turns = recorded.names[seat], heard[-1].turn
    if turn < 1:
        raise BadRequest(f"turns are counted from 1, so there is no turn {turn}")
    if turn > turns:
        had = f"{name} had only {counted(turns, 'turn')}, so there is no turn {turn}"
        for fact in recorded.facts:
            if isinstance(fact, Ejected) and fact.seat == seat and fact.moment is not Moment.FAREWELL:
                had = f"{name} was ejected ({when(heard[-1])}), so there is no turn {turn}: {reason(fact)}"
        raise BadRequest(had)
    last = next(index for index, one in enumerate(heard) if one.turn == turn)
    return list(heard[: last + 1])


def with_others(
    recorded: Recorded, match: AnyMatch, seat: Seat, others: Sequence[str]
) -> tuple[tuple[str, ...], dict[Seat, str]]:
    """The names of all who go on with a match, and who takes the other seats when the record is at its end.

    That is whoever was named; else the player of the house that sat there, or the first one where somebody else did.
    """
    rest = [other for other in sorted(match.seated) if other != seat]
    names, game = list(match.names), recorded.opening.game
    if not others:
        sat = dict(enumerate(recorded.opening.players))
        first = next(iter(title(game).house))
        return match.names, {one: sat[one] if of_the_house(sat.get(one, ""), game) else first for one in rest}
    if len(others) != len(rest):
        raise BadRequest(f"others still at the table: {len(rest)}, but named behind PLAYER: {len(others)}")
    chosen = {}
    for other, text in zip(rest, others, strict=True):
        name, chosen[other] = split_label(text)
        names[other] = names[other] if name == text else name
    return tuple(distinct(names)), chosen
