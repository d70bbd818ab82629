"""Test `fairplay replay`, on the terminal and with -o, which writes whole matches to files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageColor, ImageSequence

from fairplay.cli.options import files
from fairplay.games.fish.terminal import text
from fairplay.games.q.shapes import DARK, LIGHT
from fairplay.journal.replay import read_journal
from fairplay.observers.reporter import describe_event
from fairplay.page.replay import render_replay
from tests.cli.command import (
    SMALL_BOARD,
    CommandResult,
    damage_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    strip_scores,
)
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.cli.tournament_files import INLINE_OPTIONS, write_tournament_file


def test_a_match_is_shown_as_it_was_played(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("def take_turn(view): raise RuntimeError('a bad day')\n")
    players = ("ann=greedy", "bob=random", f"cyd={bot}")
    options = ("--seed", "7", "--journal", str(tmp_path / "games"))
    played = run_fairplay("play", "fish", *players, *SMALL_BOARD, *options)
    (path,) = (tmp_path / "games").iterdir()

    shown = run_fairplay("replay", str(path))

    out = "cyd is out: crashed (turn), the program ended with exit code 1"
    assert (shown.code, shown.err) == (0, "")
    assert played.out.startswith(shown.out)
    assert strip_scores(shown.out).count(out) == 2  # when it happened, and in the result
    assert "a bad day" not in shown.out


def test_the_board_is_shown_after_any_number_of_facts(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    recorded = read_journal(path)

    for facts in range(len(recorded.facts) + 1):
        done = run_fairplay("replay", str(path), "--at", str(facts))
        match = recorded.match_after(facts)
        last = "\n".join(describe_event(recorded.facts[facts - 1], match.names)) + "\n" if facts else ""
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(last)
        assert done.out.endswith(f"{text(match.view(None), match.names)}\n")


def test_an_unfinished_match_is_shown_as_far_as_it_went(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    whole = run_fairplay("replay", str(path)).out

    done = run_fairplay("replay", str(damage_journal(path, "unfinished")))

    shown, last = done.out.splitlines()[:-1], done.out.splitlines()[-1]
    assert done.code == 0
    assert last == "unfinished after fact 5"
    assert shown == whole.splitlines()[: len(shown)]


def test_a_match_becomes_a_page(tmp_path: Path) -> None:
    path, page, other = record_journal(tmp_path), tmp_path / "game.html", tmp_path / "other.html"

    done = run_fairplay("replay", str(path), "-o", str(page))
    run_script("replay", str(path), "-o", str(other), environment={"PYTHONHASHSEED": "1", "LC_ALL": "C"})

    assert done == CommandResult(0, f"replay: {page}\n", "")
    assert page.read_bytes() == other.read_bytes() == render_replay(path).encode()


def test_a_match_is_printed_as_a_seat_has_seen_it(tmp_path: Path) -> None:
    run_fairplay("play", "q", "random", "random", "--seed", "1", "--journal", str(tmp_path), "--quiet")
    [path] = tmp_path.glob("*.jsonl")

    shown = {seat: run_fairplay("replay", str(path), *seat).out for seat in ((), ("--seat", "0"), ("--seat", "1"))}

    assert len(set(shown.values())) == 3
    page = tmp_path / "game.html"
    why = refusal_line(run_fairplay("replay", str(damage_journal(path, "unfinished")), "-o", str(page)))
    assert why == f"{path}: this match is unfinished, and its hidden hands are not shown before it ends"
    assert not page.exists()


def test_a_sealed_match_becomes_a_page_when_its_tournament_has_revealed_the_seed(tmp_path: Path) -> None:
    tournament = write_tournament_file(tmp_path, format='{ kind = "duplicate", deals = 1 }')
    page = tmp_path / "game.html"
    assert run_fairplay("tournament", str(tournament), *INLINE_OPTIONS).code == 0
    path = min((tmp_path / "cup" / "matches").glob("*.jsonl"))
    assert read_journal(path).opening.sealed

    done = run_fairplay("replay", str(path), "-o", str(page))
    assert done == CommandResult(0, f"replay: {page}\n", "")

    alone = path.rename(tmp_path / path.name)  # where no tournament is
    why = refusal_line(run_fairplay("replay", str(alone), "-o", str(page)))
    assert why == f"{alone}: this match is sealed until the seed of its deal is revealed"


def shown(path: Path) -> Iterator[int]:
    """How long each picture of a GIF is shown."""
    with Image.open(path) as image:
        for frame in ImageSequence.Iterator(image):
            yield frame.info["duration"]


@pytest.mark.parametrize(
    ("options", "width", "each_ms"), [((), 600, 700), (("--width", "200", "--seconds", "0.25"), 200, 250)]
)
def test_a_gif_shows_every_position(options: tuple[str, ...], width: int, each_ms: int, tmp_path: Path) -> None:
    path, film = record_journal(tmp_path), tmp_path / "match.GIF"

    done = run_fairplay("replay", str(path), "-o", str(film), *options)

    assert done == CommandResult(0, f"replay: {film}\n", "")
    assert list(shown(film)) == [each_ms] * len(read_journal(path).facts) + [5 * each_ms]
    with Image.open(film) as image:
        assert (image.format, image.width) == ("GIF", width)
    assert run_fairplay("replay", str(damage_journal(path, "unfinished")), "-o", str(film)).code == 0
    assert len(list(shown(film))) == 6


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
    words = ("replay", str(path), "-o", str(film), "--width", "100")
    with PseudoTerminal(*words, environment={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait_for_exit() == 0
        return terminal.raw


def test_a_person_sees_how_far_it_is(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "greedy", "random", "--seed", "7", "--journal", str(tmp_path), "--quiet")
    (path,), film = tmp_path.glob("*.jsonl"), tmp_path / "match.gif"
    assert len(read_journal(path).facts) >= files.MIN_FRAMES_FOR_PROGRESS

    said = written_at_a_terminal(path, film)

    assert b"drawing" in said
    assert b"100%" in said
    assert f"replay: {film}".encode() in said.replace(b"\r\n", b"")

    path = record_journal(tmp_path / "short")  # for which there is no bar
    assert len(read_journal(path).facts) + 1 < files.MIN_FRAMES_FOR_PROGRESS
    assert written_at_a_terminal(path, film).replace(b"\r\n", b"") == f"replay: {film}".encode()
