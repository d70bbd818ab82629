"""Test pictures as PNG and GIF."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageSequence

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, game_info
from fairplay.render import raster
from fairplay.render.raster import LAST_FRAME_FACTOR, gif, has_fonts, png
from fairplay.render.svg import circle, document, rectangle
from tests.nonempty import nonempty

RED, BLUE = (255, 0, 0), (0, 0, 255)
NO_FONTS = "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'><fontconfig><dir>{}</dir></fontconfig>"


def split(left: str, right: str, high: float = 40) -> str:
    halves = [rectangle(0, 0, 40, high, fill=left), rectangle(40, 0, 40, high, fill=right)]
    return document(80, high, [], halves, label="two colours", ids="x")


def opened(made: bytes) -> Image.Image:
    return Image.open(BytesIO(made))


def frames(made: bytes) -> list[Image.Image]:
    return [frame.convert("RGB") for frame in ImageSequence.Iterator(opened(made))]


def drawn(game: str, names: Sequence[str]) -> str:
    shelf = game_info(game)
    rules = shelf.rules.with_parameters(shelf.quick)
    return shelf.svg(rules.view(rules.deal(2, bytes(32)), None), names)


def test_a_png_has_the_width_that_was_asked_for_and_the_pixels_of_the_picture() -> None:
    image = opened(png(split("#f00", "#00f"), 200))

    assert (image.format, image.size, image.mode) == ("PNG", (200, 100), "RGBA")
    assert [image.getpixel((x, 50)) for x in (20, 180)] == [(*RED, 255), (*BLUE, 255)]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_names_are_written_in_letters(game: str) -> None:
    one, other, again = (opened(png(drawn(game, names), 800)) for names in (("III", "b"), ("WWW", "b"), ("III", "b")))

    assert (one.width, one.getpixel((0, 0))) == (800, (0, 0, 0, 0)), "around the corners there is nothing"
    changed = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox()
    assert one == again
    assert changed is not None
    assert changed[3] - changed[1] < one.height / 4, "of all the picture, only a name was changed"
    assert has_fonts()


def test_a_machine_without_fonts_is_known(tmp_path: Path) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(NO_FONTS.format(tmp_path))

    code = "from fairplay.render.raster import has_fonts; print(has_fonts())"
    env = {**os.environ, "FONTCONFIG_FILE": str(config)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_a_gif_shows_every_picture_for_so_long_and_the_last_one_longer() -> None:
    watched = list[str]()

    def watch(some: Sequence[str]) -> Iterator[str]:  # who waits can be shown how far it is
        watched.extend(some)
        return iter(some)

    pictures = [split("#f00", "#00f"), split("#00f", "#00f"), split("#00f", "#f00")]
    made = gif(pictures, 100, 0.5, watch)
    assert watched == pictures
    assert frames(gif(pictures[:1], 80, 0.1))[0].getpixel((10, 10)) == RED

    image = opened(made)
    shown = [(frame.info["duration"], frame.size) for frame in ImageSequence.Iterator(image)]
    assert image.format == "GIF"
    assert image.info["loop"] == 0, "it begins again"
    assert shown == [(500, (100, 50)), (500, (100, 50)), (500 * LAST_FRAME_FACTOR, (100, 50))]
    seen = [[frame.getpixel((x, 25)) for x in (10, 90)] for frame in frames(made)]
    assert seen == [[RED, BLUE], [BLUE, BLUE], [BLUE, RED]]


def test_all_pictures_begin_at_the_same_height_on_their_own_ground() -> None:
    def card(height: int) -> str:
        content = [rectangle(0, 0, 80, height, rx=9.0, fill="#f00"), rectangle(10, 5, 60, height - 5, fill="#00f")]
        return document(80, height, [], content, label="", ids="x")

    low, high = frames(gif([card(20), card(60)], 80, 0.1))

    assert low.size == high.size == (80, 60)
    assert [low.getpixel((40, y)) for y in (2, 15, 30, 55)] == [RED, BLUE, RED, RED]
    assert [high.getpixel((40, y)) for y in (2, 55)] == [RED, BLUE]
    assert low.getpixel((0, 0)) == high.getpixel((79, 59)) == RED, "nor are there white corners"


@pytest.mark.parametrize("game", GAMES)
def test_large_areas_keep_their_colours(game: str) -> None:
    svg = drawn(game, ("ann", "bob"))
    real = opened(png(svg, 600)).convert("RGB")
    colours: Any = real.getcolors(600 * real.height)
    large = {colour for _, colour in sorted(colours, reverse=True)[:30]}

    (frame,) = frames(gif([svg], 600, 0.1))

    for x, y in nonempty(product(range(0, 600, 3), range(0, real.height, 3))):
        if (colour := real.getpixel((x, y))) in large:
            assert frame.getpixel((x, y)) == pytest.approx(colour, abs=4)


def test_a_gif_has_the_colours_of_the_pictures_and_keeps_only_what_is_new() -> None:
    board = drawn("fish", ("ann", "bob")).removesuffix("</svg>\n")
    greys = [f"#{shade}{shade}{shade}" for shade in (20, 30, 40, 50, 60)]
    pictures = [f"{board}{circle(20, 20, 5, fill=grey)}{circle(300, 300, 5, fill=grey)}</svg>" for grey in greys]

    made = gif(pictures, 600, 0.1)

    for frame, svg in zip(frames(made), pictures, strict=True):
        real = Image.alpha_composite(Image.new("RGBA", frame.size, "white"), opened(png(svg, 600))).convert("RGB")
        shades = ImageChops.difference(frame, real).convert("L").histogram()
        assert sum(shades[32:]) == 0, "no colour is lost"
    assert (len(made) - len(gif(pictures[:1], 600, 0.1))) / 4 < 2000, "two spots are not all that is between them"


def test_what_would_be_too_large_is_refused_before_it_is_drawn() -> None:
    tall = document(10, 1000, [], [rectangle(0, 0, 10, 1000)], label="", ids="x")

    with pytest.raises(BadRequest, match=r"^20000 x 10000 pixels are too many; choose a smaller width$"):
        png(split("#f00", "#00f"), 20_000)
    with pytest.raises(BadRequest, match=r"^500 x 50000 pixels are too many"):
        png(tall, 500)
    with pytest.raises(BadRequest, match=r"^300 pictures of 2000 x 1000 pixels are too many"):
        gif([split("#f00", "#00f")] * 300, 2000, 0.1)


@pytest.mark.parametrize("missing", ["pyvips", "PIL.Image"])
def test_without_the_extra_there_is_one_clear_line(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(BadRequest) as refused:
        raster.gif([split("#f00", "#00f")], 80, 0.1)

    assert str(refused.value) == f"PNG and GIF need {missing}, which is missing: pip install 'fairplay[images]'"
