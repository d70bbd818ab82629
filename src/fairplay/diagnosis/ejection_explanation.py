"""Tell why a player was ejected, and how to see it again, in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Evidence
from fairplay.games import game_info
from fairplay.journal.ejection_report import MAX_COUNTED_ACTIONS, EjectionReport, LegalActions
from fairplay.journal.replay import RecordedMatch
from fairplay.observers.reporter import describe_event, format_standings, printable_name
from fairplay.players.address import IN_PROCESS_PREFIX
from fairplay.players.location import is_built_in
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import (
    MAX_PRINTED_CHARS,
    format_duration,
    format_json,
    format_paragraph,
    format_time,
    shell_quote,
)
from fairplay.render.text import printable

FAULT_DESCRIPTIONS = {
    Fault.ILLEGAL: "an action that breaks a rule",
    Fault.MALFORMED: "no answer to what was asked",
    Fault.TIMED_OUT: "no answer in time",
    Fault.CRASHED: "the player's program failed",
    Fault.GONE: "the line was dead, or nobody ever came",
    Fault.FLOOD: "far too much was said",
}
MAX_EVIDENCE_LINES = 50  # of evidence


def explain_ejection(
    report: EjectionReport, recorded: RecordedMatch, file: str, *, colour: bool = False
) -> Iterator[str]:
    """An ejection in words, line by line."""
    name, fault = printable_name(report.name), report.fault.description
    yield f"{name} was ejected from a match of {report.game}: {fault} ({report.moment.value})"
    yield ""
    yield from format_paragraph("who", f"{name}, seat {report.seat}, {describe_origin(report)}")
    yield from format_paragraph("when", *describe_time(report, recorded.names))
    yield from format_paragraph("fault", f"{fault}: {FAULT_DESCRIPTIONS[report.fault]}")
    yield from format_paragraph("why", report.why)
    yield from describe_rule(report.clause, report.rule)
    yield from format_paragraph("answer", *answer_lines(report))
    yield from format_paragraph("evidence", *evidence_lines(report))
    yield from format_paragraph("legal", *describe_legal_actions(report.legal, "answer", name))
    yield ""
    yield f"What {name} was {'told' if report.moment in (Moment.NEWS, Moment.END) else 'shown'}:"
    yield ""
    yield from (f"    {line}".rstrip() for line in describe_shown(report, recorded, colour=colour))
    yield ""
    yield "To see it again:"
    yield ""
    yield from (f"    {command}" for command in debug_commands(report, file))


def describe_origin(report: EjectionReport) -> str:
    """Where the player came from."""
    return f"the player {report.address}" if report.address else "whose address is not in the record"


def describe_time(report: EjectionReport, names: Sequence[str]) -> Iterator[str]:
    """The moment, the fact before, and the time."""
    match report.moment:
        case Moment.GREETING:
            yield "at the greeting" + (" of a match that was resumed" if report.resumed else "")
        case Moment.TURN:
            yield f"on turn {report.turn} of its own"
        case Moment.NEWS:
            yield f"when it was told news, after turn {report.turn} of its own"
        case Moment.END:
            yield f"at the end, after {report.turn} {'turn' if report.turn == 1 else 'turns'} of its own"
    if report.last is None:
        yield "before any other fact"
    else:
        yield f"after fact {report.facts}: {' '.join(describe_event(report.last, names))}"
    yield f"{format_time(report.at)}; it took {format_duration(report.took)}"


def answer_lines(report: EjectionReport) -> Iterator[str]:
    """What the player said."""
    if report.fault is Fault.ILLEGAL:
        yield f"{report.name} {report.answer}"
        yield format_json(report.answer)
    elif report.overrun is not None:
        yield f"its answer came {report.overrun:.3f} s too late"
    elif report.fault is not Fault.MALFORMED:
        yield "none"
    elif report.moment is Moment.TURN:
        yield f"no action of {report.game}"
    else:
        yield "something, where nothing was to be said"


def evidence_lines(report: EjectionReport) -> Iterable[str]:
    """What else is known, but not everything if it is very long."""
    lines = describe_evidence(report.evidence)
    left_out = len(lines) - MAX_EVIDENCE_LINES
    return [*lines[:MAX_EVIDENCE_LINES], *([f"and {left_out} more lines: see --json"] if left_out > 0 else [])] or [
        "none"
    ]


def describe_legal_actions(legal: LegalActions | None, what: str, who: str) -> Iterator[str]:
    """How many actions are legal, and one of them."""
    match legal:
        case None:
            yield "only an acknowledgement was due: null, or nothing at all"
        case LegalActions(0):
            yield "none: no legal option"
        case LegalActions(count, example):
            number = f"{count} or more" if count == MAX_COUNTED_ACTIONS else str(count)
            yield f"{number} {what if count == 1 else f'{what}s'}, such as: {who} {example}"
            yield format_json(example)


def describe_shown(report: EjectionReport, recorded: RecordedMatch, *, colour: bool = False) -> Iterable[str]:
    """The board as the player saw it, or the news, or the result."""
    names = recorded.names
    match report.moment:
        case Moment.GREETING | Moment.TURN:
            view = recorded.game.unpack(report.shown)
            return game_info(report.game).text(view, names, colour=colour).split("\n")
        case Moment.NEWS:
            return [printable(format_json(report.shown), MAX_PRINTED_CHARS)]
        case Moment.END:
            return format_standings(recorded.match_after(report.facts).result, names)


def text_fields(report: EjectionReport, recorded: RecordedMatch, file: str) -> dict[str, Any]:
    """What is not in a report, because it is for people: what was shown as text, and what to type."""
    return {"text": "\n".join(describe_shown(report, recorded)), "commands": list(debug_commands(report, file))}


def debug_commands(report: EjectionReport, file: str) -> Iterator[str]:
    """What to type to see it again."""
    path = shell_quote(f"./{file}" if file.startswith("-") else file)
    turn = f" --turn {report.turn}" if report.moment is Moment.TURN else ""
    path = " ".join([path, *game_info(report.game).option])
    yield f"fairplay debug {path} --seat {report.seat}{turn} {player_argument(report)}"
    if report.moment is not Moment.TURN:
        yield f"fairplay replay {path} --at {report.facts}"
    if report.fault is Fault.ILLEGAL:
        action = format_json(report.answer)
        said = (
            shell_quote(action)
            if len(action) <= MAX_PRINTED_CHARS
            else "-  # and the answer, which --json has, as its input"
        )
        yield f"fairplay why-not {report.game} --view {path} --at {report.facts} {said}"


def player_argument(report: EjectionReport) -> str:
    """The player as `debug` takes it, so that whoever pastes it is safe from what a record names.

    A program is shut in, or not run at all; what would be loaded in this process, or is elsewhere, is not named.
    """
    address = report.address
    is_server = is_built_in(address, report.game)
    is_program = address.startswith("exec:") or "/" in address or address.endswith(".py")
    if (
        len(address) > MAX_PRINTED_CHARS
        or not (is_server or is_program)
        or address.startswith(("py:", IN_PROCESS_PREFIX, "tcp:", "ws:"))
    ):
        return "PLAYER"
    no_option = "-- " if address.startswith("-") else ""
    player = shell_quote(f"player={address}" if "=" in address else address)  # or else it would be taken for a label
    return f"{'' if is_server else '--sandbox strict '}{no_option}{player}"


def describe_rule(clause: str, text: str) -> Iterator[str]:
    """A clause of the rule book, quoted."""
    if clause:
        yield from format_paragraph(f"rule {clause}", text or "is not in the rule book")
    else:
        yield from format_paragraph("rule", "none was broken")


def describe_failure(ejected: Ejected, evidence: Evidence) -> str:
    """Why a player was ejected; of a crash with the last line of stderr, which names the error."""
    last = (evidence.stderr or "").strip().splitlines()[-1:] if ejected.fault is Fault.CRASHED else []
    return ": ".join([ejected.why, *(line for line in last if ejected.why not in line)])
