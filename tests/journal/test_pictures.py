"""Test the pictures of recorded matches, position by position."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.game import Moment
from fairplay.games import GAMES, game_info
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.pictures import picture_at, pictures
from fairplay.journal.replay import RecordedMatch, read_journal

PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "best"}
PUT: dict[str, Callable[[Any], Any]] = {  # what players have put on the board
    "fish": lambda view: view.state.penguins,
    "tsuro": lambda view: view.table.board,
    "q": lambda view: view.map.tiles,
}


@pytest.fixture(params=sorted(GAMES))
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> RecordedMatch:
    player = PLAYERS[request.param]
    run(
        MatchSpec(
            game=request.param,
            entrants=tuple(Entrant(player, name) for name in ("ann", "bob", "cy")),
            parameters=dict(game_info(request.param).quick),
            journal=str(tmp_path),
            seed=bytes(32),
        )
    )
    return read_journal(next(tmp_path.glob("*.jsonl")))


def test_there_is_a_picture_of_every_position_for_spectators_and_for_each_seat(recorded: RecordedMatch) -> None:
    drawn, shown = list(pictures(recorded)), list(pictures(recorded, 1))

    positions = range(len(recorded.facts) + 1)
    assert drawn == [picture_at(recorded, facts) for facts in positions]
    assert shown == [picture_at(recorded, facts, 1) for facts in positions]
    assert all(before != after for before, after in pairwise(drawn))
    assert picture_at(recorded, None) == drawn[-1]
    assert (shown == drawn) == (recorded.opening.game == "fish"), "elsewhere there is something hidden"
    with pytest.raises(BadRequest, match="there is no position after"):
        picture_at(recorded, len(recorded.facts) + 1)


def count_marks(picture: str) -> int:
    (group,) = [part for part in ElementTree.fromstring(picture).iter() if part.get("id", "").endswith("-news")]
    return len(list(group))


@pytest.mark.parametrize("small", [False, True])
def test_changes_are_marked_in_a_picture(recorded: RecordedMatch, small: bool) -> None:
    drawn = list(pictures(recorded, small=small))
    boards = [PUT[recorded.opening.game](recorded.match_after(facts).view(None)) for facts in range(len(drawn))]

    assert not count_marks(drawn[0])
    assert [bool(count_marks(picture)) for picture in drawn[1:]] == [one != other for one, other in pairwise(boards)]
    assert sum(map(count_marks, drawn)) > 5


def test_an_ejection_marks_nothing_in_a_picture(recorded: RecordedMatch) -> None:
    game, match = recorded.match_after(0).game, recorded.match_after(len(recorded.facts) // 2)
    before, after = match.state, game.eject(match.state, 0, Moment.TURN)

    drawn = game_info(recorded.opening.game).svg(game.view(after, None), before=game.view(before, None))

    assert after != before
    assert not count_marks(drawn)
