"""Test `fairplay resume --trust` on hostile journals: programs that they name are shown before they run."""

import socket
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.chance import seed_commitment
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.cli.command import BEST_SANDBOX, refusal_line, run_fairplay, run_script
from tests.cli.test_foreign_journals import THEIRS, foreign_journal, program
from tests.journal.forging import forge_journal, rewrite_opening
from tests.players.machine import needs_strict

ESCAPES = "\x1b[2J\x1b]0;title\x07\u202e\nfairplay: all is well"


def named(path: Path, seat: int, address: str) -> str:
    return f"fairplay: {path} names the player of seat {seat}: {address}\n"


@pytest.mark.parametrize("place", [(), ("--at", "0")], ids=["in its file", "as a branch"])
def test_the_programs_of_a_trusted_journal_are_named(place: tuple[str, ...], tmp_path: Path) -> None:
    bot, _ = program(tmp_path)
    path = foreign_journal(tmp_path / "games", bot, f"exec:/usr/bin/env python3 {bot}")

    done = run_fairplay("resume", str(path), *place, "--trust", "--quiet", *BEST_SANDBOX)

    assert done.code == 0
    assert done.err == named(path, 0, bot) + named(path, 1, f"'exec:/usr/bin/env python3 {bot}'")


def test_a_program_is_named_before_it_is_run(tmp_path: Path) -> None:
    """The program copies what was said so far."""
    said, seen = tmp_path / "said", tmp_path / "seen"
    path = foreign_journal(tmp_path / "games", f"exec:/bin/cp {said} {seen}", "greedy")

    with said.open("w") as err:
        run_script("resume", str(path), "--trust", "--sandbox", "none", "--quiet", stderr=err)

    assert seen.read_text() == named(path, 0, f"'exec:/bin/cp {said} {seen}'")


def test_trusting_a_journal_of_built_in_players_lists_no_programs(tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, "greedy", "lookahead:1")

    done = run_fairplay("resume", str(path), "--trust", "--quiet")

    assert (done.code, done.err) == (0, "")


def test_a_player_on_the_command_line_is_not_said_to_be_named_by_the_journal(tmp_path: Path) -> None:
    bot, _ = program(tmp_path)
    path = foreign_journal(tmp_path / "games", "exec:/bin/false", "greedy")

    done = run_fairplay("resume", str(path), bot, "greedy", "--trust", "--quiet", *BEST_SANDBOX)

    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_no_command_of_a_journal_moves_the_terminal(trust: tuple[str, ...], tmp_path: Path) -> None:
    path = foreign_journal(tmp_path, f"exec:/bin/echo '{ESCAPES}'", "greedy", names=(ESCAPES, "bob"))

    done = run_fairplay("resume", str(path), *trust, *BEST_SANDBOX)

    for line in (done.out + done.err).splitlines():
        assert line.isprintable()
        assert not line.startswith("fairplay: all is well")
    assert r"exec:/bin/echo \x27\x1b[2J" in done.err


def test_a_port_of_a_trusted_journal_is_named_before_it_is_opened(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp:127.0.0.1:{taken.getsockname()[1]}"
        path = foreign_journal(tmp_path, address, "greedy")
        left = path.read_bytes()

        done = run_fairplay("resume", str(path), "--trust", "--quiet")

    assert done.code == 2
    assert done.err.startswith(named(path, 0, address) + "fairplay: cannot listen")
    assert path.read_bytes() == left


REFUSED: dict[str, Any] = {
    "a module": (["in-process:this:s", "greedy"], "nothing is imported because a record names it"),
    "a client of a server": (["client:ann", "greedy"], "cannot be seated from here"),
    "no player": (["nobody", "greedy"], "fish has no player 'nobody'"),
    "no program": (["exec:/nowhere/bot", "greedy"], "there is no program '/nowhere/bot'"),
    "a NUL": (["exec:/bin/echo \0", "greedy"], "it contains a NUL byte"),
    "open quotes": (["exec:'", "greedy"], "is not a command line: No closing quotation"),
    "too few players": (["greedy"], "the record does not name the players"),
    "a search that never ends": (["lookahead:99", "greedy"], "lookahead looks 1 to 9 turns ahead"),
}


@pytest.mark.parametrize("how", REFUSED)
def test_invalid_values_in_a_trusted_journal_are_refused_and_its_file_is_kept(how: str, tmp_path: Path) -> None:
    players, why = REFUSED[how]
    path = foreign_journal(tmp_path, *players)
    left = path.read_bytes()

    done = run_fairplay("resume", str(path), "--trust")

    assert (done.code, done.out) == (2, "")
    assert why in done.err.splitlines()[-1]
    assert path.read_bytes() == left


@pytest.mark.parametrize("limits", [{"move": 1e300}, {"move": 0}, {"goodbye": -1.0}, {"bank": 86401}])
def test_limits_beyond_a_day_are_refused_though_the_journal_is_trusted(limits: Any, tmp_path: Path) -> None:
    bot, trace = program(tmp_path)
    path = foreign_journal(tmp_path / "games", bot, "greedy", limits=limits)

    assert "line 1: invalid limits" in refusal_line(run_fairplay("resume", str(path), "--trust", *BEST_SANDBOX))
    assert not trace.exists()


def test_an_id_that_leads_out_of_a_directory_writes_nothing_there(tmp_path: Path) -> None:
    bot, _ = program(tmp_path)
    path, out = foreign_journal(tmp_path / "games", bot, "greedy"), tmp_path / "out"
    forge_journal(path, rewrite_opening(match="../../escaped", commitment=seed_commitment(THEIRS, "../../escaped")))
    resume = ("resume", str(path), "--trust", *BEST_SANDBOX)

    refused = run_script(*resume, "--pictures", str(out / "pictures"))
    done = run_fairplay(*resume, "--quiet", "--bot-logs", str(out / "logs"))

    assert refused.code == 2
    assert "'../../escaped' is not a match id" in refused.err
    assert done.code == 0
    assert {found.parent for found in tmp_path.rglob("*escaped*")} == {out / "logs" / "ann"}


@needs_strict
def test_a_recorded_sandbox_never_weakens_that_of_the_user(tmp_path: Path) -> None:
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.write_text("the-secret-is-4711")
    look = f"exec:/bin/sh -c 'cat {secret} >&2; cat {secret}'"
    path = foreign_journal(tmp_path / "games", look, "greedy", sandbox="none")

    done = run_fairplay("resume", str(path), "--trust", "--quiet")

    assert done.code == 0
    (out,) = verify(read_journal(path)).ejected
    assert out.seat == 0
    assert "is-4711" not in done.out + done.err + path.read_text()
    assert "No such file" in path.read_text()
