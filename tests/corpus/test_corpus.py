"""Test that this version reads, verifies and resumes the files of each version since 0.2.0."""

import json
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.command import INSTALLED_COMMAND, run_fairplay, start_process
from tests.cli.server_process import TIMEOUT_S, running_server
from tests.corpus.write import CORPUS, is_finished
from tests.nonempty import nonempty

VERSIONS = sorted(path.name for path in CORPUS.glob("*"))


@pytest.fixture(params=VERSIONS)
def corpus(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what a version wrote, with the keys of its user, which version control leaves readable for all."""
    copy = shutil.copytree(CORPUS / request.param, tmp_path / "corpus")
    for pattern in ("key", "*.token"):
        for file in nonempty(copy.rglob(pattern)):
            file.chmod(0o600)
    monkeypatch.setenv("XDG_STATE_HOME", str(copy / "state"))
    monkeypatch.chdir(copy)
    return copy


def journal(corpus: Path, name: str) -> Path:
    [file] = (corpus / "journals" / name).glob("*.jsonl")
    return file


def test_the_oldest_version_has_a_corpus() -> None:
    assert "0.2.0" in VERSIONS


def test_every_finished_journal_is_verified(corpus: Path) -> None:
    journals = [file for file in corpus.rglob("*.jsonl") if file.name != "tournament.jsonl"]
    for file in nonempty(file for file in journals if is_finished(file.read_bytes())):
        done = run_fairplay("verify", str(file))

        assert (done.code, done.err) == (0, ""), (file, done)


def test_an_interrupted_match_is_resumed_by_the_key_of_its_user(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairplay.games.fish.strategies.scaled_effort", lambda playouts, state: 5)  # to be quick
    file = journal(corpus, "interrupted")
    before = file.read_bytes()

    done = run_fairplay("resume", str(file), "random", "random", "--at", "8", "--journal", "more", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert file.read_bytes() == before

    lines = before.splitlines(keepends=True)
    done = run_fairplay("resume", str(file), "--quiet")
    assert (done.code, done.err) == (0, "")
    assert file.read_bytes().startswith(b"".join(lines[:-1]))  # the last one may be torn
    assert run_fairplay("verify", str(file)).code == 0


def test_a_resumed_match_and_a_branch_tell_where_they_began_and_ejections_are_explained(corpus: Path) -> None:
    resumed = [json.loads(line) for line in journal(corpus, "resumed").read_bytes().splitlines()]
    branch = json.loads(journal(corpus, "branch").read_bytes().splitlines()[0])

    assert sum("resumed" in str(line) for line in resumed) >= 1
    assert journal(corpus, "fish").stem in json.dumps(branch)

    done = run_fairplay("why", str(journal(corpus, "ejections")))
    assert done.code == 0
    assert "bob" in done.out and "cat" in done.out and "no idea" in done.out


def test_a_match_is_replayed_and_drawn(corpus: Path, tmp_path: Path) -> None:
    for game in ("fish", "tsuro", "q"):
        file = journal(corpus, game)

        assert run_fairplay("replay", str(file), "--lines").code == 0
        assert run_fairplay("draw", str(file), "-o", str(tmp_path / f"{game}.svg")).code == 0
        assert (tmp_path / f"{game}.svg").read_text().startswith("<svg")


def test_standings_of_a_finished_tournament_are_shown_and_nothing_is_played_again(corpus: Path) -> None:
    log = corpus / "tournaments/finished/tournament.jsonl"
    before = log.read_bytes()

    standings = run_fairplay("standings", "tournaments/finished")
    again = run_fairplay("tournament", "tournaments/finished.toml", "--quiet")

    assert standings.code == again.code == 0
    assert all(name in standings.out for name in ("ann", "bob", "cat"))
    assert log.read_bytes() == before


def test_a_killed_tournament_is_finished_with_the_same_matches_counted(corpus: Path) -> None:
    log = corpus / "tournaments/interrupted/tournament.jsonl"
    before = log.read_bytes()

    done = run_fairplay("tournament", "tournaments/interrupted.toml", "--quiet", "--jobs", "2")

    assert done.code == 0, done
    assert log.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert len(list((corpus / "tournaments/interrupted/matches").rglob("*.jsonl"))) == 30


def test_a_server_lets_its_players_in_by_their_tokens_and_plays_their_match_on(corpus: Path) -> None:
    begun = {file: file.read_bytes() for file in (corpus / "server").rglob("*.jsonl")}
    cut_off = nonempty(file for file, lines in begun.items() if not is_finished(lines))
    options = ("--set", "rows=5", "--set", "columns=5", "--no-guests")

    with running_server("fish", "--dir", "server", "--port", "0", *options) as server, ExitStack() as players:
        join = (INSTALLED_COMMAND, "join", server.place, "greedy", "--matches", "1")
        joined = [start_process([*join, "--name", name, "--token-file", f"{name}.token"]) for name in ("ann", "bob")]
        for player in map(players.enter_context, joined):
            out, err = player.communicate(timeout=TIMEOUT_S)
            assert player.returncode == 0, (out, err)
        server.stop()

    for file in nonempty(cut_off):
        assert run_fairplay("verify", str(file)).code == 0
        assert is_finished(file.read_bytes())
