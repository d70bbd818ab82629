"""Check that the event stream is as docs/events.md describes it."""

import json
from hashlib import sha256
from typing import Any

from fairplay import Ejected, Ended, Fault, Moment
from fairplay.core.events import Result
from fairplay.core.match import Match
from fairplay.games.fish import Action, View
from fairplay.games.tsuro import Tsuro
from fairplay.observers.feed import EventFeed, event_fields
from fairplay.referee.referee import Referee
from tests.observers.observed import GAME, cheat, first, observe_match

NAMES = ("ann", "bob", "cyd")
HOSTILE = "\x1b[2Jann\n\u2028\u202e\0"


def crash(view: View) -> Action:
    raise RuntimeError("a secret of its own")


class BadLoser:
    """Good on its turns, but it says something when nothing is to be said."""

    def take_turn(self, view: View) -> Action:
        return first(view)

    def end(self, result: Result) -> str:
        return "it was unfair"


def fed(players: list[Any], names: tuple[str, ...] = NAMES) -> list[str]:
    lines: list[str] = []
    observe_match(EventFeed(lines.append), players, names[: len(players)])
    return lines


def test_each_event_is_one_json_line() -> None:
    lines = fed([first, cheat, BadLoser()])

    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert [json.loads(line)["type"] for line in lines] == [
        "started",
        "acted",
        "ejected",
        *["acted"] * 8,
        "ejected",
        "ended",
    ]


def test_the_feed_of_a_small_match_is_as_documented() -> None:
    started, placed, out, *_, ended = fed([first, cheat, first])

    assert json.loads(started) == {
        "type": "started",
        "match": "feed-1",
        "game": "fish",
        "parameters": {"rows": 3, "columns": 3, "fish": 1, "holes": 0, "colours": "fixed", "cramped": False},
        "names": ["ann", "bob", "cyd"],
        "commitment": sha256(bytes(32) + b"feed-1").hexdigest(),
        "view": {
            "seat": None,
            "stage": "placing",
            "order": [0, 1, 2],
            "each": 3,
            "board": [[1, 1, 1]] * 3,
            "players": [{"colour": colour, "score": 0, "penguins": []} for colour in ("red", "white", "brown")],
        },
    }
    assert placed == '{"type":"acted","name":"ann","seat":0,"action":{"type":"place","at":[0,0]}}\n'
    assert out == (
        '{"type":"ejected","name":"bob","seat":1,"fault":"illegal","moment":"turn",'
        '"clause":"3.2","why":"rule 3.2: there is no tile at [99, 99]"}\n'
    )
    assert json.loads(ended) == {
        "type": "ended",
        "ranking": [["ann"], ["cyd"]],
        "ejected": [{field: value for field, value in json.loads(out).items() if field != "type"}],
        "scores": [2, 0, 1],
        "seed": "00" * 32,
        "receipt": None,
    }


def test_placements_and_moves_have_different_types_in_the_feed() -> None:
    actions = [json.loads(line)["action"] for line in fed([first, first]) if '"acted"' in line]

    assert {action["type"]: set(action) for action in actions} == {
        "place": {"type", "at"},
        "move": {"type", "from", "to"},
    }


def test_ties_share_a_list_in_the_order_of_seats() -> None:
    match = Match(GAME, GAME.deal(3, bytes(32)), NAMES)

    event = event_fields(Ended(Result((frozenset({2, 0}), frozenset({1})), ())), match)

    assert event["ranking"] == [["ann", "cyd"], ["bob"]]


def test_faults_and_moments_have_their_documented_values() -> None:
    match = Match(GAME, GAME.deal(3, bytes(32)), NAMES)

    events = [event_fields(Ejected(2, fault, moment, "why"), match) for fault in Fault for moment in Moment]

    assert {event["fault"] for event in events} == {"illegal", "malformed", "timed_out", "crashed", "gone", "flood"}
    assert {event["moment"] for event in events} == {"greeting", "turn", "news", "end"}
    assert {(event["name"], event["seat"], event["why"]) for event in events} == {("cyd", 2, "why")}


def test_hostile_names_break_neither_lines_nor_terminals() -> None:
    lines = fed([first, cheat], (HOSTILE, "bob"))

    assert [json.loads(line)["names"] for line in lines[:1]] == [[HOSTILE, "bob"]]
    assert not any(sign < " " for line in lines for sign in line.removesuffix("\n"))


def test_the_feed_hides_the_tiles_that_the_caller_has_chosen() -> None:
    chosen = tuple((7 * number + 3) % 35 for number in range(200))
    game, lines = Tsuro(tiles=chosen), list[str]()
    referee = Referee()
    referee.subscribe(EventFeed(lines.append))

    referee.run(game, [lambda view: next(iter(game.actions(view)))] * 3, seed=bytes(32))

    started = json.loads(lines[0])
    assert game.parameters()["tiles"] == list(chosen)
    assert started["parameters"] == {"size": 10, "tiles": "given", "rules": "standard"}
    assert str(list(chosen[:4])).strip("[]").replace(" ", "") not in lines[0]


def test_a_broken_clause_is_in_the_ejection_and_in_the_result_but_the_text_of_a_crash_is_not() -> None:
    lines = fed([first, cheat, crash])

    events = [json.loads(line) for line in lines]
    assert "raised RuntimeError" in "".join(lines)
    assert "secret" not in "".join(lines)

    told = [(event["name"], event["clause"]) for event in events if event["type"] == "ejected"]
    assert told == [("bob", "3.2"), ("cyd", None)]
    assert [(ejected["name"], ejected["clause"]) for ejected in events[-1]["ejected"]] == told
