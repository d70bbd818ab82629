"""Check that a bot is ready to play: it starts, is never ejected, answers in time and ends."""

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
BOT_EXIT_TIMEOUT_S = 1.0  # from when its stdin is closed
WARNING_SHARE = 0.5  # of a limit: a bot that uses more gets a warning
INDENT_CHARS = 5


class TrialOver(BaseException):
    """Ends a match that has shown enough. It is not an error, so nothing that catches errors catches it."""


class TimeUsed(msgspec.Struct, frozen=True):
    """How long something took, and its limit."""

    took_s: float
    limit_s: float

    @property
    def share(self) -> float:
        """How much of the limit was used."""
        return self.took_s / self.limit_s if self.limit_s else 1.0

    def __str__(self) -> str:
        return f"{format_duration(self.took_s)}, {100 * self.share:.0f} % of {self.limit_s:g} s"


class TrialRecord(TimingRecord):
    """A record that keeps what the bot did."""

    def __init__(self, trial: BotTrial, limits: Limits) -> None:
        super().__init__()
        self.facts: list[Fact] = []
        self.times_used: list[TimeUsed] = []  # for each of its turns
        self.failure: BotFailure | None = None
        self.last_event_at = 0.0  # by our clock
        self._trial = trial
        self._budget = TimeBudget(limits)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Keep an event, if it concerns the bot."""
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
        if self._trial.single_turn:  # this was its turn
            raise TrialOver
        return False


class BotChecker:
    """Makes the checks, and writes the verdict of each at once."""

    def __init__(self, bot: Bot, write: Callable[[str], None], *, colour: bool) -> None:
        self.checks_made = self.checks_failed = 0
        self.first_failure = ""  # in one line; empty: no check failed
        self._bot = bot
        self._write = write
        self._colour = colour
        self._reported: set[tuple[Any, ...]] = set()  # kinds of failure
        self._starts: list[TimeUsed] = []
        self._turns: list[TimeUsed] = []
        self._exit_times_s: list[float] = []  # that it took to end after its stdin was closed

    def check_all(self, trials: Sequence[BotTrial]) -> None:
        """Make every check, and write a summary. A bot that does not start is not checked any further."""
        checks: list[Callable[[], None]] = [*(partial(self.check_trial, trial) for trial in trials), self.check_time]
        checks += [self.check_exit] if self._bot.command else []
        self.check_start(trials[0])
        for check in checks if not self.checks_failed else ():
            check()
        skipped = 1 + len(checks) - self.checks_made
        rest = f", and {skipped} were skipped" if skipped else ""
        failed = f"not ready: {self.checks_failed} of {1 + len(checks)} checks failed{rest}"
        self._write(f"{failed if self.checks_failed else 'ready to play'}\n")

    def check_start(self, trial: BotTrial) -> None:
        """Check that the bot starts and answers hello."""
        command, name = self._bot.command, ""
        if command is None:
            open_player(self._bot.address, self._bot.game_info, seed_from_text(TRIAL_SEED))
            return self._say("ok", "start: loaded in this process, where no limits are enforced")
        for _ in range(START_COUNT):
            hello = event_loop.run(self._hello(command, trial))
            self._starts.append(TimeUsed(hello.took, self._bot.limits.start_up))
            match hello:
                case Failed(fault, why):
                    ejected = Ejected(trial.seat, fault, Moment.GREETING, why)
                    return self._report_failure("start", BotFailure(ejected, None, hello), trial)
                case Answered(Introduction(str(name))):
                    name = f", with the name {name}"
        return self._say("ok", f"start: it said hello after {self._starts[0]}{name}")

    def check_trial(self, trial: BotTrial) -> None:
        """Check that the bot is never ejected from a match."""
        bot, record = self._bot, TrialRecord(trial, self._bot.limits)
        addresses = tuple(split_label(player)[1] for player in trial.players)
        with suppress(TrialOver):
            conditions = replace(bot.conditions, limits=self._limits)
            prepared = PreparedMatch(trial.match, trial.match.names, addresses, conditions, lambda match: record)
            HostedMatch(prepared._replace(bot_logs=bot.logs), Referee()).play()
        self._turns += record.times_used
        if record.failure is not None:
            return self._report_failure(trial.name, record.failure, trial)
        self._exit_times_s += [] if self.checks_failed else [record.clock() - record.last_event_at]
        slowest = format_duration(max((used.took_s for used in record.times_used), default=0.0))
        text = f"{format_count(len(record.times_used), 'turn')}, the slowest took {slowest}"
        if trial.single_turn and isinstance(acted := record.facts[-1], Acted):
            text = f"it {acted.action}"
        return self._say("ok", f"{trial.name}: {text}")

    def check_time(self) -> None:
        """Check that the bot stays well below its limits of time."""
        turn = max(self._turns, key=lambda used: used.share, default=TimeUsed(0.0, self._bot.limits.move))
        answers = f"time: the slowest of {format_count(len(self._turns), 'answer')} took"
        if self._bot.command is None:
            return self._say("ok", f"{answers} {format_duration(turn.took_s)}; no limits are enforced in this process")
        start = max(self._starts, key=lambda used: used.share)
        close = max(turn.share, start.share) > WARNING_SHARE
        advice = f"stay below {100 * WARNING_SHARE:.0f} % of each limit: another machine may be slower, or busy"
        text = f"{answers} {turn}; the slowest of {format_count(len(self._starts), 'start')} {start}"
        return self._say("warn" if close else "ok", text, format_paragraph("advice", advice) if close else ())

    def check_exit(self) -> None:
        """Check that the bot ends by itself when its stdin is closed."""
        if self._was_killed:
            text = f"end: it was killed, as it still ran {BOT_EXIT_TIMEOUT_S:g} s after its stdin was closed"
            advice = "exit when stdin ends: that is the end of the match"
            self._say("warn", text, format_paragraph("advice", advice))
        else:
            self._say(
                "ok",
                f"end: it ended by itself within {format_duration(max(self._exit_times_s))}, once its stdin was closed",
            )

    @property
    def _was_killed(self) -> bool:
        return max(self._exit_times_s, default=0.0) >= BOT_EXIT_TIMEOUT_S

    @property
    def _limits(self) -> Limits:
        """The bot's limits; until a check fails, with more time for it to end."""
        return (
            self._bot.limits
            if self.checks_failed or self._was_killed
            else replace(self._bot.limits, goodbye=BOT_EXIT_TIMEOUT_S)
        )

    async def _hello(self, command: Command, trial: BotTrial) -> Answered | Failed:
        log = open_log(self._bot.logs, trial.match.names[trial.seat], "start")
        if log is not None:
            log.begin()  # hello is all that it is asked
        program = await ProgramConnection.start(
            command.words, sandbox=self._bot.conditions.sandbox or NO_SANDBOX, log=log
        )
        remote = RemoteChannel(program, trial.match.game, match_id=TRIAL_SEED, limits=self._limits)
        try:
            return await remote.hello()
        finally:
            since = time.perf_counter()
            await remote.close(None)
            self._exit_times_s.append(time.perf_counter() - since)

    def _report_failure(self, what: str, failure: BotFailure, trial: BotTrial) -> None:
        ejected, answer = failure.ejected, failure.answer
        evidence = answer.evidence if isinstance(answer, Failed) else NO_EVIDENCE
        details = explain_failure(failure, trial, self._bot, colour=self._colour)
        kind = (ejected.fault, ejected.why, *describe_evidence(evidence)[-1:])
        if kind in self._reported:
            details = format_paragraph("when", *describe_moment(failure, trial.match.names), "this was explained above")
        self._reported.add(kind)
        self.first_failure = (
            self.first_failure or f"{what}: {ejected.fault.description}, {describe_failure(ejected, evidence)}"
        )
        self._say("no", f"{what}: {ejected.fault.description}, {ejected.why}", details)

    def _say(self, verdict: str, text: str, details: Iterable[str] = ()) -> None:
        self.checks_made += 1
        self.checks_failed += verdict == "no"
        below = [f"{'':{INDENT_CHARS}}{line}".rstrip() for line in details]
        self._write("\n".join([f"{verdict:{INDENT_CHARS}}{printable(text, MAX_PRINTED_CHARS)}", *below, ""]))
