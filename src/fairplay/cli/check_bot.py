"""fairplay check-bot: let a bot show that it is ready to play, before it matters."""

import asyncio
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from fairplay.cli.match_options import (
    Notes,
    limit_option,
    refuse_unreadable,
    sandbox_option,
    settings,
    sit_down,
    terms_for,
)
from fairplay.cli.output import teller
from fairplay.cli.trials import QUICK, SEED, Bot, Trial, games, odd_positions
from fairplay.cli.why import FAULTS, alternatives, in_short, rule
from fairplay.core.chance import seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Event, Fact, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, End, Failed, Message, TakeTurn, Tell
from fairplay.games import Title, game_with, title
from fairplay.journal.appeal import clauses, lawful_in
from fairplay.observers.reporter import in_words, label, standings
from fairplay.players.address import open_player, split_label
from fairplay.players.limits import Budget, Limits
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.players.table import OPEN, Command, Invitation, far
from fairplay.players.wire import Named
from fairplay.referee.host import Referee
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, duration, paragraph, plain

STARTS = 3
ENDS_WITHIN = 1.0  # seconds after its stdin was closed
TOO_CLOSE = 0.5  # the share of a limit above which there is a warning
FIRST_LINES, LAST_LINES = 4, 16  # of evidence: what became of the program, and the end of what it said
MARGIN = 5
RECEIVED = re.compile(r"^received b(.+) \(\d+ bytes, SHA-256", re.MULTILINE)


class Enough(Exception):
    """All has been seen: the match need not go on."""


class Pace(msgspec.Struct, frozen=True):
    """How long something took, and how long it might have taken."""

    took: float
    limit: float

    @property
    def share(self) -> float:
        """How much of the limit was used."""
        return self.took / self.limit if self.limit else 1.0

    def __str__(self) -> str:
        return f"{duration(self.took)}, {100 * self.share:.0f} % of {self.limit:g} s"


class Trouble(msgspec.Struct, frozen=True):
    """What a bot was ejected for, and what led to it."""

    ejected: Ejected
    message: Message | None  # None: it was hello
    answer: Answer
    facts: tuple[Fact, ...] = ()  # that came before


class Witness(Notes):
    """A record that keeps what concerns the bot."""

    def __init__(self, trial: Trial, limits: Limits) -> None:
        super().__init__(None)
        self.facts: list[Fact] = []
        self.paces: list[Pace] = []  # of its turns
        self.trouble: Trouble | None = None
        self.last = 0.0  # when something happened, by our clock
        self._trial = trial
        self._budget = Budget(limits)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> None:
        """Keep it, if it is about the bot."""
        self.last = self.clock()
        if not isinstance(event, Acted | Ejected) or message is None or answer is None:
            return
        if event.seat == self._trial.seat:
            if isinstance(message, TakeTurn):
                self.paces.append(Pace(answer.took, self._budget.allowed(message)))
                self._budget.spend(message, answer.took)
            if isinstance(event, Ejected):
                self.trouble = Trouble(event, message, answer, tuple(self.facts))
        self.facts.append(event)
        if self._trial.only_once:  # the bot was to move
            raise Enough


