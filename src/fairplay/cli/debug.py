"""fairplay debug: give a player again what a seat heard in a recorded match."""

import sys
import traceback
from bdb import BdbQuit
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from fairplay.cli.match_options import refuse_unreadable, tell_evidence
from fairplay.cli.output import Teller, in_colour
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Start, TakeTurn
from fairplay.games import Title, title
from fairplay.hosting.notes import Notes
from fairplay.hosting.sitting import open_here
from fairplay.journal.reenact import MOMENTS
from fairplay.journal.replay import Recorded, about, seat_of
from fairplay.journal.transcript import Heard, transcript
from fairplay.journal.verify import read_lawful
from fairplay.observers.reporter import Reporter, label
from fairplay.players.address import AnyPlayer, split_label
from fairplay.referee.host import Referee, distinct
from fairplay.referee.local import Local
from fairplay.referee.referee import judge, judge_acknowledgement
from fairplay.render.text import printable

LONGEST = 600  # characters of an answer or a reason
ELSEWHERE = ("exec", "tcp", "ws")  # the schemes of players that are never in this process
NO_ANSWER = "the record has no answer, for the match was interrupted there"


class Comparison(msgspec.Struct, frozen=True):
    """What a player answers now, beside what the record has."""

    heard: Heard
    now: Answer
    fact: Fact | None  # what the referee makes of it; None: an acknowledgement, as it should be
    recorded: Fact | None  # what it made of the answer in the record

    @property
    def same(self) -> bool:
        """Is it the same? Of two failures only the fault has to be, and the rule if one is broken.

        The reason may be another one: a crash is an exception in this process, and an exit code in one of its own.
        """
        if self.heard.answer is None:
            return False
        match self.fact, self.recorded:
            case Ejected() as now, Ejected() as then:
                return (now.fault, now.moment, now.clause) == (then.fault, then.moment, then.clause)
        return self.fact == self.recorded


class Candid:
    """A player as it is, which shows where it was when it raised something."""

    def __init__(self, player: AnyPlayer) -> None:
        self._player = player

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._player, name)
        return partial(self._call, known) if callable(known) else known

    def __call__(self, view: Any) -> Any:
        """Take a turn, if the player is a bare function."""
        return self._call(self._player, view)

    def _call(self, method: Any, *arguments: Any) -> Any:
        with ExitStack() as leaving:
            leaving.push(show_where)
            return method(*arguments)


class Rehearsal:
    """A player in the place of a seat. It hears the same again, in this process and without limits.

    With each greeting it is opened anew, because that is what it was: whoever resumes a match opens the players again.
    """

    def __init__(self, game: Game[Any, Any, Any], seat: Seat, open_again: Callable[[], AnyPlayer]) -> None:
        self.player: AnyPlayer  # nobody, before the first greeting
        self._game = game
        self._seat = seat
        self._open_again = open_again

    def hear(self, heard: Heard) -> Comparison:
        """Say to the player what the seat heard."""
        message = heard.message
        if isinstance(message, Start):
            self.player = Candid(self._open_again())
            self._channel = Local(self.player, self._game)
        answer = self._channel.ask(message)
        return Comparison(heard, answer, self._judge(heard, answer), self._judge(heard, heard.answer))

    def _judge(self, heard: Heard, answer: Answer | None) -> Fact | None:
        if answer is None:
            return None
        if isinstance(heard.message, TakeTurn):
            return judge(self._game, heard.message.view, self._seat, answer)
        return judge_acknowledgement(self._seat, MOMENTS[type(heard.message)], answer)


