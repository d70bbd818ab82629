"""Explain to the author of a bot what it would be ejected for, and what may help."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, End, Failed, Message, TakeTurn, Tell
from fairplay.diagnosis.bot_trials import Bot, BotTrial
from fairplay.diagnosis.ejection_explanation import FAULT_DESCRIPTIONS, describe_legal_actions, describe_rule
from fairplay.games import GameInfo
from fairplay.journal.ejection_report import clauses, legal_actions
from fairplay.observers.reporter import describe_event, format_standings, printable_name
from fairplay.render.evidence import describe_evidence
from fairplay.render.formatting import MAX_PRINTED_CHARS, format_duration, format_json, format_paragraph
from fairplay.render.text import printable

FIRST_LINES, LAST_LINES = 4, 16  # of evidence: what became of the program, and the end of what it said


class BotFailure(msgspec.Struct, frozen=True):
    """What a bot was ejected for, and what led to it."""

    ejected: Ejected
    message: Message | None  # None: it was hello
    answer: Answer
    facts: tuple[Fact, ...] = ()  # that came before


def explain_failure(trouble: BotFailure, trial: BotTrial, bot: Bot, *, colour: bool) -> Iterator[str]:
    """What is wrong, as `fairplay why` tells it."""
    ejected, message, game, names = trouble.ejected, trouble.message, trial.match.game, trial.match.names
    name = printable_name(names[ejected.seat])
    yield from format_paragraph("when", *describe_moment(trouble, names))
    yield from format_paragraph("fault", f"{ejected.fault.description}: {FAULT_DESCRIPTIONS[ejected.fault]}")
    if ejected.clause:
        yield from describe_rule(ejected.clause, clauses(game.name).get(ejected.clause, ""))
    match trouble.answer:
        case Answered(action):
            yield from format_paragraph("answer", f"{name} {action}", format_json(action))
        case Failed(evidence=evidence):
            yield from format_paragraph("evidence", *shorten_evidence(describe_evidence(evidence)))
    if isinstance(message, TakeTurn):
        yield from format_paragraph("legal", *describe_legal_actions(legal_actions(game, message.view), "answer", name))
    yield from format_paragraph("advice", *advise(trouble, bot.address))
    if message is not None:
        yield from ("", f"  What {name} was {'told' if isinstance(message, Tell | End) else 'shown'}:", "")
        yield from (f"    {line}" for line in describe_message(message, bot.game_info, names, colour=colour))
        yield ""
    if isinstance(message, TakeTurn) and trial.single_turn:
        yield from format_paragraph("as JSON", format_json(game.pack(message.view)))
    elif trial.command and message is not None:
        yield from ("  To play it again, and keep a journal for fairplay why:", "", f"    {trial.command}")


def describe_moment(trouble: BotFailure, names: Sequence[str]) -> Iterator[str]:
    """The moment, how long it took, and the fact before."""
    facts, took = trouble.facts, format_duration(trouble.answer.took)
    turns = sum(isinstance(fact, Acted) and fact.seat == trouble.ejected.seat for fact in facts)
    moment = f"at the {trouble.ejected.moment.value}, after {format_count(turns, 'turn')} of its own"
    if isinstance(trouble.message, TakeTurn):
        moment = f"on turn {turns + 1} of its own"
    yield f"{moment if trouble.message else 'at hello'}; it took {took}"
    if facts:
        yield f"after fact {len(facts)}: {' '.join(describe_event(facts[-1], names))}"


def shorten_evidence(evidence: Sequence[str]) -> Sequence[str]:
    """How evidence begins and ends."""
    left_out = len(evidence) - FIRST_LINES - LAST_LINES
    cut = [*evidence[:FIRST_LINES], f"({left_out} lines are left out)", *evidence[-LAST_LINES:]]
    return cut if left_out > 1 else evidence


def advise(trouble: BotFailure, address: str) -> Iterator[str]:
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
        case Fault.CRASHED if trouble.message is None and evidence.exit_code == 0 and address.startswith("exec:"):
            yield "it has to read its stdin to the end; a file with a class Player or a function take_turn is ./file.py"


def describe_message(message: Message, shelf: GameInfo, names: tuple[str, ...], *, colour: bool) -> Iterable[str]:
    """The board as the bot saw it, or the news, or the result."""
    match message:
        case Tell(news):
            return [printable(format_json(news), MAX_PRINTED_CHARS)]
        case End(result):
            return format_standings(result, names)
    return shelf.text(message.view, names, colour=colour).split("\n")


def format_count(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
