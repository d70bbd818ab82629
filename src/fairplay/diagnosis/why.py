"""Tell why a player was ejected, and how to see it again, in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Evidence
from fairplay.games import title
from fairplay.journal.appeal import MOST_COUNTED, Appeal, Lawful
from fairplay.journal.replay import Recorded
from fairplay.observers.reporter import in_words, label, standings
from fairplay.players.address import IN_PROCESS
from fairplay.players.location import of_the_house
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, duration, paragraph, plain, quoted, wall_time

FAULTS = {
    Fault.ILLEGAL: "an action that breaks a rule",
    Fault.MALFORMED: "no answer to what was asked",
    Fault.TIMED_OUT: "no answer in time",
    Fault.CRASHED: "the player's program failed",
    Fault.GONE: "the line was dead, or nobody ever came",
    Fault.FLOOD: "far too much was said",
}
MOST_LINES = 50  # of evidence


def told(appeal: Appeal, recorded: Recorded, file: str, *, colour: bool = False) -> Iterator[str]:
    """An ejection in words, line by line."""
    name, fault = label(appeal.name), appeal.fault.in_words
    yield f"{name} was ejected from a match of {appeal.game}: {fault} ({appeal.moment.value})"
    yield ""
    yield from paragraph("who", f"{name}, seat {appeal.seat}, {known_as(appeal)}")
    yield from paragraph("when", *when(appeal, recorded.names))
    yield from paragraph("fault", f"{fault}: {FAULTS[appeal.fault]}")
    yield from paragraph("why", appeal.why)
    yield from rule(appeal.clause, appeal.rule)
    yield from paragraph("answer", *answer(appeal))
    yield from paragraph("evidence", *evidence(appeal))
    yield from paragraph("lawful", *alternatives(appeal.lawful, "answer", name))
    yield ""
    yield f"What {name} was {'told' if appeal.moment in (Moment.NEWS, Moment.FAREWELL) else 'shown'}:"
    yield ""
    yield from (f"    {line}".rstrip() for line in what_was_shown(appeal, recorded, colour=colour))
    yield ""
    yield "To see it again:"
    yield ""
    yield from (f"    {command}" for command in commands(appeal, file))


def known_as(appeal: Appeal) -> str:
    """Where the player came from."""
    return f"the player {appeal.address}" if appeal.address else "whose address is not in the record"


def when(appeal: Appeal, names: Sequence[str]) -> Iterator[str]:
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
        yield f"after fact {appeal.facts}: {' '.join(in_words(appeal.last, names))}"
    yield f"{wall_time(appeal.at)}; it took {duration(appeal.took)}"


def answer(appeal: Appeal) -> Iterator[str]:
    """What the player said."""
    if appeal.fault is Fault.ILLEGAL:
        yield f"{appeal.name} {appeal.answer}"
        yield plain(appeal.answer)
    elif appeal.overrun is not None:
        yield f"its answer came {appeal.overrun:.3f} s too late"
    elif appeal.fault is not Fault.MALFORMED:
        yield "none"
    elif appeal.moment is Moment.TURN:
        yield f"no action of {appeal.game}"
    else:
        yield "something, where nothing was to be said"


def evidence(appeal: Appeal) -> Iterable[str]:
    """What else is known, but not everything if it is very long."""
    lines = describe_evidence(appeal.evidence)
    left_out = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"and {left_out} more lines: see --json"] if left_out > 0 else [])] or ["none"]


def alternatives(lawful: Lawful | None, what: str, who: str) -> Iterator[str]:
    """How many actions are lawful, and one of them."""
    match lawful:
        case None:
            yield "only an acknowledgement was due: null, or nothing at all"
        case Lawful(0):
            yield "none: no legal option"
        case Lawful(count, example):
            number = f"{count} or more" if count == MOST_COUNTED else str(count)
            yield f"{number} {what if count == 1 else f'{what}s'}, such as: {who} {example}"
            yield plain(example)


def what_was_shown(appeal: Appeal, recorded: Recorded, *, colour: bool = False) -> Iterable[str]:
    """The board as the player saw it, or the news, or the result."""
    names = recorded.names
    match appeal.moment:
        case Moment.GREETING | Moment.TURN:
            view = recorded.game.unpack(appeal.shown)
            return title(appeal.game).text(view, names, colour=colour).split("\n")
        case Moment.NEWS:
            return [printable(plain(appeal.shown), LONGEST)]
        case Moment.FAREWELL:
            return standings(recorded.at(appeal.facts).result, names)


def for_people(appeal: Appeal, recorded: Recorded, file: str) -> dict[str, Any]:
    """What is not in an appeal, because it is for people: what was shown as text, and what to type."""
    return {"text": "\n".join(what_was_shown(appeal, recorded)), "commands": list(commands(appeal, file))}


def commands(appeal: Appeal, file: str) -> Iterator[str]:
    """What to type to see it again."""
    path = quoted(f"./{file}" if file.startswith("-") else file)
    turn = f" --turn {appeal.turn}" if appeal.moment is Moment.TURN else ""
    path = " ".join([path, *title(appeal.game).option])
    yield f"fairplay debug {path} --seat {appeal.seat}{turn} {again(appeal)}"
    if appeal.moment is not Moment.TURN:
        yield f"fairplay replay {path} --at {appeal.facts}"
    if appeal.fault is Fault.ILLEGAL:
        action = plain(appeal.answer)
        said = quoted(action) if len(action) <= LONGEST else "-  # and the answer, which --json has, as its input"
        yield f"fairplay why-not {appeal.game} --view {path} --at {appeal.facts} {said}"


def again(appeal: Appeal) -> str:
    """The player as `debug` takes it, so that whoever pastes it is safe from what a record names.

    A program is shut in, or not run at all; what would be loaded in this process, or is elsewhere, is not named.
    """
    address = appeal.address
    is_house = of_the_house(address, appeal.game)
    is_program = address.startswith("exec:") or "/" in address or address.endswith(".py")
    if len(address) > LONGEST or not (is_house or is_program) or address.startswith(("py:", IN_PROCESS, "tcp:", "ws:")):
        return "PLAYER"
    no_option = "-- " if address.startswith("-") else ""
    player = quoted(f"player={address}" if "=" in address else address)  # or else it would be taken for a label
    return f"{'' if is_house else '--sandbox strict '}{no_option}{player}"


def rule(clause: str, text: str) -> Iterator[str]:
    """A clause of the rule book, quoted."""
    if clause:
        yield from paragraph(f"rule {clause}", text or "is not in the rule book")
    else:
        yield from paragraph("rule", "none was broken")


def describe_failure(ejected: Ejected, evidence: Evidence) -> str:
    """Why a player was ejected; of a crash with the last line of stderr, which names the error."""
    last = (evidence.stderr or "").strip().splitlines()[-1:] if ejected.fault is Fault.CRASHED else []
    return ": ".join([ejected.why, *(line for line in last if ejected.why not in line)])
