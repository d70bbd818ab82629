"""Show a match while it is played: as lines, as events, or as a board that is drawn in place."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from functools import partial
from pathlib import Path

import click

from fairplay.app.matches import play_match
from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.game import Seat
from fairplay.core.messages import Evidence
from fairplay.core.roles import Observer
from fairplay.games import game_info
from fairplay.hosting.conditions import missing_protections
from fairplay.hosting.prepared_match import PreparedMatch, as_match_record
from fairplay.hosting.run import HostedMatch
from fairplay.observers.feed import EventFeed
from fairplay.observers.reporter import Reporter, format_standings
from fairplay.players.address import IN_PROCESS_PREFIX
from fairplay.players.location import HUMAN, parse_remote_address
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import shell_quote
from fairplay.render.text import printable
from fairplay.terminal.output import FlushingWriter, supports_colour, supports_drawing, terminal_size

MAX_FAILURE_LINES = 12  # of the evidence of a failing player
DEFAULT_PACE_S = 0.3  # for each position, if all players are in this process


def show_match(
    prepared: PreparedMatch, *, quiet: bool, events: bool, lines: bool, pace: float | None, pictures: Path | None
) -> None:
    """Play a match, and show it as requested: drawn in place if that is possible and no lines are requested."""
    if quiet and events:
        raise BadRequest("--quiet and --events cannot go together")
    game, tell = game_info(prepared.match.game.name), FlushingWriter(sys.stdout)
    seated = [prepared.addresses[seat] for seat in prepared.match.remaining_seats]
    person, near = HUMAN in seated, all(parse_remote_address(address) is None for address in seated)
    if pace and not near:
        raise BadRequest("--pace is for players in this process: no others are held up for people to watch")
    in_place = not (quiet or events or lines or person) and supports_drawing(sys.stdout)
    held: list[str] = []  # what is said when nothing is drawn any more
    draw = partial(game.text, colour=supports_colour(sys.stdout), width=terminal_size(sys.stdout)[0])
    tell_people = held.append if in_place else tell
    reporter = Reporter(
        tell_people, draw, draw_start=not (person or in_place), brief=in_place, narrow=sys.stdout.isatty()
    )
    watcher = EventFeed(tell) if events else reporter
    for warning in (*missing_protections(prepared.conditions), prepared.warning):
        if warning:
            click.echo(f"fairplay: {warning}", err=True)

    @contextmanager
    def showing(hosted: HostedMatch) -> Iterator[Sequence[Observer]]:
        with ExitStack() as leaving:
            leaving.enter_context(add_resume_hint(lambda: resume_hint(hosted)))
            observers: list[Observer] = [] if quiet else [watcher]
            if in_place:
                from fairplay.terminal.live import show_live  # for a quick start: few have such a terminal

                seconds = 0.0 if not near else DEFAULT_PACE_S if pace is None else pace
                board = show_live(game.text, prepared.match, lambda: hosted.timing.turn_times, seconds)
                observers.append(leaving.enter_context(board))
            leaving.enter_context(redirect_stdout(sys.stderr))  # what players print must not come between events
            yield observers

    outcome, drawn, bot_logs = play_match(prepared, pictures=pictures, show=showing)
    tell("".join(held))
    tell.check()
    if events and not watcher.has_result:
        raise HostFault("the events could not be told to their end")
    if outcome.result is not None and not watcher.has_result:
        click.echo("\n".join(format_standings(outcome.result, outcome.names)))
    if not events:
        print_evidence(outcome.evidence, outcome.names)
        if drawn is not None:
            click.echo(f"pictures: {drawn}")
        for path in bot_logs:
            click.echo(f"bot log: {path}")
        if outcome.result is not None and outcome.journal is not None:
            click.echo(f"journal: {Path(outcome.journal)}\nreceipt: {outcome.result.receipt} (covers the result)")


def print_evidence(found: Iterable[tuple[Seat, Evidence]], names: Sequence[str]) -> None:
    """Print the evidence of failing players."""
    for seat, evidence in found:
        for line in describe_evidence(evidence)[-MAX_FAILURE_LINES:]:
            click.echo(f"    {printable(names[seat], 40)}: {printable(line, 600)}")


@contextmanager
def add_resume_hint(hint: Callable[[], str]) -> Iterator[None]:
    """Add a hint to an interruption: how to resume the match."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{hint()}") from None
    except HostFault as fault:
        raise HostFault(f"{fault}{hint()}") from fault
    except OSError as error:
        if error.filename is None:  # the output
            raise
        raise HostFault(f"{error.filename} cannot be used: {error.strerror}{hint()}") from error


def resume_hint(hosted: HostedMatch) -> str:
    """How to resume a match that was interrupted, or how to replay it if it has ended."""
    record, prepared = as_match_record(hosted.record), hosted.prepared
    if record is None or not record.path.exists():
        return ""
    option = game_info(prepared.match.game.name).option
    if record.over:
        return f"; the match is over: fairplay replay {' '.join([shell_quote(str(record.path)), *option])}"
    file, behind = shell_quote(str(record.path)), " --trust" if record.mac_key is None else ""
    if any(address.startswith(IN_PROCESS_PREFIX) for address in prepared.addresses):  # which no record makes us import
        if record.mac_key is not None and (prepared.open_record is record or not prepared.resumed):
            return f"; to go on with the match in {file}: the same command again"
        behind = " PLAYER..."
    return " ".join([f"; to go on with the match: fairplay resume {file}{behind}", *option])
