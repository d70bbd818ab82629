"""Test that installed packages with hostile or broken entry points affect only matches of their own games."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from fairplay import BadRequest
from fairplay.games import make_game, register
from tests.cli.command import (
    BEST_SANDBOX,
    INSTALLED_COMMAND,
    LEGAL_BOT,
    SMALL_BOARD,
    CommandResult,
    refusal_line,
    run_script,
    start_process,
)
from tests.games.external_games import COIN_GAME, forget_external_games, write_module, write_package
from tests.python_path import python_path

__all__ = ["forget_external_games"]
TRACE = "import pathlib\npathlib.Path(__file__).with_suffix('.loaded').touch()\n"  # a file shows that it was loaded
HANGS = TRACE + "import time\ntime.sleep(3600)"
OURS = ("play", "fish", "random", "greedy", *SMALL_BOARD, "--quiet")
THEIRS = ("play", "coin", "random", "random", "--quiet")


def install(directory: Path, source: str, entries: str = "coin = game_coin:Coin") -> None:
    write_module(directory, "game_coin", source)
    write_package(directory, "coins", entries)


def run_with(directory: Path, *words: str) -> CommandResult:
    return run_script(*words, environment=path_with(directory), stdin=subprocess.DEVNULL, timeout=60)


def path_with(directory: Path) -> dict[str, str]:
    return {"PYTHONPATH": python_path(directory)}


def was_loaded(directory: Path) -> bool:
    return (directory / "game_coin.loaded").exists()


def listed(done: CommandResult) -> str:
    assert done.code == 0, done
    assert all(line.isprintable() for line in done.out.splitlines())
    _, finish_bonus, rest = done.out.partition("  --set finish_bonus")
    assert finish_bonus
    return rest.partition("\n")[2].partition("\nTo read the rules of a game: ")[0].removesuffix("\n")


@pytest.mark.parametrize(
    ("source", "name"), [(HANGS, "coin"), (TRACE + COIN_GAME, "fish")], ids=["one that hangs", "one of our name"]
)
def test_no_package_is_loaded_for_a_game_of_fairplay(source: str, name: str, tmp_path: Path) -> None:
    install(tmp_path, source, f"{name} = game_coin:Coin")
    bot = tmp_path / "bot.py"
    bot.write_text(LEGAL_BOT)

    alone = run_with(tmp_path, *OURS)
    with_bot = run_with(tmp_path, "play", "fish", str(bot), "random", *SMALL_BOARD, "--quiet", *BEST_SANDBOX)
    mistyped = run_with(tmp_path, "play", "fihs", "random", "random")

    assert (alone.code, alone.err, with_bot.code, with_bot.err) == (0, "", 0, "")
    assert " is out" not in with_bot.out
    assert refusal_line(mistyped) == "there is no game 'fihs': did you mean 'fish'?"
    if name == "fish":
        assert listed(run_with(tmp_path, "games")) == ""
    assert not was_loaded(tmp_path)


def test_an_interrupt_names_the_package_that_hangs_while_loading(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    install(tmp_path, f"open({str(tmp_path / 'pipe')!r}).read()\n{HANGS}")

    process = start_process([INSTALLED_COMMAND, "games"], env={**os.environ, **path_with(tmp_path)})
    with (tmp_path / "pipe").open("w"):  # which waits until the module is being loaded
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    why = "interrupted while game_coin:Coin of the package coins was being loaded"
    assert (process.returncode, err.strip()) == (130, f"fairplay: {why}")


@pytest.mark.parametrize("registered", [False, True], ids=["installed", "registered"])
def test_what_a_game_prints_while_it_is_loaded_stays_out_of_the_events(registered: bool, tmp_path: Path) -> None:
    install(tmp_path, f"print('hello', flush=True)\n{COIN_GAME}", "coin = game_coin:Coin" if not registered else "")
    game = "py:game_coin:Coin" if registered else "coin"

    done = run_with(tmp_path, "play", game, "lookahead", "random", "--events")

    assert (done.code, done.err) == (0, "hello\n")
    assert [json.loads(line)["type"] for line in done.out.splitlines()] == ["started", "acted", "ended"]


@pytest.mark.parametrize("name", ["co\x1b[2Jin", "\u202ecoin", "Coin", "co in", "c" * 41])
def test_an_entry_point_with_an_invalid_game_name_is_not_loaded(name: str, tmp_path: Path) -> None:
    install(tmp_path, TRACE + COIN_GAME, f"{name} = game_coin:Coin")

    in_list = listed(run_with(tmp_path, "games"))
    refused = refusal_line(run_with(tmp_path, "play", name, "random", "random"))

    why = (
        f"game_coin:Coin of the package coins: {name!r} is not a name for a game: use small letters, digits and hyphens"
    )
    assert refused == why
    assert in_list.endswith(why)
    asked = {"_FAIRPLAY_COMPLETE": "bash_complete", "COMP_WORDS": "fairplay play co", "COMP_CWORD": "2"}
    assert name not in run_script(environment={**asked, **path_with(tmp_path)}).out
    assert not was_loaded(tmp_path)


UNREADABLE = {
    "no pair": b"[fairplay.games]\ncoin\n",
    "not UTF-8": b"[fairplay.games]\ncoin\xff = game_coin:Coin\n",
}


@pytest.mark.parametrize("how", UNREADABLE)
def test_a_package_with_unreadable_entry_points_is_skipped_with_a_warning(how: str, tmp_path: Path) -> None:
    install(tmp_path, COIN_GAME)
    write_package(tmp_path, "broken", "")
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(UNREADABLE[how])

    games, theirs, ours = (run_with(tmp_path, *words) for words in (("games",), THEIRS, OURS))

    assert listed(games) == "coin: Heads win. 2 players."
    assert (theirs.code, ours.code, ours.err) == (0, 0, "")
    for err in (games.err, theirs.err):
        assert err.startswith("fairplay: skipped the package broken: its list of entry points cannot be loaded: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize("metadata", [b"", b"Name: \xff\n"], ids=["none", "not UTF-8"])
def test_the_game_of_a_package_without_a_readable_name_can_be_played(metadata: bytes, tmp_path: Path) -> None:
    install(tmp_path, COIN_GAME)
    (tmp_path / "coins-1.0.dist-info" / "METADATA").write_bytes(metadata)

    done = run_with(tmp_path, *THEIRS)

    assert (done.code, done.err) == (0, "")


DESCRIPTIONS = {
    "escapes": ('"""\x1b[2JHeads\x07 win."""', "coin: �[2JHeads� win. 2 players."),
    "no description": ('__doc__ = ""', "coin:  2 players."),
    "parameters of no type": (
        '"""Heads win."""\n    side: "list[" = 3',
        "coin: the description of coin cannot be loaded: SyntaxError: ",
    ),
    "no defaults": ('"""Heads win."""\n    side: int', "coin: the description of coin cannot be loaded: TypeError: "),
    "a raising one": (
        '"""Heads win."""\n    def __post_init__(self):\n        raise ValueError("no")\n',
        "coin: the description of coin cannot be loaded: ValueError: no (game_coin.py, line ",
    ),
}


@pytest.mark.parametrize("how", DESCRIPTIONS)
def test_a_game_without_a_loadable_description_is_one_line_in_the_list(how: str, tmp_path: Path) -> None:
    docstring, expected = DESCRIPTIONS[how]
    install(tmp_path, COIN_GAME.replace('"""Heads win."""', docstring))

    line = listed(run_with(tmp_path, "games"))

    assert line.startswith(expected)
    assert "\n" not in line


@pytest.mark.usefixtures("forget_external_games")
def test_parameters_that_contradict_each_other_are_a_bad_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = "    a: int = 1\n    b: int = 2\n    def __post_init__(self):\n        if self.a == self.b:\n"
    write_module(tmp_path, "game_coin", f"{COIN_GAME}\n{check}            raise ValueError('a and b are the same')\n")
    monkeypatch.syspath_prepend(tmp_path)
    register("py:game_coin:Coin")

    with pytest.raises(BadRequest, match="coin cannot be played with these parameters: a and b are the same"):
        make_game("coin", {"a": 3, "b": 3})
