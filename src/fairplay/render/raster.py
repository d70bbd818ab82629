"""Turn pictures into pixels: one into a PNG, many into a GIF that moves."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import BytesIO
from math import ceil
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.render.svg import document_size, resize

MAX_PNG_PIXELS = 50_000_000  # of a PNG
MAX_GIF_PIXELS = 200_000_000  # of a GIF, in all its pictures: each takes a few bytes while it is made
MAX_SIDE_PIXELS = 30_000
GIF_COLOURS = 255  # of a GIF, and one more for whatever stays as it was
EXACT_COLOURS = 160  # of them that are in the pictures just so: cards, grounds, steps of shades
SAMPLED_PICTURES = 8  # pictures that the colours of all are chosen from
MAX_SAMPLED_PIXELS = 20_000_000  # pixels of them in all, unless two have more
FRAME_LIMITS_S = (0.02, 60)  # for a picture, at least and at most: below that browsers go slower
LAST_FRAME_FACTOR = 5  # times as long as the others, for the last picture
LETTER_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60">'
    '<text x="10" y="40" font-family="sans-serif" font-size="30">{}</text></svg>'
)

ShowProgress = Callable[[Sequence[Any]], Iterable[Any]]  # hands the same on, and shows how far it is


def png(svg: str, width: int) -> bytes:
    """A picture as a PNG so many pixels wide; around its corners there is nothing."""
    max_height([svg], width, MAX_PNG_PIXELS)
    made: bytes = open_picture(resize(svg, width)).pngsave_buffer(keep="none")
    return made


def gif(pictures: Sequence[str], width: int, seconds: float, watch: ShowProgress = iter) -> bytes:
    """Pictures as a GIF so many pixels wide, which begins again when it has ended.

    Each is shown for so long, and the last one longer. All begin at the same height, so that a board stays in its place
    whatever is below it; around it all is as at the middle of its top. They share one palette, and of each picture only
    what is new is kept.
    """
    least, most = FRAME_LIMITS_S
    if not least <= seconds <= most:
        raise BadRequest(f"a picture is shown for {least} to {most} seconds, not for {seconds}")
    pillow, high = import_images_extra("PIL.Image"), max_height(pictures, width, MAX_GIF_PIXELS)

    def pixels(svg: str) -> Any:
        frame = open_picture(resize(svg, width))
        ground = frame.getpoint(width // 2, 0)[:3]
        frame = frame.flatten(background=ground).gravity("north", width, high, extend="background", background=ground)
        return pillow.frombytes("RGB", (width, high), frame.write_to_memory())

    count = max(2, min(SAMPLED_PICTURES, MAX_SAMPLED_PIXELS // (width * high)))
    chosen = sorted({place * (len(pictures) - 1) // (count - 1) for place in range(count)})
    samples = pillow.new("RGB", (width, high * len(chosen)))
    for row, place in enumerate(chosen):
        samples.paste(pixels(pictures[place]), (0, row * high))
    palette = palette_of(samples)
    first, *others = (pixels(svg).quantize(palette=palette, dither=pillow.Dither.NONE) for svg in watch(pictures))
    each, made = round(seconds * 1000), BytesIO()
    shown = [each] * len(others) + [each * LAST_FRAME_FACTOR]
    first.save(made, "GIF", save_all=True, append_images=others, duration=shown, loop=0, optimize=True)
    return made.getvalue()


def palette_of(samples: Any) -> Any:
    """The colours that are seen most in some pixels, as they are, and some of those between the others."""
    pillow = import_images_extra("PIL.Image")
    most = sorted(samples.getcolors(samples.width * samples.height), reverse=True)[:EXACT_COLOURS]
    others = samples.quantize(GIF_COLOURS - EXACT_COLOURS, method=pillow.Quantize.FASTOCTREE).getpalette()
    palette = pillow.new("P", (1, 1))
    palette.putpalette([*(part for _, colour in most for part in colour), *others][: 3 * GIF_COLOURS])
    return palette


def has_fonts() -> bool:
    """Are there fonts on this machine? Where there are none, boxes of one width stand for all letters."""
    wide, narrow = (open_picture(LETTER_SVG.format(letter))[3].find_trim(background=0)[2] for letter in "WI")
    return bool(wide > narrow)


def max_height(pictures: Sequence[str], width: int, most: int) -> int:
    """That of the highest of some pictures of this width. Raises BadRequest if they have too many pixels."""
    high = max(ceil(document_size(svg)[1] * width / document_size(svg)[0]) for svg in pictures)
    if max(width, high) > MAX_SIDE_PIXELS or width * high * len(pictures) > most:
        many = f"{len(pictures)} pictures of " if len(pictures) > 1 else ""
        raise BadRequest(f"{many}{width} x {high} pixels are too many; choose a smaller width")
    return high


def open_picture(svg: str) -> Any:
    """A picture that is about to be drawn."""
    return import_images_extra("pyvips").Image.svgload_buffer(svg.encode())


def import_images_extra(name: str) -> Any:
    """A library of the extra `images`. Raises BadRequest if it is not there."""
    try:
        return import_module(name)
    except (ImportError, OSError):  # OSError: of what it needs itself something is missing
        raise BadRequest(f"{name} is missing, which PNG and GIF need: pip install 'fairplay[images]'") from None
