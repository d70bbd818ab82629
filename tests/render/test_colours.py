"""Test that the colours of every game can be distinguished, also by colour-blind people."""

from collections.abc import Callable
from itertools import combinations, product

import pytest

from fairplay.games.fish import roster as fish_roster
from fairplay.games.fish import shapes as fish
from fairplay.games.q import shapes as q
from fairplay.games.tsuro import roster as tsuro_roster
from fairplay.games.tsuro import shapes as tsuro
from fairplay.render.colours import contrast, letter_colour, luminance
from fairplay.render.panel import Skin
from tests.nonempty import nonempty
from tests.render.colour_vision import Colour, colour_distance, perceived_colour, perceived_without_green

PAINTS = {
    "fish": [look.paint for look in fish_roster.LOOKS.values()],
    "tsuro": [look.paint for look in tsuro_roster.LOOKS.values()],
    "q": [*q.PAINTS.values()],
}
GROUNDS = {  # what pieces lie on
    "fish": [*fish.TAKEN_ICE[False], *fish.TAKEN_ICE[True]],
    "tsuro": [tsuro.INK],  # a line of which goes along every way
    "q": [*q.SLATE],
}
SKINS = [fish.LIGHT, fish.DARK, tsuro.LIGHT, tsuro.DARK, q.LIGHT, q.DARK]
WRITTEN = [  # letters, and what they are written on
    *((fish.FOAM, sea) for dark in (False, True) for sea in fish.SEA[dark]),
    *((fish.INK, shade) for shade in fish.SHADES),
    *((tsuro.INK, paper) for dark in (False, True) for paper in tsuro.SHEET[dark]),
    *((letters, slate) for slate in q.SLATE for letters in ("#ffffff", q.DARK.gold, q.DARK.letters)),
    *((letter_colour(paint), paint) for paints in PAINTS.values() for paint in paints),
]
APART, UPON = 25.0, 15.0  # how different colours are that must not be taken for each other, and from their ground
TEXT, SHAPE = 4.5, 3.0  # contrasts of WCAG AA


def test_those_who_lack_green_take_red_for_green_of_the_same_brightness() -> None:
    red, green = "#c9503c", "#5f8a2c"

    assert colour_distance(perceived_colour(red), perceived_colour(green)) > 70
    assert colour_distance(perceived_without_green(red), perceived_without_green(green)) < 10
    assert colour_distance(perceived_without_green("#000000"), perceived_without_green("#ffffff")) == pytest.approx(
        100, abs=0.5
    )


@pytest.mark.parametrize("game", PAINTS)
@pytest.mark.parametrize("eyes", [perceived_colour, perceived_without_green])
def test_colours_are_told_apart_with_any_eyes(game: str, eyes: Callable[[str], Colour]) -> None:
    for one, other in nonempty(combinations(PAINTS[game], 2)):
        assert colour_distance(eyes(one), eyes(other)) > APART
    for paint, slate in product(q.PAINTS.values(), q.SLATE):
        assert contrast(paint, slate) > SHAPE
    for paint, ground in nonempty(product(PAINTS[game], GROUNDS[game])):
        assert colour_distance(eyes(paint), eyes(ground)) > UPON


@pytest.mark.parametrize("skin", SKINS)
def test_words_around_the_board_stand_out_from_what_they_are_written_on(skin: Skin) -> None:
    for letters, ground in product((skin.letters, skin.pale), (skin.ground, skin.panel, skin.card, skin.lit)):
        assert contrast(letters, ground) > TEXT
    assert contrast(skin.gold, skin.lit) > TEXT
    assert contrast(skin.gold, skin.panel) > SHAPE, "the frame of a card, and the shape behind scores"
    assert contrast(skin.gold, skin.card) > SHAPE
    grounds = [luminance(ground) for ground in (skin.ground, skin.panel, skin.card, skin.lit)]
    assert max(grounds) < 0.05 if skin in SKINS[1::2] else min(grounds) > 0.7


@pytest.mark.parametrize(("letters", "ground"), WRITTEN)
def test_words_on_the_board_stand_out_from_what_they_are_written_on(letters: str, ground: str) -> None:
    assert contrast(letters, ground) > TEXT
