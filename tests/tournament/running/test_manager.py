"""Run tournaments, let the manager die at every step, and find the same standings in the end."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.journal.append_file import Disk
from fairplay.journal.replay import read as read_journal
from fairplay.protocol.limits import Limits
from fairplay.tournament import notebook as notebooks
from fairplay.tournament.counted import Counted
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.events import Audience, RoundBegan, TournamentEnded
from fairplay.tournament.notebook import MatchCounted
from fairplay.tournament.places import FILE, MATCHES
from fairplay.tournament.rating.ratings import rate
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.result import read_result
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import Hand, Here, Runner, here
from fairplay.tournament.running.worker import TOKEN
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import Consequence, Cup
from tests.tournament.small_cups import BAD, Noting, cup_of, facts_in, lasting, played

PLAYERS = (f"bad={BAD}Picky", "random", "greedy", f"steady={BAD}Steady", f"cheat={BAD}Cheat")
CUPS = {
    "round robin, played again": cup_of(*PLAYERS, format=RoundRobin(games=10), default=Consequence.REPLAY),
    "duplicate": cup_of(*PLAYERS, format=Duplicate(deals=4)),
    "swiss": cup_of(*PLAYERS, format=Swiss(rounds=3)),
    "swiss, out of all": cup_of(*PLAYERS, format=Swiss(rounds=3), default=Consequence.TOURNAMENT),
    "knock-out": cup_of(*PLAYERS, format=KnockOut()),
    "ladder": cup_of(*PLAYERS, format=Ladder(rounds=3)),
    "course": cup_of(*PLAYERS, format=FishCourse()),
}


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the process dies here; what a power cut would leave is nobody's question."""
    monkeypatch.setattr(Disk, "sync", lambda disk, file: None)
    monkeypatch.setattr(Disk, "sync_directory", lambda disk, path: None)


class Dead(BaseException):
    """The process has come to a sudden end."""


class Dying(Disk):
    """A disk of a process that dies when it writes for the n-th time: before, in the middle, or behind it."""

    def __init__(self, writes: int, share: float) -> None:
        self._left = writes
        self._share = share

    def write(self, file: int, text: bytes) -> int:
        self._left -= 1
        if self._left:
            return Disk.write(file, text)
        Disk.write(file, text[: int(len(text) * self._share)])
        raise Dead


def attempt(cup: Cup, folder: Path, disk: Disk) -> None:
    """Run it for as long as the disk lets us."""
    exists = notebooks.exists(folder)
    notebook = notebooks.gone_on_with(folder, disk=disk) if exists else notebooks.begun(folder, cup, disk=disk)
    with notebook, here() as workers:
        Manager(cup, folder, notebook, workers, Audience([])).run()


def steps(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / FILE).read_bytes().splitlines()]


@pytest.mark.parametrize("name", CUPS)
def test_wherever_the_manager_dies_the_same_standings_come_out(name: str, tmp_path: Path) -> None:
    cup, whole = CUPS[name], tmp_path / "whole"
    expected = played(cup, whole)
    writes = len(steps(whole))
    assert writes > 6
    for write in range(1, writes + 1):
        for share in (0.0, 0.5, 1.0):
            folder = tmp_path / f"{write}-{share}"
            with pytest.raises(Dead):
                attempt(cup, folder, Dying(write, share))

            counted, ranking = played(cup, folder)

            assert (lasting(counted), ranking) == (lasting(expected[0]), expected[1])
            each = Counter(step["counted"]["match"] for step in steps(folder) if step["type"] == "match")
            assert set(each.values()) == {1}
            assert sum(step["type"] == "end" for step in steps(folder)) == 1
            assert facts_in(folder) == facts_in(whole)


def test_what_is_over_is_not_played_again(tmp_path: Path) -> None:
    cup, noting = CUPS["swiss"], Noting()
    first = played(cup, tmp_path)
    before = (tmp_path / FILE).read_bytes()

    assert played(cup, tmp_path, observers=[noting]) == first
    assert (tmp_path / FILE).read_bytes() == before
    assert {(event.matches, len(event.counted)) for event in noting.heard(RoundBegan)} == {(2, 2)}
    assert len(noting.heard(TournamentEnded)) == 1


