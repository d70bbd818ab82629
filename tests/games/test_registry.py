"""Test that external games are found if they are installed or registered, and never because a file names one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from fairplay import BadJournal, BadRequest
from fairplay.core.errors import FairplayError
from fairplay.games import (
    EXTERNAL_GAMES,
    external_names,
    game_info,
    game_options,
    is_known,
    make_game,
    register,
    rules_of,
)
from fairplay.games.registry import installed_games
from fairplay.hosting.prepared_match import locations
from fairplay.hosting.run import new_match, run, run_async
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.replay import read_journal
from fairplay.players.location import BuiltInAddress, Command, LocalAddress, Person, parse_local_address
from fairplay.players.process_pool import POOL
from tests.cli.command import refusal_line, run_fairplay
from tests.games.external_games import COIN_GAME, clear_registry, forget_external_games, write_module, write_package
from tests.journal.journals import read_lines, seal_lines
from tests.journal.libraries import FISH, first_action_strategy, record_match
from tests.nonempty import nonempty

__all__ = ["forget_external_games"]
pytestmark = pytest.mark.usefixtures("forget_external_games")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on the path, with a module of a game in it."""
    write_module(tmp_path, "game_coin")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_an_installed_game_is_known_by_its_name(path: Path) -> None:
    write_package(path, "coins", "coin = game_coin:Coin")

    assert is_known("coin")
    assert external_names() == ["coin"]
    assert "game_coin" not in sys.modules
    assert make_game("coin", {}).name == "coin"
    assert [*game_info("coin").built_in] == ["random", "lookahead"]
    assert (game_info("coin").source, game_info("coin").option) == ("coin", ())
    assert run(MatchSpec(game="coin", entrants=(Entrant("random"), Entrant("lookahead")))).result


def test_the_parts_that_a_module_defines_but_not_those_that_it_imports_replace_the_defaults_of_the_kit(
    path: Path,
) -> None:
    parts = 'from json import loads as parse_action\nHELP = "Say it."\ndef format_action(action):\n    return "tails"\n'
    write_module(path, "game_own", f"{COIN_GAME}\n{parts}", "own")
    write_package(path, "coins", "own = game_own:Coin")

    assert game_info("own").help == "Say it."
    assert game_info("own").format_action(None) == "tails"
    assert game_info("own").parse_action.__module__ == "fairplay.kit.notation"


def test_a_missing_part_of_a_game_outside_the_kit_is_named() -> None:
    register("py:tests.toy:Toy")

    with pytest.raises(
        BadRequest, match=r"module tests\.toy must define 'BUILT_IN': toy is not made from fairplay\.kit"
    ):
        _ = game_info("toy").built_in
    assert game_info("toy").ladder == ()


BROKEN = {
    "game_bad:Coin": "cannot be loaded: ValueError: �[2J�fairplay: all is well (game_bad.py, line 2)",
    "game_exit:Coin": "cannot be loaded: SystemExit: ",
    "game_coin:Missing": "cannot be loaded: AttributeError",
    "game_absent:Coin": "cannot be loaded: ModuleNotFoundError",
    "game_coin:Heads": "is not a game: it is not a subclass of fairplay.Game",
    "game_coin:COINS": "is not a game",
    "game_coin:BoardGame": "is not a complete game: define 'name'",
    "game_coin:Half": "is not a complete game: define 'moves'",
    "game_coin:Loud": "'LOUD!' is not a name for a game",
    "game_coin:Unseated": "seats must be a range",
    "game_coin:Other": "has the name 'other', but its entry point 'bad'",
}
MORE = """
COINS = 7
class Half(BoardGame[bool, Heads], frozen=True):
    name = "bad"
    start = after = rows = Coin.start
class Loud(Coin, frozen=True):
    name = "LOUD!"
class Unseated(Coin, frozen=True):
    name, seats = "bad", range(0)
class Other(Coin, frozen=True):
    name = "other"
"""


@pytest.mark.parametrize(("entry", "why"), BROKEN.items(), ids=BROKEN)
def test_a_broken_package_affects_no_other_game_and_is_not_run_for_one(path: Path, entry: str, why: str) -> None:
    trace = path / "trace"
    raises = r"raise ValueError('\x1b[2J\nfairplay: all is well')"
    write_module(path, "game_bad", f"open({str(trace)!r}, 'w').close()\n{raises}")
    write_module(path, "game_exit", "import sys\nsys.exit(3)")
    write_module(path, "game_coin", COIN_GAME + MORE)
    write_package(path, "coins", f"bad = {entry}\nfish = game_bad:Bad\ncoin = game_coin:Coin")

    for game in ("fish", "coin"):
        assert run_fairplay("play", game, "random", "random", "--quiet", "--games", "2", "--jobs", "1").code == 0
    assert "bad" in refusal_line(run_fairplay("play", "bed", "random", "random"))
    assert run_fairplay("--help").code == 0
    assert not trace.exists()
    assert why in refusal_line(run_fairplay("play", "bad", "random", "random"))
    listed = run_fairplay("games")
    assert (listed.code, listed.err, listed.out.count("\nbad: ")) == (0, "", 1)
    assert why in listed.out
    assert "\ncoin: Heads win. 2 players." in listed.out


