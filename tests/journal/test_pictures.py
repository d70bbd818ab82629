"""Draw recorded matches, position by position."""

from itertools import pairwise
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, title
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.pictures import picture_at, pictures
from fairplay.journal.replay import Recorded, read

PLAYERS = {"fish": "greedy", "tsuro": "second", "q": "best"}


@pytest.fixture(params=sorted(GAMES))
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    player = PLAYERS[request.param]
    spec = MatchSpec(
        game=request.param,
        entrants=tuple(Entrant(player, name) for name in ("ann", "bob", "cy")),
        parameters=dict(title(request.param).quick),
        journal=str(tmp_path),
        seed=bytes(32),
    )
    run(spec)
    return read(next(tmp_path.glob("*.jsonl")))


def test_there_is_a_picture_of_every_position(recorded: Recorded) -> None:
    drawn = list(pictures(recorded))

    assert drawn == [picture_at(recorded, facts) for facts in range(len(recorded.facts) + 1)]
    assert all(before != after for before, after in pairwise(drawn))
    assert picture_at(recorded, None) == drawn[-1]


def test_a_seat_has_pictures_of_its_own(recorded: Recorded) -> None:
    drawn = list(pictures(recorded, 1))

    assert drawn == [picture_at(recorded, facts, 1) for facts in range(len(recorded.facts) + 1)]
    assert (drawn == list(pictures(recorded))) == (recorded.opening.game == "fish"), (
        "elsewhere there is something hidden"
    )


def test_beyond_the_end_there_is_nothing_to_draw(recorded: Recorded) -> None:
    with pytest.raises(BadRequest, match="there is nothing after"):
        picture_at(recorded, len(recorded.facts) + 1)
