"""Compare the answers of a player with those in a record, and describe the difference."""

from typing import Any

import msgspec

from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, Failed
from fairplay.journal.reenactment import MOMENT_OF_MESSAGE
from fairplay.journal.transcript import TranscriptEntry
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable

MAX_ANSWER_CHARS = 600  # of an answer or a reason
NO_RECORDED_ANSWER = "the record has no answer, as the match was interrupted here"


class Comparison(msgspec.Struct, frozen=True):
    """An answer of a player beside the one in the record."""

    entry: TranscriptEntry
    answer: Answer
    fact: Fact | None  # that follows from the answer; None: it acknowledges, as it should
    recorded: Fact | None  # that followed from the answer in the record

    @property
    def is_same(self) -> bool:
        """Whether both answers have the same effect: of two failures only fault, moment and rule are compared.

        The reason may differ: a crash is an exception in this process, and an exit code of a program.
        """
        if self.entry.answer is None:
            return False
        match self.fact, self.recorded:
            case Ejected() as now, Ejected() as then:
                return (now.fault, now.moment, now.clause) == (then.fault, then.moment, then.clause)
        return self.fact == self.recorded


def format_moment(entry: TranscriptEntry) -> str:
    """The moment of the match at which a seat was asked."""
    moment = MOMENT_OF_MESSAGE[type(entry.message)]
    if moment is Moment.TURN:
        return f"turn {entry.turn}"
    return f"{moment.value} after turn {entry.turn}" if entry.turn else moment.value


def describe_answer(comparison: Comparison) -> list[str]:
    """The answer of the player, and what is wrong with it, as parts of a sentence."""
    match comparison.fact, comparison.answer:
        case None, _:
            return ["acknowledged"]
        case Acted(_, action), _:
            return [f"answers: {printable_text(action)}", "legal"]
        case Ejected(fault=Fault.ILLEGAL, why=why), Answered(action):
            return [f"answers: {printable_text(action)}", f"not legal: {printable_text(why)}"]
        case Ejected() as ejected, answer:
            return [f"fails: {ejection_reason(ejected)}", *key_evidence(answer)]


def describe_record(comparison: Comparison) -> str:
    """How the answer in the record compares."""
    match comparison.recorded, comparison.entry.answer, comparison.answer:
        case _, None, _:
            return NO_RECORDED_ANSWER
        case Ejected(fault=Fault.ILLEGAL), Answered(then), Answered(now) if comparison.is_same and now != then:
            return f"the same failure as in the record, which has: {printable_text(then)}"
        case _ if comparison.is_same:
            return "the same as in the record"
        case None, _, _:
            return "the record has an acknowledgement"
        case Acted(_, action), _, _:
            return f"the record has: {printable_text(action)}"
        case Ejected(fault=Fault.ILLEGAL, why=why), Answered(action), _:
            return f"the record has: {printable_text(action)}, and the ejection for it: {printable_text(why)}"
        case Ejected() as ejected, answer, _:
            return f"the record has the ejection: {', '.join([ejection_reason(ejected), *key_evidence(answer)])}"


def ejection_reason(ejected: Ejected) -> str:
    """The fault of an ejected player, and why."""
    return f"{ejected.fault.value.replace('_', ' ')}, {printable_text(ejected.why)}"


def key_evidence(answer: Answer) -> list[str]:
    """The most telling line of the evidence of a failure: after a crash, the last one."""
    if not isinstance(answer, Failed) or not (lines := describe_evidence(answer.evidence)):
        return []
    return [printable_text(lines[-1 if answer.fault is Fault.CRASHED else 0])]


def printable_text(value: Any) -> str:
    """A value as text that is safe to print to a terminal."""
    return printable(str(value), MAX_ANSWER_CHARS)
