"""Test that the schema of the protocol agrees with the code and with real matches."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import Ejected, Fault, Moment, Receipt
from fairplay.core.events import Result
from fairplay.core.messages import End
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.protocol import wire
from fairplay.referee.changes import Change
from tests.examples.programs import AnyMatch, deal_match, play_match
from tools import schema

SCHEMA: dict[str, Any] = json.loads(schema.PATH.read_text())
SILENT = {"$schema", "$defs", "title", "description", "default", "discriminator"}  # they say nothing about values
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def fits(value: Any, rule: Any) -> bool:
    """Does a value fit a schema? Only what this schema uses is known; whatever else there is raises KeyError."""
    if isinstance(rule, bool):
        return rule
    return all(RULES[word](value, rule) for word in rule if word not in SILENT)


def is_of(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def has_fitting_fields(value: Any, rule: dict[str, Any]) -> bool:
    known = rule.get("properties", {})
    return isinstance(value, dict) and all(
        fits(field, known.get(name, rule.get("additionalProperties", True))) for name, field in value.items()
    )


def has_fitting_items(value: Any, rule: dict[str, Any]) -> bool:
    first = rule.get("prefixItems", [])
    return (
        isinstance(value, list)
        and all(map(fits, value, first))
        and all(fits(item, rule.get("items", True)) for item in value[len(first) :])
    )


def target(ref: str) -> Any:
    return SCHEMA["$defs"][ref.removeprefix("#/$defs/")]


RULES: dict[str, Any] = {
    "$ref": lambda value, rule: fits(value, target(rule["$ref"])),
    "anyOf": lambda value, rule: any(fits(value, choice) for choice in rule["anyOf"]),
    "enum": lambda value, rule: value in rule["enum"],
    "type": lambda value, rule: is_of(value, rule["type"]),
    "properties": has_fitting_fields,
    "additionalProperties": has_fitting_fields,
    "required": lambda value, rule: isinstance(value, dict) and value.keys() >= set(rule["required"]),
    "items": has_fitting_items,
    "prefixItems": has_fitting_items,
    "uniqueItems": lambda value, rule: len(set(value)) == len(value),
    "minItems": lambda value, rule: len(value) >= rule["minItems"],
    "maxItems": lambda value, rule: len(value) <= rule["maxItems"],
    "maxLength": lambda value, rule: len(value) <= rule["maxLength"],
    "pattern": lambda value, rule: re.search(rule["pattern"], value) is not None,
    "minimum": lambda value, rule: value >= rule["minimum"],
    "maximum": lambda value, rule: value <= rule["maximum"],
}


def words(rule: Any) -> Iterator[str]:
    """All the words of a schema that say something about values."""
    if isinstance(rule, dict):
        inner = [*rule.get("properties", {}).values(), *rule.get("$defs", {}).values(), *rule.get("prefixItems", [])]
        inner += [*rule.get("anyOf", []), rule.get("items"), rule.get("additionalProperties")]
        yield from (word for word in rule if word not in SILENT)
        yield from (word for part in inner for word in words(part))


def shorten_match(match: AnyMatch) -> AnyMatch:
    """A match of Q that is soon over."""
    return replace(match, state=replace(match.state, pile=match.state.pile[:20]))


MATCHES = {
    "fish": (deal_match(Fish(rows=4, columns=4, holes=1), ["ann", "bob"], "1"), ["greedy", "random"]),
    "tsuro": (deal_match(Tsuro(size=5), ["ann", "bob", "cyd"], "1"), ["survivor", "random", "random"]),
    "q": (shorten_match(deal_match(Q(), ["ann", "bob"], "1")), ["dag", "dag"]),
}


def line(number: int, **changes: Any) -> dict[str, Any]:
    """A line of a match of Fish, changed: 0 is a message, 1 a reply."""
    view = {"seat": 0, "stage": "placing", "order": [0], "each": 4, "board": [[1, 0]], "players": []}
    lines: list[dict[str, Any]] = [
        {"type": "take_turn", "match": "m", "turn": 1, "nonce": "n", "limit": 5.0, "view": view},
        {"nonce": "n", "answer": {"type": "place", "at": [0, 0]}},
    ]
    return lines[number] | changes


def test_the_schema_is_up_to_date() -> None:
    assert schema.PATH.read_text() == schema.schema_text(), "run python -m tools.schema"
    assert schema.schema() == SCHEMA


def test_every_game_is_in_the_schema_with_its_actions() -> None:
    assert set(SCHEMA["$defs"]) >= {f"{game}.{part}" for game in GAMES for part in ("action", "view")}
    assert {game for game in GAMES if f"{game}.news" in SCHEMA["$defs"]} == {g for g in GAMES if game_info(g).has_news}
    assert all(game_info(game).rules.action == schema.game_types(game).action for game in GAMES)


def test_every_word_of_the_schema_is_known_here_and_every_reference_leads_somewhere() -> None:
    assert set(words(SCHEMA)) == set(RULES)
    assert all(target(ref) for ref in schema.PATH.read_text().split('"') if ref.startswith("#/$defs/"))


@pytest.mark.parametrize("name", GAMES)
def test_the_lines_of_a_match_fit_the_schema(name: str) -> None:
    match, server = MATCHES[name]
    bot = [sys.executable, "-m", "fairplay.bot", server[0]]

    done = play_match(match, [bot, *server[1:]])

    kinds = set()
    asked: dict[str, Any] = {}
    for by_referee, text in done.said:
        said = json.loads(text)
        assert fits(said, SCHEMA)
        assert fits(said, target("message" if by_referee else "reply"))
        if by_referee:
            asked = said
            kinds.add(said["type"])
            assert "view" not in said or fits(said["view"], target(f"{name}.view"))
            assert "news" not in said or fits(said["news"], target(f"{name}.news"))
        else:
            assert fits(said["answer"], target(f"{name}.action") if asked["type"] == "take_turn" else {"type": "null"})
    assert done.match.result.ejected == ()
    assert kinds == {"hello", "start", "take_turn", "end", *(["tell"] if name == "q" else [])}

    change = json.loads(wire.encode_changed(Change(match)))
    assert fits(change, target("message"))
    assert fits(change["view"], target(f"{name}.view"))


def test_what_is_said_of_the_ejected_fits_the_schema() -> None:
    ejected = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")
    result = Result((frozenset({0}),), (ejected,), (4, -1), "00", Receipt(3, "ff"))
    end = wire.encode_question(End(result), Fish(), match_id="m", turn=3, nonce="n", limit=5.0)

    for text in (wire.encode_goodbye("m", ejected), end):
        assert fits(json.loads(text), target("message"))


@pytest.mark.parametrize(
    "message",
    [
        wire.Hello(match="", turn=0, nonce="n", limit=5.0, protocol=wire.PROTOCOL_VERSION),
        wire.Welcome(name="ann", reconnect_window=30.0, reconnect_token="t"),
        wire.Welcome(name="ann", reconnect_window=30.0),
        wire.Suspended(why="it stops", retry_after=2.0),
    ],
)
def test_what_a_server_says_fits_the_schema(message: Any) -> None:
    assert fits(json.loads(wire.encode(message)), target("message"))


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (0, {"type": "chat"}),
        (0, {"nonce": 3}),
        (0, {"turn": True}),
        (0, {"turn": 1.5}),
        (0, {"limit": "5"}),
        (0, {"view": None}),
        (0, {"view": {**line(0)["view"], "stage": "over"}}),
        (0, {"view": {**line(0)["view"], "board": [[6]]}}),
        (0, {"view": {**line(0)["view"], "board": []}}),
        (0, {"view": {**line(0)["view"], "more": 1}}),
        (1, {"nonce": "n" * 65}),
        (1, {"more": 1}),
        (1, {"answer": {"purpose": "sleep"}}),
        (1, {"answer": {"name": ""}}),
        (1, {"answer": {"name": "x" * 21}}),
        (1, {"answer": {"name": "ann b"}}),
        (1, {"answer": {"name": "ann\n"}}),
        (1, {"answer": {"name": "ann", "age": 7}}),
        (1, {"answer": {"type": "jump"}}),
        (1, {"answer": {"type": "place", "at": [0]}}),
        (1, {"answer": {"type": "place", "at": [0, 0, 0]}}),
        (1, {"answer": {"type": "place", "at": [0, "0"]}}),
        (1, {"answer": {"type": "place", "at": [0, 2**31]}}),
        (1, {"answer": {"type": "lay", "tile": 35, "degrees": 0}}),
        (1, {"answer": {"type": "lay", "tile": 0, "degrees": 45}}),
    ],
)
def test_a_wrong_line_does_not_fit_the_schema(number: int, changes: dict[str, Any]) -> None:
    assert fits(line(number), SCHEMA)
    assert not fits(line(number, **changes), SCHEMA)
