"""Play thousands of small matches with bad players at any seat from any turn on, and check invariants.

python -m tests.misbehaviour.fuzz 10000
"""

import asyncio
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

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
from tests.misbehaviour.remote_players import ImmediateChannel

BUILT_IN = {
    "fish": ("random", "greedy", "lookahead:1"),
    "tsuro": ("second", "third", "random"),
    "q": ("random", "dag", "ldasg"),
}
MAX_CALLS = 2000  # of one match; the longest have some hundreds
AWAITED_INTERVAL, RECORDED_INTERVAL = (
    7,
    5,
)  # every so many matches are also played with the other driver, and written down
MATCHES_PER_JOB = 50
PARALLEL_JOBS = 2  # processes
MAX_SHOWN_FAILURES = 5
SEED = seed_from_text("fuzz")


class InvariantBroken(AssertionError):
    """Something is not as it has to be."""


class Tally(msgspec.Struct):
    """What came of so many matches."""

    matches: int = 0
    calls: int = 0
    bad: int = 0  # seats with a bad player
    ejected: Counter[str] = msgspec.field(default_factory=Counter)  # by fault and moment
    done: Counter[str] = msgspec.field(default_factory=Counter)  # how often each kind was bad
    stuck: int = 0  # honest players that had no legal option
    recorded: int = 0
    awaited: int = 0
    failures: list[str] = msgspec.field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count both together."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class SeatedPlayer(msgspec.Struct, frozen=True):
    """Who sits at a seat: a built-in player, and perhaps how it turns bad."""

    built_in: str
    bad: HostilePlayer | None = None  # at its moment
    after: int = 0  # calls of that moment which it answers well


class SpyChannel:
    """A channel to a sitter that knows whether it was bad, by comparing it with what it would have done."""

    def __init__(self, sitter: SeatedPlayer, game: Game[Any, Any, Any], key: bytes) -> None:
        strategy: Any = open_player(sitter.built_in, game_info(game.name), key)
        self.sitter = sitter
        self.done = False
        self.calls = 0
        self.closed = 0
        self._good: Channel = LocalChannel(strategy, game)
        self._bad = sitter.bad.make_channel(strategy, game) if sitter.bad else self._good
        self._left = sitter.after

    def ask(self, message: Message) -> Answer:
        """Pass it on to the one or the other."""
        self.calls += 1
        if self.closed or self.done or self.calls > MAX_CALLS:
            raise InvariantBroken(f"{self.sitter} was asked after its ejection, or too often")
        bad = self.sitter.bad
        if bad is None or not isinstance(message, MESSAGE_TYPES[bad.moment]):
            return self._good.ask(message)
        self._left -= 1
        if self._left >= 0:
            return self._good.ask(message)
        answer = self._bad.ask(message)
        self.done = answer != self._good.ask(message)
        return answer

    def close(self, reason: CloseReason) -> None:
        """Remember it."""
        self.closed += 1


class LawChecker:
    """Checks the laws after every fact, and keeps the facts."""

    def __init__(self, match: AnyMatch) -> None:
        self.facts: list[Fact] = []
        self._match = match
        self._trial = laws.LawInputs(
            Sampling(SeededRandom(bytes(32)), 0, 0), KNOWN[match.game.name]["pieces"], None, []
        )

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
    sitters = []
    for seat in range(seats):
        server = BUILT_IN[game][lots.below(len(BUILT_IN[game]))]
        sitter = SeatedPlayer(server)
        if seat in spoiled:
            bad = kinds[lots.below(len(kinds))]
            moments = [moment for moment in bad.moments if moment is not Moment.NEWS or game == "q"] or [Moment.TURN]
            moment = moments[lots.below(len(moments))]
            after = lots.below(7) if moment in (Moment.TURN, Moment.NEWS) else 0
            sitter = SeatedPlayer(server, bad.with_moment(moment), after)
        sitters.append(sitter)
    return match, sitters


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


def seat_players(match: AnyMatch, sitters: Sequence[SeatedPlayer], seed: bytes) -> list[SpyChannel]:
    return [SpyChannel(sitter, match.game, derive_seed(seed, f"seat {seat}")) for seat, sitter in enumerate(sitters)]


