"""Let a bot show that it is ready to play, before it matters: the checks, one after the other."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.chance import seed_from
from fairplay.core.events import Acted, Ejected, Event, Fact
from fairplay.core.game import Moment
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, Failed, Message, TakeTurn
from fairplay.diagnosis.trials import SEED, Bot, Trial
from fairplay.diagnosis.troubles import Trouble, counted, explained, when
from fairplay.diagnosis.why import describe_failure
from fairplay.hosting.notes import Notes
from fairplay.hosting.run import Hosted
from fairplay.hosting.sitting import Sitting
from fairplay.hosting.table import OPEN
from fairplay.players.address import open_player, split_label
from fairplay.players.bot_log import open_log
from fairplay.players.location import Command
from fairplay.players.process import Program
from fairplay.players.remote import Remote
from fairplay.protocol.limits import Budget, Limits
from fairplay.protocol.wire import Introduction
from fairplay.referee.host import Referee
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, duration, paragraph
from fairplay.transport import event_loop

STARTS = 3
ENDS_WITHIN = 1.0  # seconds after its stdin was closed
TOO_CLOSE = 0.5  # the share of a limit above which there is a warning
MARGIN = 5


class Enough(BaseException):
    """All has been seen: the match need not go on. It is no error, and nobody is to take it for one."""


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


class Witness(Notes):
    """A record that keeps what concerns the bot."""

    def __init__(self, trial: Trial, limits: Limits) -> None:
        super().__init__()
        self.facts: list[Fact] = []
        self.paces: list[Pace] = []  # of its turns
        self.trouble: Trouble | None = None
        self.last = 0.0  # when something happened, by our clock
        self._trial = trial
        self._budget = Budget(limits)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Keep it, if it is about the bot."""
        self.last = self.clock()
        if not isinstance(event, Acted | Ejected) or message is None or answer is None:
            return False
        if event.seat == self._trial.seat:
            if isinstance(message, TakeTurn):
                self.paces.append(Pace(answer.took, self._budget.allowed(message)))
                self._budget.spend(message, answer.took)
            if isinstance(event, Ejected):
                self.trouble = Trouble(event, message, answer, tuple(self.facts))
        self.facts.append(event)
        if self._trial.only_once:  # the bot was to move
            raise Enough
        return False


class Gate:
    """The checks as they are made: each is told at once, and counted."""

    def __init__(self, bot: Bot, tell: Callable[[str], None], *, colour: bool) -> None:
        self.made = self.failed = 0
        self.why = ""  # the first check failed; empty: none did
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
            hello = event_loop.run(self._hello(command, trial))
            self._starts.append(Pace(hello.took, self._bot.limits.start_up))
            match hello:
                case Failed(fault, why):
                    ejected = Ejected(trial.seat, fault, Moment.GREETING, why)
                    return self._refuse("start", Trouble(ejected, None, hello), trial)
                case Answered(Introduction(str(name))):
                    name = f", and would like to be called {name}"
        return self._say("ok", f"start: it said hello after {self._starts[0]}{name}")

    def check(self, trial: Trial) -> None:
        """Is it never ejected?"""
        bot, witness = self._bot, Witness(trial, self._bot.limits)
        addresses = tuple(split_label(player)[1] for player in trial.players)
        with suppress(Enough):
            terms = replace(bot.terms, limits=self._limits)
            sitting = Sitting(trial.match, trial.match.names, addresses, terms, lambda match: witness)
            Hosted(sitting._replace(bot_logs=bot.logs), Referee()).play()
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
        log = open_log(self._bot.logs, trial.match.names[trial.seat], "start")
        if log is not None:
            log.begin()  # it will be told no more than hello
        program = await Program.start(command.words, sandbox=self._bot.terms.sandbox or OPEN, log=log)
        remote = Remote(program, trial.match.game, match_id=SEED, limits=self._limits)
        try:
            return await remote.hello()
        finally:
            since = time.perf_counter()
            await remote.close(None)
            self._endings.append(time.perf_counter() - since)

    def _refuse(self, what: str, trouble: Trouble, trial: Trial) -> None:
        ejected, answer = trouble.ejected, trouble.answer
        evidence = answer.evidence if isinstance(answer, Failed) else NO_EVIDENCE
        details = explained(trouble, trial, self._bot, colour=self._colour)
        kind = (ejected.fault, ejected.why, *describe_evidence(evidence)[-1:])
        if kind in self._told:
            details = paragraph("when", *when(trouble, trial.match.names), "this was told above")
        self._told.add(kind)
        self.why = self.why or f"{what}: {ejected.fault.in_words}, {describe_failure(ejected, evidence)}"
        self._say("no", f"{what}: {ejected.fault.in_words}, {ejected.why}", details)

    def _say(self, verdict: str, text: str, details: Iterable[str] = ()) -> None:
        self.made += 1
        self.failed += verdict == "no"
        below = [f"{'':{MARGIN}}{line}".rstrip() for line in details]
        self._tell("\n".join([f"{verdict:{MARGIN}}{printable(text, LONGEST)}", *below, ""]))
