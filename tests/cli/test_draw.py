"""Test `fairplay draw`."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from fairplay.games.fish.draw import svg
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.replay import read_journal
from tests.cli.command import (
    DAMAGE_MESSAGES,
    CommandResult,
    damage_journal,
    damage_message,
    forge_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_the_picture_shows_the_end_of_the_match(option: str, tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.svg"

    done = run_fairplay("draw", str(path), option, str(picture))

    recorded = read_journal(path)
    end, before = recorded.match_after(None), recorded.match_after(len(recorded.facts) - 1)
    assert done == CommandResult(0, f"picture: {picture}\n", "")
    assert picture.read_text(encoding="utf-8") == svg(end.view(None), end.names, before=before.view(None))
    assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_picture_shows_the_match_after_any_number_of_facts(tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.svg"
    recorded = read_journal(path)

    for facts in range(len(recorded.facts) + 1):
        done = run_fairplay("draw", str(path), "--at", str(facts), "-o", str(picture))
        match, before = recorded.match_after(facts), recorded.match_after(max(0, facts - 1))
        assert done.code == 0
        assert picture.read_text(encoding="utf-8") == svg(match.view(None), match.names, before=before.view(None))


def test_the_script_draws_the_same(tmp_path: Path) -> None:
    path, one, other = record_journal(tmp_path), tmp_path / "one.svg", tmp_path / "other.svg"

    run_fairplay("draw", str(path), "-o", str(one))
    done = run_script("draw", str(path), "-o", str(other), environment={"PYTHONHASHSEED": "1", "LC_ALL": "C"})

    assert done == CommandResult(0, f"picture: {other}\n", "")
    assert one.read_bytes() == other.read_bytes()


def test_an_unfinished_match_can_be_drawn(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")

    assert run_fairplay("draw", str(path), "-o", str(tmp_path / "board.svg")).code == 0


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_is_drawn(how: str, tmp_path: Path) -> None:
    path, picture = damage_journal(record_journal(tmp_path), how), tmp_path / "board.svg"

    assert refusal_line(run_fairplay("draw", str(path), "-o", str(picture))) == damage_message(path, how)
    assert not picture.exists()


def test_no_forged_match_is_drawn(tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    done = run_fairplay("draw", str(path), "--at", "1", "-o", str(tmp_path / "board.svg"))

    assert refusal_line(done).startswith(f"{path}: line 5: this is not legal: rule 3.3: ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-o", "board.gif"), "board.gif: the suffix for pictures must be .svg or .png"),
        (("-o", "board"), "board: the suffix for pictures must be .svg or .png"),
        (("-o", ".png"), ".png: the suffix for pictures must be .svg or .png"),
        (("-o", ""), ": the suffix for pictures must be .svg or .png"),
        (("-o", "nowhere/board.png"), "nowhere/board.png cannot be written: No such file or directory"),
        (("-o", "board.svg", "--seat", "2"), "there is no seat '2'; there are 0 (ann), 1 (bob)"),
        (("-o", "board.svg", "--width", "19"), "Invalid value for '--width': 19 is not in the range 20<=x<=30000."),
        (("-o", "board.svg", "--width", "wide"), "Invalid value for '--width': 'wide' is not a valid integer range."),
        (("-o", "board.png", "--width", "30000"), " pixels are too many; choose a smaller width"),
        (("-o", "nowhere/board.svg"), "nowhere/board.svg cannot be written: No such file or directory"),
        (("-o", "directory.svg"), "Invalid value for '-o' / '--output': File 'directory.svg' is a directory."),
        ((), "Missing option '-o' / '--output'."),
        (("-o",), "Option '-o' requires an argument."),
        (("-o", "board.svg", "--at", "-1"), "there is no position after -1 facts"),
        (("-o", "board.svg", "--at", "10000"), "there is no position after 10000 facts"),
        (("-o", "board.svg", "--at", "last"), "Invalid value for '--at': 'last' is not a valid integer."),
        (("-o", "board.svg", "--at", "1.5"), "Invalid value for '--at': '1.5' is not a valid integer."),
        (("-o", "board.svg", "--size", "3"), "No such option '--size'."),
    ],
)
def test_a_picture_that_cannot_be_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record_journal(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "directory.svg").mkdir()

    assert why in refusal_line(run_fairplay("draw", str(path), *arguments))
    assert not list(tmp_path.glob("board*"))


def test_the_last_placement_of_q_is_marked(tmp_path: Path) -> None:
    done = run_fairplay("play", "q", "ann=dag", "bob=dag", "--seed", "1", "--journal", str(tmp_path), "--quiet")
    assert done.code == 0
    (path,) = tmp_path.glob("*.jsonl")

    run_fairplay("draw", str(path), "--at", "0", "-o", str(tmp_path / "before.svg"))
    run_fairplay("draw", str(path), "--at", "1", "-o", str(tmp_path / "after.svg"))

    assert 'href="#q-last"' not in (tmp_path / "before.svg").read_text()
    assert 'href="#q-last"' in (tmp_path / "after.svg").read_text()


def q_match(directory: Path, *names: str) -> Path:
    one, other = names or ("ann", "bob")
    done = run_fairplay(
        "play", "q", f"{one}=dag", f"{other}=dag", "--seed", "1", "--journal", str(directory), "--quiet"
    )
    assert done.code == 0
    (path,) = directory.glob("*.jsonl")
    return path


@pytest.mark.parametrize(("option", "width"), [((), 1200), (("--width", "300"), 300), (("--width", "801"), 801)])
def test_a_png_is_as_wide_as_it_was_asked_for(option: tuple[str, ...], width: int, tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.png"

    done = run_fairplay("draw", str(path), *option, "-o", str(picture))

    assert done == CommandResult(0, f"picture: {picture}\n", "")
    with Image.open(picture) as image:
        assert (image.format, image.width) == ("PNG", width)
        ratio = image.height / image.width
    end = read_journal(path).match_after(None)
    root = ElementTree.fromstring(svg(end.view(None), end.names, small=width < 450))
    assert ratio == pytest.approx(float(root.get("height", "")) / float(root.get("width", "")), abs=0.01)


def test_an_svg_is_as_wide_as_it_was_asked_for(tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.svg"
    run_fairplay("draw", str(path), "-o", str(picture))
    natural = ElementTree.parse(picture).getroot()

    run_fairplay("draw", str(path), "--width", "500", "-o", str(picture))

    root = ElementTree.parse(picture).getroot()
    assert root.get("width") == "500"
    assert root.get("viewBox") == natural.get("viewBox")
    wide, high = (float(natural.get(side, "")) for side in ("width", "height"))
    assert float(root.get("height", "")) == pytest.approx(500 * high / wide, abs=0.01)


def test_a_dash_prints_the_picture_and_nothing_else(tmp_path: Path) -> None:
    path, picture = q_match(tmp_path, "Zoë", "王"), tmp_path / "board.svg"
    run_fairplay("draw", str(path), "-o", str(picture))
    written = ElementTree.canonicalize(picture.read_text(encoding="utf-8"))

    for encoding in ("utf-8", "ascii", "latin-1"):
        done = run_script("draw", str(path), "-o", "-", environment={"PYTHONIOENCODING": encoding})
        assert (done.code, done.err) == (0, "")
        assert ElementTree.canonicalize(done.out) == written


def test_a_seat_sees_its_own_hand_once_the_match_is_over(tmp_path: Path) -> None:
    path = q_match(tmp_path)

    public, ann, zero, bob = (
        run_fairplay("draw", str(path), "--at", "3", *seat, "-o", "-").out
        for seat in ((), ("--seat", "ann"), ("--seat", "0"), ("--seat", "1"))
    )

    assert 'id="q-hands"' not in public
    assert 'id="q-hands"' in ann
    assert ann == zero != bob


def test_no_hand_is_drawn_while_the_match_is_unfinished(tmp_path: Path) -> None:
    path = damage_journal(q_match(tmp_path), "unfinished")

    refused = run_fairplay("draw", str(path), "--at", "3", "--seat", "ann", "-o", "-")
    public = run_fairplay("draw", str(path), "--at", "3", "-o", "-")

    assert refusal_line(refused) == (
        f"{path}: this match is unfinished, and its hidden hands are not shown before it ends; show it without --seat"
    )
    assert public.code == 0
    assert 'id="q-hands"' not in public.out


def test_no_hand_is_drawn_while_the_match_is_sealed(tmp_path: Path) -> None:
    players = (Entrant("dag", "ann"), Entrant("dag", "bob"))
    run(MatchSpec(game="q", entrants=players, journal=str(tmp_path), seed=bytes(32), sealed=True))
    (path,) = tmp_path.glob("*.jsonl")

    refused = run_fairplay("draw", str(path), "--seat", "ann", "-o", "-")

    assert refusal_line(refused) == (
        f"{path}: this match is sealed until the seed of its deal is revealed; show it without --seat"
    )
    assert run_fairplay("draw", str(path), "-o", "-").code == 0


def test_where_nothing_is_hidden_a_seat_sees_an_unfinished_match_too(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")

    assert run_fairplay("draw", str(path), "--seat", "ann", "-o", "-").code == 0


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


def test_without_the_extra_a_png_is_refused_and_an_svg_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.png"
    monkeypatch.setitem(sys.modules, "pyvips", None)

    done = run_fairplay("draw", str(path), "-o", str(picture))

    assert refusal_line(done) == "PNG and GIF need pyvips, which is missing: pip install 'fairplay[images]'"
    assert not picture.exists()
    assert run_fairplay("draw", str(path), "-o", str(tmp_path / "board.svg")).code == 0


def test_a_disk_that_is_full_is_said(tmp_path: Path) -> None:
    path, picture = record_journal(tmp_path), tmp_path / "board.png"
    picture.symlink_to("/dev/full")

    assert refusal_line(run_fairplay("draw", str(path), "-o", str(picture))) == (
        f"{picture} cannot be written: No space left on device"
    )
