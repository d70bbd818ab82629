"""Check that a game keeps every law, along random matches."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.game import Action, Game, Seat, State, View
from fairplay.core.match import Match
from fairplay.testing.laws import EXPENSIVE_LAWS, LAWS, Law, LawInputs, views_hide_what_they_must
from fairplay.testing.mutants import foreign_actions
from fairplay.testing.playouts import AnyMatch, Position, Sampling, law_failure_heading, playout

DEFAULT_SEEDS = tuple(seed_from_text(f"conformance {number}") for number in range(3))


def check_game(
    game: Game[State, View, Action],
    *,
    pieces: Callable[[State], object] = lambda state: None,
    reshuffle: Callable[[State, Seat | None, SeededRandom], State] | None = None,
    seats: Iterable[int] | None = None,
    seeds: Sequence[bytes] = DEFAULT_SEEDS,
    given: Sequence[Match[State, View, Action]] = (),
    turns: int = 1000,
    breadth: int = 100,
    points: int = 16,
    laws: Sequence[Law] = LAWS,
) -> None:
    """Raise AssertionError unless the game keeps every law; it says which law broke, for which seed, and where.

    `pieces` gives what no action and no ejection may change, such as a sorted list of all tiles. `reshuffle` changes
    what a seat (None: a spectator) may not know, and nothing else; a game that hides anything needs it. Matches are
    dealt from each seed for each number of seats, or are given. `turns` limits the length of a match, `breadth` the
    choice at each turn, `points` the number of positions of each match at which the expensive laws are tried.
    """
    if game.hidden and reshuffle is None and views_hide_what_they_must in laws:
        raise AssertionError(f"views hide what they must: pass a reshuffle, as {game.name} has hidden information")
    sampling = Sampling(SeededRandom(seed_from_text("sampling")), turns, breadth)
    playouts = [
        *(deal_match(game, count, seed, sampling) for count in seats or game.seats for seed in seeds),
        *(playout(match, sampling, f"given match {number}") for number, match in enumerate(given, 1)),
    ]
    inputs = LawInputs(
        sampling,
        pieces,
        reshuffle,
        foreign_actions(game, list(chain.from_iterable(playouts)), sampling),
    )
    for law in laws:
        for positions in playouts:
            for position in sample_positions(positions, points, sampling.lots) if law in EXPENSIVE_LAWS else positions:
                with law_failure_heading(f"{law.__name__.replace('_', ' ')}: {{}} ({position.where})"):
                    law(position, inputs)
    if reshuffle is not None and views_hide_what_they_must in laws and not inputs.has_hidden_information:
        raise AssertionError("views hide what they must: the reshuffle never changed a state, so nothing was checked")


def deal_match(game: Game[Any, Any, Any], seats: int, seed: bytes, sampling: Sampling) -> list[Position]:
    """A random match from a seed."""
    label = f"seed {seed.hex()}"
    with law_failure_heading(f"a match can be dealt: {{}} ({label}, {seats} seats)"):
        match: AnyMatch = Match(game, game.deal(seats, seed), tuple(f"player-{seat}" for seat in range(seats)))
    return playout(match, sampling, label, seed)


def sample_positions(positions: Sequence[Position], points: int, lots: SeededRandom) -> list[Position]:
    """At most `points` of the positions, in their order, with the first and the last."""
    if len(positions) <= points:
        return list(positions)
    inner = sorted(lots.sample(len(positions) - 2, points - 2))
    return [positions[0], *(positions[index + 1] for index in inner), positions[-1]]
