"""Test what receipts cover: the game in the message `end`, and the result in the message `closing`."""

from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal, Fault, HostFault, Moment, Receipt
from fairplay.journal.append_file import Disk
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import describe_coverage, verify
from fairplay.referee.referee import Referee
from tests.journal.forging import forge_journal
from tests.journal.journals import GAME, SEED, FailsAtMoment, Plain, RecordFactory, first_action, play_illegal_action


class Keeper:
    """Plays well, and keeps all that it hears once the game is over."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def take_turn(self, view: Any) -> Any:
        return first_action(view)

    def end(self, result: Any) -> None:
        self.heard.append(("end", result.receipt))

    def closing(self, receipt: Receipt) -> None:
        self.heard.append(("closing", receipt))

    def ejected(self, fault: Fault, why: str) -> None:
        self.heard.append(("ejected", fault))


def recorded(directory: Path, *players: Any) -> Path:
    begin = RecordFactory(
        Journal(directory, clock=lambda: 0.0, now=lambda: 1.0)
    )  # times that a forger can write as we do
    Referee().run(GAME, players, seed=SEED, record=begin)
    return begin.path


def timed_out_winner(lines: list[Plain]) -> list[Plain]:
    """That the winner did not answer the end, as a host might write afterwards that does not like who won."""
    *before, last = lines
    result = last["result"]
    winner = result["ranking"][0][0]
    out = {
        "type": "ejected",
        "seat": winner,
        "fault": "timed_out",
        "moment": "end",
        "why": "no answer within 5 s",
    }
    fact = {"type": "fact", "seq": len(before), "at": last["at"], "took": 5.0, "fact": out}
    ranking = [[seat for seat in group if seat != winner] for group in result["ranking"]]
    return [*before, fact, {**last, "result": {**result, "ranking": ranking, "ejected": [out]}}]


def test_a_result_that_was_forged_fits_the_first_receipt_and_not_the_closing_one(tmp_path: Path) -> None:
    winner, loser = Keeper(), Keeper()
    path = recorded(tmp_path, winner, loser)
    before = verify(read_journal(path)).result
    assert winner.heard == loser.heard
    (_, early), (_, late) = winner.heard

    forge_journal(path, timed_out_winner)

    forged = read_journal(path)
    assert verify(forged, early).result.ranking != before.ranking
    assert describe_coverage(forged, early) == f"it covers the file up to line {early.seq + 1}, not the result"
    with pytest.raises(BadJournal, match="the receipt does not fit"):
        verify(forged, late)


def test_players_that_stay_to_the_end_get_a_receipt_for_the_result(tmp_path: Path) -> None:
    one, two = Keeper(), Keeper()

    path = recorded(tmp_path, one, two, FailsAtMoment(Moment.END))

    whole = read_journal(path)
    last = len(whole.heads) - 1
    assert one.heard == two.heard
    (told, early), (closed, late) = one.heard
    assert (told, closed) == ("end", "closing")
    assert early.seq == last - 2  # somebody failed the end behind it
    assert late == Receipt(last, whole.heads[-1])
    assert verify(whole, late) == verify(whole, early)
    assert describe_coverage(whole, late) == f"it covers all {last + 1} lines, the result too"


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_record_that_lacks_lines_does_not_fit_its_receipt(lines: int, tmp_path: Path) -> None:
    player = Keeper()
    path = recorded(tmp_path, player, first_action)
    (_, late) = player.heard[-1]
    whole = path.read_bytes().splitlines(keepends=True)

    path.write_bytes(b"".join(whole[:-lines]))

    missing = f"the receipt is for line {len(whole)}, and the file has {len(whole) - lines}"
    with pytest.raises(BadJournal, match=f"lines are missing: {missing}"):
        verify(read_journal(path), late)


def test_an_ejected_player_hears_why_and_no_more(tmp_path: Path) -> None:
    player = Keeper()
    player.take_turn = play_illegal_action  # type: ignore[method-assign]

    recorded(tmp_path, player, first_action, first_action)

    assert player.heard == [("ejected", Fault.ILLEGAL)]


def test_without_a_record_there_is_nothing_to_close() -> None:
    player = Keeper()

    Referee().run(GAME, [player, first_action], seed=SEED)

    assert player.heard == [("end", None)]


class Raising(Keeper):
    def closing(self, receipt: Receipt) -> None:
        super().closing(receipt)
        raise SystemExit("a bad loser")


def test_an_exception_about_a_receipt_does_no_harm(tmp_path: Path) -> None:
    players = [Raising(), Keeper()]

    path = recorded(tmp_path, *players)

    assert [len(player.heard) for player in players] == [2, 2]
    assert verify(read_journal(path)).ejected == ()


class Full(Disk):
    """A disk on which nothing can be made durable any more, once somebody says so."""

    full = False

    def sync(self, file: int) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().sync(file)


def test_there_is_no_receipt_for_a_result_that_is_not_durable(tmp_path: Path) -> None:
    disk = Full()
    journal = Journal(tmp_path, sync=Durability.ALWAYS, disk=disk)

    class Last(Keeper):
        def end(self, result: Any) -> None:
            super().end(result)
            disk.full = True

    players = [Keeper(), Last()]
    with pytest.raises(HostFault):
        Referee().run(GAME, players, seed=SEED, record=journal.begin)

    assert [[what for what, _ in player.heard] for player in players] == [["end"], ["end"]]
