"""Let a bot show that it is ready to play, before it matters: the checks, one after the other."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fact
from fairplay.core.game import Moment
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, Failed, Message, TakeTurn
from fairplay.diagnosis.advice import BotFailure, describe_moment, explain_failure, format_count
from fairplay.diagnosis.bot_trials import TRIAL_SEED, Bot, BotTrial
from fairplay.diagnosis.ejection_explanation import describe_failure
from fairplay.hosting.prepared_match import PreparedMatch
from fairplay.hosting.run import HostedMatch
from fairplay.hosting.table import NO_SANDBOX
from fairplay.hosting.timing_record import TimingRecord
from fairplay.players.address import open_player, split_label
from fairplay.players.bot_log import open_log
from fairplay.players.location import Command
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits, TimeBudget
from fairplay.protocol.wire import Introduction
from fairplay.referee.referee import Referee
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import MAX_PRINTED_CHARS, format_duration, format_paragraph
from fairplay.render.text import printable
from fairplay.transport import event_loop

START_COUNT = 3
BOT_EXIT_TIMEOUT_S = 1.0  # seconds after its stdin was closed
WARNING_SHARE = 0.5  # the share of a limit above which there is a warning
INDENT_CHARS = 5


class TrialOver(BaseException):
    """All has been seen: the match need not go on. It is no error, and nobody is to take it for one."""


class TimeUsed(msgspec.Struct, frozen=True):
    """How long something took, and how long it might have taken."""

    took: float
    limit: float

    @property
    def share(self) -> float:
        """How much of the limit was used."""
        return self.took / self.limit if self.limit else 1.0

    def __str__(self) -> str:
        return f"{format_duration(self.took)}, {100 * self.share:.0f} % of {self.limit:g} s"


class TrialRecord(TimingRecord):
    """A record that keeps what concerns the bot."""

    def __init__(self, trial: BotTrial, limits: Limits) -> None:
        super().__init__()
        self.facts: list[Fact] = []
        self.times_used: list[TimeUsed] = []  # of its turns
        self.failure: BotFailure | None = None
        self.last_event_at = 0.0  # when something happened, by our clock
        self._trial = trial
        self._budget = TimeBudget(limits)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Keep it, if it is about the bot."""
        self.last_event_at = self.clock()
        if not isinstance(event, Acted | Ejected) or message is None or answer is None:
            return False
        if event.seat == self._trial.seat:
            if isinstance(message, TakeTurn):
                self.times_used.append(TimeUsed(answer.took, self._budget.limit_for(message)))
                self._budget.spend(message, answer.took)
            if isinstance(event, Ejected):
                self.failure = BotFailure(event, message, answer, tuple(self.facts))
        self.facts.append(event)
        if self._trial.single_turn:  # the bot was to move
            raise TrialOver
        return False


