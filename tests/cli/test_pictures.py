"""Test --pictures of `fairplay play` and `fairplay resume`: every change is drawn as it happens."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fairplay.core.chance import seed_commitment
from fairplay.games import game_info
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import read_journal
from fairplay.observers import painter
from tests.cli.command import damage_journal, record_journal, refusal_line, run_fairplay
from tests.journal.journals import read_lines, seal_lines

NUMBERED = re.compile(r"(\d+)\.svg")


def drawn(directory: Path) -> list[str]:
    """The pictures in a directory, in order; there is nothing else in it."""
    found = {int(NUMBERED.fullmatch(path.name)[1]): path for path in directory.iterdir()}  # type: ignore[index]
    assert sorted(found) == list(range(len(found)))
    assert sorted(found) == [number for number, _ in sorted(found.items(), key=lambda it: it[1].name)], "as ls sorts"
    return [found[number].read_text(encoding="utf-8") for number in sorted(found)]


@pytest.mark.parametrize(
    ("game", "player"), [("fish", "greedy"), ("tsuro", "second"), ("q", "dag")], ids=["fish", "tsuro", "q"]
)
def test_every_change_is_drawn_as_spectators_see_it(game: str, player: str, tmp_path: Path) -> None:
    games, shown = tmp_path / "games", tmp_path / "some" / "pictures"
    quick = [word for name, value in game_info(game).quick.items() for word in ("--set", f"{name}={value}")]

    done = run_fairplay(
        *("play", game, f"ann={player}", f"bob={player}", f"cyd={player}", *quick, "--seed", "1", "--quiet"),
        *("--journal", str(games), "--pictures", str(shown)),
    )

    (path,), (directory,) = games.glob("*.jsonl"), shown.iterdir()
    assert done.code == 0
    assert f"pictures: {directory}\n" in done.out
    assert directory.name == path.stem
    assert drawn(directory) == list(pictures(read_journal(path)))


def test_a_picture_is_written_before_the_next_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = painter.file_writer

    def spying(directory: Path) -> painter.WriteFile:
        put = real(directory)

        def show(name: str, text: str) -> None:
            put(name, text)
            seen.append(sorted(path.name for path in directory.iterdir()))

        return show

    monkeypatch.setattr("fairplay.observers.painter.file_writer", spying)
    run_fairplay("play", "fish", "greedy", "random", "--set", "rows=3", "--quiet", "--pictures", str(tmp_path))

    assert seen[:3] == [["000.svg"], ["000.svg", "001.svg"], ["000.svg", "001.svg", "002.svg"]]


def test_two_matches_have_directories_of_their_own(tmp_path: Path) -> None:
    for _ in range(2):
        done = run_fairplay(
            "play", "fish", "greedy", "random", "--set", "rows=3", "--quiet", "--pictures", str(tmp_path)
        )
        assert done.code == 0

    one, other = (drawn(directory) for directory in tmp_path.iterdir())
    assert one
    assert other


def test_a_resumed_match_adds_to_its_pictures(tmp_path: Path) -> None:
    games, shown = tmp_path / "games", tmp_path / "pictures"
    command = ("play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--seed", "7", "--quiet")
    run_fairplay(*command, "--journal", str(games), "--pictures", str(shown))
    (path,), (directory,) = games.glob("*.jsonl"), shown.iterdir()
    before = drawn(directory)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7]))
    for number in range(6, len(before)):
        (directory / f"{number:03}.svg").unlink()

    done = run_fairplay("resume", str(path), "--quiet", "--pictures", str(shown))

    assert done.code == 0
    assert list(shown.iterdir()) == [directory]
    assert drawn(directory)[:5] == before[:5]
    assert drawn(directory)[6:] == before[6:], "the same players go on as they would have"


def test_the_pictures_of_a_branch_are_numbered_like_the_positions_of_its_match(tmp_path: Path) -> None:
    path, shown = record_journal(tmp_path / "games"), tmp_path / "pictures"

    done = run_fairplay("resume", str(path), "greedy", "random", "--at", "4", "--quiet", "--pictures", str(shown))

    (directory,) = shown.iterdir()
    assert done.code == 0
    assert directory.name != path.stem
    assert min(int(picture.stem) for picture in directory.iterdir()) == 4


def vanishing(directory: Path, name: str, text: str) -> None:
    """Somebody moves the directory away."""
    directory.parent.rename(directory.parent.with_name("elsewhere"))


def blocking(directory: Path, name: str, text: str) -> None:
    """Something is in the way of the next picture."""
    (directory / "003.svg").mkdir()


@pytest.mark.parametrize(
    ("harm", "why"), [(vanishing, "No such file or directory"), (blocking, "Is a directory")], ids=["gone", "blocked"]
)
def test_a_directory_that_fails_costs_the_pictures_and_never_the_match(
    harm: Any, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, real = tmp_path / "pictures", painter.file_writer

    def harmed(directory: Path) -> painter.WriteFile:
        put = real(directory)

        def show(name: str, text: str) -> None:
            put(name, text)
            if name == "002.svg":
                harm(directory, name, text)

        return show

    monkeypatch.setattr("fairplay.observers.painter.file_writer", harmed)
    done = run_fairplay(
        "play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--quiet", "--pictures", str(shown)
    )

    assert done.code == 0
    assert re.search(r"^1\. ", done.out, re.MULTILINE)
    assert ("pictures: " in done.out) == (harm is blocking)
    dropped = r"fairplay: observer Painter was dropped: HostFault: .*/003\.svg cannot be written"
    assert re.fullmatch(rf"{dropped}: {why} \(painter\.py, .*\)\n", done.err)
    left = sorted(path.name for path in tmp_path.rglob("*.svg*"))
    assert left == ["000.svg", "001.svg", "002.svg", *(["003.svg"] if harm is blocking else [])]
    assert not list(tmp_path.rglob(".*")), "nothing half-written is left"


def test_pictures_are_written_atomically(tmp_path: Path) -> None:
    put, kept = painter.file_writer(tmp_path / "m"), tmp_path / "m" / "0.svg"
    put("0.svg", "old")

    with (
        patch.object(Path, "replace", lambda *_: pytest.fail(kept.read_text())),
        pytest.raises(pytest.fail.Exception) as seen,
    ):
        put("0.svg", "new")

    assert str(seen.value) == "old"
    assert list((tmp_path / "m").iterdir()) == [kept]


def test_a_foreign_journal_cannot_choose_another_directory_for_pictures(tmp_path: Path) -> None:
    path, shown = record_journal(tmp_path / "games"), tmp_path / "pictures"
    lines = read_lines(damage_journal(path, "unfinished"))
    lines[0]["match"] = "../../outside"
    lines[0]["commitment"] = seed_commitment(bytes.fromhex(lines[0]["seed"]), "../../outside")
    path.write_bytes(seal_lines(lines))

    done = run_fairplay("resume", str(path), "--trust", "--quiet", "--pictures", str(shown))

    assert "'../../outside' is not a match id" in refusal_line(done)
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--pictures", "file"), "Invalid value for '--pictures': Directory 'file' is a file."),
        (("--pictures", "file/pictures"), "file/pictures cannot be created: Not a directory"),
        (("--pictures", "pictures", "--games", "3"), "--pictures cannot be used with --games"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")

    assert why in refusal_line(run_fairplay("play", "fish", "greedy", "random", *arguments))
