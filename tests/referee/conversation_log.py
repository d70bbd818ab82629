"""Run a conversation by hand, and log its requests line by line."""

from collections.abc import Mapping

from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Started
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import NULL_RECORD
from fairplay.referee.conversation import AnyMatch, Call, CloseChannel, conversation

GONE_FAILURE = Failed(Fault.GONE, "left the room")


def run_conversation(
    match: AnyMatch, answers: Mapping[str, Answer | list[Answer]] | None = None
) -> tuple[AnyMatch, list[str]]:
    """The final match, and the notes. Answers are given by what is noted of the call, like "0 turn"; a list is for the
    first times. Otherwise players take the first legal action and acknowledge the rest."""
    planned = {line: answer if isinstance(answer, list) else [answer] * 99 for line, answer in (answers or {}).items()}
    notes: list[str] = []

    script = conversation(match, NULL_RECORD, lambda event, match: notes.append(describe_event(event)))
    answer: Answer | None = None
    try:
        request = next(script)
        while True:
            if isinstance(request, Call):
                line = f"{request.seat} {describe_message(request.message)}"
                left = planned.get(line.split(" told ")[0])
                notes.append(line)
                answer = left.pop(0) if left else good_answer(match, request.message)
            else:
                notes.extend([f"{request.seat} dismissed"] if isinstance(request, CloseChannel) else [])
                answer = Answered(None)
            request = script.send(answer)
    except StopIteration as end:
        return end.value, notes


def good_answer(match: AnyMatch, message: Message) -> Answer:
    return Answered(next(match.game.actions(message.view)) if isinstance(message, TakeTurn) else None)


def describe_message(message: Message) -> str:
    match message:
        case Start():
            return "start"
        case TakeTurn():
            return "turn"
        case Tell(news):
            return f"news told {news}"
        case End(result):
            return f"end told {[sorted(group) for group in result.ranking]}"


def describe_event(event: Event) -> str:
    match event:
        case Started():
            return "* started"
        case Acted(seat):
            return f"* {seat} acted"
        case Ejected(seat, fault, moment):
            return f"* {seat} ejected, {fault.value} at the {moment.value}"
        case Ended(result):
            return f"* ended {[sorted(group) for group in result.ranking]}"
