"""Test that the transcript of a seat has exactly the messages that its player got."""

from collections.abc import Callable, Sequence
from contextlib import suppress
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
from tests.journal.journals import SEED, TABLES, FailsAtMoment, RecordFactory, first_action, record_match
from tests.nonempty import nonempty

Strategy = Callable[[Any], Any]

GAMES: dict[str, tuple[Game[Any, Any, Any], tuple[str, ...]]] = {
    "fish": (Fish(rows=4, columns=4), ("random", "greedy", "lookahead:1")),
    "tsuro": (Tsuro(), ("second", "first", "survivor", "random")),
    "q": (Q(), ("random", "dag", "ldasg")),
}


class Spy:
    """Plays by a strategy, and keeps all that it hears; a keyboard is hit when it has heard so many messages."""

    def __init__(self, strategy: Strategy, patience: int = 10**6) -> None:
        self.heard: list[Message] = []
        self._strategy = strategy
        self._patience = patience

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self._hear(Start(seat, names, view))

    def take_turn(self, view: Any) -> Any:
        self._hear(TakeTurn(view))
        return self._strategy(view)

    def tell(self, news: Any) -> None:
        self._hear(Tell(news))

    def end(self, result: Any) -> None:
        self._hear(End(result))

    def _hear(self, message: Message) -> None:
        self.heard.append(message)
        if len(self.heard) > self._patience:
            raise KeyboardInterrupt


class Stopping(TimingRecord):
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


class Rude(Spy):
    """A spy who fails the end."""

    def end(self, result: Any) -> None:
        super().end(result)
        raise RuntimeError("a bad loser")


def spies(name: str, patience: Sequence[int] = ()) -> list[Spy]:
    """A spy for each seat, who plays like somebody of the server."""
    addresses = GAMES[name][1]
    server: list[Any] = [
        open_player(one, game_info(name), derive_seed(SEED, f"seat {n}")) for n, one in enumerate(addresses)
    ]
    return [Spy(strategy, *patience[seat : seat + 1]) for seat, strategy in enumerate(server)]


def begin(name: str, directory: Path, players: Sequence[Spy], facts: int = 10**6) -> Path:
    """Play a match as far as it comes, up to so many facts."""
    beginning = RecordFactory(Journal(directory))
    with suppress(HostFault, KeyboardInterrupt):
        Referee().run(GAMES[name][0], players, seed=SEED, record=lambda match: Stopping(beginning(match), facts))
    return beginning.path


def go_on(path: Path, players: Sequence[Spy]) -> None:
    """Play it on, with whoever was not ejected."""
    again, recorded = Journal(path.parent).resume(path)
    match = recorded.match_after(None)
    with again, suppress(KeyboardInterrupt):
        Referee().resume(match, [players[seat] for seat in sorted(match.remaining_seats)], record=again)


def lives(recorded: RecordedMatch, seat: int) -> list[list[Message]]:
    """What the seat heard, cut where the match was resumed."""
    found: list[list[Message]] = []
    for one in transcript(recorded, seat):
        if isinstance(one.message, Start):
            found.append([])
        found[-1].append(one.message)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_every_seat_heard_exactly_this(name: str, tmp_path: Path) -> None:
    table = spies(name)

    recorded = read_journal(begin(name, tmp_path, table))

    for seat, spy in nonempty(enumerate(table)):
        assert [one.message for one in transcript(recorded, seat)] == spy.heard


def test_in_q_there_is_news_among_it(tmp_path: Path) -> None:
    recorded = read_journal(begin("q", tmp_path, spies("q")))

    assert any(isinstance(one.message, Tell) for one in transcript(recorded, 1))


