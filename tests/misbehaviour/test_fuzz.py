"""Test small matches with bad players at any seat from any turn on: no invariant is ever broken."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest

from fairplay.core.chance import SeededRandom, derive_seed, seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fact, Fault
from fairplay.core.game import Game, Moment
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import NULL_RECORD, Channel, CloseReason
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import open_player
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.testing import laws
from fairplay.testing.hostile import ALL_PLAYERS, MESSAGE_TYPES, HostilePlayer
from fairplay.testing.playouts import Sampling
from tests.every_game.test_conformance import KNOWN
from tests.match_ids import without_id

BUILT_IN = {
    "fish": ("random", "greedy", "lookahead:1"),
    "tsuro": ("second", "third", "random"),
    "q": ("random", "dag", "ldasg"),
}
MAX_CALLS = 2000  # of one match; the longest have some hundreds
AWAITED_INTERVAL = 7  # every so many matches are also played with the other driver
RECORDED_INTERVAL = 5  # every so many matches are written down
SEED = seed_from_text("fuzz")


class Tally(msgspec.Struct):
    matches: int = 0
    bad: int = 0  # seats with a bad player
    ejected: Counter[str] = msgspec.field(default_factory=Counter)  # by fault and moment
    done: Counter[str] = msgspec.field(default_factory=Counter)  # how often each kind was bad
    recorded: int = 0
    awaited: int = 0
    failures: list[str] = msgspec.field(default_factory=list)


class SeatedPlayer(NamedTuple):
    """A built-in player at a seat, and perhaps how it turns bad."""

    built_in: str
    bad: HostilePlayer | None = None  # at its moment
    after: int = 0  # calls of that moment which it answers well


class SpyChannel:
    """A channel to a player that knows whether it was bad, by comparing it with what it would have done."""

    on_change = None

    def __init__(self, player: SeatedPlayer, game: Game[Any, Any, Any], key: bytes) -> None:
        strategy: Any = open_player(player.built_in, game_info(game.name), key)
        self.bad = player.bad
        self.done = False
        self.calls = self.closed = 0
        self._good: Channel = LocalChannel(strategy, game)
        self._bad = player.bad.make_channel(strategy, game) if player.bad else self._good
        self._left = player.after

    def ask(self, message: Message) -> Answer:
        self.calls += 1
        assert not self.closed and not self.done, "asked after its ejection"
        assert self.calls <= MAX_CALLS
        if self.bad is None or not isinstance(message, MESSAGE_TYPES[self.bad.moment]):
            return self._good.ask(message)
        self._left -= 1
        if self._left >= 0:
            return self._good.ask(message)
        answer = self._bad.ask(message)
        self.done = answer != self._good.ask(message)
        return answer

    def close(self, reason: CloseReason) -> None:
        self.closed += 1


class LawChecker:
    """Checks the laws after every fact, and keeps the facts."""

    def __init__(self, match: AnyMatch) -> None:
        self.facts: list[Fact] = []
        self._match = match
        pieces = KNOWN[match.game.name]["pieces"]
        self._trial = laws.LawInputs(Sampling(SeededRandom(bytes(32)), 0, 0), pieces, None, [])

    def __call__(self, event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            self.facts.append(event)
            laws.check_pieces(self._match, match, self._trial)
            if isinstance(event, Acted) or event.moment is not Moment.END:  # then the state does not change
                laws.check_order(match)
                laws.check_ranking(match)
        self._match = match


def random_match(number: int, seed: bytes) -> tuple[AnyMatch, list[SeatedPlayer]]:
    """A small match, and who sits at it: one at least is bad."""
    lots = SeededRandom(derive_seed(seed, f"match {number}"))
    match = [random_fish, random_tsuro, random_q][number % 3](lots, derive_seed(seed, f"deal {number}"))
    seats, game = len(match.names), match.game.name
    kinds = [bad for bad in ALL_PLAYERS.values() if bad.only_in in ("", game)]
    spoiled = set(lots.sample(seats, 1 + lots.below(seats)))
    players = []
    for seat in range(seats):
        player = SeatedPlayer(BUILT_IN[game][lots.below(len(BUILT_IN[game]))])
        if seat in spoiled:
            bad = kinds[lots.below(len(kinds))]
            moments = [moment for moment in bad.moments if moment is not Moment.NEWS or game == "q"] or [Moment.TURN]
            moment = moments[lots.below(len(moments))]
            after = lots.below(7) if moment in (Moment.TURN, Moment.NEWS) else 0
            player = SeatedPlayer(player.built_in, bad.with_moment(moment), after)
        players.append(player)
    return match, players


def random_fish(lots: SeededRandom, seed: bytes) -> AnyMatch:
    seats = 2 + lots.below(3)
    game = Fish(
        rows=2 + lots.below(4),
        columns=2 + lots.below(4),
        fish="random" if lots.below(3) else 1,
        holes="random" if lots.below(3) == 0 else 0,
        cramped=True,
    )
    return Match(game, game.deal(seats, seed), seat_names(seats), seed=seed, id=seed.hex())


def random_tsuro(lots: SeededRandom, seed: bytes) -> AnyMatch:
    game = Tsuro(size=3 + lots.below(3), tiles="cycle" if lots.below(4) == 0 else "bag")
    seats = 3 + lots.below(min(3, 2 * (game.size - 1) - 2))
    return Match(game, game.deal(seats, seed), seat_names(seats), seed=seed, id=seed.hex())


def random_q(lots: SeededRandom, seed: bytes) -> AnyMatch:
    seats, game = 2 + lots.below(3), Q()
    state = game.deal(seats, seed)
    pile, hand = lots.below(24), 1 + lots.below(6)
    few = msgspec.structs.replace(state, pile=state.pile[:pile], hands=tuple(tiles[:hand] for tiles in state.hands))
    return Match(game, few, seat_names(seats))


def seat_names(seats: int) -> tuple[str, ...]:
    return tuple(f"p{seat}" for seat in range(seats))


def play_match(number: int, seed: bytes, directory: Path, tally: Tally) -> None:
    match, players = random_match(number, seed)

    def table() -> list[Any]:
        keys = [derive_seed(seed, f"seat {seat}") for seat in range(len(players))]
        return [SpyChannel(player, match.game, key) for player, key in zip(players, keys, strict=True)]

    channels, watch = table(), LawChecker(match)
    record = Journal(directory).begin(match) if number % RECORDED_INTERVAL == 0 else None
    with closing(record or NULL_RECORD) as kept:
        final = play(match, channels, kept, watch)
    judge_match(final, channels, tally)
    replayed = match
    for fact in watch.facts:
        replayed = replayed.after(fact)
    assert replayed == final, "the facts do not lead to the same match again"
    if record is not None:
        assert without_id(verify(read_journal(record.path))) == without_id(final)  # a given state has no id
        record.path.unlink()
        tally.recorded += 1
    if number % AWAITED_INTERVAL == 0:
        again, watched = table(), LawChecker(match)
        assert asyncio.run(play_async(match, [AsyncLocalChannel(one) for one in again], on_event=watched)) == final
        assert watched.facts == watch.facts
        assert [one.calls for one in again] == [one.calls for one in channels]
        tally.awaited += 1


def judge_match(final: AnyMatch, table: Sequence[SpyChannel], tally: Tally) -> None:
    """Check that exactly the bad players are ejected, and every player is ranked or ejected."""
    out = {ejected.seat: ejected for ejected in final.ejected}
    ranked = [seat for group in final.result.ranking for seat in group]
    assert final.turn is None and len(out) == len(final.ejected)
    assert sorted([*out, *ranked]) == [*range(len(table))]
    for seat, channel in enumerate(table):
        bad, ejected = channel.bad, out.get(seat)
        tally.bad += bad is not None
        assert channel.closed == 1, seat
        if bad is not None and channel.done:
            tally.done[bad.name] += 1
            assert ejected is not None, bad.name
            assert (ejected.fault, ejected.moment) == (bad.fault, bad.moment), bad.name
            assert ejected.clause == bad.clause or "no legal option" in ejected.why, (ejected, bad.name)
            tally.ejected[f"{ejected.fault.value} ({ejected.moment.value})"] += 1
        elif ejected is not None:  # though it is honest
            assert ejected.fault is Fault.ILLEGAL and "no legal option" in ejected.why, ejected


def fuzz_matches(numbers: range, seed: bytes = SEED) -> Tally:
    """All these matches; whatever goes wrong is told with the number of its match."""
    tally = Tally()
    with TemporaryDirectory() as directory:
        for number in numbers:
            tally.matches += 1
            try:
                play_match(number, seed, Path(directory), tally)
            except (KeyboardInterrupt, MemoryError):
                raise
            except BaseException as error:  # nothing at all may come out of a match
                tally.failures.append(f"match {number}: {type(error).__name__}: {error}")
    return tally


MATCHES = range(400)


@pytest.fixture(scope="module")
def tally() -> Tally:
    return fuzz_matches(MATCHES)


def test_no_fuzzed_match_breaks_a_law(tally: Tally) -> None:
    assert tally.failures == []
    assert tally.matches == len(MATCHES)
    assert min(tally.recorded, tally.awaited) > 50


@pytest.mark.nightly
@pytest.mark.time_limit(1800)
def test_no_match_of_many_breaks_a_law() -> None:
    assert fuzz_matches(range(MATCHES.stop, 10_000)).failures == []


def test_fuzzed_matches_have_every_fault_at_every_moment(tally: Tally) -> None:
    ways = {tuple(text.rstrip(")").split(" (")) for text in tally.ejected}

    assert {fault for fault, _ in ways} == {fault.value for fault in Fault if fault is not Fault.GONE}
    assert {moment for _, moment in ways} == {moment.value for moment in Moment}
    assert tally.bad > len(MATCHES)
    assert len(tally.done) > 100


def test_fuzzed_tables_are_all_bad_or_nearly_good() -> None:
    tables = [random_match(number, SEED)[1] for number in MATCHES]
    counts = {(len(players), sum(player.bad is not None for player in players)) for players in tables}

    assert {(seats, bad) for seats in (2, 3, 4) for bad in range(1, seats + 1)} <= counts
    assert (5, 5) in counts


def test_a_fuzzed_match_is_determined_by_its_number() -> None:
    assert fuzz_matches(range(30)) == fuzz_matches(range(30))