def test_players_come_and_go_between_rounds_where_the_format_lets_them(tmp_path: Path) -> None:
    cup = cup_of("random", "greedy", f"steady={BAD}Steady", "lookahead:1", format=Swiss(rounds=4))

    class Stopping:
        def observe(self, event: object) -> None:
            if isinstance(event, RoundBegan) and event.number == 3:
                raise Dead

    with pytest.raises(Dead):
        played(cup, tmp_path, observers=[Stopping()])
    others = (*cup.players[:3], Entrant("lookahead:2", "newcomer"))

    counted, ranking = played(replace(cup, players=others), tmp_path)

    rounds = notebooks.read(tmp_path).rounds
    assert [sorted(player.name for player in rounds[number]) for number in (1, 3, 4)] == [
        ["greedy", "lookahead:1", "random", "steady"],
        ["greedy", "lookahead:1", "random", "steady"],  # it had begun
        ["greedy", "newcomer", "random", "steady"],
    ]
    assert "newcomer" in counted[-1].names + counted[-2].names
    assert "lookahead:1" not in counted[-1].names + counted[-2].names
    assert "newcomer" in sum(ranking, ())


def test_deal_numbers_are_unique_across_rounds(tmp_path: Path) -> None:
    counted, _ = played(CUPS["swiss"], tmp_path)

    assert len({one.deal for one in counted}) == len(counted) > 4


def test_who_is_expelled_is_in_no_later_round_and_nobody_is_paired_with_it(tmp_path: Path) -> None:
    players = (f"bad={BAD}Cheat", "random", "greedy", "lookahead:1")
    cup = cup_of(*players, format=Swiss(rounds=3), default=Consequence.TOURNAMENT)

    counted, ranking = played(cup, tmp_path)

    rounds = notebooks.read(tmp_path).rounds
    assert ["bad" in {player.name for player in rounds[number]} for number in (1, 2, 3)] == [True, False, False]
    assert [one.void for one in counted if one.void] == []
    assert sum("bad" in one.names for one in counted) == 1
    assert "bad" not in sum(ranking, ())


def test_a_player_that_left_between_rounds_keeps_its_address_in_the_standings(tmp_path: Path) -> None:
    players = (f"bad={BAD}Cheat", "random", "greedy", "lookahead:1")
    played(cup_of(*players, format=Swiss(rounds=2), default=Consequence.TOURNAMENT), tmp_path)

    final = read_result(tmp_path)

    rows = standings(final.cup.players, final.counted, final.ranking, rate(final.counted))
    assert {row.name: row.address for row in rows}["bad"] == f"{BAD}Cheat"


def test_the_hundred_thousandth_match_comes_behind_those_before(tmp_path: Path) -> None:
    ids = ["m00002", "m99999", "m100000"]
    with notebooks.begun(tmp_path, cup_of()) as notebook:
        for id in reversed(ids):
            notebook.write(MatchCounted(counted=Counted(match=id, deal=0, names=("random", "greedy"), places=(1, 2))))

    assert [one.match for one in read_result(tmp_path).counted] == ids


def test_a_match_is_played_on_the_terms_of_its_tournament() -> None:
    cup = cup_of(limits=Limits(move=3.0), sandbox="none", pondering=True, observers=("py:watching:Watcher",))

    match = cup.match(cup.players[:2], 0)

    assert (match.limits, match.sandbox) == (cup.limits, cup.sandbox)
    assert (match.pondering, match.observers) == (cup.pondering, cup.observers)


def test_workers_elsewhere_find_the_token_of_their_manager_in_the_folder_of_journals(tmp_path: Path) -> None:
    runner = Runner([Hand(Here)], shared=False)

    played(cup_of("random", "greedy", format=RoundRobin(games=1)), tmp_path, lambda: runner)

    assert runner.token
    assert (tmp_path / MATCHES / TOKEN).read_text() == runner.token


@pytest.mark.parametrize("guessable", [True, False])
def test_the_journals_of_a_tournament_say_whether_its_seed_can_be_guessed(guessable: bool, tmp_path: Path) -> None:
    played(cup_of("random", "greedy", format=RoundRobin(games=2), guessable=guessable), tmp_path)

    journals = sorted((tmp_path / MATCHES).glob("*.jsonl"))
    assert [read_journal(journal).opening.guessable for journal in journals] == [guessable] * 2
