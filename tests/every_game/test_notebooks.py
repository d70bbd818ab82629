"""Test that Jupyter notebooks show matches, views and records as pictures."""

from pathlib import Path
from typing import Any

import pytest

from fairplay.core.match import Match
from fairplay.games import GAMES, game_info
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import RecordedMatch, read_journal
from tests.toy import State, Toy

NAMES = ("ann", "bob", "cyd")


@pytest.fixture(params=sorted(GAMES))
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> RecordedMatch:
    shelf = game_info(request.param)
    player = next(name for name in shelf.built_in if name != "random" and ":" not in name)
    spec = MatchSpec(
        game=request.param,
        entrants=tuple(Entrant(player, name) for name in NAMES),
        parameters=dict(shelf.quick),
        journal=str(tmp_path),
        seed=bytes(32),
    )
    assert run(spec).result is not None
    return read_journal(next(tmp_path.glob("*.jsonl")))


def test_matches_and_records_show_what_spectators_see_and_views_what_their_seats_see(recorded: RecordedMatch) -> None:
    match, svg = recorded.match_after(3), game_info(recorded.opening.game).svg
    views = [match.view(seat) for seat in (None, 0, 1)]

    assert recorded._repr_svg_() == picture_at(recorded, None)
    assert match._repr_svg_() == svg(views[0], NAMES)
    assert [view._repr_svg_() for view in views] == [svg(view) for view in views]
    different = {"fish": 1, "tsuro": 2, "q": 3}  # who is on turn sees dealt tiles, and everybody has a hand
    assert len({svg(view) for view in views}) == different[match.game.name]


def test_a_game_without_pictures_shows_none() -> None:
    state = State(((4, 5), (6, 7)), (1, 2), (), (), (0, 0), order=(0, 1), ranked=(0, 1))
    match: Match[Any, Any, Any] = Match(Toy(), state, NAMES[:2])

    assert match._repr_svg_() is None
