"""Test the rating of built-in players, and the tournament files and ratings in the tree."""

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ladders
from fairplay.core.roles import Rated
from fairplay.games import GAMES, game_info
from fairplay.players.address import built_in_strategy
from fairplay.tournament.spec_file import read_tournament
from tests.cli.command import run_fairplay
from tests.nonempty import nonempty
from tools.page_sections import replace_section

SMALL = """# A small one.

game = "fish"
seed = "small"
parameters = { rows = 3, columns = 4 }
format = { kind = "round-robin", table = 2, games = 12 }
players = [
    { player = "random" },
    { player = "greedy" },
]
"""
PAGE = "# A page\n\n<!-- ladder of fish -->\n<!-- end of ladder of fish -->\n"
ROWS = [
    ladders.ResultsRow("lookahead:2", 99.6, 50.2, None, 8),
    ladders.ResultsRow("random", -99.6, -130.5, -70.0, 8),
    ladders.ResultsRow("greedy", None, None, None, 0),
]
RESULTS = ladders.Results(ROWS, "fish", {"rows": 3}, {"kind": "round-robin", "table": 2}, [])
RATED = {"lookahead:2": Rated(100, 50, None, 8), "random": Rated(-100, -130, -70, 8)}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one tournament, in which nothing was played."""
    places = {"TOURNAMENT_FILES_DIR": "cups", "RESULTS_DIR": "played", "PACKAGE": "games", "PAGE": "page.md"}
    for name, place in places.items():
        monkeypatch.setattr(ladders, name, tmp_path / place)
    for directory in ("cups", "games/fish"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "cups/fish.toml").write_text(SMALL)
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(game_info("fish"), "ladder", ("random", "greedy"))
    return tmp_path


def play(tree: Path) -> str:
    done = run_fairplay("tournament", str(tree / "cups/fish.toml"), "--out", str(tree / "played/fish"))
    assert done.code == 0
    return done.err


def ratings_in(file: Path) -> Any:
    found: dict[str, Any] = {}
    exec(file.read_text(), found)
    return found["RATINGS"]


def test_what_came_of_a_tournament_is_put_into_the_package_and_on_the_page(tree: Path) -> None:
    ladders.write_tournament_files()
    play(tree)
    ladders.write_ratings()

    ratings = ratings_in(tree / "games/fish/ratings.py")
    assert ratings.keys() == {"random", "greedy"}
    assert [one.matches for one in ratings.values()] == [12, 12]
    page = (tree / "page.md").read_text()
    for address, one in nonempty(ratings.items()):
        assert f"| `{address}` | {one.rating} | " in page
    assert "12 matches with 2 at a table, rows = 3, columns = 4," in page


def test_played_tournaments_are_kept_until_their_ratings_are_written(tree: Path) -> None:
    play(tree)

    ladders.write_tournament_files()
    assert "it was over before" in play(tree)

    ladders.write_ratings()
    ladders.write_tournament_files()
    assert {path.name for path in tree.iterdir()} == {"cups", "games", "page.md"}


def test_a_half_removed_tournament_is_not_resumed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path, ignore_errors: bool = False) -> None:
        if path.exists():
            raise KeyboardInterrupt

    (tree / "played/fish").mkdir(parents=True)
    (tree / "played" / ladders.WRITTEN_MARKER).touch()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("benchmarks.ladders.shutil.rmtree", interrupt)
        ladders.write_tournament_files()
    assert not (tree / "played").exists()

    ladders.write_tournament_files()
    assert {path.name for path in tree.iterdir()} == {"cups", "games", "page.md"}


def test_the_ladder_of_a_game_takes_the_places_in_its_tournament(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ladders.write_tournament_files()
    assert (tree / "cups/fish.toml").read_text() == SMALL

    monkeypatch.setattr(game_info("fish"), "ladder", ("greedy", "lookahead:1", "random"))
    ladders.write_tournament_files()

    tournament = read_tournament(tree / "cups/fish.toml")
    assert [player.address for player in tournament.players] == ["greedy", "lookahead:1", "random"]
    assert (tree / "cups/fish.toml").read_text().partition("players")[0] == SMALL.partition("players")[0]


def test_a_tournament_without_a_place_for_players_is_refused() -> None:
    with pytest.raises(ladders.CannotWrite, match="no place for players"):
        ladders.replace_players('game = "fish"\nplayers = [{ player = "random" }]\n', ["greedy"])


def test_a_player_that_never_played_has_no_rating_and_ratings_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert ladders.ratings_by_address(RESULTS) == RATED
    (tmp_path / "ratings.py").write_text(ladders.format_python(RATED, "2026-01-02"))
    assert ratings_in(tmp_path / "ratings.py") == RATED


def test_the_table_says_what_each_player_does_and_where_its_rating_may_be() -> None:
    lines = ladders.format_table(RESULTS, game_info("fish").built_in, "2026-01-02").splitlines()

    about = game_info("fish").built_in["lookahead"].description
    assert f"| `lookahead:2` | 100 | > 50 | 8 | {about} |" in lines
    assert lines[-1] == "2026-01-02: 0 matches with 2 at a table, rows = 3."


@pytest.mark.parametrize(
    ("text", "why"), [(None, "the tournament is not over"), ("{", "no results"), ('{"game": 1}', "no results")]
)
def test_without_results_nothing_is_written(
    tree: Path, text: str | None, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        (tree / "played/fish").mkdir(parents=True)
        (tree / "played/fish/results.json").write_text(text)
    monkeypatch.setattr(sys, "argv", ["ladders.py", "after"])

    with pytest.raises(SystemExit, match="2"):
        ladders.main()

    told = capsys.readouterr().err
    assert told.startswith("ladders: ") and why in told and told.count("\n") == 1
    assert (tree / "page.md").read_text() == PAGE


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_tournament_a_place_on_the_page_and_ratings_of_built_in_players(game: str) -> None:
    (path,) = (path for path in ladders.tournament_files() if path.stem == game)
    tournament, ratings = read_tournament(path), game_info(game).ratings
    addresses = [player.address for player in tournament.players]
    assert tournament.game == game
    assert tournament.seed is not None  # in the file, so that every run plays the same matches
    for address in nonempty([*addresses, *ratings]):
        built_in_strategy(game, address, bytes(32))
    assert ladders.replace_players(path.read_text(), addresses) == path.read_text()
    assert replace_section(ladders.PAGE, f"ladder of {game}", "").count("<!-- end of ladder") == len(GAMES)

    for one in nonempty(ratings.values()):
        assert one.matches > 0
        assert one.low is None or one.low <= one.rating
        assert one.high is None or one.rating <= one.high
    assert [one.rating for one in ratings.values()] == sorted((one.rating for one in ratings.values()), reverse=True)
