"""Hold what a player answers now against what the record has, and put it into words."""

from typing import Any

import msgspec

from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, Failed
from fairplay.journal.reenactment import MOMENT_OF_MESSAGE
from fairplay.journal.transcript import TranscriptEntry
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable

MAX_ANSWER_CHARS = 600  # characters of an answer or a reason
NO_RECORDED_ANSWER = "the record has no answer, for the match was interrupted there"


class Comparison(msgspec.Struct, frozen=True):
    """What a player answers now, beside what the record has."""

    entry: TranscriptEntry
    answer: Answer
    fact: Fact | None  # what the referee makes of it; None: an acknowledgement, as it should be
    recorded: Fact | None  # what it made of the answer in the record

    @property
    def is_same(self) -> bool:
        """Is it the same? Of two failures only the fault has to be, and the rule if one is broken.

        The reason may be another one: a crash is an exception in this process, and an exit code in one of its own.
        """
        if self.entry.answer is None:
            return False
        match self.fact, self.recorded:
            case Ejected() as now, Ejected() as then:
                return (now.fault, now.moment, now.clause) == (then.fault, then.moment, then.clause)
        return self.fact == self.recorded


def format_moment(heard: TranscriptEntry) -> str:
    """At which moment of the match."""
    moment = MOMENT_OF_MESSAGE[type(heard.message)]
    if moment is Moment.TURN:
        return f"turn {heard.turn}"
    return f"{moment.value} after turn {heard.turn}" if heard.turn else moment.value


def describe_answer(comparison: Comparison) -> list[str]:
    """What the player does, and what is wrong with it."""
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
    """What the record has."""
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
    """Why a player is out."""
    return f"{ejected.fault.value.replace('_', ' ')}, {printable_text(ejected.why)}"


def key_evidence(answer: Answer) -> list[str]:
    """What else is known of a failure, in a line: where a program crashed, the last of what it said."""
    if not isinstance(answer, Failed) or not (lines := describe_evidence(answer.evidence)):
        return []
    return [printable_text(lines[-1 if answer.fault is Fault.CRASHED else 0])]


def printable_text(words: Any) -> str:
    """Something that is fit for a terminal."""
    return printable(str(words), MAX_ANSWER_CHARS)
