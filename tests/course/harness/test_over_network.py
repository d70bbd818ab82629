"""Test the programs xserver and xclients of each course against each other on this machine."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.course.dialects.servers import SERVERS, CourseServerSettings
from fairplay.course.formats.q import format_state
from fairplay.course.harness import clients as harness_clients
from fairplay.course.harness import over_network as net
from fairplay.course.harness.cases import read_cases
from fairplay.course.server.serving import CourseResult
from fairplay.games.q import Q
from fairplay.games.q.examples import position
from fairplay.games.q.pieces import NAMES
from fairplay.transport.endpoint import parse_endpoint
from tests.cli.command import refusal_line, run_fairplay
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.cli.test_join import Script
from tests.course.harness.test_answers import COURSE

CASES = COURSE / "q" / "xserver-xclients.jsonl"


def config(*names: str, **referee: Any) -> dict[str, Any]:
    state = format_state(Q().deal(len(names), bytes(32)), names)
    return {"server-wait": 20, "ref-spec": {"state0": state, "per-turn": 6, **referee}}


def clients(*actors: list[Any]) -> dict[str, Any]:
    return {"players": list(actors), "wait": 0.02}


@pytest.mark.skipif(not CASES.exists(), reason="the cases of the course are not here")
def test_all_cases_of_the_course_pass() -> None:
    cases = read_cases(CASES.read_bytes())
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda case: net.xserver_xclients(*case.input), cases))

    assert len(cases) > 20
    assert [case.id for case, got in zip(cases, answers, strict=True) if got != case.expected] == []


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
    winners, misbehaved = net.xserver_xclients(
        config("ann", actor[0], "cyd"), clients(["ann", "ldasg"], actor, ["cyd", "dag"])
    )

    assert misbehaved == out
    assert set(winners) <= {"ann", actor[0], "cyd"} - set(out)


def test_a_player_without_an_actor_connects_and_stays_silent() -> None:
    assert net.xserver_xclients(config("ann", "mute"), clients(["ann", "dag"]))[1] == ["mute"]


def serve_while(server: Callable[[], Any], clients: Callable[[], Any]) -> Any:
    """What a server says in the end to which these clients come."""
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(server)
        clients()
        return served.result()


def test_both_ends_of_q_find_each_other() -> None:
    port, server = net.free_port(), {**config("ann", "bob"), "server-wait": 1}
    players = clients(["ann", "dag"], ["bob", "ldasg"])

    winners, misbehaved = serve_while(lambda: net.q_server(port, server), lambda: net.q_clients(port, players))

    assert winners
    assert misbehaved == []


REFEREE = {"per-turn": 3, "config-s": {"qbo": 9, "fbo": 5}}


@pytest.mark.parametrize(
    ("plain", "numbers", "bonuses"),
    [
        ({"server-tries": 4, "server-wait": 7, "wait-for-signup": 6, "ref-spec": REFEREE}, (4, 7, 6, 3), (9, 5)),
        ({}, (2, 20, 2, 6), (8, 4)),
    ],
    ids=["its own", "the usual ones"],
)
def test_a_server_of_q_keeps_to_the_numbers_of_its_configuration(
    plain: Any, numbers: Any, bonuses: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[CourseServerSettings] = []

    async def serve(dialect: Any, rules: CourseServerSettings, *_: Any, **options: Any) -> CourseResult:
        found.append(rules)
        return CourseResult([], [])

    monkeypatch.setattr(net, "serve", serve)
    net.q_server(1, plain)

    [rules] = found
    assert (rules.waiting_periods, rules.wait, rules.name_timeout, rules.turn) == numbers
    assert (rules.parameters["q_bonus"], rules.parameters["finish_bonus"]) == bonuses


def test_clients_of_q_come_as_far_apart_as_their_configuration_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[float] = []

    async def act_all(*_: Any, interval_s: float, **options: Any) -> None:
        found.append(interval_s)

    monkeypatch.setattr(net, "play_actors", act_all)
    net.q_clients(1, {**clients(["ann", "dag"]), "wait": 7})
    net.q_clients(1, {"players": [["ann", "dag"]]})

    assert found == [7, 2]


def test_a_server_of_tsuro_waits_for_the_players_that_it_reads_and_calls_them_by_their_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tsuro = SERVERS["tsuro"]
    monkeypatch.setitem(SERVERS, "tsuro", replace(tsuro, rules=replace(tsuro.rules, wait=5.0)))
    port, players = net.free_port(), [{"name": name, "strategy": "first"} for name in ("ann", "bob", "cyd")]

    told = serve_while(lambda: net.tsuro_server(port, players), lambda: net.tsuro_clients(net.LOOPBACK, port, players))

    assert told == {"winners": [["ann"]], "cheaters": ["bob", "cyd"]}  # the first choice may be against the rules
    assert f"waiting 5 s for 1 to 3 players at {net.LOOPBACK}:{port} " in capsys.readouterr().err


def test_the_clients_of_fish_play_on_our_server(tmp_path: Path) -> None:
    port = net.free_port()
    command = [sys.executable, "-m", "fairplay", "course", "serve", "fish", "--port", str(port), "--max", "6"]
    with subprocess.Popen([*command, "--journal", tmp_path], stdout=subprocess.PIPE, text=True) as server:
        net.fish_clients(6, port)
        out, _ = server.communicate(timeout=60)

    assert (server.returncode, json.loads(out)) == (0, [1, 0])
    assert len(list((tmp_path / "matches").glob("*.jsonl"))) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fish", "xserver"), "usage: fairplay course fish xserver PORT"),
        (("fish", "xclients", "3"), "usage: fairplay course fish xclients N PORT [HOST]"),
        (("fish", "xclients", "x", "4000"), "N is a number from 0 to 1000, not 'x'"),
        (("q", "xserver", "99999"), "PORT is a number from 0 to 65535, not '99999'"),
        (("fish", "xstate", "4000"), "xstate takes no arguments"),
        (("fish", "xserver-xclients"), "fish has no harness 'xserver-xclients'"),
        (("tsuro", "xservers"), "xadmin, xserver, xclients"),
        (("q", "xclients", "4000", "--cases", "FILE"), "--cases and --show cannot be used with xclients"),
        (("q", "xclients", "4000", "--show", "DIR"), "--cases and --show cannot be used with xclients"),
        (("fish", "xserver", "4000", "--verbose"), "--verbose is for xclients; it cannot be used with xserver"),
        (("fish", "xstate", "--verbose"), "--verbose is for xclients; it cannot be used with xstate"),
        (("fish", "xclients", "1", "4000", "nowhere.invalid"), "cannot find nowhere.invalid: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: tuple[str, ...], said: str) -> None:
    assert said in refusal_line(run_fairplay("course", *words))


@pytest.mark.parametrize("words", [("q", "xserver", "0"), ("tsuro", "xclients", "localhost", "1"), ("fish", "xstate")])
def test_a_closed_standard_input_is_an_empty_one(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "fairplay", "course", *words]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.close(0), check=False)

    assert done.returncode == 2
    assert done.stderr.endswith(" not 0\n") and done.stderr.count("\n") == 1


def test_a_server_of_tsuro_that_is_started_at_a_terminal_reads_no_names_and_waits_for_clients() -> None:
    with PseudoTerminal("course", "tsuro", "xserver", "0") as terminal:
        terminal.wait_for("waiting 60 s for 1 to 20 players at 127.0.0.1:", timeout_s=30)


def test_a_missing_server_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_clients, "CONNECT_TIMEOUT_S", 0.2)
    port = net.free_port()

    assert refusal_line(run_fairplay("course", "fish", "xclients", "3", str(port))) == (
        f"cannot connect to {net.LOOPBACK}:{port}: Connection refused"
    )


def test_clients_of_q_connect_to_the_host_of_their_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_clients, "CONNECT_TIMEOUT_S", 5.0)

    with pytest.raises(BadRequest, match=r"cannot find not\.\.a\.host: "):
        net.q_clients(net.free_port(), {**clients(["ann", "dag"]), "host": "not..a.host"})


TILE = {"color": "red", "shape": "star"}
STATE = format_state(Q().deal(2, bytes(32)), ("ann", "bob"))
SPOILT = {
    "no configuration": ([], {}, "Expected `object`, got `array`"),
    "no time": ({"per-turn": 0}, {}, "Expected `float` > 0.0"),
    "a bonus that is none": ({"config-s": {"qbo": -5}}, {}, "q cannot be played with q_bonus=-5"),
    "a coordinate far away": ({"state0": {**STATE, "map": [[10**30, [0, TILE]]]}}, {}, "a coordinate is too far away"),
    "no players": ({}, {"players": 7}, "Expected `array`, got `int`"),
}


@pytest.mark.parametrize(("referee", "others", "why"), SPOILT.values(), ids=SPOILT)
def test_a_case_that_is_none_is_refused(referee: Any, others: dict[str, Any], why: str) -> None:
    server = config("ann", "bob", **referee) if isinstance(referee, dict) else referee

    with pytest.raises(BadRequest, match=re.escape(why)):
        net.xserver_xclients(server, {**clients(["ann", "dag"], ["bob", "dag"]), **others})


def test_clients_without_a_seat_delay_no_other() -> None:
    many = [[f"player{number}", "dag"] for number in range(8)]

    winners, misbehaved = net.xserver_xclients(config("player0", "player1", "player2", "player3"), clients(*many))

    assert (bool(winners), misbehaved) == (True, [])


def test_a_server_without_waiting_time_plays_no_game() -> None:
    assert net.xserver_xclients({**config("ann", "bob"), "server-wait": 0}, clients(["ann", "dag"])) == [[], []]


def test_a_state_without_names_is_played_by_any_clients() -> None:
    server = config("ann", "bob")
    for player in server["ref-spec"]["state0"]["players"]:
        del player["name"]

    assert net.xserver_xclients(server, clients(["cyd", "dag"], ["dan", "dag"]))[1] == []


LARGE = format_state(position({(0, at): NAMES[0] for at in range(300)}, [[NAMES[1]] * 6] * 2), ("ann", "bob"))


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b'["setup",[%b,[]]]' % json.dumps({**LARGE, "players": [LARGE["players"][0], 0], "tile*": 0}).encode(), ""),
        (b'["setup",[7,[]]]', "ann left: not a call of the course: not a public state of Q"),
        (b'["win",[tr', "ann left: the server disconnected in the middle of a call"),
        (b"", ""),
    ],
    ids=["a large map", "no state", "half a call", "nothing"],
)
def test_clients_say_what_a_server_did_that_they_left(
    says: bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Script(says) as host:
        net.q_clients(parse_endpoint(host.address)[1], clients(["ann", "dag"]))

    said = capsys.readouterr().err
    assert said.startswith(f"fairplay: {why}" if why else "")
    assert said.count("\n") == bool(why)


def test_clients_say_what_is_wrong_with_a_server_for_which_they_play_on(capsys: pytest.CaptureFixture[str]) -> None:
    with Script(b'["playing-as",["black"]]', b'["others",["black"]]') as host:
        net.tsuro_clients(*parse_endpoint(host.address), [{"name": "ann", "strategy": "first"}])

    assert host.heard == [b'"void"', b'"void"']
    [said] = capsys.readouterr().err.splitlines()
    assert said == 'fairplay: ann: the server called others: others ["black"] does not fit black'


@pytest.mark.parametrize("game", ["fish", "tsuro", "q"])
def test_clients_of_all_games_log_their_calls_if_that_is_asked_for(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Script() as host:
        where, port = parse_endpoint(host.address)
        match game:
            case "fish":
                net.fish_clients(1, port, verbose=True)
            case "tsuro":
                net.tsuro_clients(where, port, [{"name": "ann", "strategy": "first"}], verbose=True)
            case _:
                net.q_clients(port, {**clients(["ann", "dag"]), "host": where}, verbose=True)

    *_, last = capsys.readouterr().err.splitlines()
    name = "playerA" if game == "fish" else "ann"
    assert re.fullmatch(rf"fairplay: {name} \d\d:\d\d:\d\d\.\d{{6}} the server has disconnected", last)


def test_the_command_of_the_clients_logs_calls_if_that_is_asked_for_and_prints_nothing() -> None:
    with Script(b'["start",[true]]') as host:
        port = parse_endpoint(host.address)[1]
        done = run_fairplay("course", "fish", "xclients", "1", str(port), "--verbose")

    assert (done.code, done.out) == (0, "")
    assert ' < ["start",[true]]\n' in done.err


@pytest.mark.parametrize("actor", [["ann", "dig"], ["ann", "dag", "dance"], ["ann", "dag", "win", 0]])
def test_an_invalid_actor_is_refused(actor: list[Any]) -> None:
    with pytest.raises(BadRequest, match="actor"):
        net.xserver_xclients(config("ann", "bob"), clients(actor, ["bob", "dag"]))


@pytest.mark.parametrize(
    ("game", "words", "values"),
    [("tsuro", ("example.org", "4000"), ["example.org", 4000]), ("fish", ("1000", "65535"), [1000, 65535])],
)
def test_arguments_are_numbers_up_to_the_largest_or_hosts(game: str, words: tuple[str, ...], values: Any) -> None:
    assert net.find_program(game, "xclients", words)[1] == values
