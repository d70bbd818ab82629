"""Test tournaments at a server: sign-up, players that leave or come back, and a crash of the server."""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fairplay.protocol import wire
from fairplay.server.sign_in.tokens import make_token
from fairplay.tournament import tournament_log
from fairplay.transport.connection import ConnectionLost
from tests.cli.command import INSTALLED_COMMAND, refusal_line, run_fairplay, run_script, start_process
from tests.cli.server_process import TIMEOUT_S, ServerProcess, running_server
from tests.cli.tournament_files import count_matches, read_results, write_tournament_file
from tests.players.host_joining import join_host

PLAYED = {"players": "[]", "limits": "{ move = 60 }"}
BEGUN = "the server closes the connection: the tournament has begun"
OVER = "the server closes the connection: the tournament is over"
Turn = Callable[[Any, Any], Any]


def first(game: Any, view: Any) -> Any:
    """Take a turn in the simplest way, which depends on the view alone."""
    return next(game.actions(view))


def cheats(game: Any, view: Any) -> Any:
    return {"type": "place", "at": [99, 99]}


class Guest(threading.Thread):
    """A player in a thread, who comes back by itself when its line is lost."""

    def __init__(self, place: str, name: str, turn: Turn = first, token: str = "") -> None:
        super().__init__(name=name, daemon=True)
        self.told: list[str] = []
        self.matches = 0
        self.last: Any = None  # the last words of the server
        self._turn = turn
        self._place, self._token = place, token
        self.start()

    def run(self) -> None:
        def make(game: Any) -> Any:
            self.matches += 1
            return lambda view: self._turn(game, view)

        end = join_host(
            self._place,
            make,
            tell=self.told.append,
            wait=TIMEOUT_S,
            idle_timeout_s=TIMEOUT_S,
            name=self.name,
            token=self._token,
        )
        if isinstance(end, ConnectionLost):
            self.told.append(str(end))
        else:
            self.last = end

    def gone(self) -> "Guest":
        self.join(TIMEOUT_S)
        assert not self.is_alive(), self.told
        return self


def signed_up(server: ServerProcess, *names: str) -> None:
    """Wait until exactly these clients are connected."""
    line = f"\nconnected: {', '.join(names) or 'none'}\n"
    when(lambda: line in run_fairplay("status", server.place).out)


def when(it_is_so: Callable[[], bool]) -> None:
    """Come back when it is so."""
    until = time.monotonic() + TIMEOUT_S
    while not it_is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def tournament(
    directory: Path, players: int, *options: str, port: str = "0", **changes: str
) -> Iterator[ServerProcess]:
    """A tournament for so many clients at a server, which ends by itself after what is done meanwhile."""
    directory.mkdir(exist_ok=True)
    signup = f"{{ min = {players}, max = {players}, wait = 3600 }}"
    file = write_tournament_file(directory, **{"signup": signup, **PLAYED, **changes})
    with running_server("--tournament", file, "--port", port, *options) as server:
        yield server
        assert server.wait_for_exit() in (0, -signal.SIGKILL)


def standings_of(directory: Path) -> dict[str, Any]:
    """The standings by name."""
    return {one["name"]: one for one in read_results(directory)["standings"]}


def test_as_many_as_may_play_it_and_all_comes_of_it_that_comes_of_any_tournament(tmp_path: Path) -> None:
    with tournament(tmp_path, 3, signup="{ min = 2, max = 3, wait = 3600 }") as server:
        guests = [Guest(server.place, name) for name in ("ann", "bob", "cyd")]

    directory = tmp_path / "cup"
    assert [(guest.gone().told[-1], guest.matches) for guest in guests] == [(OVER, 4)] * 3
    assert sorted(standings_of(directory)) == ["ann", "bob", "cyd"]
    assert not tournament_log.read_log(directory).opening.random_seed  # for the file says what the seed is
    assert {"report.html", "results.csv", "results.json"} <= {path.name for path in directory.iterdir()}
    assert len((directory / "results.csv").read_text().splitlines()) == 1 + 3
    journals = sorted(map(str, (directory / "matches").glob("*.jsonl")))
    assert len(journals) == 6
    assert run_fairplay("verify", *journals).code == 0


