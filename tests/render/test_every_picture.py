"""Test what the pictures of every game have in common: safe, readable, and of one size in a match."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fairplay.games import GAMES, game_info
from fairplay.journal.pictures import picture_at, pictures
from fairplay.journal.replay import read_journal
from fairplay.render.panel import SMALL, VIEWED
from fairplay.render.svg import document_size as size_of
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.page.matches import record_match
from tests.render.goldens import POSITIONS, draw_position
from tests.render.reading import SVG

LOOKS = [{"dark": dark, "small": small} for dark, small in product((False, True), repeat=2)]
ELEMENTS = "svg defs g use path polygon circle ellipse rect text tspan linearGradient stop pattern"
READABLE = 8.0  # pixels that letters are high, at least; a capital has about 70 % of them


def markup(root: ElementTree.Element) -> Iterator[tuple[str, dict[str, str]]]:
    """All that browsers act upon: the elements with their attributes, but no text, and not the label, which is one."""
    for part in root.iter():
        yield part.tag, {key: value for key, value in part.attrib.items() if key != "aria-label"}


def named(game: str, name: str, *, small: bool) -> ElementTree.Element:
    """A position of the game in which everybody is called like this."""
    shelf, state = game_info(game), next(iter(game_info(game).examples.values()))
    rules = shelf.game_for_state(shelf.rules(), state)
    view = rules.view(state, rules.turn(state))
    return ElementTree.fromstring(shelf.svg(view, [name] * 4, small=small).encode())


def letters(picture: str) -> Iterator[tuple[float, str]]:
    """How large texts are, in units of the picture, wherever they are used."""
    root = ElementTree.fromstring(picture)
    defined = {f"#{part.get('id')}": part for part in root.iter() if part.get("id")}

    def within(part: ElementTree.Element, scale: float, size: str) -> Iterator[tuple[float, str]]:
        scale *= float(re.search(r"scale\(([\d.]+)\)", f"{part.get('transform')} scale(1)").group(1))  # type: ignore[union-attr]
        size = part.get("font-size", size)
        if part.tag == f"{SVG}text":
            yield scale * float(size), "".join(part.itertext())
        if part.tag == f"{SVG}use":
            yield from within(defined[part.get("href", "")], scale, size)
        for inner in part:
            if inner.tag != f"{SVG}defs":
                yield from within(inner, scale, size)

    return within(root, 1.0, "")


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_text_and_nothing_else(game: str, name: str) -> None:
    for small in (False, True):
        assert [*markup(named(game, name, small=small))] == [*markup(named(game, "Ann", small=small))]


@pytest.mark.parametrize("look", LOOKS, ids=str)
@pytest.mark.parametrize("position", POSITIONS)
def test_pictures_are_of_shapes_and_words_and_refer_only_to_what_they_define(
    position: str, look: dict[str, bool]
) -> None:
    root = ElementTree.fromstring(draw_position(position, **look))
    assert {part.tag.removeprefix(SVG) for part in root.iter()} <= {*ELEMENTS.split()}
    assert not [key for part in root.iter() for key in part.attrib if key in ("style", "class") or key[:2] == "on"]
    values = [value for part in root.iter() for key, value in part.attrib.items() if key != "aria-label"]
    ids = [part.get("id", "") for part in root.iter() if part.get("id")]

    assert len({*ids}) == len(ids)
    assert {found for value in values for found in re.findall(r"#([a-z][^)]*-[^)]+)\)?$", value)} <= {*ids}
    assert not [value for value in values if "//" in value and value != SVG.strip("{}")]


def test_pictures_can_stand_on_the_same_page() -> None:
    defined: dict[str, str] = {}
    for position, small in nonempty(product(POSITIONS, (False, True))):
        (definitions,) = ElementTree.fromstring(draw_position(position, small=small)).iter(f"{SVG}defs")
        for part in nonempty(definitions):
            name, shape = part.get("id", ""), ElementTree.tostring(part, encoding="unicode")
            assert defined.setdefault(name, shape) == shape, f"{position} has another {name}"


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("position", POSITIONS)
def test_only_a_few_definitions_are_other_in_the_dark(position: str, small: bool) -> None:
    light, dark = (draw_position(position, dark=dark, small=small).splitlines() for dark in (False, True))
    other = [place for place, lines in enumerate(zip(light, dark, strict=True)) if lines[0] != lines[1]]

    assert 7 <= len(other) <= 12
    assert max(other) < light.index("</defs>")


@pytest.mark.parametrize("position", POSITIONS)
def test_all_letters_can_be_read(position: str) -> None:
    for small, width in ((False, VIEWED), (True, SMALL)):
        picture = draw_position(position, small=small)
        assert not small or ElementTree.fromstring(picture).get("width") == "300"
        units = float(ElementTree.fromstring(picture).get("viewBox", "").split()[2])
        for size, said in nonempty(letters(picture)):
            assert size * width / units >= READABLE, said


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("small", [False, True])
def test_all_pictures_of_a_match_can_be_of_one_size(game: str, small: bool, tmp_path: Path) -> None:
    recorded = read_journal(record_match(tmp_path, game, fails=None))
    last = recorded.match_after(len(recorded.facts)).view(None)

    seen = list(pictures(recorded, around=last, small=small))

    assert {size_of(picture) for picture in nonempty(seen)} == {size_of(seen[-1])}
    assert seen[-1] == picture_at(recorded, None, small=small)