class BotChecker:
    """The checks as they are made: each is told at once, and counted."""

    def __init__(self, bot: Bot, tell: Callable[[str], None], *, colour: bool) -> None:
        self.checks_made = self.checks_failed = 0
        self.why = ""  # the first check failed; empty: none did
        self._bot = bot
        self._tell = tell
        self._colour = colour
        self._reported: set[tuple[Any, ...]] = set()  # kinds of trouble
        self._starts: list[TimeUsed] = []
        self._turns: list[TimeUsed] = []
        self._exit_times: list[float] = []  # seconds that it took to end, once its line was closed

    def check_all(self, trials: Sequence[BotTrial]) -> None:
        """Make every check, and say what they come to. Who does not even start is not tried any further."""
        checks: list[Callable[[], None]] = [*(partial(self.check_trial, trial) for trial in trials), self.check_time]
        checks += [self.check_exit] if self._bot.command else []
        self.check_start(trials[0])
        for check in checks if not self.checks_failed else ():
            check()
        untried = 1 + len(checks) - self.checks_made
        rest = f", and {untried} were not tried" if untried else ""
        failed = f"not ready: {self.checks_failed} of {1 + len(checks)} checks failed{rest}"
        self._tell(f"{failed if self.checks_failed else 'ready to play'}\n")

    def check_start(self, trial: BotTrial) -> None:
        """Does it start, and answer hello?"""
        command, name = self._bot.command, ""
        if command is None:
            open_player(self._bot.address, self._bot.game_info, seed_from_text(TRIAL_SEED))
            return self._say("ok", "start: it is loaded in this process, where no limits are enforced")
        for _ in range(START_COUNT):
            hello = event_loop.run(self._hello(command, trial))
            self._starts.append(TimeUsed(hello.took, self._bot.limits.start_up))
            match hello:
                case Failed(fault, why):
                    ejected = Ejected(trial.seat, fault, Moment.GREETING, why)
                    return self._report_failure("start", BotFailure(ejected, None, hello), trial)
                case Answered(Introduction(str(name))):
                    name = f", and would like to be called {name}"
        return self._say("ok", f"start: it said hello after {self._starts[0]}{name}")

    def check_trial(self, trial: BotTrial) -> None:
        """Is it never ejected?"""
        bot, witness = self._bot, TrialRecord(trial, self._bot.limits)
        addresses = tuple(split_label(player)[1] for player in trial.players)
        with suppress(TrialOver):
            conditions = replace(bot.conditions, limits=self._limits)
            prepared = PreparedMatch(trial.match, trial.match.names, addresses, conditions, lambda match: witness)
            HostedMatch(prepared._replace(bot_logs=bot.logs), Referee()).play()
        self._turns += witness.times_used
        if witness.failure is not None:
            return self._report_failure(trial.name, witness.failure, trial)
        self._exit_times += [] if self.checks_failed else [witness.clock() - witness.last_event_at]
        slowest = format_duration(max((pace.took for pace in witness.times_used), default=0.0))
        told = f"{format_count(len(witness.times_used), 'turn')}, the slowest took {slowest}"
        if trial.single_turn and isinstance(acted := witness.facts[-1], Acted):
            told = f"it {acted.action}"
        return self._say("ok", f"{trial.name}: {told}")

    def check_time(self) -> None:
        """How close was it to its limits?"""
        turn = max(self._turns, key=lambda pace: pace.share, default=TimeUsed(0.0, self._bot.limits.move))
        answers = f"time: the slowest of {format_count(len(self._turns), 'answer')} took"
        if self._bot.command is None:
            return self._say("ok", f"{answers} {format_duration(turn.took)}; no limits are enforced in this process")
        start = max(self._starts, key=lambda pace: pace.share)
        close = max(turn.share, start.share) > WARNING_SHARE
        advice = f"more than {100 * WARNING_SHARE:.0f} % is too close: another machine may be slower, or busy"
        told = f"{answers} {turn}; the slowest of {format_count(len(self._starts), 'start')} {start}"
        return self._say("warn" if close else "ok", told, format_paragraph("advice", advice) if close else ())

    def check_exit(self) -> None:
        """Did it end by itself, whenever its line was closed?"""
        if self._was_killed:
            told = f"end: it was killed, for it still ran {BOT_EXIT_TIMEOUT_S:g} s after its stdin was closed"
            advice = "the end of its stdin is the end of the match, and it should end then too"
            self._say("warn", told, format_paragraph("advice", advice))
        else:
            self._say(
                "ok",
                f"end: it ended by itself within {format_duration(max(self._exit_times))}, once its stdin was closed",
            )

    @property
    def _was_killed(self) -> bool:
        return max(self._exit_times, default=0.0) >= BOT_EXIT_TIMEOUT_S

    @property
    def _limits(self) -> Limits:
        """As long as nothing is wrong, it is waited for longer than usual when its line is closed."""
        return (
            self._bot.limits
            if self.checks_failed or self._was_killed
            else replace(self._bot.limits, goodbye=BOT_EXIT_TIMEOUT_S)
        )

    async def _hello(self, command: Command, trial: BotTrial) -> Answered | Failed:
        log = open_log(self._bot.logs, trial.match.names[trial.seat], "start")
        if log is not None:
            log.begin()  # it will be told no more than hello
        program = await ProgramConnection.start(
            command.words, sandbox=self._bot.conditions.sandbox or NO_SANDBOX, log=log
        )
        remote = RemoteChannel(program, trial.match.game, match_id=TRIAL_SEED, limits=self._limits)
        try:
            return await remote.hello()
        finally:
            since = time.perf_counter()
            await remote.close(None)
            self._exit_times.append(time.perf_counter() - since)

    def _report_failure(self, what: str, trouble: BotFailure, trial: BotTrial) -> None:
        ejected, answer = trouble.ejected, trouble.answer
        evidence = answer.evidence if isinstance(answer, Failed) else NO_EVIDENCE
        details = explain_failure(trouble, trial, self._bot, colour=self._colour)
        kind = (ejected.fault, ejected.why, *describe_evidence(evidence)[-1:])
        if kind in self._reported:
            details = format_paragraph("when", *describe_moment(trouble, trial.match.names), "this was told above")
        self._reported.add(kind)
        self.why = self.why or f"{what}: {ejected.fault.description}, {describe_failure(ejected, evidence)}"
        self._say("no", f"{what}: {ejected.fault.description}, {ejected.why}", details)

    def _say(self, verdict: str, text: str, details: Iterable[str] = ()) -> None:
        self.checks_made += 1
        self.checks_failed += verdict == "no"
        below = [f"{'':{INDENT_CHARS}}{line}".rstrip() for line in details]
        self._tell("\n".join([f"{verdict:{INDENT_CHARS}}{printable(text, MAX_PRINTED_CHARS)}", *below, ""]))
