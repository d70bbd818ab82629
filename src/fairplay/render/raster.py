"""Render a picture as PNG, or many as an animated GIF."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import BytesIO
from math import ceil
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.render.svg import document_size, resize

MAX_PNG_PIXELS = 50_000_000  # of a PNG
MAX_GIF_PIXELS = 200_000_000  # of all pictures of a GIF: each pixel takes a few bytes of memory
MAX_SIDE_PIXELS = 30_000
GIF_COLOURS = 255  # of a GIF, and one more for unchanged pixels
EXACT_COLOURS = 160  # of these, colours that are exactly those of the pictures: cards, backgrounds, shades
SAMPLED_PICTURES = 8  # pictures from which the colours of all are chosen
MAX_SAMPLED_PIXELS = 20_000_000  # of these pictures in total, unless two have more
FRAME_LIMITS_S = (0.02, 60)  # the least and the most for a picture: browsers slow down below that
LAST_FRAME_FACTOR = 5  # the last picture is shown so many times as long as the others
LETTER_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60">'
    '<text x="10" y="40" font-family="sans-serif" font-size="30">{}</text></svg>'
)

ShowProgress = Callable[[Sequence[Any]], Iterable[Any]]  # passes the items on, and shows the progress


def png(svg: str, width: int) -> bytes:
    """A picture as a PNG of this width in pixels, transparent around its corners."""
    max_height([svg], width, MAX_PNG_PIXELS)
    data: bytes = open_picture(resize(svg, width)).pngsave_buffer(keep="none")
    return data


def gif(pictures: Sequence[str], width: int, seconds: float, watch: ShowProgress = iter) -> bytes:
    """Pictures as a GIF of this width in pixels, which repeats for ever.

    Each is shown for so many seconds, the last one longer. All are aligned at the top, so that the board does not move;
    the background is that of the middle of the top. They share one palette, and each picture stores only its changes.
    """
    least, most = FRAME_LIMITS_S
    if not least <= seconds <= most:
        raise BadRequest(f"a picture can be shown for {least} to {most} seconds, not {seconds}")
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
    each, output = round(seconds * 1000), BytesIO()
    durations = [each] * len(others) + [each * LAST_FRAME_FACTOR]
    first.save(output, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    return output.getvalue()


def palette_of(samples: Any) -> Any:
    """The most frequent colours of some pixels exactly, and approximations of the others."""
    pillow = import_images_extra("PIL.Image")
    most = sorted(samples.getcolors(samples.width * samples.height), reverse=True)[:EXACT_COLOURS]
    others = samples.quantize(GIF_COLOURS - EXACT_COLOURS, method=pillow.Quantize.FASTOCTREE).getpalette()
    palette = pillow.new("P", (1, 1))
    palette.putpalette([*(part for _, colour in most for part in colour), *others][: 3 * GIF_COLOURS])
    return palette


def has_fonts() -> bool:
    """Does this machine have fonts? Without fonts, boxes of one width stand for all letters."""
    wide, narrow = (open_picture(LETTER_SVG.format(letter))[3].find_trim(background=0)[2] for letter in "WI")
    return bool(wide > narrow)


def max_height(pictures: Sequence[str], width: int, most: int) -> int:
    """The height of the highest of some pictures at this width. Raises BadRequest if they have too many pixels."""
    high = max(ceil(document_size(svg)[1] * width / document_size(svg)[0]) for svg in pictures)
    if max(width, high) > MAX_SIDE_PIXELS or width * high * len(pictures) > most:
        many = f"{len(pictures)} pictures of " if len(pictures) > 1 else ""
        raise BadRequest(f"{many}{width} x {high} pixels are too many; choose a smaller width")
    return high


def open_picture(svg: str) -> Any:
    """Load a picture for rendering."""
    return import_images_extra("pyvips").Image.svgload_buffer(svg.encode())


def import_images_extra(name: str) -> Any:
    """Import a library of the extra `images`. Raises BadRequest if it is missing."""
    try:
        return import_module(name)
    except (ImportError, OSError):  # OSError: a shared library of it is missing
        raise BadRequest(f"PNG and GIF need {name}, which is missing: pip install 'fairplay[images]'") from None
