"""Test `fairplay tournament`: its refusals, its files, and that the same command resumes it after a crash."""

import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from fairplay.games import GAMES
from fairplay.journal.index import INDEX_FILE
from fairplay.tournament.layout import LOG_FILE
from tests.cli.command import (
    INSTALLED_COMMAND,
    INTERRUPTIONS,
    accept_ctrl_c,
    ignore_ctrl_c,
    make_in_process_player,
    refusal_line,
    run_fairplay,
    start_process,
)
from tests.cli.tournament_files import (
    INLINE_OPTIONS,
    SLOW_KEYS,
    TIMEOUT_S,
    count_matches,
    install_napping_player,
    read_results,
    start_with_napping_players,
    wait_for_matches,
    write_tournament_file,
)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"game": '"fish'}, "not TOML: Illegal character '\\n' (at line 1, column 13)"),
        (
            {"players": '[{ player = "random" }, { player = "./bob.py" }]'},
            "player 2: there is no Python file {directory}/bob.py",
        ),
    ],
)
def test_a_bad_file_gets_one_line_that_says_where_it_is_wrong(
    changes: dict[str, str], why: str, tmp_path: Path
) -> None:
    path = write_tournament_file(tmp_path, **changes)

    assert refusal_line(run_fairplay("tournament", str(path))) == f"{path}: {why.format(directory=tmp_path)}"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_without_an_ending_is_not_its_own_directory(tmp_path: Path) -> None:
    file = write_tournament_file(tmp_path).rename(tmp_path / "cup")

    why = refusal_line(run_fairplay("tournament", str(file), *INLINE_OPTIONS))

    assert why == f"{file} would be its own output directory; choose another with --out"
    assert run_fairplay("tournament", str(file), *INLINE_OPTIONS, "--out", str(tmp_path / "out")).code == 0


def test_a_bot_that_is_not_ready_is_named_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_in_process_player("def take_turn(view):\n    return 3", tmp_path, monkeypatch)
    players = f'[{{ player = "random" }}, {{ name = "bad", player = "{bot}" }}]'
    path = write_tournament_file(tmp_path, bot_check='"refuse"', players=players)

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    began, tried, refused = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert began == "fairplay: checking 1 bot before the first match"
    assert tried.startswith("fairplay: bad is NOT READY: game 1 (rows=4, columns=4), seat 0 of 2")
    assert refused.startswith("fairplay: not ready to play: bad (game 1 (rows=4, columns=4), seat 0 of 2")
    assert refused.endswith("; fairplay check-bot explains it")
    assert not (tmp_path / "cup").exists()

    warn = write_tournament_file(tmp_path, bot_check='"warn"', players=players)
    warned = run_fairplay("tournament", str(warn), *INLINE_OPTIONS)

    assert warned.code == 0
    assert "fairplay: bad is NOT READY: " in warned.err
    why = "malformed, the answer is not an action of this game"
    ejections = [f"fairplay: bad was ejected from m0000{match}: {why}" for match in (1, 2, 3)]
    assert [line for line in warned.err.splitlines() if "ejected from" in line] == ejections
    assert warned.err.splitlines()[-1] == "fairplay: further ejections of bad are not shown"


@pytest.mark.parametrize("what", ["damaged", "torn"])
def test_a_damaged_tournament_log_is_never_overwritten_but_a_torn_one_goes_on(what: str, tmp_path: Path) -> None:
    path, steps = write_tournament_file(tmp_path), tmp_path / "cup" / LOG_FILE
    assert run_fairplay("tournament", str(path), *INLINE_OPTIONS).code == 0
    lines = steps.read_bytes().splitlines(keepends=True)
    left = b"".join([*lines[:3], *lines[4:]] if what == "damaged" else [*lines[:4], lines[4][:-5]])
    steps.write_bytes(left)

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    if what == "torn":
        assert (done.code, done.err) == (0, "fairplay: going on: 2 of 6 matches of round 1 were played before\n")
    else:
        assert refusal_line(done) == f"{steps}: line 4 was changed after it was written"
        assert steps.read_bytes() == left


