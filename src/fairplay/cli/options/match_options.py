"""Share what all verbs have that play a match: their options, and how a match is shown."""

import logging
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, redirect_stdout
from functools import partial
from pathlib import Path

import click

from fairplay.cli.options.seconds import Seconds
from fairplay.core.errors import BadRequest, HostFault
from fairplay.games import title
from fairplay.hosting.notes import Notes
from fairplay.hosting.run import Hosted
from fairplay.hosting.sitting import Sitting, in_journal
from fairplay.hosting.spec import Entrant
from fairplay.hosting.terms import Terms
from fairplay.journal.requests import Sync, check_id
from fairplay.observers.feed import Feed
from fairplay.observers.reporter import Reporter, standings
from fairplay.players.address import IN_PROCESS, split_label
from fairplay.players.location import HUMAN, Command, far, kept_in_process
from fairplay.protocol.limits import Limits, limits_from
from fairplay.referee.host import Referee
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.render.words import quoted
from fairplay.sandbox.level import Level
from fairplay.terminal.output import Teller, can_be_drawn_on, in_colour, size_of

MOST_EVIDENCE = 12  # lines of what a failing player said
LONGEST_REASON = 300
PACE = 0.3  # seconds for which a position is drawn, if nobody has to be waited for


# The options of every verb that plays a match.
journal_option = click.option(
    "--journal",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Record the match there.",
)
sync_option = click.option(
    "--sync",
    type=click.Choice([sync.value for sync in Sync]),
    default=Sync.BATCH.value,
    show_default=True,
    help="When a recorded fact is safe from a power cut: before it is told, at most 50 ms later, or nobody knows when.",
)
limit_option = click.option(
    "--limit",
    metavar="SECONDS",
    help="For each answer of a player elsewhere; or move=5,first=20,bank=60,increment=1,start=10,arrival=60,people=300 "
    f"[default: {Limits().move:g}, and none for people; a match that goes on keeps its own]",
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", *(level.value for level in Level)]),
    help="How programs are shut in; see: fairplay doctor. "
    "[default: auto; a match that goes on keeps its own if that is stricter]",
)
pondering_option = click.option(
    "--pondering", is_flag=True, help="Let programs think while others are asked; else they are stopped."
)
verbose_option = click.option(
    "--verbose",
    is_flag=True,
    help="Log each message to and from players that are not in this process, with its time, on stderr.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Print only the ranking and who was ejected.")
lines_option = click.option("--lines", is_flag=True, help="Print lines on a terminal too, instead of drawing in place.")
pace_option = click.option(
    "--pace",
    type=Seconds(more_than_none=False),
    metavar="SECONDS",
    help="How long each position is drawn on a terminal, if all players are in this process; 0: as fast as it goes.  "
    f"[default: {PACE}]",
)
in_process_option = click.option(
    "--in-process",
    is_flag=True,
    help="Keep players py:module:Name in this process, which they can do anything with. "
    "[default: each runs in a process and a sandbox of its own]",
)
events_option = click.option("--events", is_flag=True, help="Print one JSON object per event instead.")


def made(_: click.Context, __: click.Parameter, folder: str | None) -> Path | None:
    """A folder that is there, if one was named."""
    if folder is None:
        return None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{folder} cannot be made: {error.strerror}") from None
    return Path(folder)


pictures_option = click.option(
    "--pictures",
    metavar="DIR",
    type=click.Path(file_okay=False, writable=True),
    callback=made,
    help="Draw every change as it happens, for spectators: DIR/MATCH/000.svg, 001.svg, ... "
    "Each match has a folder of its own there, and one that goes on adds to it.",
)


def logs_there(_: click.Context, __: click.Parameter, folder: str | None) -> str | None:
    """The folder for logs, which is there and can be written to, if one was named."""
    if folder is None:
        return None
    from fairplay.players.bot_log import check_logs  # few want any

    return check_logs(folder)


bot_logs_option = click.option(
    "--bot-logs",
    metavar="DIR",
    type=click.Path(file_okay=False),
    callback=logs_there,
    help="Keep what programs say on stderr, with marks of their turns: DIR/PLAYER/MATCH.log, for you alone to read.",
)


