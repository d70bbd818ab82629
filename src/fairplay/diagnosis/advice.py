"""Explain to the author of a bot why it would be ejected, and advise how to mend it."""

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

FIRST_LINES, LAST_LINES = 4, 16  # lines of evidence that are shown: how the program ended, and its last output


class BotFailure(msgspec.Struct, frozen=True):
    """Why a bot was ejected, and what came before."""

    ejected: Ejected
    message: Message | None  # the question that it failed; None: hello
    answer: Answer
    facts: tuple[Fact, ...] = ()  # of the match before the ejection


def explain_failure(failure: BotFailure, trial: BotTrial, bot: Bot, *, colour: bool) -> Iterator[str]:
    """Explain what is wrong, line by line, in the layout of `fairplay why`."""
    ejected, message, game, names = failure.ejected, failure.message, trial.match.game, trial.match.names
    name = printable_name(names[ejected.seat])
    yield from format_paragraph("when", *describe_moment(failure, names))
    yield from format_paragraph("fault", f"{ejected.fault.description}: {FAULT_DESCRIPTIONS[ejected.fault]}")
    if ejected.clause:
        yield from describe_rule(ejected.clause, clauses(game.name).get(ejected.clause, ""))
    match failure.answer:
        case Answered(action):
            yield from format_paragraph("answer", f"{name} {action}", format_json(action))
        case Failed(evidence=evidence):
            yield from format_paragraph("evidence", *shorten_evidence(describe_evidence(evidence)))
    if isinstance(message, TakeTurn):
        yield from format_paragraph("legal", *describe_legal_actions(legal_actions(game, message.view), "answer", name))
    yield from format_paragraph("advice", *advise(failure, bot.address))
    if message is not None:
        yield from ("", f"  What {name} was {'told' if isinstance(message, Tell | End) else 'shown'}:", "")
        yield from (f"    {line}" for line in describe_message(message, bot.game_info, names, colour=colour))
        yield ""
    if isinstance(message, TakeTurn) and trial.single_turn:
        yield from format_paragraph("as JSON", format_json(game.pack(message.view)))
    elif trial.command and message is not None:
        yield from ("  To play it again, and keep a journal for fairplay why:", "", f"    {trial.command}")


def describe_moment(failure: BotFailure, names: Sequence[str]) -> Iterator[str]:
    """When the failure came, how long the answer took, and the fact before."""
    facts, took = failure.facts, format_duration(failure.answer.took)
    turns = sum(isinstance(fact, Acted) and fact.seat == failure.ejected.seat for fact in facts)
    moment = f"at the {failure.ejected.moment.value}, after {format_count(turns, 'turn')} of its own"
    if isinstance(failure.message, TakeTurn):
        moment = f"on turn {turns + 1} of its own"
    yield f"{moment if failure.message else 'at hello'}; it took {took}"
    if facts:
        yield f"after fact {len(facts)}: {' '.join(describe_event(facts[-1], names))}"


def shorten_evidence(evidence: Sequence[str]) -> Sequence[str]:
    """The first and the last lines of evidence."""
    left_out = len(evidence) - FIRST_LINES - LAST_LINES
    cut = [*evidence[:FIRST_LINES], f"({left_out} lines left out)", *evidence[-LAST_LINES:]]
    return cut if left_out > 1 else evidence


def advise(failure: BotFailure, address: str) -> Iterator[str]:
    """What the author of the bot may have overlooked, one line for each."""
    why, evidence = failure.ejected.why, failure.answer.evidence if isinstance(failure.answer, Failed) else NO_EVIDENCE
    received = evidence.received.removeprefix("b")
    match failure.ejected.fault:
        case Fault.MALFORMED | Fault.FLOOD if received and not received[1:].startswith("{"):
            yield f"stdout got something other than a reply: {printable(received, 100)}; print to stderr instead"
        case Fault.MALFORMED if why.startswith("not a reply"):
            yield 'a reply is {"nonce": "...", "answer": ...} on one line, with the nonce of the question'
        case Fault.TIMED_OUT if failure.message is None:
            yield "end each reply with a newline and flush stdout: what stays in a buffer is never read"
        case Fault.CRASHED if failure.message is None and "defines no player" in (evidence.stderr or ""):
            yield f'name a program that speaks the protocol itself exec:"python3 {address}"'
        case Fault.CRASHED if failure.message is None and evidence.exit_code == 0 and address.startswith("exec:"):
            yield "read stdin until it ends; if the file has a class Player or a function take_turn, name it ./file.py"


def describe_message(message: Message, game_info: GameInfo, names: tuple[str, ...], *, colour: bool) -> Iterable[str]:
    """The board that the bot was shown, or the news, or the result."""
    match message:
        case Tell(news):
            return [printable(format_json(news), MAX_PRINTED_CHARS)]
        case End(result):
            return format_standings(result, names)
    return game_info.text(message.view, names, colour=colour).split("\n")


def format_count(number: int, what: str) -> str:
    """A number of things.

    >>> format_count(1, "turn"), format_count(2, "turn")
    ('1 turn', '2 turns')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
