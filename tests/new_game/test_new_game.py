"""Test that a game can be added as one directory, and works with all commands."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fairplay import games as shelf
from fairplay.journal.verification import read_legal, verify
from tests.cli.command import CommandResult, make_in_process_player, refusal_line, run_fairplay

HERE = Path(__file__).parent
PLAIN_PROGRAM = """
import json, sys

for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "goodbye":
        break
    answer = None
    if said["type"] == "take_turn":
        hand = said["view"]["hand"]
        answer = {"type": "play", "card": hand[0]} if hand else {"type": "pass"}
    print(json.dumps({"nonce": said["nonce"], "answer": answer}), flush=True)
"""
PLAYER = """
from tests.toy import Pass, Play

def take_turn(view):
    return Play(view.hand[0]) if view.hand else Pass()
"""


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The directory lies where games are found, and has its entry there. Nothing else is touched."""
    monkeypatch.setattr(shelf, "__path__", [*shelf.__path__, str(HERE)])
    monkeypatch.setitem(shelf.GAMES, "toy", "Toy")
    shelf.game_info.cache_clear()
    yield
    shelf.game_info.cache_clear()
    for name in [name for name in sys.modules if name.startswith("fairplay.games.toy")]:
        del sys.modules[name]
    vars(shelf).pop("toy", None)


def recorded(directory: Path, *players: str) -> tuple[Path, CommandResult]:
    done = run_fairplay("play", "toy", *players, "--seed", "toy", "--journal", str(directory))
    assert (done.code, done.err) == (0, "")
    (path,) = directory.glob("*.jsonl")
    return path, done


def test_a_file_that_has_to_be_there_is_missed_and_so_is_what_one_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(shelf.PARTS, "built_in", ("no_such_file", "BUILT_IN"))
    with pytest.raises(ModuleNotFoundError, match="no_such_file"):
        _ = shelf.game_info("toy").built_in

    package = importlib.import_module("fairplay.games.toy")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    (tmp_path / "ratings.py").write_text("import nothing_of_the_kind\n")
    with pytest.raises(ModuleNotFoundError, match="nothing_of_the_kind"):
        _ = shelf.game_info("toy").ratings


def test_it_is_played_and_verified_and_shown_again_and_listed_and_drawn(tmp_path: Path) -> None:
    path, played = recorded(tmp_path, "ann=lowest", "bob=highest")

    match = verify(read_legal(path))
    assert match.result.scores is not None
    assert f"1. bob ({match.result.scores[1]})" in played.out
    assert "same result" in run_fairplay("verify", str(path)).out
    assert played.out.startswith(run_fairplay("replay", str(path)).out)
    assert "toy" in run_fairplay("library", "list", str(tmp_path)).out
    done = run_fairplay("draw", str(path), "--at", "3", "-o", str(tmp_path / "toy.svg"))
    assert done.code == 0
    assert "3 cards played" in "".join(ElementTree.parse(tmp_path / "toy.svg").getroot().itertext())
    players = run_fairplay("players", "toy").out
    assert "the highest card of the hand" in players and "How strong" not in players
    assert "toy" in run_fairplay("games").out
    assert refusal_line(run_fairplay("new-bot", "toy", str(tmp_path / "bot.py"))).startswith("toy has no bot template")
    assert (shelf.game_info("toy").ladder, shelf.game_info("toy").ratings) == ((), {})


@pytest.mark.parametrize("far", [False, True], ids=["in this process", "a program"])
def test_players_of_others_can_be_checked_and_play(far: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text(PLAIN_PROGRAM)
    bot = f"exec:{sys.executable} {tmp_path}/bot.py" if far else make_in_process_player(PLAYER, tmp_path, monkeypatch)

    checked = run_fairplay("check-bot", "toy", bot)
    path, played = recorded(tmp_path / "games", f"ann={bot}", "bob=highest")

    assert checked.code == 0, checked
    assert "position 'an empty hand'" in checked.out
    assert "cards=10" in checked.out
    assert "is out" not in played.out
    assert verify(read_legal(path)).result.ejected == ()


def test_a_player_that_cheats_is_ejected_with_the_clause_of_the_rule_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = make_in_process_player("def take_turn(view): return {'type': 'pass'}", tmp_path, monkeypatch)

    path, played = recorded(tmp_path / "games", f"ann={bot}", "bob=highest")

    assert "ann is out: illegal (turn), rule 3: you hold a card, so play it" in played.out
    assert "With an empty hand it passes, and only then." in run_fairplay("why", str(path)).out
