"""Test that the example games in one file work with all commands."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.cli.command import BEST_SANDBOX, INSTALLED_COMMAND, CommandResult, refusal_line, run_script, start_process
from tests.page.browser import needs_chromium
from tests.page.browser import start_browser as browser_started
from tools.readme_tables import ROOT

DIRECTORY = ROOT / "examples" / "games"
GAMES = {"tic-tac-toe": "py:tic_tac_toe:TicTacToe", "connect-four": "py:connect_four:ConnectFour"}
LONGEST = {"tic_tac_toe": 80, "connect_four": 120}  # lines
SIGNS = {"tic-tac-toe": "XO", "connect-four": "RY"}
DROPPING_BOT = """
from connect_four import ConnectFour

def take_turn(view):
    game, moves = view.game, list(view.game.actions(view))
    after = [game.apply(game.imagine(view), move).position for move in moves]
    return next((move for move, position in zip(moves, after) if game.winner(position) == view.seat), moves[0])
"""
MARKING_PROGRAM = """
import json, sys

for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "goodbye":
        break
    answer = None
    if said["type"] == "take_turn":
        row, column = divmod(said["view"]["position"].index(None), 3)
        answer = {"type": "mark", "row": row, "column": column}
    print(json.dumps({"nonce": said["nonce"], "answer": answer}), flush=True)
"""
each_game = pytest.mark.parametrize("game", GAMES)


def command(*words: str, **options: Any) -> CommandResult:
    """Run the command where the games are."""
    return run_script(*words, cwd=DIRECTORY, **options)


@pytest.fixture(scope="module")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory where mypy keeps what it knows of fairplay."""
    return tmp_path_factory.mktemp("mypy")


def handed(game: str) -> tuple[str, str]:
    return "--game", GAMES[game]


