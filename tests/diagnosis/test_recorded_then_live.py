"""Let others take the seats of a recorded match that goes another way: only who is asked something sits down."""

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


class Other:
    """A player that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[type[Message]] = []

    async def ask(self, message: Message) -> Answer:
        self.heard.append(type(message))
        return Answered(first_action(message.view) if isinstance(message, TakeTurn) else None)

    async def close(self, parting: CloseReason) -> None:
        pass


def heard_by_other(tmp_path: Path, *messages: str) -> list[type[Message]]:
    """What another player hears in the place of seat 0, when a recorded match goes another way from the start."""
    match = Referee().run(GAME, [first_action, first_action], seed=SEED, record=Journal(tmp_path).begin)
    recorded, begun, other = read_journal(newest_journal(tmp_path)), GAME.deal(2, SEED), Other()
    assert isinstance(recorded.facts[0], Acted)
    prompter = RecordedAnswers(recorded, 0, match)
    understudy = RecordedThenLive(0, prompter, other)
    said: dict[str, Message] = {"turn": TakeTurn(GAME.view(begun, 0)), "end": End(match.result)}

    async def go_another_way() -> None:
        prompter.write(Ejected(1, Fault.CRASHED, Moment.TURN, "another way"), None, None)
        for message in messages:
            assert isinstance(await understudy.ask(said[message]), Answered)

    asyncio.run(go_another_way())
    return other.heard


def test_who_never_sat_at_a_match_is_not_told_its_end(tmp_path: Path) -> None:
    assert heard_by_other(tmp_path, "end") == []


def test_who_takes_a_seat_for_a_turn_is_greeted_first_and_told_the_end(tmp_path: Path) -> None:
    assert heard_by_other(tmp_path, "turn", "end") == [Start, TakeTurn, End]
