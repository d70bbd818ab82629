"""Be both ends of a course's line, on this machine."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.q import state_to
from fairplay.games.q import Q
from fairplay.harness.cases import read_cases
from fairplay.harness.over_network import fish_clients, free_port, program_of, q_clients, q_server, xserver_xclients
from tests.cli.command import fairplay, refusal

CASES = Path(__file__).parents[3] / "shared" / "cases" / "course" / "q" / "xserver-xclients.jsonl"


def config(*names: str, **referee: Any) -> dict[str, Any]:
    state = state_to(Q().deal(len(names), bytes(32)), names)
    return {"server-wait": 20, "ref-spec": {"state0": state, "per-turn": 6, **referee}}


def clients(*actors: list[Any]) -> dict[str, Any]:
    return {"players": list(actors), "wait": 0.02}


@pytest.mark.skipif(not CASES.exists(), reason="the cases of the course are not here")
def test_all_cases_of_the_course_pass() -> None:
    cases = read_cases(CASES.read_bytes())
    failed: list[str] = []

    def share(part: int) -> None:
        for case in cases[part::6]:
            if xserver_xclients(*case.input) != case.expected:
                failed.append(case.id)

    threads = [threading.Thread(target=share, args=(part,)) for part in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(cases) > 20, failed) == (True, [])


@pytest.mark.parametrize(
    ("actor", "out"),
    [
        (["bad", "dag"], []),
        (["bad", "dag", "setup"], ["bad"]),
        (["bad", "dag", "take-turn"], ["bad"]),
        (["bad", "dag", "win"], ["bad"]),
        (["bad", "dag", "a cheat", "non-adjacent-coordinate"], ["bad"]),
        (["bad", "dag", "take-turn", 2], ["bad"]),
        (["bad", "dag", "setup", 2], []),
        (["illTT", "dag"], ["illTT"]),
        (["nonSetup", "dag"], ["nonSetup"]),
        (["invTTBadString", "dag"], ["invTTBadString"]),
        (["nonNewTiles", "dag"], ["nonNewTiles"]),
        (["nonWin", "dag"], ["nonWin"]),
    ],
    ids=str,
)
def test_an_actor_does_what_it_is_there_for(actor: list[Any], out: list[str]) -> None:
    winners, misbehaved = xserver_xclients(
        config("ann", actor[0], "cyd"), clients(["ann", "ldasg"], actor, ["cyd", "dag"])
    )

    assert misbehaved == out
    assert set(winners) <= {"ann", actor[0], "cyd"} - set(out)


def test_who_is_only_in_the_state_comes_and_is_silent() -> None:
    assert xserver_xclients(config("ann", "mute"), clients(["ann", "dag"]))[1] == ["mute"]


def test_both_ends_of_q_find_each_other() -> None:
    port, told = free_port(), list[Any]()
    server = threading.Thread(target=lambda: told.append(q_server(port, {**config("ann", "bob"), "server-wait": 1})))
    server.start()
    q_clients(port, clients(["ann", "dag"], ["bob", "ldasg"]))
    server.join()

    assert told[0][1] == []
    assert told[0][0]


def test_a_state_for_others_than_came_is_not_played() -> None:
    server = {**config("ann", "bob", "cyd"), "server-wait": 0.3, "server-tries": 1}
    port, told = free_port(), list[Any]()
    serving = threading.Thread(target=lambda: told.append(q_server(port, server)))
    serving.start()
    q_clients(port, clients(["ann", "dag"], ["bob", "ldasg"]))
    serving.join()

    assert told == [[[], []]]


def test_the_clients_of_fish_play_on_our_server(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "fairplay", "serve", "--course", "fish", "--port", str(port), "--max", "6"]
    with subprocess.Popen([*command, "--journal", tmp_path], stdout=subprocess.PIPE, text=True) as server:
        fish_clients(6, port)
        out, _ = server.communicate(timeout=60)

    assert (server.returncode, json.loads(out)) == (0, [1, 0])
    assert len(list((tmp_path / "matches").glob("*.jsonl"))) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fish", "xserver"), "write: fairplay course fish xserver PORT"),
        (("fish", "xclients", "3"), "write: fairplay course fish xclients N PORT [HOST]"),
        (("fish", "xclients", "x", "4000"), "N is a number from 0 to 1000, not 'x'"),
        (("q", "xserver", "99999"), "PORT is a number from 0 to 65535, not '99999'"),
        (("fish", "xstate", "4000"), "xstate takes no arguments"),
        (("fish", "xserver-xclients"), "fish has no harness 'xserver-xclients'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: tuple[str, ...], said: str) -> None:
    assert said in refusal(fairplay("course", *words))


@pytest.mark.parametrize("actor", [["ann", "dig"], ["ann", "dag", "dance"], ["ann", "dag", "win", 0]])
def test_who_is_no_actor_is_refused(actor: list[Any]) -> None:
    with pytest.raises(BadRequest, match="actor"):
        xserver_xclients(config("ann", "bob"), clients(actor, ["bob", "dag"]))


def test_arguments_are_numbers_or_hosts() -> None:
    assert program_of("tsuro", "xclients", ("example.org", "4000"))[1] == ["example.org", 4000]
