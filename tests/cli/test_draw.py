"""Try out fairplay draw."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fairplay.games.fish.draw import svg
from fairplay.journal.replay import read
from tests.cli.command import BROKEN, Done, complaint, fairplay, forged, journal, refusal, script, spoil


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_the_picture_shows_the_end_of_the_match(option: str, tmp_path: Path) -> None:
    path, picture = journal(tmp_path), tmp_path / "board.svg"

    done = fairplay("draw", str(path), option, str(picture))

    recorded = read(path)
    end, before = recorded.at(None), recorded.at(len(recorded.facts) - 1)
    assert done == Done(0, f"picture: {picture}\n", "")
    assert picture.read_text(encoding="utf-8") == svg(end.view(None), end.names, before=before.view(None))
    assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_picture_shows_the_match_after_any_number_of_facts(tmp_path: Path) -> None:
    path, picture = journal(tmp_path), tmp_path / "board.svg"
    recorded = read(path)

    for facts in range(len(recorded.facts) + 1):
        done = fairplay("draw", str(path), "--at", str(facts), "-o", str(picture))
        match, before = recorded.at(facts), recorded.at(max(0, facts - 1))
        assert done.code == 0
        assert picture.read_text(encoding="utf-8") == svg(match.view(None), match.names, before=before.view(None))


def test_the_script_draws_the_same(tmp_path: Path) -> None:
    path, one, other = journal(tmp_path), tmp_path / "one.svg", tmp_path / "other.svg"

    fairplay("draw", str(path), "-o", str(one))
    done = script("draw", str(path), "-o", str(other), environment={"PYTHONHASHSEED": "1", "LC_ALL": "C"})

    assert done == Done(0, f"picture: {other}\n", "")
    assert one.read_bytes() == other.read_bytes()


def test_an_unfinished_match_can_be_drawn(tmp_path: Path) -> None:
    path = spoil(journal(tmp_path), "unfinished")

    assert fairplay("draw", str(path), "-o", str(tmp_path / "board.svg")).code == 0


@pytest.mark.parametrize("how", BROKEN)
def test_no_broken_journal_is_drawn(how: str, tmp_path: Path) -> None:
    path, picture = spoil(journal(tmp_path), how), tmp_path / "board.svg"

    assert refusal(fairplay("draw", str(path), "-o", str(picture))) == complaint(path, how)
    assert not picture.exists()


def test_no_forged_match_is_drawn(tmp_path: Path) -> None:
    path = forged(journal(tmp_path))

    done = fairplay("draw", str(path), "--at", "1", "-o", str(tmp_path / "board.svg"))

    assert refusal(done).startswith(f"{path}: line 5: this is not lawful: rule 3.3: ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-o", "board.png"), "board.png: pictures are written as .svg"),
        (("-o", "board"), "board: pictures are written as .svg"),
        (("-o", ""), ": pictures are written as .svg"),
        (("-o", "nowhere/board.svg"), "nowhere/board.svg cannot be written: No such file or directory"),
        (("-o", "folder.svg"), "Invalid value for '-o' / '--output': File 'folder.svg' is a directory."),
        ((), "Missing option '-o' / '--output'."),
        (("-o",), "Option '-o' requires an argument."),
        (("-o", "board.svg", "--at", "-1"), "there is nothing after -1 facts"),
        (("-o", "board.svg", "--at", "10000"), "there is nothing after 10000 facts"),
        (("-o", "board.svg", "--at", "last"), "Invalid value for '--at': 'last' is not a valid integer."),
        (("-o", "board.svg", "--at", "1.5"), "Invalid value for '--at': '1.5' is not a valid integer."),
        (("-o", "board.svg", "--size", "3"), "No such option '--size'."),
    ],
)
def test_a_picture_that_cannot_be_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()

    assert why in refusal(fairplay("draw", str(path), *arguments))
    assert not (tmp_path / "board.svg").exists()


def test_the_last_placement_of_q_is_marked(tmp_path: Path) -> None:
    done = fairplay("play", "q", "ann=dag", "bob=dag", "--seed", "1", "--journal", str(tmp_path), "--quiet")
    assert done.code == 0
    (path,) = tmp_path.glob("*.jsonl")

    fairplay("draw", str(path), "--at", "0", "-o", str(tmp_path / "before.svg"))
    fairplay("draw", str(path), "--at", "1", "-o", str(tmp_path / "after.svg"))

    assert 'href="#q-last"' not in (tmp_path / "before.svg").read_text()
    assert 'href="#q-last"' in (tmp_path / "after.svg").read_text()
