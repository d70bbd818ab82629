"""Test that hidden deals are not shown twice or guessed, nor the file of a tournament, without a refusal or warning."""

from pathlib import Path

import pytest

from fairplay.app.tournaments import runner_factory
from fairplay.core.errors import BadRequest
from fairplay.terminal import progress
from fairplay.tournament.running import runners
from tests.cli.command import BEST_SANDBOX, make_in_process_player, refusal_line, run_fairplay, run_script
from tests.cli.tournament_files import TIMEOUT_S, read_results, write_tournament_file
from tests.journal.journals import read_lines
from tests.players.machine import needs_strict
from tests.tournament.small_tournaments import make_tournament

HIDDEN = {"game": '"q"', "parameters": "{}", "seed": f'"{"5" * 64}"'}
FORMATS = ['{ kind = "duplicate", deals = 2 }', '{ kind = "versus", games = 8 }']


@pytest.mark.parametrize(
    ("format", "address"),
    [(FORMATS[0], "tcp:0"), (FORMATS[1], "human"), (FORMATS[0], "in-process:fairplay.games.q.strategies:LADDER")],
)
def test_a_tournament_that_shows_a_hidden_deal_twice_is_refused(format: str, address: str, tmp_path: Path) -> None:
    players = f'[{{ player = "random" }}, {{ name = "ann", player = "{address}" }}]'
    file = write_tournament_file(tmp_path, **HIDDEN, format=format, players=players)

    why = refusal_line(run_fairplay("tournament", str(file)))

    assert f"plays each deal more than once, and ann ({address}) is not restarted for each match" in why
    assert not (tmp_path / "cup").exists()


def test_a_sign_up_for_hidden_deals_that_are_played_twice_is_refused_before_it_opens(tmp_path: Path) -> None:
    file = write_tournament_file(tmp_path, **HIDDEN, format=FORMATS[0], players="[]", signup="{ min = 2 }")

    why = refusal_line(run_script("serve", "--tournament", str(file), "--port", "0", timeout=TIMEOUT_S))

    assert "plays each deal more than once, and client 1 (client:1) is not restarted for each match" in why
    assert not (tmp_path / "cup").exists()


def test_a_player_at_a_port_plays_one_match_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [("random", "tcp:4000"), ("ws:4000", "random"), ("random", "greedy")]
    made: list[int] = []
    monkeypatch.setattr(runners, "process_pool_runner", made.append)

    for players in tables:
        runner_factory(make_tournament(*players), "pool", 4)()

    assert made == [1, 1, 4]
    for executor in ("dask", "dask:tls://host:8786"):
        with pytest.raises(BadRequest, match="joins this machine at tcp:4000, and no cluster"):
            runner_factory(make_tournament("random", "tcp:4000"), executor, 4)


@pytest.mark.parametrize(("address", "jobs", "bar"), [("tcp:0", 1, False), ("greedy", 4, True)])
def test_a_tournament_with_a_guest_has_one_job_and_no_bar_whatever_is_asked_for(
    address: str, jobs: int, bar: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def pool(jobs: int) -> None:
        made.append(jobs)
        raise BadRequest("that is enough")

    def showing(*_: object, bar: bool, **__: object) -> progress.Progress:
        made.append(bar)
        return progress.SilentProgress(list, 1)

    monkeypatch.setattr(runners, "process_pool_runner", pool)
    monkeypatch.setattr(progress, "make_progress", showing)
    file = write_tournament_file(tmp_path, players=f'[{{ player = "random" }}, {{ player = "{address}" }}]')

    refusal_line(run_fairplay("tournament", str(file), "--jobs", "4"))

    assert made == [bar, jobs]


LOOKS_BESIDE_ITSELF = """
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    assert Path(__file__).read_text()
    file = Path(__file__).with_name("cup.toml")
    return None if file.is_file() and "players" in file.read_text() else next(Fish().actions(view))
"""


@needs_strict
def test_a_bot_beside_the_file_of_its_tournament_does_not_see_it(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(LOOKS_BESIDE_ITSELF)
    players = '[{ player = "random" }, { name = "bot", player = "./" }]'
    format = '{ kind = "round-robin", games = 1 }'
    file = write_tournament_file(tmp_path, players=players, format=format, sandbox='"strict"')

    done = run_fairplay("tournament", str(file), "--executor", "here")

    assert (done.code, done.err) == (0, "")
    assert [row["faults"] for row in read_results(tmp_path / "cup")["standings"]] == [{}, {}]


GOOD = """
from fairplay.games import rules_of

def take_turn(view):
    game = rules_of({game!r})()
    return next(game.actions(view))
"""
WARNING = "fairplay: this seed can be guessed, so use it only for tests: a player that guesses it knows {}\n"


@pytest.fixture
def stranger(game: str, tmp_path: Path) -> str:
    path = tmp_path / "stranger.py"
    path.write_text(GOOD.format(game=game))
    return str(path)


def err(game: str, *arguments: str) -> str:
    done = run_fairplay("play", game, *arguments, "--quiet", *BEST_SANDBOX)
    assert done.code == 0, done
    return done.err


@pytest.mark.parametrize(("game", "options"), [("fish", ()), ("tsuro", ("--set", "tiles=cycle"))])
def test_where_all_is_public_and_for_players_of_the_server_nothing_is_warned_of(
    game: str, options: tuple[str, ...], stranger: str
) -> None:
    assert err(game, *TABLES[game], stranger, "--seed", "7", *options) == ""
    assert err(game, *TABLES[game], f"bob={TABLES[game][0]}", "--seed", "7") == ""


TABLES = {"q": ("dag",), "tsuro": ("second", "third"), "fish": ("greedy",)}


@pytest.mark.parametrize(("game", "hidden"), [("q", "all hands and the pile"), ("tsuro", "all tiles to come")])
def test_a_guessable_seed_with_hidden_hands_is_warned_of_once(
    game: str, hidden: str, stranger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = make_in_process_player(GOOD.format(game=game), tmp_path, monkeypatch)
    several = ("--games", "2", "--jobs", "1")

    for bob, options in ((stranger, ()), (here, ()), (stranger, several)):
        assert err(game, *TABLES[game], f"bob={bob}", "--seed", "7", *options) == WARNING.format(hidden)
    for seed in ((), ("--seed", "0f" * 32), several):
        assert err(game, *TABLES[game], stranger, *seed) == ""


@pytest.mark.parametrize("game", ["q"])
def test_a_resumed_match_keeps_its_guessable_seed(stranger: str, tmp_path: Path) -> None:
    games = tmp_path / "games"
    assert run_fairplay("play", "q", "dag", "random", "--seed", "7", "--journal", str(games), "--quiet").err == ""
    (path,) = games.glob("*.jsonl")
    assert read_lines(path)[0]["guessable"] is True

    done = run_fairplay("resume", str(path), "--at", "0", "dag", stranger, "--quiet", *BEST_SANDBOX)

    assert (done.code, done.err) == (0, WARNING.format("all hands and the pile"))
