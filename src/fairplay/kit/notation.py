"""Format, parse and preview actions of any game, as people type them."""

import re
from collections.abc import Iterator
from itertools import islice
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.kit.game import View

MAX_MATCHED_ACTIONS = 3000  # actions that are compared with typed words
MAX_SUGGESTIONS = 3


def format_action(action: Any) -> str:
    """An action as a person types it: its name and its details.

    >>> from fairplay.kit import Action
    >>> class Mark(Action, frozen=True):
    ...     at: tuple[int, int]
    >>> format_action(Mark((0, 2)))
    'mark 0 2'
    """
    return " ".join(flat_words(msgspec.to_builtins(action)))


def flat_words(plain: Any) -> Iterator[str]:
    """The values in plain JSON as words."""
    match plain:
        case dict():
            for value in plain.values():
                yield from flat_words(value)
        case list() | tuple():
            for value in plain:
                yield from flat_words(value)
        case None:
            yield "-"
        case bool():
            yield "yes" if plain else "no"
        case _:
            yield from str(plain).split()


def parse_action(view: View[Any], words: str) -> Any:
    """The action that a person typed. Raises BadRequest if it is unclear."""
    game, typed = view.game, [word for word in re.split(r"[\s,()\[\]]+", words.lower()) if word]
    offered = list(islice(game.actions(view), MAX_MATCHED_ACTIONS))
    for action in offered:
        known = format_action(action).lower().split()
        if typed in (known, known[1:]):
            return action
    for kind in action_types(game.action):  # an illegal action, so that the rules can say why
        if (action := build_action(kind, typed)) is not None:
            return action
    hints = ", or ".join(format_action(action) for action in offered[:MAX_SUGGESTIONS])
    raise BadRequest(f"{words!r} is not an action; write {hints}")


def build_action(kind: Any, words: list[str]) -> Any:
    """The action of this kind from words, one for each field; None: they do not fit."""
    fields = [field.encode_name for field in msgspec.structs.fields(kind)] if is_struct(kind) else []
    tag = str(kind.__struct_config__.tag).lower() if is_struct(kind) else ""
    details = words[1:] if words[:1] == [tag] else words
    if not fields or len(details) != len(fields):
        return None
    try:
        name = kind.__struct_config__.tag_field
        plain = dict(zip(fields, details, strict=True)) | ({} if name is None else {name: kind.__struct_config__.tag})
        return msgspec.convert(plain, kind, strict=False)
    except msgspec.ValidationError:
        return None


def action_types(action: Any) -> tuple[Any, ...]:
    """The types that an action can be of."""
    return get_args(action) if get_origin(action) in (Union, UnionType) else (action,)


def is_struct(kind: Any) -> bool:
    """Is this a type with fields?"""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def help_text(rules: type[Game[Any, Any, Any]]) -> str:
    """What can be typed, a line for each kind of action."""
    lines = []
    for kind in action_types(rules.action):
        fields = [field.name.upper() for field in msgspec.structs.fields(kind)] if is_struct(kind) else []
        words = " ".join([kind.__name__.lower(), *fields])
        about = (kind.__doc__ or "").partition("\n")[0].rstrip(".")
        lines.append(f"{words:<23} {about[:1].lower()}{about[1:]}".rstrip())
    return "\n".join([*lines, "The first word can be left out. Rows and columns count from 0."])


def preview(view: View[Any], action: Any) -> View[Any]:
    """What its player would see right after a legal action."""
    return View(view.seat, view.game.apply(view.state, action), view.game)