def test_where_guests_may_not_play_a_token_is_needed(tmp_path: Path) -> None:
    tokens = {name: make_token(made(tmp_path / "cup"), name) for name in ("ann", "bob")}
    with tournament(tmp_path, 2, signup="{ min = 2, max = 2, wait = 3600, guests = false }") as server:
        stranger = Guest(server.place, "cyd").gone()
        guests = [Guest(server.place, name, token=tokens[name]) for name in ("ann", "bob")]

    assert isinstance(stranger.last, wire.Goodbye)
    assert stranger.last.why == "this server accepts no guests: use a token"
    assert sorted(standings_of(tmp_path / "cup")) == [guest.gone().name for guest in guests]


def test_an_ejected_player_may_return_for_the_next_match(tmp_path: Path) -> None:
    token = make_token(made(tmp_path / "cup"), "bob")
    with tournament(tmp_path, 2) as server:
        other = Guest(server.place, "ann")
        cheat = Guest(server.place, "bob", cheats, token).gone()
        back = Guest(server.place, "bob", token=token).gone()

    assert isinstance(cheat.last, wire.Goodbye)
    assert cheat.last.why == "rule 3.2: there is no tile at [99, 99]"
    assert back.told[-1] == other.gone().told[-1] == OVER
    assert (cheat.matches, back.matches, other.matches) == (1, 5, 6)
    assert standings_of(tmp_path / "cup")["bob"]["faults"] == {"illegal": 1}


def test_an_expelled_client_cannot_come_back_under_its_own_name_or_another(tmp_path: Path) -> None:
    changes = {"penalties": '{ default = "expel" }', "format": '{ kind = "round-robin", games = 60 }'}
    with tournament(tmp_path, 3, "--restart-window", "0.5", **changes) as server:
        honest = [Guest(server.place, name) for name in ("ann", "bob")]
        cheat = Guest(server.place, "eve", cheats).gone()
        again = [Guest(server.place, name).gone() for name in ("eve", "mallory")]

    assert [guest.gone().told[-1] for guest in honest] == [OVER] * 2
    assert cheat.matches == 1
    assert [(guest.told[-1], guest.matches) for guest in again] == [(BEGUN, 0)] * 2
    standings = standings_of(tmp_path / "cup")
    assert standings.keys() == {"ann", "bob", "eve"}
    assert standings["eve"]["faults"]["illegal"] == 1
    assert [standings[name]["faults"] for name in ("ann", "bob")] == [{}, {}]


ONCE = """
from pathlib import Path
from fairplay.games.fish import Fish

def take_turn(view):
    seen = Path(__file__).with_name("seen")
    if not seen.exists():
        seen.touch()
        {does}
    return next(Fish(rows=4, columns=4).actions(view))
"""


