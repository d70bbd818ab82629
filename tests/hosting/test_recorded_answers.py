"""Test resuming a match with players whose recorded answers do not fit any more."""

import asyncio
from pathlib import Path
from typing import Any

from fairplay import Fault
from fairplay.core.events import Acted
from fairplay.core.messages import Failed, TakeTurn
from fairplay.diagnosis.recorded_then_live import RecordedAnswers, RecordedThenLive
from fairplay.games.fish import Place
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.journal.replay import read_journal
from fairplay.referee.local_channel import LocalChannel
from tests.journal.journals import GAME, first_action, record_match


class FailsToSitDown:
    """Raises when it is greeted, and counts its turns."""

    turns = 0

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        raise RuntimeError("not here")

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        return first_action(view)


def test_a_player_that_fails_at_the_greeting_of_a_resumed_match_is_not_asked_to_move(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    recorded = read_journal(path)
    match, player = recorded.match_after(0), FailsToSitDown()
    prompter = RecordedAnswers(recorded, 0, match)
    prompter.write(Acted(0, Place((99, 99))), None, None)  # so that the record says nothing of what comes now
    understudy = RecordedThenLive(0, prompter, AsyncLocalChannel(LocalChannel(player, GAME, lambda: 0.0)))

    answer = asyncio.run(understudy.ask(TakeTurn(match.view(0))))

    assert isinstance(answer, Failed)
    assert (answer.fault, player.turns) == (Fault.CRASHED, 0)