class Gate:
    """The checks as they are made: each is told at once, and counted."""

    def __init__(self, bot: Bot, tell: Callable[[str], None], *, colour: bool) -> None:
        self.made = self.failed = 0
        self._bot = bot
        self._tell = tell
        self._colour = colour
        self._told: set[tuple[Any, ...]] = set()  # kinds of trouble
        self._starts: list[Pace] = []
        self._turns: list[Pace] = []
        self._endings: list[float] = []  # seconds that it took to end, once its line was closed

    def check_all(self, trials: Sequence[Trial]) -> None:
        """Make every check, and say what they come to. Who does not even start is not tried any further."""
        checks: list[Callable[[], None]] = [*(partial(self.check, trial) for trial in trials), self.check_time]
        checks += [self.check_end] if self._bot.command else []
        self.check_start(trials[0])
        for check in checks if not self.failed else ():
            check()
        untried = 1 + len(checks) - self.made
        rest = f", and {untried} were not tried" if untried else ""
        failed = f"not ready: {self.failed} of {1 + len(checks)} checks failed{rest}"
        self._tell(f"{failed if self.failed else 'ready to play'}\n")

    def check_start(self, trial: Trial) -> None:
        """Does it start, and answer hello?"""
        command, name = self._bot.command, ""
        if command is None:
            open_player(self._bot.address, self._bot.shelf, seed_from(SEED))
            return self._say("ok", "start: it is loaded in this process, where no limits are enforced")
        for _ in range(STARTS):
            hello = asyncio.run(self._hello(command, trial))
            self._starts.append(Pace(hello.took, self._bot.limits.start_up))
            match hello:
                case Failed(fault, why):
                    ejected = Ejected(trial.seat, fault, Moment.GREETING, why)
                    return self._refuse("start", Trouble(ejected, None, hello), trial)
                case Answered(Named(name)):
                    name = f", and would like to be called {name}"
        return self._say("ok", f"start: it said hello after {self._starts[0]}{name}")

    def check(self, trial: Trial) -> None:
        """Is it never ejected?"""
        bot, witness = self._bot, Witness(trial, self._bot.limits)
        addresses = [split_label(player)[1] for player in trial.players]
        with suppress(Enough):
            sit_down(Referee(), witness, bot.shelf, trial.match, addresses, replace(bot.terms, limits=self._limits))
        self._turns += witness.paces
        if witness.trouble is not None:
            return self._refuse(trial.name, witness.trouble, trial)
        self._endings += [] if self.failed else [witness.clock() - witness.last]
        slowest = duration(max((pace.took for pace in witness.paces), default=0.0))
        told = f"{counted(len(witness.paces), 'turn')}, the slowest took {slowest}"
        if trial.only_once and isinstance(acted := witness.facts[-1], Acted):
            told = f"it {acted.action}"
        return self._say("ok", f"{trial.name}: {told}")

    def check_time(self) -> None:
        """How close was it to its limits?"""
        turn = max(self._turns, key=lambda pace: pace.share, default=Pace(0.0, self._bot.limits.move))
        answers = f"time: the slowest of {counted(len(self._turns), 'answer')} took"
        if self._bot.command is None:
            return self._say("ok", f"{answers} {duration(turn.took)}; no limits are enforced in this process")
        start = max(self._starts, key=lambda pace: pace.share)
        close = max(turn.share, start.share) > TOO_CLOSE
        advice = f"more than {100 * TOO_CLOSE:.0f} % is too close: another machine may be slower, or busy"
        told = f"{answers} {turn}; the slowest of {counted(len(self._starts), 'start')} {start}"
        return self._say("warn" if close else "ok", told, paragraph("advice", advice) if close else ())

    def check_end(self) -> None:
        """Did it end by itself, whenever its line was closed?"""
        if self._killed:
            told = f"end: it was killed, for it still ran {ENDS_WITHIN:g} s after its stdin was closed"
            advice = "the end of its stdin is the end of the match, and it should end then too"
            self._say("warn", told, paragraph("advice", advice))
        else:
            self._say("ok", f"end: it ended by itself within {duration(max(self._endings))}, once its stdin was closed")

    @property
    def _killed(self) -> bool:
        return max(self._endings, default=0.0) >= ENDS_WITHIN

    @property
    def _limits(self) -> Limits:
        """As long as nothing is wrong, it is waited for longer than usual when its line is closed."""
        return self._bot.limits if self.failed or self._killed else replace(self._bot.limits, goodbye=ENDS_WITHIN)

    async def _hello(self, command: Command, trial: Trial) -> Answered | Failed:
        program = await Program.start(command.words, sandbox=self._bot.terms.sandbox or OPEN)
        remote = Remote(program, trial.match.game, match_id=SEED, limits=self._limits)
        try:
            return await remote.hello()
        finally:
            since = time.perf_counter()
            await remote.close(None)
            self._endings.append(time.perf_counter() - since)

    def _refuse(self, what: str, trouble: Trouble, trial: Trial) -> None:
        ejected, answer = trouble.ejected, trouble.answer
        details = explained(trouble, trial, self._bot, colour=self._colour)
        kind = (ejected.fault, ejected.why, *(answer.evidence.splitlines()[-1:] if isinstance(answer, Failed) else ()))
        if kind in self._told:
            details = paragraph("when", *when(trouble, trial.match.names), "this was told above")
        self._told.add(kind)
        self._say("no", f"{what}: {in_short(ejected.fault)}, {ejected.why}", details)

    def _say(self, verdict: str, text: str, details: Iterable[str] = ()) -> None:
        self.made += 1
        self.failed += verdict == "no"
        below = [f"{'':{MARGIN}}{line}".rstrip() for line in details]
        self._tell("\n".join([f"{verdict:{MARGIN}}{printable(text, LONGEST)}", *below, ""]))


@click.command("check-bot")
@click.argument("game")
@click.argument("player")
@limit_option
@sandbox_option
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; see: fairplay games.")
@click.pass_context
def check_bot(
    context: click.Context, game: str, player: str, limit: str, sandbox: str, parameters: tuple[str, ...]
) -> None:
    """Check that PLAYER is ready for matches of GAME.

    It is started, plays three small games with house players, and takes a turn in odd positions: all as in a real
    match, and the same every time. The exit code is 0 if it is ready, and 1 if not.

    \b
    For example:
      fairplay check-bot fish ./my_bot.py
      fairplay check-bot q exec:"node my_bot.js" --limit 2
    """
    refuse_unreadable((player, *parameters))
    shelf, chosen, (_, address) = title(game), settings(parameters), split_label(player)
    command = far(address)
    if isinstance(command, Invitation):
        raise BadRequest(f"{address} cannot be checked: name the program, for it is started anew for every check")
    options = ("--limit", limit, "--sandbox", sandbox) if command else ()
    bot = Bot(player, address, command, terms_for([address], limit, sandbox), options, shelf)
    trials = [*games(bot, {**QUICK.get(game, {}), **chosen}), *odd_positions(bot, game_with(game, chosen))]
    gate = Gate(bot, teller(sys.stdout), colour=sys.stdout.isatty())
    with redirect_stdout(sys.stderr):  # what players in this process print must not come between our lines
        gate.check_all(trials)
    context.exit(1 if gate.failed else 0)


