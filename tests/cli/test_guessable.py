"""Test that guessable seeds cause a warning in games with hidden information, and in no others."""

from pathlib import Path

import pytest

from tests.cli.command import BEST_SANDBOX, make_in_process_player, run_fairplay
from tests.journal.journals import read_lines

GOOD = """
from fairplay.games import rules_of

def take_turn(view):
    game = rules_of({game!r})()
    return next(game.actions(view))
"""
WARNING = "fairplay: this seed can be guessed, so use it only for tests: a player that guesses it knows {}\n"
WHOLE = "0f" * 32


@pytest.fixture
def stranger(game: str, tmp_path: Path) -> str:
    path = tmp_path / "stranger.py"
    path.write_text(GOOD.format(game=game))
    return str(path)


def err(game: str, *arguments: str) -> str:
    done = run_fairplay("play", game, *arguments, "--quiet", *BEST_SANDBOX)
    assert done.code == 0, done
    return done.err


TABLES = {"q": ("dag",), "tsuro": ("second", "third"), "fish": ("greedy",)}
HIDDEN = [("q", "all hands and the pile"), ("tsuro", "all tiles to come")]


@pytest.mark.parametrize(("game", "hidden"), HIDDEN)
def test_a_guessable_seed_with_hidden_hands_is_warned_of_once(game: str, hidden: str, stranger: str) -> None:
    assert err(game, *TABLES[game], stranger, "--seed", "7") == WARNING.format(hidden)


@pytest.mark.parametrize(("game", "hidden"), HIDDEN)
def test_several_games_with_a_guessable_seed_are_warned_of_once(game: str, hidden: str, stranger: str) -> None:
    table = (*TABLES[game], stranger, "--games", "2", "--jobs", "1")

    assert err(game, *table, "--seed", "7") == WARNING.format(hidden)
    assert err(game, *table) == ""


def test_a_guessable_seed_is_warned_of_in_process_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = make_in_process_player(GOOD.format(game="q"), tmp_path, monkeypatch)

    assert err("q", "dag", f"bob={stranger}", "--seed", "7") == WARNING.format("all hands and the pile")


@pytest.mark.parametrize("game", ["q", "tsuro"])
@pytest.mark.parametrize("seed", [(), ("--seed", WHOLE)], ids=["drawn", "whole"])
def test_an_unguessable_seed_causes_no_warning(game: str, seed: tuple[str, ...], stranger: str) -> None:
    assert err(game, *TABLES[game], stranger, *seed) == ""


@pytest.mark.parametrize("game", TABLES)
def test_players_of_the_server_do_not_look_for_seeds(game: str) -> None:
    assert err(game, *TABLES[game], f"bob={TABLES[game][0]}", "--seed", "7") == ""


@pytest.mark.parametrize(("game", "settings"), [("fish", ("rows=4", "columns=4")), ("tsuro", ("tiles=cycle",))])
def test_where_all_is_public_there_is_nothing_to_find(game: str, settings: tuple[str, ...], stranger: str) -> None:
    options = [word for setting in settings for word in ("--set", setting)]

    assert err(game, *TABLES[game], stranger, "--seed", "7", *options) == ""


@pytest.mark.parametrize("game", ["q"])
def test_a_resumed_match_keeps_its_guessable_seed(stranger: str, tmp_path: Path) -> None:
    games = tmp_path / "games"
    assert run_fairplay("play", "q", "dag", "random", "--seed", "7", "--journal", str(games), "--quiet").err == ""
    (path,) = games.glob("*.jsonl")
    assert read_lines(path)[0]["guessable"] is True

    done = run_fairplay("resume", str(path), "--at", "0", "dag", stranger, "--quiet", *BEST_SANDBOX)

    assert (done.code, done.err) == (0, WARNING.format("all hands and the pile"))
