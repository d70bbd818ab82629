"""Test `fairplay debug --in-process`: the player is loaded where a debugger can stop in it."""

import signal
from pathlib import Path

import pytest

from tests.cli.command import (
    INSTALLED_COMMAND,
    LEGAL_BOT,
    make_in_process_player,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
    start_process,
)
from tests.cli.debugging import (
    COUNTING_BOT,
    EXCHANGING_BOT,
    FAILING_TURNS,
    recorded_match,
    verdict_lines,
    write_bot,
    write_spying_bot,
)
from tests.cli.test_play import NO_PLAYERS


def test_a_player_with_a_memory_fails_again_and_shows_where(tmp_path: Path) -> None:
    address = write_bot(tmp_path, COUNTING_BOT.format(third=FAILING_TURNS["a crash"]))
    path = record_journal(tmp_path, "ann=greedy", f"bob={address}")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", address, "--in-process")

    assert done.code == 0
    assert verdict_lines(done)[-3:] == [
        "fails: crashed, raised RuntimeError",
        "RuntimeError: a bad day (bot.py, line 11)",
        "the same as in the record",
    ]
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith("    raise RuntimeError('a bad day')\nRuntimeError: a bad day\n")
    assert "src/fairplay" not in done.err  # only what is the player's own


def test_no_player_in_this_process_has_a_time_limit_in_debug(tmp_path: Path) -> None:
    slow = write_bot(tmp_path, COUNTING_BOT.format(third="import time; time.sleep(0.4)"))
    path = record_journal(tmp_path, "ann=greedy", f"bob={slow}", "--limit", "0.2")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "3", slow, "--in-process")

    assert done.code == 1
    assert verdict_lines(done)[-2] == "legal"
    assert verdict_lines(done)[-1].startswith(
        "the record has the ejection: timed out, no answer within 0.2 s, limit 0.200 s"
    )


def test_a_player_in_this_process_that_fails_before_the_turn_is_out(tmp_path: Path) -> None:
    path = recorded_match(tmp_path, "q", "dag", "ldasg")
    address = write_bot(tmp_path, EXCHANGING_BOT.format(how="raise ValueError('what?')"))

    done = run_fairplay("debug", str(path), "--seat", "0", "--turn", "3", address, "--in-process")

    now = "crashed, raised ValueError, ValueError: what? (bot.py, line 9)"
    assert done.code == 1
    assert verdict_lines(done)[-2:] == [
        f"news after turn 1: fails: {now}; the record has an acknowledgement",
        "turn 3 was not asked: a player that fails is out of the match",
    ]


