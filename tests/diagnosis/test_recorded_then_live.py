"""Test that players of a continued match are greeted only when they take over from the record."""

import asyncio
from pathlib import Path

from fairplay import Acted, Ejected, Fault, Moment
from fairplay.core.messages import Answer, Answered, End, Message, Start, TakeTurn
from fairplay.core.roles import CloseReason
from fairplay.diagnosis.recorded_then_live import RecordedAnswers, RecordedThenLive
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import Referee
from tests.journal.journals import GAME, SEED, first_action
from tests.journal_files import newest_journal


class LivePlayer:
    """A player that keeps the kinds of messages it gets."""

    def __init__(self) -> None:
        self.messages: list[type[Message]] = []

    async def ask(self, message: Message) -> Answer:
        self.messages.append(type(message))
        return Answered(first_action(message.view) if isinstance(message, TakeTurn) else None)

    async def close(self, reason: CloseReason) -> None:
        pass


def messages_to_live_player(tmp_path: Path, *messages: str) -> list[type[Message]]:
    """What a live player in seat 0 is asked, in a match that differs from its record from the start."""
    match = Referee().run(GAME, [first_action, first_action], seed=SEED, record=Journal(tmp_path).begin)
    recorded, dealt, live = read_journal(newest_journal(tmp_path)), GAME.deal(2, SEED), LivePlayer()
    assert isinstance(recorded.facts[0], Acted)
    answers = RecordedAnswers(recorded, 0, match)
    channel = RecordedThenLive(0, answers, live)
    known: dict[str, Message] = {"turn": TakeTurn(GAME.view(dealt, 0)), "end": End(match.result)}

    async def differ() -> None:
        answers.write(Ejected(1, Fault.CRASHED, Moment.TURN, "not in the record"), None, None)
        for message in messages:
            assert isinstance(await channel.ask(known[message]), Answered)

    asyncio.run(differ())
    return live.messages


def test_a_live_player_that_never_had_its_seat_is_not_told_the_end(tmp_path: Path) -> None:
    assert messages_to_live_player(tmp_path, "end") == []


def test_a_live_player_that_takes_over_a_seat_is_greeted_first_and_told_the_end(tmp_path: Path) -> None:
    assert messages_to_live_player(tmp_path, "turn", "end") == [Start, TakeTurn, End]