def explained(trouble: Trouble, trial: Trial, bot: Bot, *, colour: bool) -> Iterator[str]:
    """What is wrong, as `fairplay why` tells it."""
    ejected, message, game, names = trouble.ejected, trouble.message, trial.match.game, trial.match.names
    name = label(names[ejected.seat])
    yield from paragraph("when", *when(trouble, names))
    yield from paragraph("fault", f"{in_short(ejected.fault)}: {FAULTS[ejected.fault]}")
    if ejected.clause:
        yield from rule(ejected.clause, clauses(game.name).get(ejected.clause, ""))
    match trouble.answer:
        case Answered(action):
            yield from paragraph("answer", f"{name} {action}", plain(action))
        case Failed(evidence=said):
            yield from paragraph("evidence", *shortened(said.splitlines()))
    if isinstance(message, TakeTurn):
        yield from paragraph("lawful", *alternatives(lawful_in(game, message.view), "answer", name))
    yield from paragraph("advice", *advice(trouble, bot))
    if message is not None:
        yield from ("", f"  What {name} was {'told' if isinstance(message, Tell | End) else 'shown'}:", "")
        yield from (f"    {line}" for line in told_by(message, bot.shelf, names, colour=colour))
        yield ""
    if isinstance(message, TakeTurn) and trial.only_once:
        yield from paragraph("as JSON", plain(game.pack(message.view)))
    elif trial.again and message is not None:
        yield from ("  To play it again, and keep a journal for fairplay why:", "", f"    {trial.again}")


def when(trouble: Trouble, names: Sequence[str]) -> Iterator[str]:
    """The moment, how long it took, and the fact before."""
    facts, took = trouble.facts, duration(trouble.answer.took)
    turns = sum(isinstance(fact, Acted) and fact.seat == trouble.ejected.seat for fact in facts)
    moment = f"at the {trouble.ejected.moment.value}, after {counted(turns, 'turn')} of its own"
    if isinstance(trouble.message, TakeTurn):
        moment = f"on turn {turns + 1} of its own"
    yield f"{moment if trouble.message else 'at hello'}; it took {took}"
    if facts:
        yield f"after fact {len(facts)}: {' '.join(in_words(facts[-1], names))}"


def shortened(evidence: Sequence[str]) -> Sequence[str]:
    """How evidence begins and ends."""
    left_out = len(evidence) - FIRST_LINES - LAST_LINES
    cut = [*evidence[:FIRST_LINES], f"({left_out} lines are left out)", *evidence[-LAST_LINES:]]
    return cut if left_out > 1 else evidence


def advice(trouble: Trouble, bot: Bot) -> Iterator[str]:
    """What the author of the bot may have overlooked."""
    why, evidence = trouble.ejected.why, trouble.answer.evidence if isinstance(trouble.answer, Failed) else ""
    match trouble.ejected.fault, RECEIVED.search(evidence):
        case ((Fault.MALFORMED | Fault.FLOOD), re.Match() as received) if not received[1][1:].startswith("{"):
            yield f"something else than a reply came on stdout: {printable(received[1], 100)}; print to stderr instead"
        case Fault.MALFORMED, _ if why.startswith("not a reply"):
            yield 'a reply is {"nonce": "...", "answer": ...} on one line, with the nonce of the question'
        case Fault.TIMED_OUT, _ if trouble.message is None:
            yield "a reply ends with a newline and is flushed: what stays in a buffer is never read"
        case Fault.CRASHED, _ if trouble.message is None and "defines no player" in evidence:
            yield f'a program that speaks the protocol itself is named exec:"python3 {bot.address}"'
        case Fault.CRASHED, _ if trouble.message is None and why.endswith(" 0") and bot.address.startswith("exec:"):
            yield "it has to read its stdin to the end; a file with a class Player or a function take_turn is ./file.py"


def told_by(message: Message, shelf: Title, names: tuple[str, ...], *, colour: bool) -> Iterable[str]:
    """The board as the bot saw it, or the news, or the result."""
    match message:
        case Tell(news):
            return [printable(plain(news), LONGEST)]
        case End(result):
            return standings(result, names)
    return shelf.text(message.view, names, colour=colour).split("\n")


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