def show(
    sitting: Sitting, *, quiet: bool, events: bool, lines: bool, pace: float | None, pictures: Path | None
) -> None:
    """Let a match run, and show it as it was asked for: drawn in place if that is possible, and nobody wants lines."""
    if quiet and events:
        raise BadRequest("--quiet and --events cannot go together")
    if pictures is not None:
        check_id(sitting.match.id)  # before it is part of a path: somebody else may have written the record
    referee, shelf, tell = Referee(), title(sitting.match.game.name), Teller(sys.stdout)
    seated = [sitting.addresses[seat] for seat in sitting.match.seated]
    person, near = HUMAN in seated, all(far(address) is None for address in seated)
    if pace and not near:
        raise BadRequest("--pace is for players in this process: no others are held up for people to watch")
    in_place = not (quiet or events or lines or person) and can_be_drawn_on(sys.stdout)
    held: list[str] = []  # what is said when nothing is drawn any more
    draw = partial(shelf.text, colour=in_colour(sys.stdout), width=size_of(sys.stdout)[0])
    tell_people = held.append if in_place else tell
    reporter = Reporter(tell_people, draw, at_once=not (person or in_place), brief=in_place, narrow=sys.stdout.isatty())
    watcher = Feed(tell) if events else reporter
    if not quiet:
        referee.subscribe(watcher)
    if pictures is not None:
        from fairplay.observers.painter import Painter, for_spectators, into

        referee.subscribe(Painter(into(pictures / sitting.match.id), for_spectators, sitting.facts, digits=3))
    for missing in missing_here(sitting.terms):
        click.echo(f"fairplay: {missing}", err=True)
    hosted = Hosted(sitting, referee)
    if sitting.caution:
        click.echo(f"fairplay: {sitting.caution}", err=True)
    try:
        with ExitStack() as leaving:
            if in_place:
                from fairplay.terminal.live import live

                seconds = 0.0 if not near else PACE if pace is None else pace
                board = live(shelf.text, sitting.match, lambda: hosted.notes.took, seconds)
                referee.subscribe(leaving.enter_context(board))
            leaving.enter_context(redirect_stdout(sys.stderr))  # what players print must not come between events
            match = hosted.play()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{hint(hosted, sitting)}") from None
    except HostFault as fault:
        raise HostFault(f"{fault}{hint(hosted, sitting)}") from fault
    tell("".join(held))
    tell.check()
    if events and not watcher.told_result:
        raise HostFault("the events could not be told to their end")
    if not watcher.told_result:
        click.echo("\n".join(standings(match.result, match.names)))
    if not events:
        tell_evidence(hosted.notes, match.names)
        if pictures is not None and (pictures / match.id).is_dir():  # it may have vanished meanwhile
            click.echo(f"pictures: {pictures / match.id}")
        for path in logs_of(sitting):
            click.echo(f"bot log: {path}")
        if (record := in_journal(hosted.record)) is not None:
            click.echo(f"journal: {record.path}\nreceipt: {record.receipt()} (covers the result)")


def logs_of(sitting: Sitting) -> list[Path]:
    """Where what programs said is kept, if it is."""
    logs = sitting.bot_logs
    programs = [seat for seat in sorted(sitting.match.seated) if isinstance(far(sitting.addresses[seat]), Command)]
    if not logs:
        return []
    from fairplay.players.bot_log import log_path

    paths = [log_path(logs, sitting.match.names[seat], sitting.match.id) for seat in programs]
    return [path for path in paths if path.is_file()]


def missing_here(terms: Terms) -> list[str]:
    """What a strict sandbox does without on this machine, in a line each."""
    if terms.sandbox is None or terms.sandbox.level is not Level.STRICT:
        return []
    from fairplay.sandbox.cell import what_else_can_be_enforced

    lacking = [measure for measure in what_else_can_be_enforced() if measure.why_not]
    return [f"no program {measure.about}: {printable(measure.why_not, LONGEST_REASON)}" for measure in lacking]


def tell_evidence(notes: Notes, names: Sequence[str]) -> None:
    """Say what failing players said, to whoever runs the match."""
    for seat, evidence in notes.evidence:
        for line in describe_evidence(evidence)[-MOST_EVIDENCE:]:
            click.echo(f"    {printable(names[seat], 40)}: {printable(line, 600)}")


def hint(hosted: Hosted, sitting: Sitting) -> str:
    """How to go on with a match that was interrupted, or where to see how it ended."""
    record = in_journal(hosted.record)
    if record is None or not record.path.exists():
        return ""
    handed = title(sitting.match.game.name).handed
    if record.over:
        return f"; the match is over: fairplay replay {' '.join([quoted(str(record.path)), *handed])}"
    file, behind = quoted(str(record.path)), " --trust" if record.marks is None else ""
    if any(address.startswith(IN_PROCESS) for address in sitting.addresses):  # which no record makes us import
        if record.marks is not None and (sitting.held is record or not sitting.resumed):
            return f"; to go on with the match in {file}: the same command again"
        behind = " PLAYER..."
    return " ".join([f"; to go on with the match: fairplay resume {file}{behind}", *handed])


def log_messages() -> None:
    """Have each question and reply logged on stderr."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s.%(msecs)03d %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("fairplay").setLevel(logging.DEBUG)


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Take nothing that is not UTF-8, for no journal could hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is no text in UTF-8") from None


def limits_named(text: str | None) -> Limits | None:
    """The limits of --limit, if there are any."""
    return None if text is None else limits_from(text)


def settings(pairs: Sequence[str], option: str = "--set") -> dict[str, str]:
    """What was said by an option NAME=VALUE that can be given several times, such as --set."""
    found: dict[str, str] = {}
    for text in pairs:
        name, equals, value = text.partition("=")
        if not equals or name in found:
            raise BadRequest(f"{option} {text}: write NAME=VALUE, and each name once")
        found[name] = value
    return found


def placed(players: Sequence[str], *, in_process: bool) -> tuple[str, ...]:
    """The players of a command line, those in modules kept in this process if --in-process says so."""
    return tuple(kept_in_process(player) if in_process else player for player in players)


def entrant_from(text: str) -> Entrant:
    """The entrant that a person means by NAME=PLAYER, or only PLAYER."""
    label, address = split_label(text)
    return Entrant(address, "" if label == text else label)
