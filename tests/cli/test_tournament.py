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

REFUSED = {  # what the file says, and what is said of it
    "no TOML": ({"game": '"fish'}, "not TOML: Illegal character '\\n' (at line 1, column 13)"),
    "an unknown key": ({"parametrs": "{}"}, "unknown key 'parametrs': did you mean 'parameters'?"),
    "an unknown key of the format": (
        {"format": '{ kind = "round-robin", gamse = 3 }'},
        "format: unknown key 'gamse': did you mean 'games'?",
    ),
    "an unknown format": (
        {"format": '{ kind = "roundrobin" }'},
        "format.kind: there is no format 'roundrobin': did you mean 'round-robin'?",
    ),
    "an unknown game": (
        {"game": '"fihs"'},
        "game: there is no game 'fihs': did you mean 'fish'?",
    ),
    "an unknown player": (
        {"players": '[{ player = "random" }, { player = "gredy" }]'},
        "player 2: fish has no player 'gredy': did you mean 'greedy'?",
    ),
    "a missing file": (
        {"players": '[{ player = "random" }, { player = "./bob.py" }]'},
        "player 2: there is no Python file {directory}/bob.py",
    ),
    "a directory without anybody": (
        {"player_files": '["./bots/*.py"]'},
        "player_files: nothing matches './bots/*.py' in {directory}",
    ),
    "one player twice": (
        {"players": '[{ name = "ann", player = "random" }, { name = "ann", player = "greedy" }]'},
        "player 2: the name 'ann' is given twice",
    ),
    "too few players": (
        {"players": '[{ player = "random" }]'},
        "there are fewer players (1) than seats at a table (2)",
    ),
    "no players": ({"players": "[]"}, "there are no players: name some in players or player_files"),
    "a limit that is none": ({"limits": "{ move = -1 }"}, "limits.move: expected float > 0.0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_gets_one_line_that_says_where_it_is_wrong(case: str, tmp_path: Path) -> None:
    changes, why = REFUSED[case]
    path = write_tournament_file(tmp_path, **changes)

    assert refusal_line(run_fairplay("tournament", str(path))) == f"{path}: {why.format(directory=tmp_path)}"
    assert list(tmp_path.iterdir()) == [path]


MISUSED = {
    "no file": ((), "missing FILE.toml; to create one: fairplay tournament --init GAME > my.toml"),
    "a missing file": (("{directory}/no.toml",), "{directory}/no.toml: cannot be read: No such file or directory"),
    "a directory": (("{directory}",), "{directory}: not a file"),
    "a file to begin with, and one": (("{tournament}", "--init", "fish"), "--init takes no FILE.toml: it prints one"),
    "a file to begin with for no game": (
        ("--init", "chess"),
        "there is no game 'chess'; there is fish, tsuro, q; name your own game with --game py:module:Name",
    ),
    "no jobs": (("{tournament}", "--jobs", "0"), "Invalid value for '--jobs': 0 is not in the range 1<=x<=1024."),
    "an unknown executor": (
        ("{tournament}", "--executor", "poll"),
        "--executor poll: there is here, pool, dask and dask:ADDRESS",
    ),
    "a cluster without an address": (
        ("{tournament}", "--executor", "dask:"),
        "--executor dask:: there is here, pool, dask and dask:ADDRESS",
    ),
    "a directory without a name": (
        ("{tournament}", "--out", ""),
        "Invalid value for '--out': the name of the directory is empty",
    ),
    "a file for a directory": (
        ("{tournament}", "--out", "{tournament}"),
        "Invalid value for '--out': Directory '{tournament}' is a file.",
    ),
    "a directory in a file": (("{tournament}", "--out", "{tournament}/x/y"), "{tournament} is not a directory"),
}


@pytest.mark.parametrize("case", MISUSED)
def test_a_bad_command_gets_one_line(case: str, tmp_path: Path) -> None:
    arguments, why = MISUSED[case]
    path = write_tournament_file(tmp_path)
    known = {"directory": tmp_path, "tournament": path}

    done = run_fairplay("tournament", *(argument.format(**known) for argument in arguments))

    assert refusal_line(done) == why.format(**known)
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

    warned = run_fairplay(
        "tournament", str(write_tournament_file(tmp_path, bot_check='"warn"', players=players)), *INLINE_OPTIONS
    )

    assert warned.code == 0
    assert "fairplay: bad is NOT READY: " in warned.err
    assert [line for line in warned.err.splitlines() if "ejected from" in line] == [
        f"fairplay: bad was ejected from m0000{match}: malformed, the answer is not an action of this game"
        for match in (1, 2, 3)
    ]
    assert warned.err.splitlines()[-1] == "fairplay: further ejections of bad are not shown"


def test_a_directory_of_another_tournament_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    first = write_tournament_file(tmp_path)
    assert run_fairplay("tournament", str(first), *INLINE_OPTIONS).code == 0
    before = (tmp_path / "cup" / LOG_FILE).read_bytes()

    other = write_tournament_file(tmp_path, format='{ kind = "round-robin", games = 7 }', seed='"another"')

    assert refusal_line(run_fairplay("tournament", str(other), *INLINE_OPTIONS)) == (
        f"{tmp_path}/cup belongs to another tournament (the seed has changed; format.games was 6 and is 7); "
        "name another directory with --out"
    )
    assert (tmp_path / "cup" / LOG_FILE).read_bytes() == before


@pytest.mark.parametrize("what", ["a directory", "damaged", "torn"])
def test_a_foreign_file_in_place_of_the_tournament_log_is_never_overwritten(what: str, tmp_path: Path) -> None:
    path, steps = write_tournament_file(tmp_path), tmp_path / "cup" / LOG_FILE
    assert run_fairplay("tournament", str(path), *INLINE_OPTIONS).code == 0
    lines = steps.read_bytes().splitlines(keepends=True)
    if what == "a directory":
        steps.unlink()
        steps.mkdir()
        why = f"{steps} cannot be read: Is a directory"
    else:
        steps.write_bytes(b"".join([*lines[:3], *lines[4:]] if what == "damaged" else [*lines[:4], lines[4][:-5]]))
        why = f"{steps}: line 4 was changed after it was written"
    before = steps.read_bytes() if steps.is_file() else b""

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    if what == "torn":  # by a crash: this is gone on with
        assert (done.code, done.err) == (0, "fairplay: going on: 2 of 6 matches of round 1 were played before\n")
    else:
        assert refusal_line(done) == why
        assert (steps.read_bytes() if steps.is_file() else b"") == before


def test_a_tournament_leaves_its_log_journals_and_results(tmp_path: Path) -> None:
    done = run_fairplay("tournament", str(write_tournament_file(tmp_path)), *INLINE_OPTIONS)

    directory = tmp_path / "cup"
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].split() == ["#", "name", "rating", "95", "%", "ranks", "games", "points", "score"]
    assert done.out.endswith(
        f"\nresults: {directory}/results.json, results.csv, report.html; matches: {directory}/matches\n"
    )
    assert {path.name for path in directory.iterdir()} == {
        *("tournament.jsonl", "key", "matches", "results.json", "results.csv", "report.html", "replays"),
    }
    assert len(list((directory / "matches").glob("*.jsonl"))) == 6
    assert (directory / "matches" / INDEX_FILE).is_file()
    found = read_results(directory)
    assert next(iter(found)) == "standings"
    assert [row["place"] for row in found["standings"]] == [1, 2, 2]  # as it happens, two have the same rating
    assert {row["name"] for row in found["standings"]} == {"random", "greedy", "lookahead:1"}
    for row in found["standings"]:
        assert isinstance(row["rating"], float)
        assert row["games"] == 4
        assert row["rating_low"] is None or row["rating_low"] < row["rating"]
        assert row["rating_high"] is None or row["rating_high"] > row["rating"]
    assert (directory / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert (directory / "results.csv").read_text().startswith("place,name,address,rating,rating_low,rating_high,")


def test_a_tournament_that_is_over_is_shown_again_and_nothing_is_played(tmp_path: Path) -> None:
    path = write_tournament_file(tmp_path)
    first = run_fairplay("tournament", str(path), *INLINE_OPTIONS)
    before, steps = read_results(tmp_path / "cup"), (tmp_path / "cup" / LOG_FILE).read_bytes()

    again = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    assert (again.code, again.out) == (0, first.out)
    assert again.err == "fairplay: it was over before, and nothing is left to be played\n"
    assert read_results(tmp_path / "cup") == before
    assert (tmp_path / "cup" / LOG_FILE).read_bytes() == steps


def test_one_and_two_workers_give_the_same(tmp_path: Path) -> None:
    path = str(write_tournament_file(tmp_path))
    found = []
    for how in (INLINE_OPTIONS, ("--jobs", "1"), ("--jobs", "2")):
        out = tmp_path / "-".join(how)
        done = run_fairplay("tournament", path, *how, "--out", str(out), "--quiet")
        assert (done.code, done.err) == (0, "")
        found.append(read_results(out))

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("game", GAMES)
def test_the_file_to_begin_with_runs_as_it_stands(game: str, tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    begin = run_fairplay("tournament", "--init", game)
    path.write_text(begin.out)

    done = run_fairplay("tournament", str(path), *INLINE_OPTIONS)

    assert (begin.code, begin.err, done.code) == (0, "", 0)
    assert all(
        " ejected " in line or " ejections of " in line for line in done.err.splitlines()
    )  # some built-in players
    assert sum(row["games"] for row in read_results(tmp_path / "cup")["standings"]) >= 120


# What happens meanwhile.


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The results of a slow tournament that nobody has interrupted."""
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        install_napping_player(directory, patch)
        assert run_fairplay("tournament", str(write_tournament_file(directory, **SLOW_KEYS)), *INLINE_OPTIONS).code == 0
    return read_results(directory / "cup")


@pytest.mark.parametrize("how", [*INTERRUPTIONS, "SIGKILL"])
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

    assert (
        refusal_line(run_fairplay("tournament", str(path), *INLINE_OPTIONS))
        == f"another process runs the tournament in {directory}"
    )
    running = run_fairplay("standings", str(directory))
    assert (running.code, running.err) == (0, "")
    assert "matches, not finished yet\n" in running.out

    process.terminate()
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "fairplay: interrupted; to go on: the same command again" in err


def test_players_come_and_go_between_the_rounds_of_a_swiss_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_napping_player(tmp_path, monkeypatch)
    names = {"ann": "random", "bob": "greedy", "cyd": "in-process:napper:take_turn", "dan": "random"}

    def file(names: dict[str, str], rounds: int) -> Path:
        players = ", ".join(f'{{ name = "{name}", player = "{player}" }}' for name, player in names.items())
        return write_tournament_file(
            tmp_path, format=f'{{ kind = "swiss", rounds = {rounds} }}', players=f"[{players}]"
        )

    path, directory = file(names, 12), tmp_path / "cup"
    process = start_with_napping_players("tournament", path, "--jobs", "1")
    wait_for_matches(directory, 5, process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_S)
    names["eve"] = "greedy"
    del names["dan"]

    refused = refusal_line(run_fairplay("tournament", str(file(names, 13)), *INLINE_OPTIONS))
    done = run_fairplay("tournament", str(file(names, 12)), *INLINE_OPTIONS)

    assert refused == (
        f"{directory} belongs to another tournament (format.rounds was 12 and is 13); name another directory with --out"
    )
    assert done.code == 0
    assert done.err.count("going on") <= 1  # rounds that were over are not told of
    games = {row["name"]: row["games"] for row in read_results(directory)["standings"]}
    assert games["ann"] == games["bob"] == games["cyd"] == 12
    assert 2 <= games["dan"] == 12 - games["eve"] <= 10


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


# What is missing.


@pytest.mark.parametrize("library", ["numpy", "scipy", "matplotlib"])
@pytest.mark.parametrize("verb", ["tournament", "standings"])
def test_an_extra_that_is_missing_is_named(
    library: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    path = write_tournament_file(tmp_path)

    done = run_fairplay(verb, str(path if verb == "tournament" else tmp_path))

    assert refusal_line(done) == f"{library} is missing, which tournaments need: pip install 'fairplay[tournament]'"
    assert list(tmp_path.iterdir()) == [path]


def test_dask_is_only_needed_by_who_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "fairplay.tournament.running.cluster", raising=False)
    path = str(write_tournament_file(tmp_path))

    assert refusal_line(run_fairplay("tournament", path, "--executor", "dask")) == (
        "Dask is missing, which --executor dask needs: pip install 'fairplay[cluster]'"
    )
    assert run_fairplay("tournament", path, *INLINE_OPTIONS).code == 0
