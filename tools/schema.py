"""Write the JSON Schema of the protocol into docs/, from its types."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fairplay.games import GAMES, rules_of
from fairplay.protocol import wire

PATH = Path(__file__).parent.parent / "docs" / "protocol.schema.json"
SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


class GameTypes(NamedTuple):
    """The types of a game: its actions, its views, and its news if it has any."""

    action: Any
    view: Any
    news: Any = None


def game_types(game: str) -> GameTypes:
    """The types of a game from its directory."""
    codec = import_module(f"fairplay.games.{game}.codec")
    return GameTypes(rules_of(game).action, codec.VIEW_SHEET, getattr(codec, "NEWS", None))


def main() -> None:
    """Write the schema."""
    PATH.write_text(schema_text(), encoding="utf-8")


def schema_text() -> str:
    """The schema as JSON, with objects of plain values on one line."""
    spread = json.dumps(schema(), indent=2)
    return re.sub(r"[\[{][^\]\[{}]*[\]}]", lambda found: re.sub(r"\n *", " ", found[0]), spread) + "\n"


def schema() -> Schema:
    """A line of the protocol is a message or a reply; all other types are under $defs."""
    (message, reply, introduction), parts = msgspec.json.schema_components(
        (wire.WireMessage, wire.Reply, wire.Introduction), ref_template="#/$defs/{name}"
    )
    for part in parts.values():
        part["description"] = part["description"].partition("\n\n")[0]  # without the fields, whose types say enough
    games = definitions()
    defs: Schema = {"message": message, "reply": reply, **parts, **games}
    for kind, field, choices in (
        ("Start", "view", references_by_suffix(".view", games)),
        ("TakeTurn", "view", references_by_suffix(".view", games)),
        ("Changed", "view", references_by_suffix(".view", games)),
        ("Tell", "news", references_by_suffix(".news", games)),
        ("Reply", "answer", [{"type": "null"}, introduction, *references_by_suffix(".action", games)]),
    ):
        defs[kind]["properties"][field] = {"anyOf": choices}
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "fairplay's protocol",
        "description": f"A line in version {wire.PROTOCOL_VERSION} of the protocol, which docs/protocol.md describes.",
        "anyOf": [reference("message"), reference("reply")],
        "$defs": defs,
    }


def definitions() -> Schema:
    """The types of all games, such as fish.action, and their parts, such as fish.Move."""
    found: Schema = {}
    for game in GAMES:
        given = {name: part for name, part in game_types(game)._asdict().items() if part is not None}
        schemas, pieces = msgspec.json.schema_components(given.values(), ref_template=f"#/$defs/{game}.{{name}}")
        found |= {f"{game}.{name}": part for name, part in zip(given, schemas, strict=True)}
        found |= {f"{game}.{name}": piece for name, piece in pieces.items()}
    return found


def references_by_suffix(ending: str, defs: Schema) -> list[Schema]:
    """References to all definitions whose names have this suffix."""
    return [reference(name) for name in defs if name.endswith(ending)]


def reference(name: str) -> Schema:
    """A reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    main()