@click.command()
@click.argument("file", type=click.Path())
@click.argument("player")
@click.argument("others", nargs=-1, metavar="[--play-on [PLAYER]...]")
@click.option("--seat", required=True, metavar="S", help="Whose place PLAYER takes: a number from 0, or a name.")
@click.option("--turn", type=int, metavar="N", help="Up to that turn of the seat, counted from 1; all if not given.")
@click.option("--play-on", is_flag=True, help="Then play the match on from there; nothing is recorded.")
@click.pass_context
def debug(
    context: click.Context,
    file: str,
    player: str,
    others: tuple[str, ...],
    seat: str,
    turn: int | None,
    play_on: bool,
) -> None:
    """Give PLAYER again what a seat of the match in FILE heard.

    It hears exactly the same, in this process and without limits, and its answers are compared with the record. The
    exit code is 0 if the answer on turn N is the same; without --turn, if all answers are. Otherwise it is 1.

    With --play-on the match then goes on from turn N: everybody is greeted, and PLAYER is asked again. Name a player
    for each other seat that was not ejected by then, in the order of the seats; or nobody, for those in the record.

    \b
    Write breakpoint() where PLAYER is to stop, or begin in the debugger:
      python -m pdb -m fairplay debug FILE --seat 1 --turn 3 ./bot.py
    """
    refuse_unreadable((player, *others))
    if others and not play_on:
        raise BadRequest("other players are for a match that goes on: write --play-on, or leave them out")
    if play_on and turn is None:
        raise BadRequest("--play-on goes on from a turn: write --turn N")
    with about(file):
        recorded = read_lawful(file)
    shelf, place, (_, address) = title(recorded.opening.game), seat_of(recorded, seat), split_label(player)
    seed = recorded.at(0).seed or bytes(SEED_BYTES)  # if it is not known, then the same every time
    refuse_elsewhere(address)
    rehearsal = Rehearsal(recorded.game, place, lambda: open_here(shelf.rules.name, address, place, seed))
    heard = list(transcript(recorded, place))
    if turn is None:
        context.exit(0 if check_all(rehearsal, heard) else 1)
    *earlier, last = up_to(turn, heard, recorded, place)
    match = recorded.at(last.facts)
    names, addresses = with_others(recorded, match, place, others) if play_on else (match.names, {})
    for other in addresses.values():
        refuse_elsewhere(other)
    table = {seat: open_here(shelf.rules.name, other, seat, seed) for seat, other in addresses.items()}
    walk(rehearsal, earlier)
    same = show_turn(rehearsal, last, shelf, match, place)
    if play_on:
        click.echo(f"\nthe match goes on from turn {turn}, and is not recorded")
        go_on(shelf, replace(match, names=names), {**table, place: rehearsal.player})
    context.exit(0 if same else 1)


def refuse_elsewhere(address: str) -> None:
    """Take only players that can be opened in this process."""
    scheme, colon, _ = address.partition(":")
    is_program = "/" in address and not address.endswith(".py") and scheme != "py"
    if is_program or (colon and scheme in ELSEWHERE):
        ours = "a house player, ./file.py or py:module:Name"
        raise BadRequest(f"{address} is elsewhere, and debug takes players in this process: {ours}")


def up_to(turn: int, heard: Sequence[Heard], recorded: Recorded, seat: Seat) -> list[Heard]:
    """What a seat heard up to and with a turn of its own."""
    name, turns = recorded.names[seat], heard[-1].turn
    if turn < 1:
        raise BadRequest(f"turns are counted from 1, so there is no turn {turn}")
    if turn > turns:
        had = f"{name} had only {counted(turns)}, so there is no turn {turn}"
        for fact in recorded.facts:
            if isinstance(fact, Ejected) and fact.seat == seat and fact.moment is not Moment.FAREWELL:
                had = f"{name} was ejected ({when(heard[-1])}), so there is no turn {turn}: {reason(fact)}"
        raise BadRequest(had)
    last = next(index for index, one in enumerate(heard) if one.turn == turn)
    return list(heard[: last + 1])


def with_others(
    recorded: Recorded, match: Match[Any, Any, Any], seat: Seat, others: Sequence[str]
) -> tuple[tuple[str, ...], dict[Seat, str]]:
    """The names of all who go on with a match, and the addresses of the others at the table."""
    rest = [other for other in sorted(match.seated) if other != seat]
    names, addresses = list(match.names), recorded.opening.players
    if not others:
        if rest and len(addresses) != len(names):
            raise BadRequest("the record does not say who played, so name the other players behind --play-on")
        return match.names, {other: addresses[other] for other in rest}
    if len(others) != len(rest):
        raise BadRequest(f"others still at the table: {len(rest)}, but named behind PLAYER: {len(others)}")
    chosen = {}
    for other, text in zip(rest, others, strict=True):
        name, chosen[other] = split_label(text)
        names[other] = names[other] if name == text else name
    return tuple(distinct(names)), chosen


def check_all(rehearsal: Rehearsal, heard: Sequence[Heard]) -> bool:
    """Say of every turn whether the answer is the same; are all of them?"""
    answered = [one for one in heard if one.answer is not None]
    compared = walk(rehearsal, answered, every_turn=True)
    turns, different = answered[-1].turn, sum(not one.same for one in compared)
    for one in heard[len(answered) :]:
        click.echo(f"turn {one.turn}: not asked; {NO_ANSWER}")
    verdict = f"{different} different from the record" if different else "all the same as in the record"
    click.echo(f"{counted(turns)}: {verdict}")
    return not different


