"""Test a few hundred fuzzed matches, and that a broken invariant would be noticed."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Acted, Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.match import Match
from fairplay.core.messages import Answered
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.referee import conversation, drivers
from fairplay.testing.hostile import REMOTE_PLAYERS
from tests.misbehaviour import fuzz
from tests.misbehaviour.fuzz import Tally, fuzz_matches, random_match

MATCHES = range(400)
CHUNKS = [range(start, start + 20) for start in range(0, 600, 20)]
Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(scope="module")
def tally() -> Tally:
    return fuzz_matches(MATCHES)


def test_no_fuzzed_match_breaks_a_law(tally: Tally) -> None:
    assert tally.matches == len(MATCHES)
    assert tally.failures == []


def test_fuzzed_matches_have_every_fault_at_every_moment(tally: Tally) -> None:
    ways = {tuple(text.rstrip(")").split(" (")) for text in tally.ejected}

    assert {fault for fault, _ in ways} == {fault.value for fault in Fault if fault is not Fault.GONE}
    assert {moment for _, moment in ways} == {moment.value for moment in Moment}
    assert tally.bad > len(MATCHES)
    assert len(tally.done) > 100


def test_fuzzed_matches_use_journals_and_both_drivers(tally: Tally) -> None:
    assert tally.recorded > 50
    assert tally.awaited > 50


def test_fuzzed_tables_are_all_bad_or_nearly_good() -> None:
    counts = {
        (len(sitters), sum(sitter.bad is not None for sitter in sitters))
        for _, sitters in (random_match(number, fuzz.SEED) for number in MATCHES)
    }

    assert {(seats, bad) for seats in (2, 3, 4) for bad in range(1, seats + 1)} <= counts
    assert (5, 5) in counts


def test_a_fuzzed_match_is_determined_by_its_number() -> None:
    one, other = fuzz_matches(range(30)), fuzz_matches(range(30))

    assert msgspec.to_builtins(one) == msgspec.to_builtins(other)


# A meter that cannot fail is no meter.


def lenient(patch: pytest.MonkeyPatch) -> None:
    """A referee that lets cheats pass; their actions are not applied, for that would raise."""
    judge = conversation.judge

    def forgiving(game: Any, view: Any, seat: int, answer: Any) -> Any:
        fact = judge(game, view, seat, answer)
        action = next(game.actions(view), None)
        cheated = isinstance(fact, Ejected) and fact.fault is Fault.ILLEGAL
        return Acted(seat, action) if cheated and action is not None else fact

    patch.setattr(conversation, "judge", forgiving)


def strict(patch: pytest.MonkeyPatch) -> None:
    """A referee that ejects an honest player, once."""
    judge = conversation.judge

    def unjust(game: Any, view: Any, seat: int, answer: Any) -> Any:
        fact = judge(game, view, seat, answer)
        unlucky = isinstance(fact, Acted) and seat == 1 and isinstance(answer, Answered)
        return Ejected(seat, Fault.ILLEGAL, Moment.TURN, "rule 1.1: bad luck", "1.1") if unlucky else fact

    patch.setattr(conversation, "judge", unjust)


def confused(patch: pytest.MonkeyPatch) -> None:
    """A referee that calls every fault a crash."""
    judge = conversation.judge_acknowledgement

    def crude(seat: int, moment: Moment, answer: Any) -> Any:
        ejected = judge(seat, moment, answer)
        return None if ejected is None else msgspec.structs.replace(ejected, fault=Fault.CRASHED)

    patch.setattr(conversation, "judge_acknowledgement", crude)


def wasteful(patch: pytest.MonkeyPatch) -> None:
    """An ejection in Q that loses tiles."""
    eject = Q.eject

    def lose(self: Q, state: Any, seat: int, moment: Moment) -> Any:
        after = eject(self, state, seat, moment)
        return msgspec.structs.replace(after, pile=after.pile[1:])

    patch.setattr(Q, "eject", lose)


def greedy(patch: pytest.MonkeyPatch) -> None:
    """A ranking in which the ejected are, too."""
    ranking = Fish.ranking
    all_seats = frozenset(range(2))
    patch.setattr(Fish, "ranking", lambda self, state: (*ranking(self, state), all_seats))


def fragile(patch: pytest.MonkeyPatch) -> None:
    """Rules that raise when no player is left."""
    ranking = Q.ranking

    def best(self: Q, state: Any) -> Any:
        return ranking(self, state) if max(state.order) >= 0 else ()

    patch.setattr(Q, "ranking", best)


def forgetful(patch: pytest.MonkeyPatch) -> None:
    """A driver that does not close the channels of ejected players."""

    class Kept(dict[Any, Any]):
        def pop(self, key: Any, *_: Any) -> Any:
            return self[key]

    patch.setattr(drivers, "dict", Kept, raising=False)


def wayward(patch: pytest.MonkeyPatch) -> None:
    """A match that is not a function of its facts."""
    after, calls = Match.after, [0]

    def drift(self: Any, fact: Any) -> Any:
        calls[0] += 1
        return msgspec.structs.replace(after(self, fact), names=(f"{calls[0]}", *self.names[1:]))

    patch.setattr(Match, "after", drift)


def harmless(patch: pytest.MonkeyPatch) -> None:
    """Stand-ins that declare one fault and show another."""
    wrong = {name: msgspec.structs.replace(bad, fault=Fault.GONE) for name, bad in REMOTE_PLAYERS.items()}
    patch.setattr(fuzz, "ALL_PLAYERS", wrong)


@pytest.mark.parametrize("plant", [lenient, strict, confused, wasteful, greedy, fragile, forgetful, wayward, harmless])
def test_fuzzing_detects_a_planted_bug(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    assert any(fuzz_matches(chunk).failures for chunk in CHUNKS)