def test_a_tournament_leaves_its_log_journals_and_results(tmp_path: Path) -> None:
    path, directory = write_tournament_file(tmp_path), tmp_path / "cup"

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    files = ("results.json", "results.csv", "report.html")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].split() == ["#", "name", "rating", "95", "%", "ranks", "games", "points", "score"]
    assert done.out.endswith(f"\nresults: {directory}/{', '.join(files)}; matches: {directory}/matches\n")
    assert {it.name for it in directory.iterdir()} == {"tournament.jsonl", "key", "matches", "replays", *files}
    assert len(list((directory / "matches").glob("*.jsonl"))) == 6
    assert (directory / "matches" / INDEX_FILE).is_file()
    found = read_results(directory)
    assert next(iter(found)) == "standings"
    assert [row["place"] for row in found["standings"]] == [1, 2, 2]  # as it happens, two have the same rating
    assert {row["name"] for row in found["standings"]} == {"random", "greedy", "lookahead:1"}
    for row in found["standings"]:
        low, high = row["rating_low"], row["rating_high"]
        assert row["games"] == 4
        assert (low is None or low < row["rating"]) and (high is None or row["rating"] < high)
    assert (directory / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert (directory / "results.csv").read_text().startswith("place,name,address,rating,rating_low,rating_high,")

    # It is shown again, and nothing is played.
    steps = (directory / LOG_FILE).read_bytes()
    again = run_fairplay("tournament", str(path), *INLINE_OPTIONS)
    assert (again.code, again.out) == (0, done.out)
    assert again.err == "fairplay: it was over before, and nothing is left to be played\n"
    assert read_results(directory) == found

    other = write_tournament_file(tmp_path, format='{ kind = "round-robin", games = 7 }', seed='"another"')
    changes = "the seed has changed; format.games was 6 and is 7"
    why = refusal_line(run_fairplay("tournament", str(other), *INLINE_OPTIONS))
    assert why == f"{directory} belongs to another tournament ({changes}); name another directory with --out"
    assert (directory / LOG_FILE).read_bytes() == steps


@pytest.mark.parametrize("game", GAMES)
def test_the_file_to_begin_with_runs_as_it_stands(game: str, tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    begin = run_fairplay("tournament", "--init", game)
    path.write_text(begin.out)

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    assert (begin.code, begin.err, done.code) == (0, "", 0)
    ejections = (" ejected ", " ejections of ")  # of some built-in players
    assert all(any(words in line for words in ejections) for line in done.err.splitlines())
    assert sum(row["games"] for row in read_results(tmp_path / "cup")["standings"]) >= 120


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The results of a slow tournament that nobody has interrupted."""
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        install_napping_player(directory, patch)
        assert run_fairplay("tournament", str(write_tournament_file(directory, **SLOW_KEYS)), *INLINE_OPTIONS).code == 0
    return read_results(directory / "cup")


@pytest.mark.parametrize("how", ["Ctrl-C", "SIGKILL"])
def test_the_same_command_resumes_an_interrupted_tournament(
    how: str, whole: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_napping_player(tmp_path, monkeypatch)
    path, directory = write_tournament_file(tmp_path, **SLOW_KEYS), tmp_path / "cup"
    start, sent = INTERRUPTIONS.get(how, (accept_ctrl_c, signal.SIGKILL))
    process = start_with_napping_players("tournament", path, "--jobs", "2", start=start)
    wait_for_matches(directory, 3, process)
    process.send_signal(sent)
    out, err = process.communicate(timeout=TIMEOUT_S)
    so_far = count_matches(directory)

    assert out == ""
    assert 3 <= so_far < 24
    if sent != signal.SIGKILL:
        said = f"fairplay: interrupted; to go on: the same command again; so far: fairplay standings {directory}\n"
        assert (process.returncode, err.lstrip("\n")) == (130, said)
    assert run_fairplay("standings", str(directory)).out.startswith(
        f"fish, round-robin: {so_far} matches, not finished yet\n\n#  name"
    )

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    assert (done.code, done.err) == (
        0,
        f"fairplay: going on: {so_far} of 24 matches of round 1 were played before\n",
    )
    assert read_results(directory) == whole


def test_a_background_tournament_ignores_ctrl_c_and_a_second_process_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_napping_player(tmp_path, monkeypatch)
    path, directory = write_tournament_file(tmp_path, **SLOW_KEYS), tmp_path / "cup"
    process = start_with_napping_players("tournament", path, "--jobs", "1", start=ignore_ctrl_c)
    wait_for_matches(directory, 1, process)
    process.send_signal(signal.SIGINT)
    wait_for_matches(directory, count_matches(directory) + 2, process)

    why = refusal_line(run_fairplay("tournament", str(path), *INLINE_OPTIONS))
    assert why == f"another process runs the tournament in {directory}"
    running = run_fairplay("standings", str(directory))
    assert (running.code, running.err) == (0, "")
    assert "matches, not finished yet\n" in running.out

    process.terminate()
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "fairplay: interrupted; to go on: the same command again" in err


def test_where_there_is_no_room_for_journals_no_match_is_called_void(tmp_path: Path) -> None:
    path, directory = write_tournament_file(tmp_path, parameters="{ rows = 8, columns = 8 }"), tmp_path / "cup"

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    process = start_process([INSTALLED_COMMAND, "tournament", path, "--jobs", "1"], start=no_room)
    out, err = process.communicate(timeout=TIMEOUT_S)

    assert (process.returncode, out) == (3, "")
    assert err == (
        f"fairplay: no match can be recorded in {directory}/matches: File too large; "
        f"to go on: the same command again; so far: fairplay standings {directory}\n"
    )
    assert count_matches(directory) == 0

    assert run_fairplay("tournament", str(path), *INLINE_OPTIONS).code == 0
    assert not any("void" in match for match in read_results(directory)["matches"])


@pytest.mark.parametrize(
    ("verb", "library"), [("tournament", "numpy"), ("standings", "scipy"), ("tournament", "matplotlib")]
)
def test_an_extra_that_is_missing_is_named(
    verb: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    path = write_tournament_file(tmp_path)

    done = run_fairplay(verb, str(path if verb == "tournament" else tmp_path))

    assert refusal_line(done) == f"{library} is missing, which tournaments need: pip install 'fairplay[tournament]'"
    assert list(tmp_path.iterdir()) == [path]