@pytest.mark.parametrize(
    ("does", "fault"),
    [
        ("return {'type': 'place', 'at': [99, 99]}", "illegal"),
        ("raise SystemExit(3)", "gone"),  # as join says that the player leaves this match
    ],
    ids=["makes an illegal move", "crashes"],
)
def test_a_program_that_fails_once_costs_one_match_and_plays_the_others(does: str, fault: str, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(ONCE.format(does=does))
    with tournament(tmp_path, 2) as server:
        other = Guest(server.place, "ann")
        options = ("--name", "bob", "--sandbox", "none")
        code, _, said = run_script("join", server.place, str(bot), *options, timeout=TIMEOUT_S)
    other.gone()

    assert code == 0, said
    assert said.count("fairplay: signing in again\n") == 1
    assert standings_of(tmp_path / "cup")["bob"]["faults"] == {fault: 1}
    assert said.count("fairplay: playing fish as bob") == 6


def test_the_same_command_after_a_crash_leads_to_the_same_standings(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    format = '{ kind = "round-robin", games = 12 }'
    whole_tokens, cut_tokens = (
        {name: make_token(made(directory / "cup"), name) for name in ("ann", "bob", "cyd")}
        for directory in (whole, cut)
    )
    with tournament(whole, 3, format=format) as server:
        sign_up_in_order(server, whole_tokens, first)

    goes_on = threading.Event()

    def turn(game: Any, view: Any) -> Any:
        if count_matches(cut / "cup") >= 3:
            assert goes_on.wait(TIMEOUT_S)
        return first(game, view)

    with tournament(cut, 3, format=format) as server:
        guests = sign_up_in_order(server, cut_tokens, turn)
        when(lambda: count_matches(cut / "cup") >= 3)
        server.process.kill()
    assert not (cut / "cup" / "results.json").exists()
    begun = count_matches(cut / "cup")
    goes_on.set()
    with tournament(cut, 3, format=format, port=server.place.rpartition(":")[2]):
        assert [guest.gone().told[-1] for guest in guests] == [OVER] * 3

    assert 3 <= begun < 12
    assert read_results(cut / "cup") == read_results(whole / "cup")
    assert tournament_log.read_log(cut / "cup").counted.keys() == tournament_log.read_log(whole / "cup").counted.keys()


def sign_up_in_order(server: ServerProcess, tokens: dict[str, str], turn: Turn) -> list[Guest]:
    """Let these sign up one after the other, so that the order of the players is known."""
    guests: list[Guest] = []
    for name, token in tokens.items():
        guests.append(Guest(server.place, name, turn, token))
        if len(guests) < len(tokens):
            signed_up(server, *(guest.name for guest in guests))
    return guests


def made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def test_its_log_can_be_json(tmp_path: Path) -> None:
    file = write_tournament_file(tmp_path, signup="{ min = 2, max = 2, wait = 3600 }", **PLAYED)
    with start_process([INSTALLED_COMMAND, "serve", "--tournament", file, "--port", "0", "--log", "json"]) as server:
        assert server.stderr is not None
        assert json.loads(server.stderr.readline())["event"] == "listening"
        server.kill()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "players cannot sign up for this tournament: write signup = { min = 2, max = 8, wait = 60 }"),
        ({"signup": "{ mim = 2 }"}, "signup: unknown key 'mim': did you mean 'min'?"),
        ({"signup": "{ min = 3, max = 2 }"}, "signup: min 3 is more than max 2"),
        ({"signup": "{ wait = 0 }"}, "signup.wait: "),
        ({"signup": "{ min = 2 }", "players": '[{ player = "tcp:4000" }]'}, "tcp:4000 cannot be listed here"),
        ({"signup": "{ min = 2 }", "players": '[{ player = "client:ann" }]'}, "client:ann cannot be listed here"),
    ],
)
def test_a_sign_up_that_makes_no_sense_is_refused(changes: dict[str, str], why: str, tmp_path: Path) -> None:
    file = write_tournament_file(tmp_path, **changes)

    assert refusal_line(run_fairplay("serve", "--tournament", str(file), "--port", "0")).startswith(f"{file}: {why}")


def test_a_file_without_an_ending_is_not_its_own_directory(tmp_path: Path) -> None:
    file = write_tournament_file(tmp_path, signup="{ min = 2 }", **PLAYED)
    why = refusal_line(run_fairplay("tournament", str(file)))
    assert why.endswith("players sign up at a server; run it with: fairplay serve --tournament FILE")

    file = file.rename(tmp_path / "cup")
    why = refusal_line(run_fairplay("serve", "--tournament", str(file), "--port", "0"))
    assert why == f"{file} would be its own directory; choose another with --dir"
