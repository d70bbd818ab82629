"""Test `fairplay replay`."""

from pathlib import Path

import pytest

from fairplay.games.fish.terminal import text
from fairplay.journal.replay import read_journal
from fairplay.observers.reporter import describe_event
from fairplay.page.replay import render_replay
from tests.cli.command import (
    DAMAGE_MESSAGES,
    SMALL_BOARD,
    CommandResult,
    damage_journal,
    damage_message,
    forge_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    strip_scores,
)
from tests.cli.tournament_files import INLINE_OPTIONS, write_tournament_file

CRASHES = "def take_turn(view): raise RuntimeError('a bad day')\n"


def test_a_match_is_shown_as_it_was_played(tmp_path: Path) -> None:
    players = ("ann=greedy", "bob=random", "cyd=lookahead:1")
    played = run_fairplay("play", "fish", *players, *SMALL_BOARD, "--seed", "7", "--journal", str(tmp_path))
    (path,) = tmp_path.iterdir()

    shown = run_fairplay("replay", str(path))

    assert (shown.code, shown.err) == (0, "")
    assert played.out.startswith(f"{shown.out}journal: {path}\nreceipt: ")


def test_a_match_with_ejections_is_shown_as_it_was_played(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(CRASHES)
    path = record_journal(tmp_path, "ann=greedy", f"bob={bot}", "cyd=random")

    shown = strip_scores(run_fairplay("replay", str(path)).out)

    out = "bob is out: crashed (turn), the program ended with exit code 1"
    assert shown.count(out) == 2  # when it happened, and in the result
    assert not any("a bad day" in line for line in shown)


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


def test_the_script_shows_the_same(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert run_script("replay", str(path)) == run_fairplay("replay", str(path))


def test_an_unfinished_match_is_shown_as_far_as_it_went(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    whole = run_fairplay("replay", str(path)).out

    done = run_fairplay("replay", str(damage_journal(path, "unfinished")))

    shown, last = done.out.splitlines()[:-1], done.out.splitlines()[-1]
    assert done.code == 0
    assert last == "unfinished after fact 5"
    assert shown == whole.splitlines()[: len(shown)]


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
@pytest.mark.parametrize("arguments", [(), ("--at", "1")])
def test_no_broken_journal_is_shown(how: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("replay", str(path), *arguments)) == damage_message(path, how)


@pytest.mark.parametrize("arguments", [(), ("--at", "1")])
def test_no_forged_match_is_shown(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    assert refusal_line(run_fairplay("replay", str(path), *arguments)).startswith(
        f"{path}: line 5: this is not legal: rule 3.3: "
    )


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ("-1", "there is no position after -1 facts: the match has "),
        ("10000", "there is no position after 10000 facts: the match has "),
        ("9" * 5000, "Invalid value for '--at': '999"),
        ("last", "Invalid value for '--at': 'last' is not a valid integer."),
        ("", "Invalid value for '--at': '' is not a valid integer."),
    ],
)
def test_a_place_that_is_not_in_the_match_is_refused(at: str, why: str, tmp_path: Path) -> None:
    assert why in refusal_line(run_fairplay("replay", str(record_journal(tmp_path)), "--at", at))


def test_names_in_a_journal_reach_no_terminal_raw(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob\n1. bob=random")

    shown = run_fairplay("replay", str(path)).out

    assert all(line.isprintable() for line in shown.split("\n"))


def test_a_match_becomes_a_page(tmp_path: Path) -> None:
    path, page = record_journal(tmp_path), tmp_path / "game.html"

    done = run_fairplay("replay", str(path), "-o", str(page))

    assert done == CommandResult(0, f"replay: {page}\n", "")
    assert page.read_bytes().decode() == render_replay(path)


def test_the_script_makes_the_same_page(tmp_path: Path) -> None:
    path, one, other = record_journal(tmp_path), tmp_path / "one.html", tmp_path / "other.html"

    run_fairplay("replay", str(path), "-o", str(one))
    run_script("replay", str(path), "-o", str(other), environment={"PYTHONHASHSEED": "1", "LC_ALL": "C"})

    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("game", "why"), [("fish", ""), ("q", ", and its hidden hands are not shown before it ends")], ids=["fish", "q"]
)
def test_an_unfinished_match_becomes_no_page(game: str, why: str, tmp_path: Path) -> None:
    run_fairplay("play", game, "random", "random", "--seed", "1", "--journal", str(tmp_path), "--quiet")
    [path] = tmp_path.glob("*.jsonl")
    page = tmp_path / "game.html"
    damage_journal(path, "unfinished")

    assert refusal_line(run_fairplay("replay", str(path), "-o", str(page))) == f"{path}: this match is unfinished{why}"
    assert not page.exists()


def test_a_match_is_printed_as_a_seat_has_seen_it(tmp_path: Path) -> None:
    run_fairplay("play", "q", "random", "random", "--seed", "1", "--journal", str(tmp_path), "--quiet")
    [path] = tmp_path.glob("*.jsonl")

    shown = {seat: run_fairplay("replay", str(path), *seat).out for seat in ((), ("--seat", "0"), ("--seat", "1"))}

    assert len(set(shown.values())) == 3


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_becomes_a_page(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("replay", str(path), "-o", str(tmp_path / "game.html"))) == damage_message(
        path, how
    )


def test_no_forged_match_becomes_a_page(tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    why = refusal_line(run_fairplay("replay", str(path), "-o", str(tmp_path / "game.html")))

    assert why.startswith(f"{path}: line 5: this is not legal: rule 3.3: ")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-o", "game.txt"), "game.txt: the suffix for replays must be .html or .gif"),
        (("-o", ""), ": the suffix for replays must be .html or .gif"),
        (("-o", "nowhere/game.html"), "nowhere/game.html cannot be written: No such file or directory"),
        (("-o", "game.html", "--at", "3"), "--at is for a position on the terminal; a file shows all positions"),
    ],
)
def test_a_page_that_cannot_be_is_refused_in_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record_journal(tmp_path)
    monkeypatch.chdir(tmp_path)

    assert refusal_line(run_fairplay("replay", str(path), *arguments)) == why


def test_a_sealed_match_becomes_a_page_when_its_tournament_has_revealed_the_seed(tmp_path: Path) -> None:
    tournament, page = (
        write_tournament_file(tmp_path, format='{ kind = "duplicate", deals = 1 }'),
        tmp_path / "game.html",
    )
    assert run_fairplay("tournament", str(tournament), *INLINE_OPTIONS).code == 0
    path = min((tmp_path / "cup" / "matches").glob("*.jsonl"))
    assert read_journal(path).opening.sealed

    done = run_fairplay("replay", str(path), "-o", str(page))
    assert done == CommandResult(0, f"replay: {page}\n", "")

    alone = path.rename(tmp_path / path.name)  # where no tournament is
    why = refusal_line(run_fairplay("replay", str(alone), "-o", str(page)))
    assert why == f"{alone}: this match is sealed until the seed of its deal is revealed"