@pytest.mark.parametrize("facts", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("name", GAMES)
def test_a_transcript_has_the_messages_twice_after_a_host_fault(name: str, facts: int, tmp_path: Path) -> None:
    before, after = spies(name), spies(name)

    path = begin(name, tmp_path, before, facts)
    go_on(path, after)

    recorded = read_journal(path)
    assert recorded.resumptions == (facts,)
    for seat in range(len(before)):
        assert lives(recorded, seat) == [spy.heard for spy in (before[seat], after[seat]) if spy.heard]


@pytest.mark.parametrize("patience", [1, 2, 3, 6])
@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_a_transcript_has_the_messages_after_an_interruption(
    name: str, seat: int, patience: int, tmp_path: Path
) -> None:
    short = [patience if other == seat else 10**6 for other in range(4)]
    before, between, after = spies(name, short), spies(name, short), spies(name)

    path = begin(name, tmp_path, before)
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
        else:  # Tsuro: who has left the board before is not asked any more
            assert other not in final.game.order(final.state)
            assert last == next(table[other].heard for table in reversed(played) if table[other].heard)[: len(last)]
        if earlier:  # what came behind the last fact is not in the record
            assert earlier[0] == before[other].heard[: len(earlier[0])]


def test_an_end_that_was_interrupted_has_the_receipt_of_the_second_one(tmp_path: Path) -> None:
    table = spies("fish")
    whole = read_journal(begin("fish", tmp_path, table))
    (winner, *_), *_ = [sorted(group) for group in whole.match_after(None).result.ranking]
    patience = [10**6] * 3
    patience[winner] = len(table[winner].heard) - 1
    after = spies("fish")

    path = begin("fish", tmp_path, spies("fish", patience))
    go_on(path, after)

    recorded = read_journal(path)
    for seat, spy in nonempty(enumerate(after)):
        assert isinstance(spy.heard[-1], End)
        assert lives(recorded, seat)[-1] == spy.heard
        assert spy.heard[-1] != table[seat].heard[-1]


def test_all_players_get_the_same_receipt_despite_failures_at_the_end(tmp_path: Path) -> None:
    table = [Rude(first_action), Rude(first_action), Spy(first_action)]

    recorded = read_journal(begin("fish", tmp_path, table))

    assert [ejected.moment for ejected in recorded.match_after(None).ejected] == [Moment.END, Moment.END]
    for seat, spy in enumerate(table):
        assert [one.message for one in transcript(recorded, seat)] == spy.heard


def test_an_end_that_is_interrupted_after_a_failure_has_another_receipt(tmp_path: Path) -> None:
    trial = [Rude(first_action), Rude(first_action), Rude(first_action)]
    order = [ejected.seat for ejected in read_journal(begin("fish", tmp_path, trial)).match_after(None).ejected]
    patience = len(trial[order[1]].heard) - 1
    before = [Spy(first_action, patience) if seat == order[1] else Rude(first_action) for seat in range(3)]
    after = [Spy(first_action) for _ in range(3)]

    path = begin("fish", tmp_path, before)
    go_on(path, after)

    recorded = read_journal(path)
    assert [ejected.seat for ejected in recorded.match_after(None).ejected] == order[:1]
    for seat, spy in enumerate(after):
        assert lives(recorded, seat)[-1] == (before[seat] if seat == order[0] else spy).heard


def test_turns_and_facts_are_counted(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, TABLES["three of the server"]())
    recorded = read_journal(path)

    for seat in range(3):
        turns = [one for one in transcript(recorded, seat) if isinstance(one.message, TakeTurn)]

        assert [one.turn for one in turns] == list(range(1, len(turns) + 1))
        for one in turns:
            assert one.message == TakeTurn(recorded.match_after(one.facts).view(seat))
            assert one.answer == Answered(getattr(recorded.facts[one.facts], "action", None))


@pytest.mark.parametrize("table", TABLES)
def test_a_transcript_ends_where_a_seat_was_ejected(table: str, tmp_path: Path) -> None:
    path, match = record_match(tmp_path, TABLES[table]())
    recorded = read_journal(path)

    ejections = {ejected.seat: ejected for ejected in match.ejected}
    for seat in nonempty(range(len(match.names))):
        *_, last = transcript(recorded, seat)

        ejected = ejections.get(seat)
        if ejected is None:
            assert isinstance(last.message, End)
            continue
        assert recorded.facts[last.facts] == ejected
        match last.answer:
            case Answered():
                assert ejected.fault is Fault.ILLEGAL
            case answer:
                assert isinstance(answer, Failed)
                assert (answer.fault, answer.why) == (ejected.fault, ejected.why)


def test_the_transcript_of_a_player_that_failed_at_the_greeting_has_nothing_else(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, FailsAtMoment(Moment.GREETING), first_action])

    (only,) = transcript(read_journal(path), 1)

    assert isinstance(only.message, Start)
    assert isinstance(only.answer, Failed)
    assert (only.turn, only.facts) == (0, 0)


def test_an_unfinished_match_ends_with_a_turn_without_an_answer(tmp_path: Path) -> None:
    table = spies("fish", [10**6, 4])
    recorded = read_journal(begin("fish", tmp_path, table))

    ends = [list(transcript(recorded, seat)) for seat in range(3)]

    assert ends[1][-1] == TranscriptEntry(table[1].heard[-1], None, 4, 10)
    assert [one.message for one in ends[1]] == table[1].heard
    assert all(one.answer is not None for seat in (0, 2) for one in ends[seat])


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
        assert [one.message for one in transcript(recorded, seat)] == spy.heard
