"""Let a program of this machine take part in matches elsewhere, and show what it says to whoever lets it play."""

from collections.abc import Iterator
from functools import partial

import click

from fairplay.cli.client.joining import LONGEST, Outcome, Report, in_words, lost_by, outcome, say
from fairplay.core.events import Ejected
from fairplay.core.game import Moment
from fairplay.core.messages import Failed, Tell
from fairplay.diagnosis.troubles import Trouble, advice, shortened
from fairplay.hosting.table import OPEN
from fairplay.hosting.terms import Terms
from fairplay.players.bot_log import BotLog, log_path, open_log
from fairplay.players.location import Command
from fairplay.players.process import CHUNK
from fairplay.players.relay import ProgramFailed, Relay
from fairplay.players.visit import Visit
from fairplay.protocol import wire
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.transport import event_loop
from fairplay.transport.dial import Lost

MOST_LINES = 500  # of stderr, between two messages of the host


class Onlooker:
    """Shows what a program says on stderr, line by line, and says how its matches go."""

    def __init__(self) -> None:
        self.match: Report | None = None  # the last one
        self._begun = b""  # a line on stderr without its end
        self._room = MOST_LINES

    def hear(self, message: wire.WireMessage) -> None:
        """Say what whoever lets the program play wants to know."""
        self._room = MOST_LINES
        if isinstance(message, wire.Hello):
            self.match = Report(message.game)
        match self.match, message:
            case Report() as report, wire.Start(seat=seat, names=names):
                report.start(seat, names)
            case Report() as report, wire.End(result=result):
                report.end(result)
            case Report() as report, wire.Closing(receipt=receipt):
                report.closing(receipt)

    def show(self, said: bytes) -> None:
        """Show what came on stderr, but no flood."""
        *lines, self._begun = (self._begun + said).split(b"\n")
        if len(self._begun) > CHUNK:
            lines, self._begun = [*lines, self._begun], b""
        for line in lines[: max(0, self._room)]:
            click.echo(printable(line.decode(errors="replace").rstrip().expandtabs(), LONGEST), err=True)
        if self._room > 0 >= self._room - len(lines):
            say("what else the program says on stderr now is left out")
        self._room -= len(lines)

    def show_rest(self) -> None:
        """Show what has no end, once there will be none."""
        if self._begun:
            self.show(b"\n")


class Logs:
    """The logs of a program in a folder, one for each match."""

    def __init__(self, folder: str, bot: str) -> None:
        self.folder = log_path(folder, bot, "any").parent
        self._open = partial(open_log, folder, bot)
        self._last: BotLog | None = None
        self._are_kept = False

    def open(self, match_id: str) -> BotLog | None:
        """The log of a match."""
        self._are_kept, self._last = self.are_kept, self._open(match_id)
        return self._last

    @property
    def are_kept(self) -> bool:
        """Has one of them begun? Of who failed at hello there is none."""
        return self._are_kept or (self._last is not None and self._last.is_kept)


def took_part(
    command: Command, address: str, terms: Terms, visit: Visit, name: str | None, folder: str | None
) -> Outcome:
    """Let a program play whatever comes over the line of a visit, and say how it went.

    If there is a folder for logs, what it says on stderr is kept there, and not shown.
    """
    onlooker, lost = Onlooker(), ""
    logs = None if folder is None else Logs(folder, name or address)
    relay = Relay(
        command.words,
        terms.sandbox or OPEN,
        visit.send,
        patience=visit.patience,
        name=name,
        hear=onlooker.hear,
        show=onlooker.show if logs is None else None,
        log=lambda match_id: None if logs is None else logs.open(match_id),
    )
    goodbye = None
    try:
        goodbye = event_loop.run(relay.play(visit.lines()))
    except ProgramFailed as error:
        onlooker.show_rest()
        for line in explained(error.failed, address, at_hello=error.at_hello):
            say(line)
        return Outcome.LOST if error.at_hello else Outcome.OUT
    except Lost as error:
        lost = lost_by(error)
    finally:
        if logs is not None and logs.are_kept:
            say(f"what the program said on stderr is in {logs.folder}")
    onlooker.show_rest()
    if onlooker.match is not None:
        onlooker.match.ended = relay.ended
    return outcome(onlooker.match, goodbye, lost)


def explained(failed: Failed, address: str, *, at_hello: bool) -> Iterator[str]:
    """What the program did wrong, and what may help."""
    yield f"the player failed, {in_words(failed.fault)}: {printable(failed.why, LONGEST)}"
    asked = None if at_hello else Tell(None)  # what else it was does not matter
    trouble = Trouble(Ejected(0, failed.fault, Moment.GREETING, failed.why), asked, failed)
    for line in (*shortened(describe_evidence(failed.evidence)), *advice(trouble, address)):
        yield f"    {printable(line, LONGEST)}"
