"""Test that `fairplay debug` gives hostile bots and hostile journals no access to the host."""

import shlex
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from fairplay.core.events import Ejected
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import Referee
from fairplay.sandbox import protections
from tests.cli.command import (
    INSTALLED_COMMAND,
    damage_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.cli.debugging import COUNTING_BOT, connection_lines, verdict_lines, write_bot
from tests.cli.test_why import data
from tests.journal.journals import GAME, SEED, first_action, play_illegal_action
from tests.journal_files import newest_journal
from tests.players.machine import needs_strict
from tests.players.programs import processes_marked

SNOOPS = COUNTING_BOT.format(third="pass").replace(
    "self.turns += 1",
    """self.turns += 1
        for place in {places!r}:
            try:
                print("read", open(place).read())
            except OSError as error:
                print("cannot read:", error.strerror)
        try:
            open({written!r}, "w").close()
        except OSError as error:
            print("cannot write:", error.strerror)""",
)
EVIL = "open({mark!r}, 'w').close()\n\ndef take_turn(view): return None\n\nBot = take_turn\n"


def program(directory: Path, source: str, name: str) -> Path:
    """A program in a directory of its own."""
    path = directory / "its own" / name
    path.parent.mkdir()
    path.write_text(source)
    path.chmod(0o755)
    return path


@needs_strict
@pytest.mark.parametrize("named", [(), ("--sandbox", "strict")])
def test_files_of_the_host_are_hidden_from_a_debugged_bot(named: tuple[str, ...], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the host's own")
    match = record_journal(tmp_path / "games")
    places, written = [str(secret), str(match), "/etc/passwd"], str(tmp_path / "its own" / "written")
    path = program(tmp_path, SNOOPS.format(places=places, written=written), "bot.py")
    start = ("debug", str(match), "--seat", "ann", "--turn", "1", str(path))

    done, free = run_fairplay(*start, *named), run_fairplay(*start, "--sandbox", "none")

    said = [line for line in connection_lines(done) if line.startswith("| ")]
    assert len(said) == 4
    assert all(line.startswith("| cannot ") for line in said)
    assert "| read the host's own" in connection_lines(free)  # so it does try


@needs_strict
def test_a_bot_does_not_see_what_lies_beside_a_journal_in_its_own_directory(tmp_path: Path) -> None:
    match, notes = record_journal(tmp_path / "games"), tmp_path / "games" / "notes"
    notes.write_text("the host's own")
    write_bot(tmp_path, SNOOPS.format(places=[str(notes)], written=str(tmp_path / "written")))

    done = run_fairplay("debug", str(match), "--seat", "ann", "--turn", "1", str(tmp_path))

    assert "| cannot read: No such file or directory" in connection_lines(done)


@needs_strict
def test_a_player_in_this_process_needs_no_sandbox_though_the_record_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = write_bot(tmp_path, COUNTING_BOT.format(third="raise RuntimeError('a bad day')"))
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}")
    hint = shlex.split(data(path)[0]["commands"][0])[1:]
    monkeypatch.setattr(protections, "why_not_strict", lambda: "there is no strict sandbox here")
    start = ("debug", str(path), "--seat", "bob", address)

    for guarded in (hint, start):
        assert refusal_line(run_fairplay(*guarded)).startswith("there is no strict sandbox here")
    assert run_fairplay(*start, "--in-process").code == 0


@needs_strict
def test_other_players_of_a_debugged_match_run_in_a_sandbox(tmp_path: Path) -> None:
    mark, path = tmp_path / "caught", damage_journal(record_journal(tmp_path / "games"), "unfinished")
    evil = program(tmp_path, EVIL.format(mark=str(mark)), "evil.py")

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "1", "greedy", "--play-on", str(evil))

    assert "evil.py cannot be loaded: " in done.out
    assert not mark.exists()


