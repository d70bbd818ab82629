"""Test that the transcript of a seat has exactly the messages that its player got."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Ejected, Event, Fault, Game, HostFault, Moment
from fairplay.core.chance import derive_seed
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import Record
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.hosting.timing_record import TimingRecord
from fairplay.journal.record import Journal
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.journal.transcript import TranscriptEntry, transcript
from fairplay.journal.verification import verify
from fairplay.players.address import open_player
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee
from tests.journal.journals import SEED, TABLES, RecordFactory, Spy, first_action, record_match, resume_match
from tests.nonempty import nonempty

GAMES: dict[str, tuple[Game[Any, Any, Any], tuple[str, ...]]] = {
    "fish": (Fish(rows=4, columns=4), ("random", "greedy", "lookahead:1")),
    "tsuro": (Tsuro(), ("second", "first", "survivor", "random")),
    "q": (Q(), ("random", "dag", "ldasg")),
}


class StoppingRecord(TimingRecord):
    """A record whose host fails as soon as so many facts are written."""

    def __init__(self, record: Record, facts: int) -> None:
        super().__init__(record)
        self._facts = facts

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        behind = super().write(event, message, answer)
        self._facts -= isinstance(event, Acted | Ejected)
        if not self._facts:
            raise HostFault("a power cut")
        return behind


class FailsAtEnd(Spy):
    def end(self, result: Any) -> None:
        super().end(result)
        raise RuntimeError("a bad loser")


def spies(name: str, limits: Sequence[int] = ()) -> list[Spy]:
    """A spy for each seat, which plays like a built-in player."""
    game = game_info(name)
    strategies: list[Any] = [
        open_player(one, game, derive_seed(SEED, f"seat {n}")) for n, one in enumerate(GAMES[name][1])
    ]
    return [Spy(strategy, *limits[seat : seat + 1]) for seat, strategy in enumerate(strategies)]


def begin(name: str, directory: Path, players: Sequence[Spy], facts: int = 10**6) -> Path:
    """Play a match as far as it comes, up to so many facts."""
    beginning = RecordFactory(Journal(directory))
    with suppress(HostFault, KeyboardInterrupt):
        Referee().run(GAMES[name][0], players, seed=SEED, record=lambda match: StoppingRecord(beginning(match), facts))
    return beginning.path


def go_on(path: Path, players: Sequence[Spy]) -> None:
    """Resume it with those that were not ejected."""
    remaining = read_journal(path).match_after(None).remaining_seats
    with suppress(KeyboardInterrupt):
        resume_match(path, [players[seat] for seat in sorted(remaining)])


def messages(recorded: RecordedMatch, seat: int) -> list[Message]:
    return [one.message for one in transcript(recorded, seat)]


def lives(recorded: RecordedMatch, seat: int) -> list[list[Message]]:
    """What the seat heard, cut where the match was resumed."""
    found: list[list[Message]] = []
    for message in messages(recorded, seat):
        if isinstance(message, Start):
            found.append([])
        found[-1].append(message)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_every_seat_heard_exactly_this(name: str, tmp_path: Path) -> None:
    table = spies(name)

    recorded = read_journal(begin(name, tmp_path, table))

    for seat, spy in nonempty(enumerate(table)):
        assert messages(recorded, seat) == spy.heard
    assert any(isinstance(message, Tell) for message in messages(recorded, 1)) == (name == "q")


@pytest.mark.parametrize(
    ("name", "facts"), [("fish", 1), ("tsuro", 2), ("q", 3), ("fish", 7), ("tsuro", 10), ("q", 1), ("q", 10)]
)
def test_a_transcript_has_the_messages_twice_after_a_host_fault(name: str, facts: int, tmp_path: Path) -> None:
    before, after = spies(name), spies(name)

    path = begin(name, tmp_path, before, facts)
    go_on(path, after)

    recorded = read_journal(path)
    assert recorded.resumptions == (facts,)
    for seat in range(len(before)):
        assert lives(recorded, seat) == [spy.heard for spy in (before[seat], after[seat]) if spy.heard]


@pytest.mark.parametrize("name", GAMES)
def test_a_transcript_has_the_messages_after_an_interruption(name: str, tmp_path: Path) -> None:
    for seat, limit in nonempty(product((0, 1, 2), (1, 2, 3, 6))):
        limits = [limit if other == seat else 10**6 for other in range(4)]
        before, between, after = spies(name, limits), spies(name, limits), spies(name)

        path = begin(name, tmp_path / f"{seat}-{limit}", before)
        played = [before]
        for table in (between, after):
            if read_journal(path).closing is None:
                go_on(path, table)
                played.append(table)

        recorded, final = read_journal(path), verify(read_journal(path))
        assert any(spy.heard for spy in played[-1])
        for other, spy in enumerate(played[-1]):
            *earlier, last = lives(recorded, other)
            if spy.heard:
                assert last == spy.heard
            else:  # Tsuro: a player that has left the board before is not asked any more
                assert other not in final.game.order(final.state)
                assert last == next(table[other].heard for table in reversed(played) if table[other].heard)[: len(last)]
            if earlier:  # what came after the last fact is not in the record
                assert earlier[0] == before[other].heard[: len(earlier[0])]


def test_an_end_that_was_interrupted_has_the_receipt_of_the_second_one(tmp_path: Path) -> None:
    table = spies("fish")
    whole = read_journal(begin("fish", tmp_path, table))
    winner = min(whole.match_after(None).result.ranking[0])
    limits = [len(spy.heard) - 1 if seat == winner else 10**6 for seat, spy in enumerate(table)]
    after = spies("fish")

    path = begin("fish", tmp_path, spies("fish", limits))
    go_on(path, after)

    recorded = read_journal(path)
    for seat, spy in nonempty(enumerate(after)):
        assert isinstance(spy.heard[-1], End)
        assert lives(recorded, seat)[-1] == spy.heard
        assert spy.heard[-1] != table[seat].heard[-1]


def test_all_players_get_the_same_receipt_despite_failures_at_the_end(tmp_path: Path) -> None:
    table = [FailsAtEnd(), FailsAtEnd(), Spy()]

    recorded = read_journal(begin("fish", tmp_path, table))

    assert [ejected.moment for ejected in recorded.match_after(None).ejected] == [Moment.END, Moment.END]
    for seat, spy in enumerate(table):
        assert messages(recorded, seat) == spy.heard


def test_an_end_that_is_interrupted_after_a_failure_has_another_receipt(tmp_path: Path) -> None:
    trial = [FailsAtEnd(), FailsAtEnd(), FailsAtEnd()]
    order = [ejected.seat for ejected in read_journal(begin("fish", tmp_path, trial)).match_after(None).ejected]
    limit = len(trial[order[1]].heard) - 1
    before = [Spy(first_action, limit) if seat == order[1] else FailsAtEnd() for seat in range(3)]
    after = [Spy() for _ in range(3)]

    path = begin("fish", tmp_path, before)
    go_on(path, after)

    recorded = read_journal(path)
    assert [ejected.seat for ejected in recorded.match_after(None).ejected] == order[:1]
    for seat, spy in enumerate(after):
        assert lives(recorded, seat)[-1] == (before[seat] if seat == order[0] else spy).heard


@pytest.mark.parametrize("table", TABLES)
def test_a_transcript_has_all_turns_and_ends_where_a_seat_was_ejected(table: str, tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TABLES[table]())
    recorded = read_journal(path)

    ejections = {ejected.seat: ejected for ejected in match.ejected}
    for seat in nonempty(range(len(match.names))):
        entries = list(transcript(recorded, seat))
        last, turns = entries[-1], [one for one in entries if isinstance(one.message, TakeTurn)]
        assert isinstance(entries[0].message, Start) and entries[0].turn == 0
        assert [one.turn for one in turns] == list(range(1, len(turns) + 1))
        for one in turns:
            assert one.message == TakeTurn(recorded.match_after(one.facts).view(seat))
            if one is not last:
                assert one.answer == Answered(getattr(recorded.facts[one.facts], "action", None))
        ejected = ejections.get(seat)
        if ejected is None:
            assert isinstance(last.message, End)
            continue
        assert recorded.facts[last.facts] == ejected
        if isinstance(last.answer, Answered):
            assert ejected.fault is Fault.ILLEGAL
        else:
            assert isinstance(last.answer, Failed)
            assert (last.answer.fault, last.answer.why) == (ejected.fault, ejected.why)


def test_an_unfinished_match_ends_with_a_turn_without_an_answer(tmp_path: Path) -> None:
    table = spies("fish", [10**6, 4])
    recorded = read_journal(begin("fish", tmp_path, table))

    entries = [list(transcript(recorded, seat)) for seat in range(3)]

    assert entries[1][-1] == TranscriptEntry(table[1].heard[-1], None, 4, 10)
    assert messages(recorded, 1) == table[1].heard
    assert all(one.answer is not None for seat in (0, 2) for one in entries[seat])


def test_a_transcript_ends_where_the_host_ran_out_of_tiles(tmp_path: Path) -> None:
    game = Tsuro()
    dealt = game.deal(3, SEED)
    state = game.unpack_state(game.pack_state(dealt) | {"source": list(dealt.source[:11])})
    table = spies("tsuro")[:3]
    match = Match(game, state, ("a", "b", "c"), id="given")
    with Journal(tmp_path).begin(match) as begun, pytest.raises(HostFault):
        play(match, [LocalChannel(player, game) for player in table], begun)

    recorded = read_journal(begun.path)

    for seat, spy in enumerate(table):
        assert messages(recorded, seat) == spy.heard
