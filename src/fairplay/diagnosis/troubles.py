"""Explain to the author of a bot what it would be ejected for, and what may help."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, End, Failed, Message, TakeTurn, Tell
from fairplay.diagnosis.trials import Bot, Trial
from fairplay.diagnosis.why import FAULTS, alternatives, rule
from fairplay.games import Title
from fairplay.journal.appeal import clauses, lawful_in
from fairplay.observers.reporter import in_words, label, standings
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, duration, paragraph, plain

FIRST_LINES, LAST_LINES = 4, 16  # of evidence: what became of the program, and the end of what it said


class Trouble(msgspec.Struct, frozen=True):
    """What a bot was ejected for, and what led to it."""

    ejected: Ejected
    message: Message | None  # None: it was hello
    answer: Answer
    facts: tuple[Fact, ...] = ()  # that came before


def explained(trouble: Trouble, trial: Trial, bot: Bot, *, colour: bool) -> Iterator[str]:
    """What is wrong, as `fairplay why` tells it."""
    ejected, message, game, names = trouble.ejected, trouble.message, trial.match.game, trial.match.names
    name = label(names[ejected.seat])
    yield from paragraph("when", *when(trouble, names))
    yield from paragraph("fault", f"{ejected.fault.in_words}: {FAULTS[ejected.fault]}")
    if ejected.clause:
        yield from rule(ejected.clause, clauses(game.name).get(ejected.clause, ""))
    match trouble.answer:
        case Answered(action):
            yield from paragraph("answer", f"{name} {action}", plain(action))
        case Failed(evidence=evidence):
            yield from paragraph("evidence", *shortened(describe_evidence(evidence)))
    if isinstance(message, TakeTurn):
        yield from paragraph("lawful", *alternatives(lawful_in(game, message.view), "answer", name))
    yield from paragraph("advice", *advice(trouble, bot.address))
    if message is not None:
        yield from ("", f"  What {name} was {'told' if isinstance(message, Tell | End) else 'shown'}:", "")
        yield from (f"    {line}" for line in told_by(message, bot.shelf, names, colour=colour))
        yield ""
    if isinstance(message, TakeTurn) and trial.only_once:
        yield from paragraph("as JSON", plain(game.pack(message.view)))
    elif trial.again and message is not None:
        yield from ("  To play it again, and keep a journal for fairplay why:", "", f"    {trial.again}")


def when(trouble: Trouble, names: Sequence[str]) -> Iterator[str]:
    """The moment, how long it took, and the fact before."""
    facts, took = trouble.facts, duration(trouble.answer.took)
    turns = sum(isinstance(fact, Acted) and fact.seat == trouble.ejected.seat for fact in facts)
    moment = f"at the {trouble.ejected.moment.value}, after {counted(turns, 'turn')} of its own"
    if isinstance(trouble.message, TakeTurn):
        moment = f"on turn {turns + 1} of its own"
    yield f"{moment if trouble.message else 'at hello'}; it took {took}"
    if facts:
        yield f"after fact {len(facts)}: {' '.join(in_words(facts[-1], names))}"


def shortened(evidence: Sequence[str]) -> Sequence[str]:
    """How evidence begins and ends."""
    left_out = len(evidence) - FIRST_LINES - LAST_LINES
    cut = [*evidence[:FIRST_LINES], f"({left_out} lines are left out)", *evidence[-LAST_LINES:]]
    return cut if left_out > 1 else evidence


def advice(trouble: Trouble, address: str) -> Iterator[str]:
    """What the author of the bot may have overlooked."""
    why, evidence = trouble.ejected.why, trouble.answer.evidence if isinstance(trouble.answer, Failed) else NO_EVIDENCE
    received = evidence.received.removeprefix("b")
    match trouble.ejected.fault:
        case Fault.MALFORMED | Fault.FLOOD if received and not received[1:].startswith("{"):
            yield f"something else than a reply came on stdout: {printable(received, 100)}; print to stderr instead"
        case Fault.MALFORMED if why.startswith("not a reply"):
            yield 'a reply is {"nonce": "...", "answer": ...} on one line, with the nonce of the question'
        case Fault.TIMED_OUT if trouble.message is None:
            yield "a reply ends with a newline and is flushed: what stays in a buffer is never read"
        case Fault.CRASHED if trouble.message is None and "defines no player" in (evidence.stderr or ""):
            yield f'a program that speaks the protocol itself is named exec:"python3 {address}"'
        case Fault.CRASHED if trouble.message is None and evidence.code == 0 and address.startswith("exec:"):
            yield "it has to read its stdin to the end; a file with a class Player or a function take_turn is ./file.py"


def told_by(message: Message, shelf: Title, names: tuple[str, ...], *, colour: bool) -> Iterable[str]:
    """The board as the bot saw it, or the news, or the result."""
    match message:
        case Tell(news):
            return [printable(plain(news), LONGEST)]
        case End(result):
            return standings(result, names)
    return shelf.text(message.view, names, colour=colour).split("\n")


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
