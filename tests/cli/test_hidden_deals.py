"""Test that players see no hidden deal twice and no file of their tournament, and play one match at a time."""

from pathlib import Path

import pytest

from fairplay.app.tournaments import runner_factory
from fairplay.core.errors import BadRequest
from fairplay.terminal import progress
from fairplay.tournament.running import runners
from tests.cli.command import refusal_line, run_fairplay, run_script
from tests.cli.tournament_files import TIMEOUT_S, read_results, write_tournament_file
from tests.players.machine import needs_strict
from tests.tournament.small_tournaments import make_tournament

HIDDEN = {"game": '"q"', "parameters": "{}", "seed": f'"{"5" * 64}"'}
FORMATS = ['{ kind = "duplicate", deals = 2 }', '{ kind = "versus", games = 8 }']


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("address", ["tcp:0", "ws:0", "human", "in-process:fairplay.games.q.strategies:LADDER"])
def test_a_tournament_that_shows_a_hidden_deal_twice_is_refused(format: str, address: str, tmp_path: Path) -> None:
    players = f'[{{ player = "random" }}, {{ name = "ann", player = "{address}" }}]'
    file = write_tournament_file(tmp_path, **HIDDEN, format=format, players=players)

    why = refusal_line(run_fairplay("tournament", str(file)))

    assert f"plays each deal more than once, and ann ({address}) is not restarted for each match" in why
    assert not (tmp_path / "cup").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_a_sign_up_for_hidden_deals_that_are_played_twice_is_refused_before_it_opens(
    format: str, tmp_path: Path
) -> None:
    file = write_tournament_file(tmp_path, **HIDDEN, format=format, players="[]", signup="{ min = 2 }")

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


@needs_strict
def test_a_bot_beside_the_file_of_its_tournament_does_not_see_it(tmp_path: Path) -> None:
    source = "from pathlib import Path\nfrom fairplay.games.fish import Fish\nHERE = Path(__file__).parent\n"
    source += "def take_turn(view):\n    assert (HERE / 'bot.py').read_text()\n"
    source += "    seen = (HERE / 'cup.toml').is_file() and 'players' in (HERE / 'cup.toml').read_text()\n"
    source += "    return None if seen else next(Fish().actions(view))\n"
    (tmp_path / "bot.py").write_text(source)
    players = '[{ player = "random" }, { name = "bot", player = "./" }]'
    format = '{ kind = "round-robin", games = 1 }'
    file = write_tournament_file(tmp_path, players=players, format=format, sandbox='"strict"')

    done = run_fairplay("tournament", str(file), "--executor", "here")

    assert (done.code, done.err) == (0, "")
    assert [row["faults"] for row in read_results(tmp_path / "cup")["standings"]] == [{}, {}]
