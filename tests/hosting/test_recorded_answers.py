"""Let players take over from a record, whose answers no longer fit: they are greeted, and who fails then has failed."""

import asyncio
from pathlib import Path
from typing import Any

from fairplay import Fault
from fairplay.core.events import Acted
from fairplay.core.messages import Failed, TakeTurn
from fairplay.diagnosis.understudy import Prompter, Understudy
from fairplay.games.fish import Place
from fairplay.hosting.table import Here
from fairplay.journal.replay import read
from fairplay.referee.local import Local
from tests.journal.journals import GAME, first, record


class FailsToSitDown:
    """Raises when it is greeted, and counts its turns."""

    turns = 0

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        raise RuntimeError("not here")

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        return first(view)


def test_a_player_that_fails_to_take_a_seat_over_is_not_asked_to_move(tmp_path: Path) -> None:
    path, _ = record(tmp_path, [first, first])
    recorded = read(path)
    match, player = recorded.at(0), FailsToSitDown()
    prompter = Prompter(recorded, 0, match)
    prompter.write(Acted(0, Place((99, 99))), None, None)  # so that the record says nothing of what comes now
    understudy = Understudy(0, prompter, Here(Local(player, GAME, lambda: 0.0)))

    answer = asyncio.run(understudy.ask(TakeTurn(match.view(0))))

    assert isinstance(answer, Failed)
    assert (answer.fault, player.turns) == (Fault.CRASHED, 0)