def play_match(number: int, seed: bytes, directory: Path) -> Tally:
    """One match, with all that has to be true of it."""
    match, sitters = random_match(number, seed)
    table, tally = seat_players(match, sitters, seed), Tally(matches=1)
    record = Journal(directory).begin(match) if number % RECORDED_INTERVAL == 0 else None
    watch = LawChecker(match)
    with closing(record or NULL_RECORD) as kept:
        final = play(match, table, kept, watch)
    judge_match(final, table, tally)
    replayed = match
    for fact in watch.facts:
        replayed = replayed.after(fact)
    if replayed != final:
        raise InvariantBroken("the facts do not lead to the same match again")
    if record is not None:
        if without_id(verify(read_journal(record.path))) != without_id(final):  # who gave a state had no id for it
            raise InvariantBroken("the journal holds another match")
        record.path.unlink()
        tally.recorded += 1
    if number % AWAITED_INTERVAL == 0:
        again, watched = seat_players(match, sitters, seed), LawChecker(match)
        if asyncio.run(play_async(match, [ImmediateChannel(one) for one in again], on_event=watched)) != final:
            raise InvariantBroken("the other driver comes to another end")
        if watched.facts != watch.facts or [one.calls for one in again] != [one.calls for one in table]:
            raise InvariantBroken("the other driver does something else")
        tally.awaited += 1
    return tally


def judge_match(final: AnyMatch, table: Sequence[SpyChannel], tally: Tally) -> None:
    """Check that exactly the bad players are ejected, and every player is ranked or ejected."""
    out = {ejected.seat: ejected for ejected in final.ejected}
    ranked = sorted(seat for group in final.result.ranking for seat in group)
    if final.turn is not None or len(out) != len(final.ejected) or sorted([*out, *ranked]) != [*range(len(table))]:
        raise InvariantBroken(f"not every player is ranked or ejected: {final.result}")
    for seat, channel in enumerate(table):
        bad, ejected = channel.sitter.bad, out.get(seat)
        tally.calls += channel.calls
        tally.bad += bad is not None
        if channel.closed != 1:
            raise InvariantBroken(f"the line to seat {seat} was closed {channel.closed} times")
        if bad is not None and channel.done:
            tally.done[bad.name] += 1
            if ejected is None or (ejected.fault, ejected.moment) != (bad.fault, bad.moment):
                raise InvariantBroken(f"seat {seat}, {bad.name} at the {bad.moment.value}: {ejected}")
            if ejected.clause != bad.clause and "no legal option" not in ejected.why:
                raise InvariantBroken(f"seat {seat}, {bad.name}: {ejected}, and not rule {bad.clause}")
            tally.ejected[f"{ejected.fault.value} ({ejected.moment.value})"] += 1
        elif ejected is not None:
            if ejected.fault is not Fault.ILLEGAL or "no legal option" not in ejected.why:
                raise InvariantBroken(f"seat {seat} is honest, and was ejected: {ejected}")
            tally.stuck += 1


def fuzz_matches(numbers: range, seed: bytes = SEED) -> Tally:
    """All these matches; whatever goes wrong is told with the number of its match."""
    total = Tally()
    with TemporaryDirectory() as directory:
        for number in numbers:
            try:
                total.add(play_match(number, seed, Path(directory)))
            except (KeyboardInterrupt, MemoryError):
                raise
            except BaseException as error:  # nothing at all may come out of a match
                total.add(Tally(matches=1, failures=[f"match {number}: {type(error).__name__}: {error}"]))
    return total


def main(count: int) -> int:
    """Show what came of so many; the exit code is 1 if anything is wrong."""
    since, total = time.monotonic(), Tally()
    chunks = [range(start, min(start + MATCHES_PER_JOB, count)) for start in range(0, count, MATCHES_PER_JOB)]
    with ProcessPoolExecutor(PARALLEL_JOBS, multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(fuzz_matches, chunk) for chunk in chunks]):
            total.add(future.result())
            print(f"\r{total.matches} of {count}, {len(total.failures)} wrong", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    idle = sorted(set(ALL_PLAYERS) - set(total.done))
    print(
        f"{total.matches} matches, {total.calls} calls, {time.monotonic() - since:.0f} s with {PARALLEL_JOBS} processes"
    )
    print(f"{total.bad} bad players of {len(ALL_PLAYERS)} kinds, {sum(total.done.values())} of which came to be bad")
    print(f"{total.recorded} journals verified, {total.awaited} matches played with both drivers")
    print(f"{total.stuck} honest players had no legal option")
    for what, often in sorted(total.ejected.items()):
        print(f"  {often:6}  {what}")
    print(f"kinds that were never bad: {', '.join(idle) or 'none'}")
    print(f"wrong: {len(total.failures)}")
    for failure in sorted(total.failures)[:MAX_SHOWN_FAILURES]:
        print(f"  {failure}")
    return bool(total.failures)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
