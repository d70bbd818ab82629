"""Explain an ejection: the player, the fault, the rule, the evidence, and the commands that show it again."""

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
    Fault.MALFORMED: "not an answer to the question",
    Fault.TIMED_OUT: "no answer in time",
    Fault.CRASHED: "the player's program failed",
    Fault.GONE: "the connection was lost, or no player connected",
    Fault.FLOOD: "the player sent far too much",
}
MAX_EVIDENCE_LINES = 50


def explain_ejection(
    report: EjectionReport, recorded: RecordedMatch, file: str, *, colour: bool = False
) -> Iterator[str]:
    """Explain an ejection, line by line."""
    name, fault = printable_name(report.name), report.fault.description
    yield f"{name} was ejected from a match of {report.game}: {fault} ({report.moment.value})"
    yield ""
    yield from format_paragraph("player", f"{name}, seat {report.seat}, {describe_origin(report)}")
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
    """The address of the player."""
    return report.address or "its address is not in the record"


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
    """The answer of the player."""
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
        yield "something, where no answer was due"


def evidence_lines(report: EjectionReport) -> Iterable[str]:
    """The first lines of the evidence."""
    lines = describe_evidence(report.evidence)
    left_out = len(lines) - MAX_EVIDENCE_LINES
    return [*lines[:MAX_EVIDENCE_LINES], *([f"and {left_out} more lines: see --json"] if left_out > 0 else [])] or [
        "none"
    ]


def describe_legal_actions(legal: LegalActions | None, what: str, player: str) -> Iterator[str]:
    """How many actions are legal, and one of them."""
    match legal:
        case None:
            yield "only an acknowledgement was due: null, or nothing"
        case LegalActions(0):
            yield "none: no legal option"
        case LegalActions(count, example):
            number = f"{count} or more" if count == MAX_COUNTED_ACTIONS else str(count)
            yield f"{number} {what if count == 1 else f'{what}s'}, such as: {player} {example}"
            yield format_json(example)


def describe_shown(report: EjectionReport, recorded: RecordedMatch, *, colour: bool = False) -> Iterable[str]:
    """The board that the player was shown, or the news, or the result."""
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
    """What a report does not hold, as it is for people: the text that was shown, and commands."""
    return {"text": "\n".join(describe_shown(report, recorded)), "commands": list(debug_commands(report, file))}


def debug_commands(report: EjectionReport, file: str) -> Iterator[str]:
    """Commands that show the ejection again."""
    path = shell_quote(f"./{file}" if file.startswith("-") else file)
    turn = f" --turn {report.turn}" if report.moment is Moment.TURN else ""
    path = " ".join([path, *game_info(report.game).option])
    yield f"fairplay debug {path} --seat {report.seat}{turn} {player_argument(report)}"
    if report.moment is not Moment.TURN:
        yield f"fairplay replay {path} --at {report.facts}"
    if report.fault is Fault.ILLEGAL:
        action = format_json(report.answer)
        argument = (
            shell_quote(action)
            if len(action) <= MAX_PRINTED_CHARS
            else "-  # with the answer, which --json prints, as input"
        )
        yield f"fairplay why-not {report.game} --view {path} --at {report.facts} {argument}"


def player_argument(report: EjectionReport) -> str:
    """The player as an argument of `debug` that is safe to paste, whatever the record names.

    A program runs in a sandbox. What would be loaded in this process, or comes over a network, is not named.
    """
    address = report.address
    built_in = is_built_in(address, report.game)
    is_program = address.startswith("exec:") or "/" in address or address.endswith(".py")
    if (
        len(address) > MAX_PRINTED_CHARS
        or not (built_in or is_program)
        or address.startswith(("py:", IN_PROCESS_PREFIX, "tcp:", "ws:"))
    ):
        return "PLAYER"
    no_option = "-- " if address.startswith("-") else ""
    player = shell_quote(f"player={address}" if "=" in address else address)  # otherwise it would be read as a label
    return f"{'' if built_in else '--sandbox strict '}{no_option}{player}"


def describe_rule(clause: str, text: str) -> Iterator[str]:
    """A clause of the rule book, quoted."""
    if clause:
        yield from format_paragraph(f"rule {clause}", text or "not in the rule book")
    else:
        yield from format_paragraph("rule", "no rule was broken")


def describe_failure(ejected: Ejected, evidence: Evidence) -> str:
    """Why a player was ejected; after a crash with the last line of its stderr, which names the error."""
    last = (evidence.stderr or "").strip().splitlines()[-1:] if ejected.fault is Fault.CRASHED else []
    return ": ".join([ejected.why, *(line for line in last if ejected.why not in line)])
