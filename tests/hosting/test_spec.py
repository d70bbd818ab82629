"""Check that specs can be sent to other processes, and that others are refused."""

import pickle
from itertools import cycle
from typing import Any

import msgspec
import pytest

from fairplay import BadRequest, Entrant, Game, Limits
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import Evidence
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.games.tsuro.rules import Rules
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec, Outcome, TurnSummary
from fairplay.journal.options import Durability
from tests.hosting.specs import SEED, make_spec

ALL = make_spec(
    "fish",
    "ann=greedy",
    "tcp:4000",
    id="a-match",
    guessable=True,
    sealed=True,
    limits=Limits(move=2.0, bank=60.0),
    sandbox="strict",
    pondering=True,
    journal="games",
    key="games/key",
    bot_logs="logs",
    hidden=("games/notes",),
    sync=Durability.ALWAYS,
    observers=("py:module:Name",),
)
OUT = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")
OUTCOME = Outcome(
    id="a-match",
    names=("ann", "bob"),
    result=Result((frozenset({0}),), (OUT,), seed=SEED.hex(), receipt=Receipt(7, "0f" * 32)),
    host_fault="the disk is full",
    journal="games/a-match.jsonl",
    evidence=((1, Evidence("what it said")),),
    turns=(TurnSummary(2, 0.5, 0.25),),
    took=0.5,
)


class Own(Rules, frozen=True):
    """Custom rules."""


@pytest.mark.parametrize("value", [ALL, OUTCOME], ids=["spec", "outcome"])
def test_every_field_of_a_spec_survives_pickle_and_json(value: Any) -> None:
    default = {field.name: field.default for field in msgspec.structs.fields(value)}

    assert all(getattr(value, name) != default[name] for name in default)  # or this would say nothing of the field
    assert pickle.loads(pickle.dumps(value)) == value
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


@pytest.mark.parametrize("game", [Fish(rows=4), Fish(fish=2, holes="random"), Tsuro(size=5), Q(q_bonus=3)], ids=repr)
def test_a_spec_is_made_from_a_game_object(game: Game[Any, Any, Any]) -> None:
    players = {"fish": "greedy", "tsuro": "random", "q": "dag"}
    entrants = [Entrant(players[game.name], f"player-{seat}") for seat in range(game.seats[0])]

    spec = MatchSpec.from_game(game, entrants, seed=SEED, sealed=True)

    assert spec.load_game() == game
    assert (spec.entrants, spec.seed, spec.sealed) == (tuple(entrants), SEED, True)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert run(spec).result is not None


@pytest.mark.parametrize("game", [Tsuro(rules=Own()), Tsuro(size=5, rules=Own())], ids=["rules", "and a board"])
def test_a_custom_rule_checker_cannot_be_sent_to_another_process(game: Tsuro) -> None:
    with pytest.raises(BadRequest, match=r"this game of tsuro cannot be sent to another process: .*rule"):
        MatchSpec.from_game(game, [Entrant("random")] * 3)


ITERATORS: dict[str, Any] = {"endless": cycle(range(35)), "short": iter([3, 1]), "made": (tile for tile in range(35))}


@pytest.mark.parametrize("name", ITERATORS)
def test_an_iterator_of_tiles_cannot_be_sent_to_another_process(name: str) -> None:
    game = Tsuro(size=5, tiles=ITERATORS[name])

    with pytest.raises(
        BadRequest, match=r"this game of tsuro cannot be sent to another process: .*an iterator of this process"
    ):
        MatchSpec.from_game(game, [Entrant("random")] * 3)


def test_tiles_taken_from_an_iterator_can_be_sent_to_another_process() -> None:
    game = Tsuro.with_tiles(cycle(range(35)), seats=3, size=5)

    spec = MatchSpec.from_game(game, [Entrant("random")] * 3)

    assert pickle.loads(pickle.dumps(spec)).load_game() == game


def test_players_without_labels_have_distinct_names_from_their_addresses() -> None:
    spec = make_spec("fish", "greedy", "ann=greedy", "greedy", "ann=random")

    assert spec.labels == ("greedy", "ann", "greedy-2", "ann-2")
    assert spec.addresses == ("greedy", "greedy", "greedy", "random")
