"""Test `fairplay draw`, and --pictures of other commands, which draws every change as it happens."""

import re
import sys
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from PIL import Image

from fairplay.games import game_info
from fairplay.games.fish.draw import svg
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import read_journal
from fairplay.observers import painter
from tests.cli.command import (
    CommandResult,
    damage_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)


def test_the_picture_shows_the_match_after_any_number_of_facts_and_its_end(tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.svg"
    recorded = read_journal(path)

    for facts in (*range(len(recorded.facts) + 1), None):
        at = ("--output", str(picture)) if facts is None else ("--at", str(facts), "-o", str(picture))
        done = run_fairplay("draw", str(path), *at)
        match = recorded.match_after(facts)
        before = recorded.match_after(max(0, len(recorded.facts) - 1 if facts is None else facts - 1))
        assert done == CommandResult(0, f"picture: {picture}\n", "")
        assert picture.read_text(encoding="utf-8") == svg(match.view(None), match.names, before=before.view(None))
    assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"

    damage_journal(path, "unfinished")
    assert run_fairplay("draw", str(path), "--seat", "ann", "-o", "-").code == 0  # as nothing is hidden


def q_match(directory: Path, one: str = "ann", other: str = "bob") -> Path:
    players = (f"{one}=dag", f"{other}=dag")
    assert run_fairplay("play", "q", *players, "--seed", "1", "--journal", str(directory), "--quiet").code == 0
    (path,) = directory.glob("*.jsonl")
    return path


@pytest.mark.parametrize(("option", "width"), [((), 1200), (("--width", "300"), 300)])
def test_a_picture_is_as_wide_as_it_was_asked_for(option: tuple[str, ...], width: int, tmp_path: Path) -> None:
    path, png, drawing = record_journal(tmp_path), tmp_path / "board.png", tmp_path / "board.svg"

    for picture in (png, drawing):
        assert run_fairplay("draw", str(path), *option, "-o", str(picture)).code == 0

    with Image.open(png) as image:
        assert (image.format, image.width) == ("PNG", width)
        ratio = image.height / image.width
    root = ElementTree.parse(drawing).getroot()
    wide, high = float(root.get("width", "")), float(root.get("height", ""))
    assert not option or wide == width
    assert ratio == pytest.approx(high / wide, abs=0.01)


def test_a_dash_prints_the_picture_and_nothing_else(tmp_path: Path) -> None:
    path, picture = q_match(tmp_path, "Zoë", "王"), tmp_path / "board.svg"
    run_fairplay("draw", str(path), "-o", str(picture))
    written = ElementTree.canonicalize(picture.read_text(encoding="utf-8"))

    for encoding in ("utf-8", "ascii", "latin-1"):
        done = run_script("draw", str(path), "-o", "-", environment={"PYTHONIOENCODING": encoding})
        assert (done.code, done.err) == (0, "")
        assert ElementTree.canonicalize(done.out) == written


def test_a_seat_sees_its_own_hand_once_the_match_is_over_and_no_sooner(tmp_path: Path) -> None:
    path = q_match(tmp_path)

    public, ann, zero, bob = (
        run_fairplay("draw", str(path), "--at", "3", *seat, "-o", "-").out
        for seat in ((), ("--seat", "ann"), ("--seat", "0"), ("--seat", "1"))
    )

    assert 'id="q-hands"' not in public
    assert 'id="q-hands"' in ann
    assert ann == zero != bob

    damage_journal(path, "unfinished")
    refused = run_fairplay("draw", str(path), "--at", "3", "--seat", "ann", "-o", "-")
    why = "this match is unfinished, and its hidden hands are not shown before it ends; show it without --seat"
    assert refusal_line(refused) == f"{path}: {why}"
    assert run_fairplay("draw", str(path), "--at", "3", "-o", "-").out == public


def test_no_hand_is_drawn_while_the_match_is_sealed(tmp_path: Path) -> None:
    players = (Entrant("dag", "ann"), Entrant("dag", "bob"))
    run(MatchSpec(game="q", entrants=players, journal=str(tmp_path), seed=bytes(32), sealed=True))
    (path,) = tmp_path.glob("*.jsonl")

    refused = run_fairplay("draw", str(path), "--seat", "ann", "-o", "-")

    assert refusal_line(refused) == (
        f"{path}: this match is sealed until the seed of its deal is revealed; show it without --seat"
    )
    assert run_fairplay("draw", str(path), "-o", "-").code == 0


def test_how_it_looks_is_left_to_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = record_journal(tmp_path), []

    def spy(*_: object, **look: object) -> str:
        asked.append({name: look[name] for name in ("dark", "small")})
        return '<svg width="9" height="9"/>'

    monkeypatch.setattr("fairplay.cli.draw.picture_at", spy)
    for options in ((), ("--dark",), ("--width", "449"), ("--width", "450")):
        run_fairplay("draw", str(path), *options, "-o", "-")

    light, large = {"dark": False}, {"small": False}
    assert asked == [{**light, **large}, {"dark": True, **large}, {**light, "small": True}, {**light, **large}]


def test_where_there_are_no_fonts_that_is_said(tmp_path: Path) -> None:
    path, picture, config = record_journal(tmp_path), tmp_path / "board.png", tmp_path / "fonts.conf"
    config.write_text(f"<?xml version='1.0'?><fontconfig><dir>{tmp_path}</dir></fontconfig>")

    done = run_script("draw", str(path), "-o", str(picture), environment={"FONTCONFIG_FILE": str(config)})

    assert (done.code, done.out) == (0, f"picture: {picture}\n")
    assert done.err == (
        "fairplay: this machine has no fonts, so letters become boxes; "
        "to install some: apt-get install fontconfig fonts-dejavu-core\n"
    )


def test_without_the_extra_a_png_or_gif_is_refused_and_an_svg_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, picture = str(record_journal(tmp_path)), tmp_path / "board"
    monkeypatch.setitem(sys.modules, "pyvips", None)

    for verb, suffix in (("draw", "png"), ("replay", "gif")):
        why = refusal_line(run_fairplay(verb, path, "-o", f"{picture}.{suffix}"))
        assert why == "PNG and GIF need pyvips, which is missing: pip install 'fairplay[images]'"
    assert list(tmp_path.glob("board*")) == []
    assert run_fairplay("draw", path, "-o", f"{picture}.svg").code == 0


NUMBERED = re.compile(r"(\d+)\.svg")


def drawn(directory: Path) -> list[str]:
    """The pictures in a directory, in order; there is nothing else in it."""
    found = {int(NUMBERED.fullmatch(path.name)[1]): path for path in directory.iterdir()}  # type: ignore[index]
    assert sorted(found) == list(range(len(found)))
    assert sorted(found) == [number for number, _ in sorted(found.items(), key=lambda it: it[1].name)], "as ls sorts"
    return [found[number].read_text(encoding="utf-8") for number in sorted(found)]


@pytest.mark.parametrize(("game", "player"), [("fish", "greedy"), ("tsuro", "second"), ("q", "dag")])
def test_every_change_is_drawn_as_spectators_see_it(game: str, player: str, tmp_path: Path) -> None:
    games, shown = tmp_path / "games", tmp_path / "some" / "pictures"
    quick = [f"--set={name}={value}" for name, value in game_info(game).quick.items()]
    players = (f"ann={player}", f"bob={player}", f"cyd={player}")

    done = run_fairplay(
        "play", game, *players, *quick, "--seed", "1", "--quiet", "--journal", str(games), "--pictures", str(shown)
    )

    (path,), (directory,) = games.glob("*.jsonl"), shown.iterdir()
    assert done.code == 0
    assert f"pictures: {directory}\n" in done.out
    assert directory.name == path.stem
    assert drawn(directory) == list(pictures(read_journal(path)))


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


@pytest.mark.parametrize(
    ("harm", "why"), [("is moved away", "No such file or directory"), ("is blocked", "Is a directory")]
)
def test_a_directory_that_fails_costs_the_pictures_and_never_the_match(
    harm: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, real = tmp_path / "pictures", painter.file_writer

    def harmed(directory: Path) -> painter.WriteFile:
        put = real(directory)

        def show(name: str, text: str) -> None:
            put(name, text)
            if name == "002.svg" and harm == "is blocked":
                (directory / "003.svg").mkdir()
            elif name == "002.svg":
                directory.parent.rename(directory.parent.with_name("elsewhere"))

        return show

    monkeypatch.setattr("fairplay.observers.painter.file_writer", harmed)
    done = run_fairplay(
        "play", "fish", "ann=greedy", "bob=random", "--set", "rows=4", "--quiet", "--pictures", str(shown)
    )

    assert done.code == 0
    assert "1. " in done.out
    assert ("pictures: " in done.out) == (harm == "is blocked")
    dropped = r"fairplay: observer Painter was dropped: HostFault: .*/003\.svg cannot be written"
    assert re.fullmatch(rf"{dropped}: {why} \(painter\.py, .*\)\n", done.err)
    left = sorted(path.name for path in tmp_path.rglob("*.svg*"))
    assert left == ["000.svg", "001.svg", "002.svg", *(["003.svg"] if harm == "is blocked" else [])]
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
