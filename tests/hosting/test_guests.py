"""Check the names of network players: the host's label comes first, then the name that they ask for."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from fairplay import Fault, Limits, Started
from fairplay.games import game_info
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.hosting.table import assign_seats, resolve_names
from fairplay.journal.ejection_report import ejection_reports
from fairplay.journal.library import find_matches
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.observers.feed import EventFeed
from fairplay.players.listener import AbsentConnection, ConnectedPlayer
from fairplay.players.remote import RemoteChannel
from tests.cli.command import INSTALLED_COMMAND, CommandResult, run_fairplay
from tests.hosting.specs import EventCollector, InterruptingObserver, both_ways, journal_files, make_spec
from tests.journal_files import read_lines
from tests.players.host_connection import serve_at_host

TWO = ("tcp:0", "tcp:127.0.0.1:0")  # two listeners
TIMEOUT_S = 60.0  # never reached here


def of_guests(directory: Path, *players: str, **rest: Any) -> MatchSpec:
    return make_spec("fish", *players, limits=Limits(move=30.0, arrival=30.0), journal=str(directory), **rest)


class Guest:
    """A network player that keeps the names it was told; it may spoil its n-th turn."""

    def __init__(self, name: str | None, leaves_at: int = 1000) -> None:
        self.name = name
        self.names: list[tuple[str, ...]] = []
        self._left = leaves_at

    def make(self, game: Any) -> "Guest":
        self._strategy: Any = game_info(game.name).built_in["greedy"].make("", bytes(32))
        return self

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self.names.append(tuple(names))

    def take_turn(self, view: Any) -> Any:
        self._left -= 1
        return "junk" if self._left < 0 else self._strategy(view)

    def come(self, place: str) -> None:
        serve_at_host(place, self.make, name=self.name)


class Doorbell(StringIO):
    """Receives the messages of the host; whenever it waits for players, the next guests connect one by one."""

    def __init__(self, guests: list[Guest]) -> None:
        super().__init__()
        self._guests = iter(guests)
        self.threads: list[threading.Thread] = []

    def write(self, text: str) -> int:
        if text.startswith("fairplay: waiting for "):
            count, place = text.split()[3], text.split()[5].removeprefix("tcp://")
            for _ in range(int(count)):
                guest = next(self._guests)
                self.threads.append(threading.Thread(target=guest.come, args=(place,), daemon=True))
                self.threads[-1].start()
        return super().write(text)

    def wait(self) -> None:
        for thread in self.threads:
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()


@contextmanager
def coming(*guests: Guest) -> Iterator[Doorbell]:
    bell = Doorbell(list(guests))
    with redirect_stderr(bell):
        yield bell
    bell.wait()


def commanded(directory: Path, *players: str, guests: list[Guest]) -> CommandResult:
    """What a user sees of the command that plays a match with these guests, in a process of its own."""
    options = ("--set", "rows=4", "--set", "columns=4", "--limit", "30", "--journal", str(directory))
    command, bell = [str(INSTALLED_COMMAND), "play", "fish", *players, *options], Doorbell(guests)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            bell.write(line)
        out, _ = process.communicate(timeout=TIMEOUT_S)
    bell.wait()
    return CommandResult(process.returncode, out, bell.getvalue())


@both_ways
@pytest.mark.parametrize(
    ("players", "own", "names"),
    [
        (TWO, ("ann", "bob"), ("ann", "bob")),
        ((f"cyd={TWO[0]}", TWO[1]), ("ann", "bob"), ("cyd", "bob")),
        ((f"cyd={TWO[0]}", f"dan={TWO[1]}"), ("ann", "bob"), ("cyd", "dan")),
        (TWO, ("ann", None), ("ann", TWO[1])),
        (TWO, (None, None), TWO),
        (TWO, ("ann", "ann"), ("ann", "ann-2")),
        ((TWO[0], f"ann={TWO[1]}"), ("ann", "bob"), ("ann-2", "ann")),
        ((TWO[0], "random"), ("random",), ("random-2", "random")),
    ],
)
def test_the_label_of_the_host_precedes_the_name_of_the_guest(
    way: Any, players: tuple[str, ...], own: tuple[str | None, ...], names: tuple[str, ...], tmp_path: Path
) -> None:
    guests, fed, listening = [Guest(name) for name in own], list[str](), EventCollector()
    spec = of_guests(tmp_path, *players)

    with coming(*guests):
        outcome = way(spec, [listening, EventFeed(fed.append)])

    [path] = journal_files(spec)
    recorded, lines = read_journal(path), read_lines(path)
    assert outcome.names == names
    assert (outcome.result and outcome.result.ejected, outcome.host_fault) == ((), "")
    assert [guest.names for guest in guests] == [[names]] * len(guests)  # as each of them was told at the start
    assert listening.events[0] == Started(names, recorded.match_after(0).commitment)
    assert set(listening.names) == {names}
    assert {name for line in fed for name in names if f'"name":"{name}"' in line} == set(names)
    assert [line["names"] for line in lines if line["type"] == "seated"] == [list(names)]
    assert tuple(lines[0]["names"]) == spec.labels  # what was asked for
    assert (recorded.names, recorded.match_after(None).names) == (names, names)
    assert verify(recorded).names == names


def test_rankings_and_ejections_have_the_names_of_the_guests(tmp_path: Path) -> None:
    done = commanded(tmp_path, *TWO, "cyd=random", guests=[Guest("ann"), Guest("bob", leaves_at=2)])

    [path] = tmp_path.glob("*.jsonl")
    [report] = ejection_reports(read_journal(path))
    [summary] = find_matches(tmp_path)
    assert done.code == 0, done
    assert "at the table: ann, bob, cyd\n" in done.out
    assert "\nbob is out: malformed (turn), " in done.out
    assert "ann" in "".join(line for line in done.out.splitlines() if line[:2] in ("1.", "2."))
    assert "tcp:" not in done.out
    assert report.name == "bob"
    assert [seat.name for seat in summary.seats] == ["ann", "bob", "cyd"]
    assert run_fairplay("why", str(path)).out.startswith("bob was ejected from a match of fish: malformed (turn)\n")


def test_the_same_command_resumes_its_match_whatever_names_guests_have(tmp_path: Path) -> None:
    spec = of_guests(tmp_path, *TWO, seed=None)
    with coming(Guest("ann"), Guest("bob")), pytest.raises(KeyboardInterrupt):
        run(spec, [InterruptingObserver(5)])
    [path] = journal_files(spec)

    done = commanded(tmp_path, *TWO, guests=[Guest("eve"), Guest("bob")])

    recorded = read_journal(path)
    assert done.code == 0, done
    assert done.err.startswith(f"fairplay: resuming {path}\n")
    assert journal_files(spec) == [path]
    assert recorded.opening.names == TWO
    assert recorded.seatings == ((0, ("ann", "bob")), (5, ("eve", "bob")))
    assert verify(recorded).names == ("eve", "bob")
    assert "at the table: eve, bob\n" in done.out


@pytest.mark.parametrize(
    ("out", "own", "names"),
    [(0, "bob", ("ann", "bob", "cyd")), (0, "ann", ("ann", "ann-2", "cyd")), (1, "bob", ("bob-2", "bob", "cyd"))],
)
def test_an_ejected_player_keeps_its_name(out: int, own: str, names: tuple[str, ...], tmp_path: Path) -> None:
    spec = of_guests(tmp_path, *TWO, "cyd=random", id="m")
    guests = [Guest(name, leaves_at=1 if seat == out else 1000) for seat, name in enumerate(("ann", "bob"))]
    with coming(*guests), pytest.raises(KeyboardInterrupt):
        run(spec, [InterruptingObserver(6)])
    [path], back = journal_files(spec), Guest(own)

    with coming(back):
        outcome = run(spec)

    assert read_journal(path).seatings == ((0, ("ann", "bob", "cyd")), (7, names))
    assert (outcome.names, back.names) == (names, [names])
    assert outcome.result is not None
    assert [(out.seat, out.fault) for out in outcome.result.ejected] == [(out, Fault.MALFORMED)]
    assert verify(read_journal(path)).names == names


@pytest.mark.parametrize(
    ("came", "names", "seats"),
    [
        (("bob", "ann"), {0: "ann", 1: "bob"}, {0: "ann", 1: "bob"}),  # as they sat before
        (("cyd", "ann"), {0: "ann", 1: "bob"}, {0: "ann", 1: "cyd"}),
        ((None, "bob"), {2: "bob", 3: "tcp:4000"}, {2: "bob", 3: None}),
        (("ann", "ann"), {0: "bob", 1: "ann"}, {0: "ann", 1: "ann"}),
        (("x", "y"), {0: "tcp:1", 1: "tcp:1-2"}, {0: "x", 1: "y"}),  # in the order in which they came
    ],
)
def test_a_guest_sits_where_its_name_is_expected(
    came: tuple[str | None, ...], names: dict[int, str], seats: dict[int, str | None]
) -> None:
    guests = [ConnectedPlayer(RemoteChannel(AbsentConnection(), game_info("q").rules()), name) for name in came]

    assert {seat: guest.name for seat, guest in assign_seats(guests, names).items()} == seats
    for order in ((0, 1), (1, 0)):
        assert resolve_names(("tcp:1", "tcp:2"), ("tcp:1", "tcp:2"), dict.fromkeys(order, "ann")) == ("ann", "ann-2")
