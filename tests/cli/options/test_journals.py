"""Test that commands find journals by the ids of matches, and refuse directories and logs that are no journals."""

import os
import re
import shutil
from pathlib import Path

import pytest

from fairplay.cli.options import journals
from fairplay.cli.options.journals import find_journal, search_journals
from fairplay.core.errors import BadRequest
from tests.cli.command import record_journal, refusal_line, run_fairplay

VERBS: dict[str, tuple[str, ...]] = {
    "replay": ("--at", "0"),
    "draw": ("-o", "-"),
    "verify": (),
    "why": (),
    "debug": ("greedy", "--seat", "0"),
    "resume": ("greedy", "random", "--at", "3", "--quiet"),
}


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_journal(tmp_path_factory.mktemp("made"))


@pytest.fixture
def here(match: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to be in, with one match below it and a tournament beside that."""
    for directory in ("games", "cup/matches"):
        (tmp_path / directory).mkdir(parents=True)
    shutil.copy(match, tmp_path / "games")
    (tmp_path / "cup" / "matches" / "m00001.jsonl").touch()
    (tmp_path / "cup" / "tournament.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_the_beginning_of_an_id(verb: str, match: Path, here: Path) -> None:
    short, whole = (run_fairplay(verb, name, *VERBS[verb]) for name in (match.stem[:7], f"games/{match.name}"))

    assert whole.code == 0
    assert short.code == 0
    assert untimed(short.out) == untimed(whole.out)


def test_ids_of_the_library_are_found_in_their_directory(
    match: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (1, 2, 3):
        shutil.copy(match, here / "games" / f"{match.stem[:7]}{one}.jsonl")
    monkeypatch.chdir("/")
    printed = [line.split()[0] for line in run_fairplay("library", "list", str(here / "games")).out.splitlines()[1:]]

    found = [find_journal(f"{here}/games/{id}") for id in printed]

    assert sorted(found) == sorted(str(path) for path in (here / "games").glob("*.jsonl"))
    assert len(found) == 4
    assert find_journal(f"{here}/cup/m0") == f"{here}/cup/matches/m00001.jsonl"


def untimed(told: str) -> str:
    """What was told, without how long anything took."""
    return re.sub(r"took [\d.]+ \S+;", "", told)


def test_a_match_is_found_here_below_and_in_a_tournament(match: Path, here: Path) -> None:
    assert find_journal(match.stem) == f"games/{match.name}"
    assert find_journal("m0") == "cup/matches/m00001.jsonl"
    for directory in ("games", "cup/matches"):  # alone
        with pytest.raises(BadRequest, match=f"no match in {directory} with an id that begins like this"):
            find_journal(f"{directory}/zz")
    os.chdir("cup")
    assert find_journal("m0") == "matches/m00001.jsonl"
    os.chdir("matches")
    assert find_journal("m0") == "m00001.jsonl"
    Path("m0").touch()
    assert find_journal("m0") == "m0"  # a file is itself, whatever its name


@pytest.mark.parametrize(
    ("also", "id", "found"),
    [
        ("games/m000012.jsonl", "m00001", "cup/matches/m00001.jsonl"),  # which is the whole id
        (".hidden/m000012.jsonl", "m0", "cup/matches/m00001.jsonl"),
        ("matches", "m0", "cup/matches/m00001.jsonl"),
        ("", "tourn", None),  # a log is no match
        ("", "cup/tourn", None),
    ],
)
def test_what_cannot_be_meant_is_passed_over(also: str, id: str, found: str | None, here: Path) -> None:
    Path("nowhere").symlink_to("not_there")
    Path("circle").symlink_to("circle")
    if also:
        Path(also).parent.mkdir(exist_ok=True)
        Path(also).touch()

    if found is None:
        with pytest.raises(BadRequest, match="with an id that begins like this"):
            find_journal(id)
    else:
        assert find_journal(id) == found


@pytest.mark.parametrize(
    ("named", "why"),
    [
        (
            "zzz",
            "there is no file zzz, and no match in or below this directory with an id that begins like this; "
            "see: fairplay library list DIR; DIR/ID then names a match",
        ),
        (
            "games/zzz",
            "there is no file games/zzz, and no match in games with an id that begins like this; "
            "see: fairplay library list games",
        ),
        ("nowhere/zzz", "nowhere/zzz: cannot be read: No such file or directory"),
        ("games", "games: cannot be read: Is a directory; see: fairplay library list games"),
        (
            "cup/tournament.jsonl",
            "cup/tournament.jsonl: this is the log of a tournament, not a match; see: fairplay standings cup",
        ),
        ("m*", "m*: cannot be read: No such file or directory"),
        ("../m0/m0", "../m0/m0: cannot be read: No such file or directory"),
        ("x" * 300, f"{'x' * 300}: cannot be read: File name too long"),
    ],
)
def test_a_missing_match_is_refused_with_advice(named: str, why: str, here: Path) -> None:
    for verb, options in VERBS.items():
        assert refusal_line(run_fairplay(verb, named, *options)).startswith(why)


def test_of_several_matches_some_are_named_harmlessly(here: Path) -> None:
    for name in ("z\x1b[2J", "z;ls", "z1", "z2", "z3", "zz"):
        Path(f"games/{name}.jsonl").touch()

    assert refusal_line(run_fairplay("replay", "z")) == (
        "z can be any of 6 matches; use the path of one: $'games/z\\x1b[2J.jsonl', "
        "games/z1.jsonl, games/z2.jsonl, games/z3.jsonl, 'games/z;ls.jsonl', ..."
    )
    Path("games/zz.jsonl").unlink()
    assert refusal_line(run_fairplay("replay", "z")).endswith("games/z3.jsonl, 'games/z;ls.jsonl'")  # and no dots


def test_no_more_is_looked_at_than_so_many_directories_and_files(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        Path(f"more{number}").mkdir()
        Path(f"more{number}/m{number}.jsonl").touch()
    assert len(list(search_journals(Path(), "m", below=True))) == 11

    with monkeypatch.context() as few:
        few.setattr(journals, "MAX_SEARCHED_DIRECTORIES", 4)
        assert len(list(search_journals(Path(), "m", below=True))) <= 4
    monkeypatch.setattr(journals, "MAX_SEARCHED_FILES", 3)
    assert len(list(search_journals(Path(), "", below=True))) <= 3
