"""Test `fairplay replay -o`, which writes whole matches to files."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image, ImageColor, ImageSequence

from fairplay.cli.options import files
from fairplay.games.q.shapes import DARK, LIGHT
from fairplay.journal.replay import read_journal
from tests.cli.command import (
    DAMAGE_MESSAGES,
    INSTALLED_COMMAND,
    CommandResult,
    damage_journal,
    damage_message,
    record_journal,
    refusal_line,
    run_fairplay,
)


def shown(path: Path) -> Iterator[int]:
    """How long each picture of a GIF is shown."""
    with Image.open(path) as image:
        for frame in ImageSequence.Iterator(image):
            yield frame.info["duration"]


def test_a_gif_shows_every_position(tmp_path: Path) -> None:
    path, film = record_journal(tmp_path), tmp_path / "match.gif"

    done = run_fairplay("replay", str(path), "-o", str(film))

    assert done == CommandResult(0, f"replay: {film}\n", "")
    assert list(shown(film)) == [700] * len(read_journal(path).facts) + [3500]
    with Image.open(film) as image:
        assert (image.format, image.width) == ("GIF", 600)


def test_its_width_and_its_pace_can_be_chosen(tmp_path: Path) -> None:
    path, film = record_journal(tmp_path), tmp_path / "match.GIF"

    done = run_fairplay("replay", str(path), "-o", str(film), "--width", "200", "--seconds", "0.25")

    assert done.code == 0
    assert list(shown(film)) == [250] * len(read_journal(path).facts) + [1250]
    with Image.open(film) as image:
        assert image.width == 200


def test_a_gif_can_be_dark_and_show_the_view_of_a_seat(tmp_path: Path) -> None:
    run_fairplay("play", "q", "ann=best", "bob=best", "--seed", "7", "--journal", str(tmp_path), "--quiet")
    (path,) = tmp_path.glob("*.jsonl")
    sizes = {}
    for name, options in {"light": (), "dark": ("--dark",), "ann": ("--dark", "--seat", "ann")}.items():
        assert run_fairplay("replay", str(path), "-o", str(tmp_path / f"{name}.gif"), *options).code == 0
        with Image.open(tmp_path / f"{name}.gif") as image:
            sizes[name] = image.size
            ground = (LIGHT if name == "light" else DARK).ground
            assert image.convert("RGB").getpixel((300, 1)) == pytest.approx(ImageColor.getrgb(ground), abs=3)

    assert sizes["light"] == sizes["dark"]
    assert sizes["ann"][1] > sizes["dark"][1], "there is a hand below the board"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert "unfinished" in refusal_line(
        run_fairplay("replay", str(path), "-o", str(tmp_path / "x.gif"), "--seat", "ann")
    )
    assert not (tmp_path / "x.gif").exists()


def test_an_unfinished_match_is_written_as_far_as_it_went(tmp_path: Path) -> None:
    path, film = damage_journal(record_journal(tmp_path), "unfinished"), tmp_path / "match.gif"

    done = run_fairplay("replay", str(path), "-o", str(film))

    assert done.code == 0
    assert len(list(shown(film))) == 6


def test_of_a_long_match_some_positions_are_left_out_but_not_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, film, asked = damage_journal(record_journal(tmp_path), "unfinished"), tmp_path / "match.gif", []
    monkeypatch.setattr(files, "MAX_GIF_POSITIONS", 4)
    monkeypatch.setattr(files, "pictures", lambda recorded, *_, **__: map(str, range(len(recorded.facts) + 1)))

    def spy(some: list[str], *_: object) -> bytes:
        asked.append(some)
        return b""

    monkeypatch.setattr(files, "gif", spy)

    done = run_fairplay("replay", str(path), "-o", str(film))

    assert done.err == "fairplay: the match has 6 positions; one in 2 is shown\n"
    assert asked == [["0", "2", "4", "5"]]


def written_at_a_terminal(path: Path, film: Path) -> bytes:
    """What a person sees while a match is written into a file."""
    child, terminal = pty.fork()
    if not child:
        env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
        os.execve(INSTALLED_COMMAND, ["fairplay", "replay", str(path), "-o", str(film), "--width", "100"], env)
    said = b""
    with suppress(OSError):  # which is how the end is told
        while more := os.read(terminal, 65536):
            said += more
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return said


def test_a_person_sees_how_far_it_is(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "greedy", "random", "--seed", "7", "--journal", str(tmp_path), "--quiet")
    (path,), film = tmp_path.glob("*.jsonl"), tmp_path / "match.gif"
    assert len(read_journal(path).facts) >= files.MIN_FRAMES_FOR_PROGRESS

    said = written_at_a_terminal(path, film)

    assert b"drawing" in said
    assert b"100%" in said
    assert f"replay: {film}".encode() in said.replace(b"\r\n", b"")


def test_a_person_sees_no_bar_for_a_short_match(tmp_path: Path) -> None:
    path, film = record_journal(tmp_path), tmp_path / "match.gif"
    assert len(read_journal(path).facts) + 1 < files.MIN_FRAMES_FOR_PROGRESS

    said = written_at_a_terminal(path, film)

    assert said.replace(b"\r\n", b"") == f"replay: {film}".encode()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-o", "match.mp4"), "match.mp4: the suffix for replays must be .html or .gif"),
        (("-o", "match"), "match: the suffix for replays must be .html or .gif"),
        (("-o", ""), ": the suffix for replays must be .html or .gif"),
        (("-o", "-"), "-: the suffix for replays must be .html or .gif"),
        (("-o", "nowhere/match.gif"), "nowhere/match.gif cannot be written: No such file or directory"),
        (("-o", "directory.gif"), "Invalid value for '-o' / '--output': File 'directory.gif' is a directory."),
        (("-o", "match.gif", "--seconds", "0"), "a picture can be shown for 0.02 to 60 seconds, not 0.0"),
        (("-o", "match.gif", "--seconds", "nan"), "a picture can be shown for 0.02 to 60 seconds, not nan"),
        (("-o", "match.gif", "--seconds", "1e9"), "a picture can be shown for 0.02 to 60 seconds, not 1000000000.0"),
        (("-o", "match.gif", "--seconds", "soon"), "Invalid value for '--seconds': 'soon' is not a valid float"),
        (("-o", "match.gif", "--width", "20000"), " pixels are too many; choose a smaller width"),
        (("-o", "match.gif", "--at", "0"), "--at is for a position on the terminal; a file shows all positions"),
        (("-o", "match.gif", "--at", "3"), "--at is for a position on the terminal; a file shows all positions"),
        (
            ("-o", "match.html", "--width", "300"),
            "are for a GIF; a page has buttons for these, and fits its window",
        ),
        (
            ("-o", "match.html", "--seconds", "1"),
            "are for a GIF; a page has buttons for these, and fits its window",
        ),
        (("-o", "match.html", "--dark"), "--width, --seconds, --seat and --dark are for a GIF; a page has buttons"),
        (("--width", "300"), "--width, --seconds and --dark are for a GIF: add -o FILE.gif"),
        (("--seconds", "1"), "--width, --seconds and --dark are for a GIF: add -o FILE.gif"),
        (("-o", "match.gif", "--seat", "nobody"), "nobody"),
    ],
)
def test_a_file_that_cannot_be_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record_journal(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "directory.gif").mkdir()

    assert why in refusal_line(run_fairplay("replay", str(path), *arguments))
    assert not list(tmp_path.glob("match*"))


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_is_written(how: str, tmp_path: Path) -> None:
    path, film = damage_journal(record_journal(tmp_path), how), tmp_path / "match.gif"

    assert refusal_line(run_fairplay("replay", str(path), "-o", str(film))) == damage_message(path, how)
    assert not film.exists()


def test_without_the_extra_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, film = record_journal(tmp_path), tmp_path / "match.gif"
    monkeypatch.setitem(sys.modules, "pyvips", None)

    done = run_fairplay("replay", str(path), "-o", str(film))

    assert refusal_line(done) == "PNG and GIF need pyvips, which is missing: pip install 'fairplay[images]'"
    assert not film.exists()