@pytest.mark.parametrize("address", ["py:evil:Bot", "./evil.py", "exec:./evil.py", "greedy:./evil.py"])
def test_nothing_that_a_record_names_is_loaded_or_run(address: str, tmp_path: Path) -> None:
    mark = tmp_path / "caught"
    evil = tmp_path / "evil.py"
    evil.write_text(f"#!/usr/bin/env python3\n{EVIL.format(mark=str(mark))}")
    evil.chmod(0o755)
    begin = partial(Journal(tmp_path / "games").begin, players=(address, address, address))
    Referee().run(
        GAME, [first_action, first_action, play_illegal_action], names=["ann", "bob", "cyd"], seed=SEED, record=begin
    )
    path = str(newest_journal(tmp_path / "games"))
    here = partial(run_script, cwd=tmp_path)

    told, shown = here("why", path), here("debug", path, "--seat", "ann", "--turn", "2", "greedy")
    played = here("debug", path, "--seat", "ann", "--turn", "1", "greedy", "--play-on", "--sandbox", "none")

    assert told.code == 0
    assert shown.code in (0, 1)
    assert "the match continues from turn 1" in played.out
    assert "\n1. " in played.out
    assert not mark.exists()


@pytest.mark.parametrize("others", [(), ("--play-on", "random")])
def test_a_module_is_loaded_only_if_that_is_asked_for(others: tuple[str, ...], tmp_path: Path) -> None:
    mark = tmp_path / "caught"
    (tmp_path / "evil.py").write_text(EVIL.format(mark=str(mark)))
    start = ("debug", str(record_journal(tmp_path / "games")), "--seat", "0", "--turn", "1")
    here = partial(run_script, cwd=tmp_path)

    refused = here(*start, "in-process:evil:Bot", *others)
    other = here(*start, "greedy", "--play-on", "in-process:evil:Bot")

    why = "in-process:evil:Bot would be loaded into this process; only PLAYER can be, with --in-process"
    assert refusal_line(refused) == refusal_line(other) == why
    assert not mark.exists()
    assert here(*start, "in-process:evil:Bot", "--in-process", *others).code == 1
    assert mark.exists()


NAMES = ["\n'; touch caught; '$(touch caught).py", "-rf --help.py", "\x1b[2J\u202ea=b.py"]


@needs_strict
@pytest.mark.parametrize("name", NAMES)
def test_the_hint_of_a_bot_with_a_hostile_name_debugs_that_bot_and_nothing_else(name: str, tmp_path: Path) -> None:
    path = program(tmp_path, COUNTING_BOT.format(third="raise RuntimeError('a bad day')"), name)
    match = record_journal(tmp_path / "games", "ann=greedy", f"bob={path}")
    (ejected,) = [fact for fact in read_journal(match).facts if isinstance(fact, Ejected)]
    hint = data(match)[0]["commands"][0]
    assert hint.isprintable()

    pasted = f'fairplay() {{ {shlex.quote(str(INSTALLED_COMMAND))} "$@"; }}\n{hint}'
    done = subprocess.run(["bash", "-c", pasted], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    assert f"fails: crashed, {ejected.why}\nRuntimeError: a bad day\n" in done.stdout
    assert not any(place.name == "caught" for place in tmp_path.rglob("*"))


def test_a_flood_on_stderr_is_cut(tmp_path: Path) -> None:
    flood = "import sys\n            for _ in range(9999): sys.stderr.write('x' * 999 + chr(10))"
    path = write_bot(tmp_path, COUNTING_BOT.format(third=flood))

    done = run_fairplay("debug", str(record_journal(tmp_path)), "--seat", "0", "--turn", "3", path)

    said = [line for line in connection_lines(done) if line.startswith("| ")]
    assert len(said) == 501
    assert said[-1] == "| (the rest of its stderr is left out)"
    assert max(map(len, said)) <= 602
    assert "legal" in verdict_lines(done)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_and_whatever_the_bot_has_started(end: signal.Signals, tmp_path: Path) -> None:
    mark = f"asleep-{tmp_path.name}-{end.name}"
    third = f"import subprocess; print('so tired'); subprocess.run(['sh', '-c', 'sleep 600; : {mark}'])"
    path = write_bot(tmp_path, COUNTING_BOT.format(third=third))
    match = record_journal(tmp_path)

    with start_process(
        [INSTALLED_COMMAND, "debug", str(match), "--seat", "0", "--turn", "3", path, "--limit", "60"]
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "  | so tired\n":
            assert process.poll() is None
        process.send_signal(end)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.endswith("fairplay: interrupted\n")
    assert processes_marked(mark) == []
