"""Try out --pictures of fairplay play and resume: every change is drawn as it happens."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fairplay.core.chance import commitment_to
from fairplay.games import title
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import read
from fairplay.observers import painter
from tests.cli.command import fairplay, journal, refusal, spoil
from tests.journal.journals import plain, sealed

NUMBERED = re.compile(r"(\d+)\.svg")


def drawn(folder: Path) -> list[str]:
    """The pictures in a folder, in order; there is nothing else in it."""
    found = {int(NUMBERED.fullmatch(path.name)[1]): path for path in folder.iterdir()}  # type: ignore[index]
    assert sorted(found) == list(range(len(found)))
    assert sorted(found) == [number for number, _ in sorted(found.items(), key=lambda it: it[1].name)], "as ls sorts"
    return [found[number].read_text(encoding="utf-8") for number in sorted(found)]


@pytest.mark.parametrize(
    ("game", "player"), [("fish", "greedy"), ("tsuro", "second"), ("q", "dag")], ids=["fish", "tsuro", "q"]
)
def test_every_change_is_drawn_as_spectators_see_it(game: str, player: str, tmp_path: Path) -> None:
    games, shown = tmp_path / "games", tmp_path / "some" / "pictures"
    quick = [word for name, value in title(game).quick.items() for word in ("--set", f"{name}={value}")]

    done = fairplay(
        *("play", game, f"ann={player}", f"bob={player}", f"cyd={player}", *quick, "--seed", "1", "--quiet"),
        *("--journal", str(games), "--pictures", str(shown)),
    )

    (path,), (folder,) = games.glob("*.jsonl"), shown.iterdir()
    assert done.code == 0
    assert f"pictures: {folder}\n" in done.out
    assert folder.name == path.stem
    assert drawn(folder) == list(pictures(read(path)))


def test_it_is_drawn_before_the_next_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = painter.into

    def spying(folder: Path) -> painter.Show:
        put = real(folder)

        def show(name: str, text: str) -> None:
            put(name, text)
            seen.append(sorted(path.name for path in folder.iterdir()))

        return show

    monkeypatch.setattr("fairplay.observers.painter.into", spying)
    fairplay("play", "fish", "greedy", "random", "--set", "rows=3", "--quiet", "--pictures", str(tmp_path))

    assert seen[:3] == [["000.svg"], ["000.svg", "001.svg"], ["000.svg", "001.svg", "002.svg"]]


def test_two_matches_have_folders_of_their_own(tmp_path: Path) -> None:
    for _ in range(2):
        done = fairplay("play", "fish", "greedy", "random", "--set", "rows=3", "--quiet", "--pictures", str(tmp_path))
        assert done.code == 0

    one, other = (drawn(folder) for folder in tmp_path.iterdir())
    assert one
    assert other


def test_a_match_that_goes_on_adds_to_its_pictures(tmp_path: Path) -> None:
    games, shown = tmp_path / "games", tmp_path / "pictures"
    command = ("play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--seed", "7", "--quiet")
    fairplay(*command, "--journal", str(games), "--pictures", str(shown))
    (path,), (folder,) = games.glob("*.jsonl"), shown.iterdir()
    before = drawn(folder)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7]))
    for number in range(6, len(before)):
        (folder / f"{number:03}.svg").unlink()

    done = fairplay("resume", str(path), "--quiet", "--pictures", str(shown))

    assert done.code == 0
    assert list(shown.iterdir()) == [folder]
    assert drawn(folder)[:5] == before[:5]
    assert drawn(folder)[6:] == before[6:], "the same players go on as they would have"


def test_the_pictures_of_a_branch_are_numbered_like_the_positions_of_its_match(tmp_path: Path) -> None:
    path, shown = journal(tmp_path / "games"), tmp_path / "pictures"

    done = fairplay("resume", str(path), "greedy", "random", "--at", "4", "--quiet", "--pictures", str(shown))

    (folder,) = shown.iterdir()
    assert done.code == 0
    assert folder.name != path.stem
    assert min(int(picture.stem) for picture in folder.iterdir()) == 4


def vanishing(folder: Path, name: str, text: str) -> None:
    """Somebody moves the folder away."""
    folder.parent.rename(folder.parent.with_name("elsewhere"))


def blocking(folder: Path, name: str, text: str) -> None:
    """Something is in the way of the next picture."""
    (folder / "003.svg").mkdir()


@pytest.mark.parametrize(
    ("harm", "why"), [(vanishing, "No such file or directory"), (blocking, "Is a directory")], ids=["gone", "blocked"]
)
def test_a_folder_that_fails_costs_the_pictures_and_never_the_match(
    harm: Any, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, real = tmp_path / "pictures", painter.into

    def harmed(folder: Path) -> painter.Show:
        put = real(folder)

        def show(name: str, text: str) -> None:
            put(name, text)
            if name == "002.svg":
                harm(folder, name, text)

        return show

    monkeypatch.setattr("fairplay.observers.painter.into", harmed)
    done = fairplay("play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--quiet", "--pictures", str(shown))

    assert done.code == 0
    assert re.search(r"^1\. ", done.out, re.MULTILINE)
    assert ("pictures: " in done.out) == (harm is blocking)
    dropped = r"fairplay: observer Painter was dropped: HostFault: .*/003\.svg cannot be written"
    assert re.fullmatch(rf"{dropped}: {why} \(painter\.py, .*\)\n", done.err)
    left = sorted(path.name for path in tmp_path.rglob("*.svg*"))
    assert left == ["000.svg", "001.svg", "002.svg", *(["003.svg"] if harm is blocking else [])]
    assert not list(tmp_path.rglob(".*")), "nothing half-written is left"


def test_nobody_ever_sees_half_a_picture(tmp_path: Path) -> None:
    put, kept = painter.into(tmp_path / "m"), tmp_path / "m" / "0.svg"
    put("0.svg", "old")

    with (
        patch.object(Path, "replace", lambda *_: pytest.fail(kept.read_text())),
        pytest.raises(pytest.fail.Exception) as seen,
    ):
        put("0.svg", "new")

    assert str(seen.value) == "old"
    assert list((tmp_path / "m").iterdir()) == [kept]


def test_a_record_of_somebody_else_names_no_other_folder(tmp_path: Path) -> None:
    path, shown = journal(tmp_path / "games"), tmp_path / "pictures"
    lines = plain(spoil(path, "unfinished"))
    lines[0]["match"] = "../../outside"
    lines[0]["commitment"] = commitment_to(bytes.fromhex(lines[0]["seed"]), "../../outside")
    path.write_bytes(sealed(lines))

    done = fairplay("resume", str(path), "--trust", "--quiet", "--pictures", str(shown))

    assert "'../../outside' is no id of a match" in refusal(done)
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--pictures", "file"), "Invalid value for '--pictures': Directory 'file' is a file."),
        (("--pictures", "file/pictures"), "file/pictures cannot be made: Not a directory"),
        (("--pictures", "pictures", "--games", "3"), "--pictures makes no sense with --games"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")

    assert why in refusal(fairplay("play", "fish", "greedy", "random", *arguments))
