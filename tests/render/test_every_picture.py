"""Hold the pictures of every game to what all pictures promise."""

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from fairplay.games import GAMES, title
from tests.hostile_names import NAMES


def drawn(game: str, name: str) -> ElementTree.Element:
    """A position of the game in which everybody is called like this."""
    shelf, state = title(game), next(iter(title(game).examples.values()))
    rules = shelf.fitting(shelf.rules(), state)
    return ElementTree.fromstring(shelf.svg(rules.view(state, rules.turn(state)), [name] * 4).encode())


def markup(root: ElementTree.Element) -> Iterator[tuple[str, dict[str, str]]]:
    """All that browsers act upon: the elements with their attributes, but no text, and not the label, which is one."""
    for part in root.iter():
        yield part.tag, {key: value for key, value in part.attrib.items() if key != "aria-label"}


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_text_and_nothing_else(game: str, name: str) -> None:
    assert [*markup(drawn(game, name))] == [*markup(drawn(game, "Ann"))]
