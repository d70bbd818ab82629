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
    appeal: EjectionReport, recorded: RecordedMatch, file: str, *, colour: bool = False
) -> Iterator[str]:
    """An ejection in words, line by line."""
    name, fault = printable_name(appeal.name), appeal.fault.description
    yield f"{name} was ejected from a match of {appeal.game}: {fault} ({appeal.moment.value})"
    yield ""
    yield from format_paragraph("who", f"{name}, seat {appeal.seat}, {describe_origin(appeal)}")
    yield from format_paragraph("when", *describe_time(appeal, recorded.names))
    yield from format_paragraph("fault", f"{fault}: {FAULT_DESCRIPTIONS[appeal.fault]}")
    yield from format_paragraph("why", appeal.why)
    yield from describe_rule(appeal.clause, appeal.rule)
    yield from format_paragraph("answer", *answer_lines(appeal))
    yield from format_paragraph("evidence", *evidence_lines(appeal))
    yield from format_paragraph("legal", *describe_legal_actions(appeal.legal, "answer", name))
    yield ""
    yield f"What {name} was {'told' if appeal.moment in (Moment.NEWS, Moment.FAREWELL) else 'shown'}:"
    yield ""
    yield from (f"    {line}".rstrip() for line in describe_shown(appeal, recorded, colour=colour))
    yield ""
    yield "To see it again:"
    yield ""
    yield from (f"    {command}" for command in debug_commands(appeal, file))


def describe_origin(appeal: EjectionReport) -> str:
    """Where the player came from."""
    return f"the player {appeal.address}" if appeal.address else "whose address is not in the record"


def describe_time(appeal: EjectionReport, names: Sequence[str]) -> Iterator[str]:
    """The moment, the fact before, and the time."""
    match appeal.moment:
        case Moment.GREETING:
            yield "at the greeting" + (" of a match that was resumed" if appeal.resumed else "")
        case Moment.TURN:
            yield f"on turn {appeal.turn} of its own"
        case Moment.NEWS:
            yield f"when it was told news, after turn {appeal.turn} of its own"
        case Moment.FAREWELL:
            yield f"at the farewell, after {appeal.turn} {'turn' if appeal.turn == 1 else 'turns'} of its own"
    if appeal.last is None:
        yield "before any other fact"
    else:
        yield f"after fact {appeal.facts}: {' '.join(describe_event(appeal.last, names))}"
    yield f"{format_time(appeal.at)}; it took {format_duration(appeal.took)}"


def answer_lines(appeal: EjectionReport) -> Iterator[str]:
    """What the player said."""
    if appeal.fault is Fault.ILLEGAL:
        yield f"{appeal.name} {appeal.answer}"
        yield format_json(appeal.answer)
    elif appeal.overrun is not None:
        yield f"its answer came {appeal.overrun:.3f} s too late"
    elif appeal.fault is not Fault.MALFORMED:
        yield "none"
    elif appeal.moment is Moment.TURN:
        yield f"no action of {appeal.game}"
    else:
        yield "something, where nothing was to be said"


def evidence_lines(appeal: EjectionReport) -> Iterable[str]:
    """What else is known, but not everything if it is very long."""
    lines = describe_evidence(appeal.evidence)
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


def describe_shown(appeal: EjectionReport, recorded: RecordedMatch, *, colour: bool = False) -> Iterable[str]:
    """The board as the player saw it, or the news, or the result."""
    names = recorded.names
    match appeal.moment:
        case Moment.GREETING | Moment.TURN:
            view = recorded.game.unpack(appeal.shown)
            return game_info(appeal.game).text(view, names, colour=colour).split("\n")
        case Moment.NEWS:
            return [printable(format_json(appeal.shown), MAX_PRINTED_CHARS)]
        case Moment.FAREWELL:
            return format_standings(recorded.match_after(appeal.facts).result, names)


def text_fields(appeal: EjectionReport, recorded: RecordedMatch, file: str) -> dict[str, Any]:
    """What is not in an appeal, because it is for people: what was shown as text, and what to type."""
    return {"text": "\n".join(describe_shown(appeal, recorded)), "commands": list(debug_commands(appeal, file))}


def debug_commands(appeal: EjectionReport, file: str) -> Iterator[str]:
    """What to type to see it again."""
    path = shell_quote(f"./{file}" if file.startswith("-") else file)
    turn = f" --turn {appeal.turn}" if appeal.moment is Moment.TURN else ""
    path = " ".join([path, *game_info(appeal.game).option])
    yield f"fairplay debug {path} --seat {appeal.seat}{turn} {player_argument(appeal)}"
    if appeal.moment is not Moment.TURN:
        yield f"fairplay replay {path} --at {appeal.facts}"
    if appeal.fault is Fault.ILLEGAL:
        action = format_json(appeal.answer)
        said = (
            shell_quote(action)
            if len(action) <= MAX_PRINTED_CHARS
            else "-  # and the answer, which --json has, as its input"
        )
        yield f"fairplay why-not {appeal.game} --view {path} --at {appeal.facts} {said}"


def player_argument(appeal: EjectionReport) -> str:
    """The player as `debug` takes it, so that whoever pastes it is safe from what a record names.

    A program is shut in, or not run at all; what would be loaded in this process, or is elsewhere, is not named.
    """
    address = appeal.address
    is_server = is_built_in(address, appeal.game)
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