def walk(rehearsal: Rehearsal, heard: Iterable[Heard], *, every_turn: bool = False) -> list[Comparison]:
    """Let the player hear all this, and say in a line each what is different or fails."""
    compared: list[Comparison] = []
    for one in heard:
        if compared and isinstance(one.message, Start):
            click.echo("the match was interrupted here, and resumed: the player is opened anew")
        comparison = rehearsal.hear(one)
        compared.append(comparison)
        unexpected = not comparison.same or isinstance(comparison.fact, Ejected)
        if unexpected or (every_turn and isinstance(one.message, TakeTurn)):
            click.echo(f"{when(one)}: {', '.join(told(comparison))}; {beside(comparison)}")
    return compared


def show_turn(rehearsal: Rehearsal, last: Heard, shelf: Title, match: Match[Any, Any, Any], seat: Seat) -> bool:
    """Draw what the seat sees, say what the player answers then, and compare it; is it the same?"""
    board = shelf.text(match.view(seat), match.names, colour=in_colour(sys.stdout))
    click.echo(f"turn {last.turn} of {label(match.names[seat])} (seat {seat}), after {last.facts} facts\n\n{board}\n")
    comparison = rehearsal.hear(last)
    lawful = ["lawful"] if isinstance(comparison.fact, Acted) else []
    click.echo("\n".join([*told(comparison), *lawful, beside(comparison)]))
    return comparison.same


def when(heard: Heard) -> str:
    """At which moment of the match."""
    moment = MOMENTS[type(heard.message)]
    if moment is Moment.TURN:
        return f"turn {heard.turn}"
    return f"{moment.value} after turn {heard.turn}" if heard.turn else moment.value


def counted(turns: int) -> str:
    """A number of turns, in words."""
    return f"{turns} turn" if turns == 1 else f"{turns} turns"


def told(comparison: Comparison) -> list[str]:
    """What the player does, and what is wrong with it."""
    match comparison.fact, comparison.now:
        case None, _:
            return ["acknowledged"]
        case Acted(_, action), _:
            return [f"answers: {fit(action)}"]
        case Ejected(fault=Fault.ILLEGAL, why=why), Answered(action):
            return [f"answers: {fit(action)}", f"not lawful: {fit(why)}"]
        case Ejected() as ejected, answer:
            return [f"fails: {reason(ejected)}", *evidence(answer)]


def beside(comparison: Comparison) -> str:
    """What the record has."""
    match comparison.recorded, comparison.heard.answer, comparison.now:
        case _, None, _:
            return NO_ANSWER
        case Ejected(fault=Fault.ILLEGAL), Answered(then), Answered(now) if comparison.same and now != then:
            return f"the same failure as in the record, which has: {fit(then)}"
        case _ if comparison.same:
            return "the same as in the record"
        case None, _, _:
            return "the record has an acknowledgement"
        case Acted(_, action), _, _:
            return f"the record has: {fit(action)}"
        case Ejected(fault=Fault.ILLEGAL, why=why), Answered(action), _:
            return f"the record has: {fit(action)}, and the ejection for it: {fit(why)}"
        case Ejected() as ejected, answer, _:
            return f"the record has the ejection: {', '.join([reason(ejected), *evidence(answer)])}"


def reason(ejected: Ejected) -> str:
    """Why a player is out."""
    return f"{ejected.fault.value.replace('_', ' ')}, {fit(ejected.why)}"


def evidence(answer: Answer) -> list[str]:
    """What else is known of a failure, in a line: where a program crashed, the last of what it said."""
    if not isinstance(answer, Failed) or not answer.evidence.strip():
        return []
    return [fit(answer.evidence.strip().splitlines()[-1 if answer.fault is Fault.CRASHED else 0])]


def fit(words: Any) -> str:
    """Something that is fit for a terminal."""
    return printable(str(words), LONGEST)


def show_where(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
    """Print where a player was when it raised something; who quits the debugger quits us too."""
    if isinstance(error, BdbQuit):
        raise KeyboardInterrupt
    if trace is not None and not isinstance(error, KeyboardInterrupt):
        traceback.print_exception(kind, error, trace.tb_next)  # without the frame of ours that called it


def go_on(shelf: Title, match: Match[Any, Any, Any], table: Mapping[Seat, AnyPlayer]) -> None:
    """Play a match on to its end, and show it."""
    output = sys.stdout

    referee, notes = Referee(), Notes()
    referee.subscribe(Reporter(Teller(output), partial(shelf.text, colour=in_colour(output))))
    final = referee.resume(match, [table[seat] for seat in sorted(table)], record=notes)
    tell_evidence(notes, final.names)