@pytest.fixture(scope="module", params=GAMES)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A game, and the journal of a match of it, in which somebody cheats at last."""
    game, directory = str(request.param), tmp_path_factory.mktemp("games")
    words = ("ann=lookahead", "bob=random", "--seed", "7", "--journal", str(directory), "--quiet")
    done = command("play", *handed(game), *words)
    assert (done.code, done.err) == (0, ""), done
    (path,) = directory.glob("*.jsonl")
    return game, path


@pytest.mark.parametrize(("file", "most"), LONGEST.items())
def test_a_whole_game_is_a_short_file(file: str, most: int) -> None:
    assert len((DIRECTORY / f"{file}.py").read_text().splitlines()) < most


def test_it_is_named_by_its_address_or_by_game_or_by_both() -> None:
    named = handed("tic-tac-toe")
    ways = ((GAMES["tic-tac-toe"],), named, (f"--game={named[1]}",), ("tic-tac-toe", *named))
    done = [command("play", *way, "random", "random", "--seed", "1", "--quiet") for way in ways]

    assert {one.code for one in done} == {0}
    assert len({one.out for one in done}) == 1
    refused = command("play", "fish", "random", "random", *named)
    assert refusal_line(refused).startswith("tic-tac-toe is for 2 players")


@each_game
def test_it_is_listed_with_its_players_and_its_rule_book_says_how_to_play_it(game: str) -> None:
    assert f"\n{game}: " in command("games", *handed(game)).out
    assert f"\n{game}: " not in command("games").out
    assert "lookahead:N" in command("players", GAMES[game]).out

    book = command("rules", GAMES[game]).out
    assert book.startswith(f"The rules of {game}\n")
    assert re.search(r"^  2     On its turn a player ", book, re.MULTILINE)
    assert book.endswith(f"Try it: fairplay play {game} human random --game {GAMES[game]}\n")


def test_parameters_are_those_of_its_fields() -> None:
    game = GAMES["connect-four"]

    small = command("play", game, "random", "lookahead", "--set", "columns=5", "--set", "height=4", "--seed", "1")
    assert "   0  1  2  3  4\n" in small.out
    assert refusal_line(command("play", game, "random", "random", "--set", "columns=3")).startswith(
        "connect-four cannot be played with columns=3 (columns: of the board, 4 to 20)"
    )


def test_it_is_verified_and_shown_again_and_listed(recorded: tuple[str, Path]) -> None:
    game, path = recorded

    assert "same result" in command("verify", str(path), *handed(game)).out
    shown = command("replay", str(path), *handed(game), "--lines").out
    assert f" {SIGNS[game][0]}  red " in shown
    assert "ann" in command("replay", str(path), "--at", "2", *handed(game)).out
    assert "no player was ejected" in command("why", str(path), *handed(game)).out
    assert " finished" in command("library", "list", str(path.parent), *handed(game)).out
    assert path.stem[:6] in command("library", "find", str(path.parent), *handed(game)).out
    card = command("library", "show", str(path.parent), path.stem, *handed(game)).out
    (again,) = re.findall("fairplay verify .*", card)
    assert command(*shlex.split(again)[1:]).code == 0


def test_without_its_game_a_journal_is_refused_in_one_line(recorded: tuple[str, Path], tmp_path: Path) -> None:
    game, path = recorded[0], tmp_path / recorded[1].name
    path.write_bytes(recorded[1].read_bytes())

    said = f"{path}: line 1: there is no game {game!r}; there is fish, tsuro, q; name your own game with --game"
    assert command("verify", str(path)).err.startswith(f"fairplay: {said}")
    for verb in ("replay", "why", "resume"):
        assert refusal_line(command(verb, str(path))).startswith(said)
    assert " unreadable: " in command("library", "list", str(path.parent)).out
    assert " finished" in command("library", "list", str(path.parent), *handed(game)).out
    other = next(name for name in GAMES if name != game)
    assert refusal_line(command("replay", str(path), *handed(other))).startswith(f"{path}: line 1: there is no game")


def test_it_is_drawn(recorded: tuple[str, Path], tmp_path: Path) -> None:
    game, path = recorded

    done = command("draw", str(path), "--at", "4", "-o", str(tmp_path / "it.svg"), *handed(game))

    assert (done.code, done.err) == (0, "")
    root = ElementTree.parse(tmp_path / "it.svg").getroot()
    pieces = [part.get("href", "") for part in root.iter() if "-piece" in part.get("href", "")]
    assert len(pieces) == 4 + 1 + 2  # of which one is in the header, and two on the cards
    assert command("replay", str(path), "-o", str(tmp_path / "it.gif"), *handed(game)).code == 0


@needs_chromium
def test_its_page_can_be_stepped_through(recorded: tuple[str, Path], tmp_path: Path) -> None:
    game, path = recorded
    file = tmp_path / "it.html"
    assert command("replay", str(path), "-o", str(file), *handed(game)).code == 0

    with browser_started() as browser:
        page = browser.new_page()
        page.goto(file.as_uri())
        expect(page.locator("#position")).to_have_text(re.compile(r"^0 / \d+$"))
        page.keyboard.press("End")
        expect(page.locator("#position")).to_have_text(re.compile(r"^(\d+) / \1$"))
        expect(page.locator("svg").first).to_be_visible()
        assert "has won" in page.content() or "a draw" in page.content()


def test_it_is_resumed_as_a_branch(recorded: tuple[str, Path], tmp_path: Path) -> None:
    game, path = recorded
    options = ("--at", "2", "random", "lookahead", "--journal", str(tmp_path), "--quiet")

    done = command("resume", str(path), *options, *handed(game))

    assert (done.code, done.err) == (0, "")
    (branch,) = tmp_path.glob("*.jsonl")
    assert "same result" in command("verify", str(branch), *handed(game)).out


@pytest.mark.parametrize(
    ("game", "source"), [("tic-tac-toe", MARKING_PROGRAM), ("connect-four", DROPPING_BOT)], ids=["in JSON", "in Python"]
)
def test_bots_are_checked_and_play(game: str, source: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(source)
    bot = str(file) if source is DROPPING_BOT else f"exec:{sys.executable} {file}"

    checked = command("check-bot", GAMES[game], bot, *BEST_SANDBOX)
    played = command("play", GAMES[game], f"ann={bot}", "bob=lookahead", "--seed", "1", "--quiet", *BEST_SANDBOX)

    assert checked.code == 0, checked
    assert "ready to play" in checked.out
    assert "position 'near the end'" in checked.out
    assert (played.code, played.err) == (0, ""), played
    assert "is out" not in played.out


@each_game
def test_a_new_bot_is_ready_to_play(game: str, tmp_path: Path, mypy_cache: Path) -> None:
    bot = tmp_path / "bot.py"
    done = command("new-bot", GAMES[game], str(bot))

    assert done.code == 0, done
    for line in done.out.split("\n\n")[1].splitlines():
        tried = command(*shlex.split(line)[1:], *BEST_SANDBOX)
        assert (tried.code, "is out" in tried.out) == (0, False), tried
    assert typed(mypy_cache, str(bot)) == "Success: no issues found in 1 source file\n"


def test_a_player_that_cheats_is_ejected_with_the_reason(tmp_path: Path) -> None:
    game, bot = GAMES["connect-four"], tmp_path / "bot.py"
    bot.write_text('def take_turn(view):\n    return {"type": "drop", "column": 9}\n')

    played = command("play", game, f"ann={bot}", "random", "--journal", str(tmp_path / "games"), *BEST_SANDBOX)
    (path,) = (tmp_path / "games").glob("*.jsonl")
    why = command("why", str(path), "--game", game).out

    assert "ann is out: illegal (turn), rule 0.2: it cannot be done now: " in played.out
    assert "On its turn a player does one thing that the rules allow, and nothing else." in why
    asked, again = re.findall("fairplay (?:why-not|debug) .*", why)[::-1]
    assert command(*shlex.split(asked)[1:]).code == 1
    assert "the same as in the record" in command(*shlex.split(again)[1:]).out
    assert command("check-bot", game, str(bot), *BEST_SANDBOX).code == 1


@each_game
def test_people_play_it(game: str) -> None:
    first = {"tic-tac-toe": "0 0", "connect-four": "3"}[game]
    typed = f"help\nmoves\n{first}\n\nresign\ny\n"

    done = command("play", GAMES[game], "ann=human", "bob=random", "--seed", "1", input=typed)

    assert f"\nann {'marks 0 0' if game == 'tic-tac-toe' else 'drops a disc into column 3'}\n" in done.out
    assert "ann is out: gone (turn), left the table" in done.out


def test_a_tournament_is_played_in_processes_of_its_own(tmp_path: Path) -> None:
    named = handed("connect-four")
    (tmp_path / "last.py").write_text(DROPPING_BOT)
    text = command("tournament", "--init", named[1]).out
    assert 'game = "connect-four"' in text
    assert text.splitlines()[0].endswith(f":  fairplay tournament FILE --game {named[1]}")
    text = text.replace("games = 60", "games = 6")
    text = text.replace('# player_files = ["./bots/*.py"]', 'player_files = ["./last.py"]')
    (tmp_path / "cup.toml").write_text(f'sandbox = "{"auto" if not BEST_SANDBOX else "none"}"\n{text}')

    done = command("tournament", str(tmp_path / "cup.toml"), "--quiet", "--jobs", "2", *named)

    assert (done.code, done.err) == (0, ""), done
    results = json.loads((tmp_path / "cup" / "results.json").read_text())
    assert {row["name"] for row in results["standings"]} == {"random", "lookahead", "last"}
    assert not any(results["faults"].values())
    assert command("standings", str(tmp_path / "cup"), *named).code == 0
    assert "there is no game" in refusal_line(command("tournament", str(tmp_path / "cup.toml")))


def test_many_games_are_played_on_all_cores() -> None:
    words = ("random", "lookahead:50", "--games", "4", "--jobs", "2", "--quiet")
    done = command("play", *handed("tic-tac-toe"), *words)

    assert (done.code, done.err) == (0, ""), done
    assert "lookahead:50" in done.out


def test_a_server_serves_it(tmp_path: Path) -> None:
    game = GAMES["connect-four"]
    words = ("--port", "0", "--dir", str(tmp_path / "server"), "--wait", "0.2", "--fill", "random")
    server = start_process([INSTALLED_COMMAND, "serve", game, *words], cwd=DIRECTORY)
    try:
        assert server.stderr is not None
        opened = next(line for line in server.stderr if "listening" in line)
        [place] = re.findall(r"127\.0\.0\.1:\d+", opened)
        joined = command("join", place, "lookahead:50", "--name", "ann", "--matches", "1", "--game", game)
        assert "playing connect-four as ann" in joined.err
        assert joined.code == 0, joined
    finally:
        server.terminate()
        server.communicate(timeout=20)
    (path,) = (tmp_path / "server" / "matches").glob("*.jsonl")
    assert "same result" in command("verify", str(path), "--game", game).out


def test_a_game_in_one_file_is_typed(mypy_cache: Path) -> None:
    assert typed(mypy_cache, "tic_tac_toe.py", "connect_four.py") == "Success: no issues found in 2 source files\n"


def typed(cache: Path, *files: str) -> str:
    """What mypy says of them."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *files]
    env = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=DIRECTORY, env=env, capture_output=True, text=True, check=False).stdout