def test_two_packages_with_the_same_game_are_refused_but_one_that_is_found_twice_counts_once(path: Path) -> None:
    write_module(path, "game_more")
    write_package(path, "coins", "coin = game_coin:Coin")
    write_package(path, "coins-again", "coin = game_coin:Coin")
    assert len(installed_games()["coin"]) == 1
    clear_registry()
    write_package(path, "more-coins", "coin = game_more:Coin")

    refusal = refusal_line(run_fairplay("play", "coin", "random", "random"))

    assert refusal.startswith("two packages contain a game 'coin': coins")
    assert refusal.endswith(" and more-coins; uninstall one of them")
    assert "game_coin" not in sys.modules


def test_an_external_game_cannot_replace_a_game_of_fairplay(path: Path) -> None:
    write_module(path, "game_fish", name="fish")
    write_package(path, "coins", "fish = game_fish:Coin")

    assert rules_of("fish").__module__ == "fairplay.games.fish.game"
    assert external_names() == []
    with pytest.raises(BadRequest, match="'fish' is a game of fairplay; give yours another name"):
        register("py:game_fish:Coin")
    assert "fish" not in EXTERNAL_GAMES


def test_a_registered_game_comes_before_an_installed_one_and_only_once(path: Path) -> None:
    write_module(path, "game_more")
    write_package(path, "coins", "coin = game_coin:Coin")
    assert game_info("coin").rules.__module__ == "game_coin"

    assert register("py:game_more:Coin") == "coin"

    assert game_info("coin").rules.__module__ == "game_more"
    assert game_info("coin").option == ("--game", "py:game_more:Coin")
    assert register("py:game_more:Coin") == "coin"
    with pytest.raises(BadRequest, match="there is a game 'coin' already: py:game_more:Coin"):
        register("py:game_coin:Coin")
    assert game_options() == ("--game", "py:game_more:Coin")


def test_a_library_reads_a_journal_again_once_its_game_is_known(path: Path, tmp_path: Path) -> None:
    games = str(tmp_path / "games")
    spec = MatchSpec(game="coin", entrants=(Entrant("random"), Entrant("random")), journal=games)
    register("py:game_coin:Coin")
    assert run(spec).result is not None
    EXTERNAL_GAMES.clear()

    unknown = run_fairplay("library", "list", games).out
    register("py:game_coin:Coin")
    known = run_fairplay("library", "list", games).out

    assert (unknown.count("unreadable"), known.count("unreadable"), known.count("finished")) == (1, 0, 1)


def test_a_class_is_called_by_its_address_or_played_in_this_process_if_no_other_can_import_it(path: Path) -> None:
    from game_coin import Coin  # type: ignore[import-not-found]

    assert register(Coin) == "coin"
    assert game_info("coin").source == "py:game_coin:Coin"
    assert MatchSpec.from_game(Coin(), (Entrant("random"),) * 2).game == "py:game_coin:Coin"

    class Here(Coin, frozen=True):  # type: ignore[misc,call-arg]
        name = "here"

    spec = MatchSpec.from_game(Here(), (Entrant("random"),) * 2)
    done = asyncio.run(run_async(spec))

    assert (spec.game, game_info("here").source, done.host_fault) == ("here", "", "")
    assert isinstance(parse_local_address("random", "here", bytes(32)), LocalAddress)
    assert not isinstance(parse_local_address("random", "here", bytes(32)), BuiltInAddress)


def test_a_spec_names_its_game_by_its_address(path: Path) -> None:
    spec = MatchSpec(game="py:game_coin:Coin", entrants=(Entrant("random"),) * 2, journal=str(path), id="one")

    first = run(spec)
    EXTERNAL_GAMES.clear()
    again = run(spec)

    assert first.result is not None
    assert again.result == first.result


ASKS = """
import os, sys
from game_coin import Heads
def take_turn(view):
    assert not [name for name, value in os.environ.items() if "game_coin" in value or "FAIRPLAY_GAMES" in name]
    return Heads()
"""