@pytest.mark.parametrize(("game", "server"), [("fish", "greedy"), ("tsuro", "survivor"), ("q", "dag")])
def test_the_messages_are_exactly_those_that_the_player_got(
    game: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spies = [write_spying_bot(game, server, tmp_path / f"live{seat}.txt") for seat in range(3)]
    path = recorded_match(tmp_path, game, *(make_in_process_player(source, tmp_path, monkeypatch) for source in spies))

    for seat in range(3):
        live = (tmp_path / f"live{seat}.txt").read_text().splitlines()
        turns = [number for number, line in enumerate(live, 1) if line.startswith("take_turn")]

        for turn, heard in [((), len(live)), *((("--turn", str(n + 1)), turns[n]) for n in (0, 1, 2, len(turns) - 1))]:
            log = tmp_path / f"again{seat}-{heard}.txt"
            log.write_text("")
            again = write_bot(tmp_path, write_spying_bot(game, server, log), f"{log.stem}.py")
            assert run_fairplay("debug", str(path), "--seat", str(seat), *turn, again, "--in-process").code == 0
            assert log.read_text().splitlines() == live[:heard]
    assert game != "q" or any(line.startswith("tell") for line in live)


def interrupted(
    directory: Path, monkeypatch: pytest.MonkeyPatch, log: Path, *, turns: int, third: str = "pass"
) -> tuple[Path, str]:
    """A match of Q that is interrupted on a turn of bob's, and resumed; and who bob is, both times."""
    marker = directory / "interrupted"
    trick = (
        f"self.turns = getattr(self, 'turns', 0) + 1\n        if self.turns > {turns} and not Path({str(marker)!r})"
        f".exists():\n            Path({str(marker)!r}).touch()\n            raise KeyboardInterrupt\n"
        f"        if self.turns == 3:\n            {third}"
    )
    bob = make_in_process_player(write_spying_bot("q", "dag", log, trick), directory, monkeypatch)
    players = ("ann=ldasg", f"bob={bob}", "cyd=random")
    play = ("play", "q", *players, "--seed", "3", "--journal", str(directory))
    assert run_fairplay(*play).code == 130
    (path,) = directory.glob("*.jsonl")
    assert run_fairplay(*play, "--quiet").code == 0
    return path, bob


def test_a_resumed_match_is_heard_again_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "live.txt"
    path, bob = interrupted(tmp_path, monkeypatch, log, turns=2)
    live = log.read_text().splitlines()
    log.write_text("")

    done = run_fairplay("debug", str(path), "--seat", "bob", bob, "--in-process")

    again = log.read_text().splitlines()
    resumed = [number for number, line in enumerate(live) if line.startswith("start")][1]
    assert done.code == 0
    assert done.out.count("the match was interrupted here, and resumed: the player is started again\n") == 1
    assert live[resumed - 1].startswith("take_turn")  # which was never answered, and was put again
    assert again == live[: resumed - 1] + live[resumed:]


def test_a_new_player_object_does_not_remember_earlier_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "live.txt"
    path, bob = interrupted(tmp_path, monkeypatch, log, turns=2, third="raise RuntimeError('too much')")

    done = run_fairplay("debug", str(path), "--seat", "bob", "--turn", "5", bob, "--in-process")

    assert done.code == 0
    said = verdict_lines(done)
    assert said[2] == "the match was interrupted here, and resumed: the player is started again"
    assert said[5].startswith("turn 5 of bob")
    where = f"{bob.split(':')[1]}.py, line 25"
    assert said[-2:] == [f"RuntimeError: too much ({where})", "the same as in the record"]


def test_prints_of_a_debugged_player_appear_where_they_happen(tmp_path: Path) -> None:
    address = write_bot(tmp_path, LEGAL_BOT.replace("return", "print('thinking')\n    return"))
    path = record_journal(tmp_path, f"ann={address}", "bob=greedy")

    done = run_fairplay("debug", str(path), "--seat", "ann", "--turn", "2", address, "--in-process")

    lines = done.out.splitlines()
    assert (lines[0], lines[-5], done.err) == ("thinking", "thinking", "")


def test_a_breakpoint_stops_where_it_stands(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    address = write_bot(tmp_path, COUNTING_BOT.format(third="breakpoint()"))
    start = ("debug", str(path), "--seat", "ann", "--turn", "3", address, "--in-process")

    done = run_script(*start, input="p 'turns:', self.turns\nc\n")
    left = run_script(*start, input="q\n")

    assert "(Pdb) ('turns:', 3)\n" in done.out
    assert done.err == ""
    assert (left.code, left.err) == (130, "\nfairplay: interrupted\n")


@pytest.mark.parametrize("source", ["while True: pass", COUNTING_BOT.format(third="while True: pass")])
def test_ctrl_c_ends_a_player_that_never_comes_back(source: str, tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    address = write_bot(
        tmp_path,
        source.replace("while", "print('here I am', flush=True)\n            while").strip()
        if "class" in source
        else f"print('here I am', flush=True)\n{source}",
    )

    with start_process(
        [INSTALLED_COMMAND, "debug", str(path), "--seat", "0", "--turn", "3", address, "--in-process"]
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "here I am\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    where = "" if "class" in source else f" while {address} was being loaded"
    assert (process.returncode, err) == (130, f"\nfairplay: interrupted{where}\n")


@pytest.mark.parametrize("source", NO_PLAYERS)
def test_a_file_that_holds_no_player_is_refused_in_one_line(source: str, tmp_path: Path) -> None:
    address = write_bot(tmp_path, source)

    done = run_fairplay("debug", str(record_journal(tmp_path)), "--seat", "0", address, "--in-process")

    line = refusal_line(done._replace(out=done.out.removeprefix("hello\n")))
    assert line == NO_PLAYERS[source].format(bot=address)


def test_the_help_says_how_to_start_in_the_debugger() -> None:
    assert "python -m pdb -m fairplay debug" in run_fairplay("debug", "--help").out
