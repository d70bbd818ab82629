"""Test Tsuro with other rules: the rule checker is a value that the game is given."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal, IllegalAction
from fairplay.core.match import Match
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Action, Lay, Place, Rules, Tsuro, View
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.rules import options_of, prospect_of
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from fairplay.testing.conformance import DEFAULT_SEEDS, check_game
from tests.games.tsuro.positions import (
    CORNERS,
    STRAIGHT,
    TSURO,
    all_tiles,
    first_action,
    legal_actions,
    make_position,
    reshuffle,
)
from tests.journal.journals import read_lines, seal_lines
from tests.journal_files import newest_journal

SEED = bytes(range(32))


class Reckless(Rules, frozen=True):
    """Everybody may drive itself off the board."""

    def lays(self, view: View) -> list[Lay]:
        options = list(options_of(view.dealt))
        return [option for option in options if not prospect_of(view, option).looping] or options

    def check_lay(self, view: View, lay: Lay) -> None:
        if lay.tile not in view.dealt:
            raise IllegalAction("4.2", "this tile was not dealt to you")
        if lay not in self.lays(view):
            raise IllegalAction("4.3", "round for ever, and there is another choice")


class Corners(Rules, frozen=True):
    """First tiles are placed in corners."""

    def places(self, view: View) -> Iterator[Place]:
        return (place for place in super().places(view) if set(place.at) <= {0, view.table.grid.size - 1})

    def check_place(self, view: View, place: Place) -> None:
        super().check_place(view, place)
        if not set(place.at) <= {0, view.table.grid.size - 1}:
            raise IllegalAction("3.3", "not in a corner")


RECKLESS = Tsuro(size=5, tiles="cycle", rules=Reckless())


def lemming(view: View) -> Action:
    """Off the board as soon as possible, whatever the rules say."""
    if not (view.dealt and len(view.dealt) == 2):
        return first_action(view)
    options = list(options_of(view.dealt))
    off = (option for option in options if prospect_of(view, option).avatars[view.table.waiting[0]] == OUT)
    return next(off, options[0])


def recorded_match(directory: Path, game: Tsuro = RECKLESS) -> tuple[Path, Match[Any, Any, Any]]:
    match = Referee().run(game, [lemming] * 3, seed=SEED, record=Journal(directory).begin)
    return newest_journal(directory), match


def test_what_a_variant_allows_is_legal_by_it_and_illegal_by_the_rule_book() -> None:
    tiles = {(0, 0): STRAIGHT, (5, 5): STRAIGHT, (8, 8): STRAIGHT}
    state = make_position(tiles, [(0, 0, "F"), (5, 5, "A"), (8, 8, "A")], [STRAIGHT, CORNERS])

    assert Lay(CORNERS, 0) in legal_actions(state, Tsuro(tiles="cycle", rules=Reckless()))
    assert Lay(CORNERS, 0) not in legal_actions(state, TSURO)


def test_a_variant_may_change_the_placements() -> None:
    game = Tsuro(rules=Corners())
    state = game.deal(3, SEED)

    corners = {(0, 0), (0, 9), (9, 0), (9, 9)}
    assert {action.at for action in legal_actions(state, game) if isinstance(action, Place)} == corners
    with pytest.raises(IllegalAction, match=r"rule 3\.3: not in a corner"):
        game.check(game.view(state, 0), Place(game.view(state, 0).dealt[0], 0, "E", (5, 0)))


def test_a_variant_keeps_the_laws_of_every_game() -> None:
    check_game(RECKLESS, pieces=all_tiles, reshuffle=reshuffle, seeds=DEFAULT_SEEDS[:1], points=4)


# On disk.


def test_a_journal_names_its_rules_which_are_not_imported_but_handed_over(tmp_path: Path) -> None:
    path, match = recorded_match(tmp_path)

    assert read_lines(path)[0]["parameters"] == {"size": 5, "tiles": "cycle", "rules": f"py:{__name__}:Reckless"}
    with pytest.raises(BadJournal, match=r"line 1: the rules 'py:.*:Reckless' of tsuro are not imported") as bad:
        read_journal(path)
    assert bad.value.line == 1
    recorded = read_journal(path, Tsuro(size=5, tiles="cycle", rules=Reckless()))
    assert recorded.match_after(2).turn == 2
    assert verify(recorded) == match
    other: list[Any] = [Tsuro(size=5, tiles="cycle", rules=Corners()), Tsuro(size=6, rules=Reckless()), Fish()]
    for game in other:
        with pytest.raises(BadJournal, match="line 1: this is not the recorded game"):
            read_journal(path, game)


def test_a_journal_that_says_standard_is_refereed_by_the_rule_book(tmp_path: Path) -> None:
    path, _ = recorded_match(tmp_path)
    opening, *lines = read_lines(path)
    path.write_bytes(seal_lines([{**opening, "parameters": {**opening["parameters"], "rules": "standard"}}, *lines]))

    with pytest.raises(BadJournal, match=r"this is not legal: rule 4\.4"):
        verify(read_journal(path))


def test_a_journal_by_the_rule_book_can_be_read_with_its_game_and_without(tmp_path: Path) -> None:
    game = Tsuro.with_tiles(range(35), seats=3, size=3)
    path, match = recorded_match(tmp_path, game)

    assert read_lines(path)[0]["parameters"]["rules"] == "standard"
    assert verify(read_journal(path)) == verify(read_journal(path, game)) == match