def test_other_processes_learn_of_a_game_by_command_line_and_not_by_environment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path)
    (path / "bot.py").write_text(ASKS)
    before = dict(os.environ)

    POOL.close()  # they are started anew, in this directory
    coin, players = register("py:game_coin:Coin"), (Entrant("./bot.py"), Entrant("random"))
    for entrants in (players, players[::-1]):  # the first player says heads, and the game is over
        done = asyncio.run(run_async(MatchSpec(game=coin, entrants=entrants, sandbox="none")))
        assert (done.host_fault, done.evidence) == ("", ())
        assert done.result is not None and not done.result.ejected
    assert dict(os.environ) == before
    pages = [Path(f"/proc/{process.pid}/environ").read_bytes() for process in nonempty(POOL.processes)]
    assert not [page for page in pages if b"game_coin" in page]


def test_players_of_a_match_get_only_the_option_of_its_own_game(path: Path) -> None:
    write_module(path, "game_more", name="more")
    register("py:game_coin:Coin")
    register("py:game_more:Coin")
    (path / "bot.py").write_text(ASKS)
    bot = str(path / "bot.py")

    for game, file in nonempty([("coin", "game_coin"), ("more", "game_more"), ("fish", "")]):
        prepared = new_match(MatchSpec(game=game, entrants=(Entrant(bot), Entrant("human")), sandbox="none"))
        command, person = locations(prepared.match, prepared.addresses).values()
        option = ("--game", f"py:{file}:Coin") if file else ()
        assert isinstance(command, Command) and command.words[-1 - len(option) :] == (bot, *option)
        assert person == Person(option)
        sandbox = prepared.conditions.sandbox
        assert sandbox is not None and sandbox.visible_paths == ((str(path / f"{file}.py"),) if file else ())


@pytest.mark.parametrize("named", ["py:game_coin:Coin", "game_coin", "../coin", ""])
def test_a_game_named_in_a_record_is_not_imported(named: str, path: Path, tmp_path: Path) -> None:
    (path / "game_coin.py").write_text("raise SystemExit('imported')")
    journal = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    lines = read_lines(journal)
    lines[0]["game"] = named
    journal.write_bytes(seal_lines(lines))

    with pytest.raises(BadJournal, match=r"line 1: there is no game .*; name your own game with --game"):
        read_journal(journal)
    for verb in ("verify", "replay", "why"):
        assert "there is no game" in refusal_line(run_fairplay(verb, str(journal)))
    assert run_fairplay("library", "list", str(journal.parent)).code == 0
    assert "game_coin" not in sys.modules


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("py:game_coin", "'py:game_coin' names no game; write py:module:Name"),
        ("py:game_coin:Missing", "module game_coin has no 'Missing'"),
        ("py:game_absent:Coin", "py:game_absent:Coin cannot be loaded: ModuleNotFoundError"),
        ("py:os:getcwd", "py:os:getcwd is not a game"),
    ],
)
def test_only_a_game_can_be_registered(path: Path, address: str, why: str) -> None:
    with pytest.raises(FairplayError) as refused:
        register(address)

    assert why in str(refused.value)
    assert not EXTERNAL_GAMES


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["rules", "--", "--game=fish"], "there is no game '--game=fish'"),
        (["rules", "--game"], "Option '--game' requires an argument."),
        (["rules", "--game="], "--game : expected py:module:Name; "),
        (["games", "--game", "fish"], "--game fish: expected py:module:Name; "),
    ],
)
def test_the_game_option_accepts_addresses_and_names_of_known_games_in_place_of_the_argument(
    words: list[str], why: str
) -> None:
    assert refusal_line(run_fairplay(*words)).startswith(why)
    assert run_fairplay("rules", "--game", "fish") == run_fairplay("rules", "fish")


@pytest.mark.parametrize("option", ["--config", "--tournament"])
def test_a_game_option_does_not_replace_the_settings_file_of_a_server(option: str, path: Path) -> None:
    done = run_fairplay("serve", option, str(path / "missing.toml"), "--game", "py:game_coin:Coin")

    assert refusal_line(done).startswith(f"{path}/missing.toml: cannot be read: ")


def test_running_worker_processes_learn_of_a_game_that_is_registered_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    POOL.close()  # they are started anew, in this directory
    first = asyncio.run(run_async(MatchSpec(game="fish", entrants=(Entrant("greedy"),) * 2, parameters={"rows": 3})))
    write_module(tmp_path, "game_coin")

    coin = register("py:game_coin:Coin")
    later = asyncio.run(run_async(MatchSpec(game=coin, entrants=(Entrant("lookahead"),) * 2)))

    assert (first.host_fault, later.host_fault) == ("", "")
    assert later.result is not None
