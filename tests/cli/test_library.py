"""Test `fairplay library`: its lists, its searches, and its details of one match."""

import json
import shlex
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from fairplay.cli.library import format_ranking
from fairplay.core.events import Fault
from fairplay.journal.index import INDEX_FILE
from fairplay.journal.library import find_matches
from fairplay.journal.replay import read_journal
from fairplay.journal.summary import SeatSummary, Status, Summary
from tests.cli.command import CommandResult, run_fairplay, run_script
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.journal.journals import read_lines, seal_lines
from tests.journal.libraries import (
    DAY,
    FISH,
    NOON,
    cheating_strategy,
    fill_directory,
    first_action_strategy,
    journal_of_game,
    record_match,
    truncate_journal,
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return fill_directory(tmp_path)


@pytest.fixture(autouse=True)
def somewhere_in_asia(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is not UTC, and not that of whoever runs the tests."""
    monkeypatch.setenv("TZ", "XXX-05:30")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def library(*arguments: Any) -> CommandResult:
    return run_fairplay("library", *map(str, arguments))


def rows(done: CommandResult) -> list[list[str]]:
    """The table without its headings, cut where two columns begin to be apart."""
    assert (done.code, done.err) == (0, "")
    headings, *lines = done.out.splitlines()
    starts = [headings.index(word) for word in ("id", "started", "game", "players", "ejected", "facts", "status")]
    ends = [*starts[1:], None]
    return [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines]


def objects(done: CommandResult) -> list[dict[str, Any]]:
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


def local(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def games(*arguments: Any) -> list[str]:
    return [one["game"] for one in objects(library("find", *arguments, "--json"))]


def test_the_table_has_a_line_for_each_match(directory: Path) -> None:
    found = find_matches(directory)
    facts = [str(len(read_journal(directory / one.file).facts)) for one in found]

    assert library("find", directory) == library("list", directory)
    assert rows(library("list", directory)) == [
        [found[0].short, local(NOON + 2 * DAY), "q", "ann", "eve crashed", facts[0], "finished"],
        [found[1].short, local(NOON + DAY), "tsuro", "cyd, ann", "bob crashed", facts[1], "finished"],
        [found[2].short, "2024-10-04 17:30", "fish", "ann=bob", "", facts[2], "finished"],
    ]


def test_the_library_lists_the_reason_of_a_damaged_file(tmp_path: Path) -> None:
    assert library("list", tmp_path) == CommandResult(0, "no matches\n", "")
    assert library("list", tmp_path, "--json") == CommandResult(0, "", "")
    edited = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2).rename(tmp_path / "edited.jsonl")
    edited.write_bytes(edited.read_bytes().replace(b"ann", b"amy"))
    (tmp_path / "junk.jsonl").write_text("junk\n")

    (first, second) = rows(library("list", tmp_path))

    assert first[:6] == ["edited", local(NOON), "fish", "amy, bob", "", "-"]
    assert second[:6] == ["junk", "-", "-", "-", "", "-"]
    assert first[6].startswith("damaged: line 1")
    assert second[6].startswith("damaged: line 1")
    shown = library("show", tmp_path, "junk")
    assert "status      damaged: line 1" in shown.out
    assert next_commands(shown) == [["verify", str(tmp_path / "junk.jsonl")]]


def test_programs_get_one_object_per_match(directory: Path) -> None:
    path = journal_of_game(directory, "fish")

    one = objects(library("list", directory, "--json"))[2]

    assert one == {
        "id": path.stem,
        "short": path.stem[:7],
        "path": str(path),
        "match": path.stem,
        "status": "finished",
        "reason": "",
        "game": "fish",
        "rules": read_journal(path).opening.rules,
        "parameters": FISH.parameters(),
        "started": "2024-10-04T12:00:00Z",
        "last": "2024-10-04T12:00:00Z",
        "ended": "2024-10-04T12:00:00Z",
        "facts": len(read_journal(path).facts),
        "seats": [
            {"name": "ann", "address": "greedy", "rank": 1, "score": 13, "fault": None, "moment": None, "why": ""},
            {"name": "bob", "address": "./bob.py", "rank": 1, "score": 13, "fault": None, "moment": None, "why": ""},
        ],
    }


@pytest.mark.parametrize("lines", [1, 5, None])
def test_no_output_holds_the_seed(lines: int | None, tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    seed = read_journal(path).opening.seed
    truncate_journal(path, lines or 1000)
    assert seed is not None

    for done in (library("list", tmp_path, "--json"), library("list", tmp_path), library("show", tmp_path, path.stem)):
        assert done.code == 0
        assert seed not in done.out


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ("--game fish", ["fish"]),
        ("--player ann --player bob", ["tsuro", "fish"]),
        ("--player ./bob.py", ["fish"]),
        ("--winner ann", ["q", "fish"]),
        ("--fault any", ["q", "tsuro"]),
        ("--fault crashed --player bob", ["tsuro"]),
        ("--status finished --limit 1", ["q"]),
        ("--with rows=4 --with cramped=False", ["fish"]),
        ("--until 2024-10-05", ["tsuro", "fish"]),
        ("--since 2024-10-05 --until 2024-10-05", ["tsuro"]),
        ("--since 2024-10-05T17:30", ["q", "tsuro"]),
        ("--since 2024-10-05T17:31", ["q"]),
        ("--until 2024-10-05T17:30", ["tsuro", "fish"]),
        ("--until 2024-10-05T17:29", ["fish"]),
        ("--since 0001-01-01 --until 9999-12-31T23:59", ["q", "tsuro", "fish"]),
    ],
)
def test_conditions_are_combined(conditions: str, found: list[str], directory: Path) -> None:
    assert games(directory, *conditions.split()) == found


def test_show_tells_all_about_a_match(directory: Path) -> None:
    path = journal_of_game(directory, "tsuro")
    recorded = read_journal(path)

    done = library("show", directory, path.stem[:7])

    assert done == CommandResult(
        0,
        f"""\
match       {path.stem}
status      finished
game        tsuro, rules version {recorded.opening.rules}
parameters  size=10 tiles=bag rules=standard
started     2024-10-05 17:30:00
last fact   2024-10-05 17:30:00
ended       2024-10-05 17:30:00
facts       {len(recorded.facts)}
file        {path}

seat  rank  score  name  player
0     2     18     ann   -
1     -     0      bob   -       ejected: crashed (turn), raised RuntimeError
2     1     18     cyd   -

to replay it              fairplay replay {path}
to explain the ejections  fairplay why {path}
to check it               fairplay verify {path}
""",
        "",
    )


def next_commands(done: CommandResult) -> list[list[str]]:
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if line.startswith("to ")]
    return [shlex.split(line[line.index("fairplay") :])[1:] for line in lines]


def test_the_commands_that_are_shown_work(tmp_path: Path) -> None:
    directory = tmp_path / "it's a directory; with $(blanks)"
    assert run_fairplay("play", "fish", "greedy", "random", "--quiet", "--journal", str(directory)).code == 0
    (path,) = directory.glob("*.jsonl")
    for command in next_commands(library("show", directory, path.stem)):
        assert run_fairplay(*command).code == 0, command

    truncate_journal(path, 6)
    assert [row[3:] for row in rows(library("list", directory))] == [["greedy, random", "", "4", "unfinished"]]
    (command,) = [each for each in next_commands(library("show", directory, path.stem)) if each[0] == "resume"]
    assert command == ["resume", str(path)]
    assert run_fairplay(*command).code == 0
    assert [row[6] for row in rows(library("list", directory))] == ["finished"]


def test_a_match_with_unknown_players_needs_them_named_to_play_on(tmp_path: Path) -> None:
    directory = tmp_path / "it's a directory; with $(blanks)"
    directory.mkdir()
    path = record_match(directory, FISH, [first_action_strategy(FISH)] * 2)
    truncate_journal(path, 6)

    (command,) = [each for each in next_commands(library("show", directory, path.stem)) if each[0] == "resume"]

    assert command == ["resume", str(path), "PLAYER...", "--journal", str(directory)]
    assert run_fairplay(*command[:2], "greedy", "random", *command[3:]).code == 0
    assert sorted(row[6] for row in rows(library("list", directory))) == ["finished", "unfinished"]


def test_a_renamed_journal_goes_by_the_name_of_its_file(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    path.rename(tmp_path / "final.jsonl")

    assert library("show", tmp_path, "fin").out.startswith(
        f"match         final\nrenamed from  {path.stem}\nstatus        finished\n"
    )


NASTY = ("'; drop table matches; --", "\x1b[2J\x9b31m\u202eevil\n")


def test_no_name_reaches_a_terminal_raw_or_does_any_harm(tmp_path: Path) -> None:
    table = [first_action_strategy(FISH), cheating_strategy]
    path = record_match(tmp_path, FISH, table, NASTY, addresses=NASTY)
    lines = read_lines(path)
    lines[3]["fact"]["why"] = "\x1b[2J"
    path.write_bytes(seal_lines([{**lines[0], "game": "\x1b[2J"}, *lines[1:]]))
    record_match(tmp_path, FISH, table, NASTY, addresses=NASTY)

    for arguments in (("list",), ("list", "--json"), ("find", "--player", NASTY[0]), ("find", "--player", NASTY[1])):
        verb, *rest = arguments
        done = library(verb, tmp_path, *rest)
        assert done.code == 0
        assert all(line.isprintable() for line in done.out.split("\n"))
        assert len(done.out.splitlines()) >= 2
    for one in find_matches(tmp_path):
        assert all(line.isprintable() for line in library("show", tmp_path, one.id).out.split("\n"))
    assert {seat["name"] for seat in objects(library("list", tmp_path, "--json"))[0]["seats"]} == set(NASTY)


@pytest.mark.parametrize("at", [1e12, 1e300])
def test_a_time_that_no_calendar_has_is_a_question_mark_and_null_for_programs(at: float, tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, ("ann", "bob"))
    path.write_bytes(seal_lines([{**line, "at": at} for line in read_lines(path)]))

    listed, (told,) = rows(library("list", tmp_path)), objects(library("list", tmp_path, "--json"))

    assert [started for _, started, *_ in listed] == ["?"]
    assert (told["started"], told["last"], told["ended"]) == (None, None, None)


def test_the_ranking_of_a_match_without_a_winner_begins_with_an_empty_place() -> None:
    seats = (SeatSummary("ann", rank=2), SeatSummary("bob", rank=2), SeatSummary("cyd", fault=Fault.CRASHED))

    assert format_ranking(Summary("m", Status.FINISHED, seats=seats)) == "(none), ann=bob"


def test_wide_signs_do_not_bend_the_table(tmp_path: Path) -> None:
    record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, ("安安安", "bob"))
    record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, ("annann", "bob"))

    wide, narrow = sorted(library("list", tmp_path).out.splitlines()[1:], key=str.isascii)

    assert wide.index("finished") == narrow.index("finished") - 3  # which take six columns


def on_terminal(*arguments: Any) -> str:
    """What a person sees; both streams are the terminal."""
    with PseudoTerminal(*map(str, arguments), columns=200) as terminal:
        assert terminal.wait_for_exit() == 0
        return terminal.raw.decode()


def test_on_a_terminal_the_status_is_in_colour_and_names_are_no_mark_up(tmp_path: Path) -> None:
    record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2, ("[red]ann[/red]", "\x1b[2Jbob"))

    shown = on_terminal("library", "list", tmp_path)

    assert "\x1b[32mfinished" in shown
    assert "[red]ann[/red]=�[2Jbob" in shown
    assert "\x1b[2J" not in shown


def test_a_long_table_is_shown_whole_on_a_terminal(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    for number in range(400):
        (tmp_path / f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())

    shown = on_terminal("library", "list", tmp_path)

    assert "reading journals" in shown  # the first time it takes a while
    assert shown.count("ann=bob") == 401
    assert "\x1b[32mfinished" not in shown  # to fit so many to the terminal would take long
    assert "reading journals" not in on_terminal("library", "list", tmp_path)
    (tmp_path / INDEX_FILE).unlink()
    piped = run_script("library", "list", str(tmp_path))
    assert (piped.code, piped.err, len(piped.out.splitlines())) == (0, "", 402)
