"""Turn pictures into pixels: one into a PNG, many into a GIF that moves."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.render.svg import resized

MOST_PIXELS = 50_000_000  # of a PNG
MOST_IN_ALL = 200_000_000  # of a GIF, in all its pictures: each takes a few bytes while it is made
LONGEST_SIDE = 30_000
COLOURS = 255  # of a GIF, and one more for whatever stays as it was
SAMPLES = 8  # pictures that the colours of all are chosen from
SECONDS = (0.02, 60)  # for a picture, at least and at most: below that browsers go slower
HELD = 5  # times as long as the others, for the last picture
LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60">'
    '<text x="10" y="40" font-family="sans-serif" font-size="30">{}</text></svg>'
)

Watch = Callable[[Sequence[Any]], Iterable[Any]]  # hands the same on, and shows how far it is


def png(svg: str, width: int) -> bytes:
    """A picture as a PNG so many pixels wide; around its corners there is nothing."""
    (frame,) = sized([svg], width, MOST_PIXELS)
    made: bytes = frame.pngsave_buffer(keep="none")
    return made


def gif(pictures: Sequence[str], width: int, seconds: float, watch: Watch = iter) -> bytes:
    """Pictures as a GIF so many pixels wide, which begins again when it has ended.

    Each is shown for so long, and the last one longer. All begin at the same height, so that a board stays in its place
    whatever is below it. They share one palette, and of each picture only what is new is kept.
    """
    least, most = SECONDS
    if not least <= seconds <= most:
        raise BadRequest(f"a picture is shown for {least} to {most} seconds, not for {seconds}")
    pillow = library("PIL.Image")
    frames = sized(pictures, width, MOST_IN_ALL)
    high = max(frame.height for frame in frames)

    def pixels(frame: Any) -> Any:
        on_white = frame.flatten(background=255).gravity("north", width, high, extend="white")
        return pillow.frombytes("RGB", (width, high), on_white.write_to_memory())

    chosen = sorted({place * (len(frames) - 1) // (SAMPLES - 1) for place in range(SAMPLES)})
    samples = pillow.new("RGB", (width, high * len(chosen)))
    for row, place in enumerate(chosen):
        samples.paste(pixels(frames[place]), (0, row * high))
    palette = samples.quantize(COLOURS, method=pillow.Quantize.FASTOCTREE)
    first, *others = (pixels(frame).quantize(palette=palette, dither=pillow.Dither.NONE) for frame in watch(frames))
    each, made = round(seconds * 1000), BytesIO()
    shown = [each] * len(others) + [each * HELD]
    first.save(made, "GIF", save_all=True, append_images=others, duration=shown, loop=0, optimize=True)
    return made.getvalue()


def letters_are_drawn() -> bool:
    """Are there fonts on this machine? Where there are none, boxes of one width stand for all letters."""
    wide, narrow = (opened(LETTER.format(letter))[3].find_trim(background=0)[2] for letter in "WI")
    return bool(wide > narrow)


def sized(pictures: Sequence[str], width: int, most: int) -> list[Any]:
    """Pictures of this width, none of which is drawn yet. Raises BadRequest if they would be too large."""
    frames = [opened(svg, width) for svg in pictures]
    high = max(frame.height for frame in frames)
    if max(width, high) > LONGEST_SIDE or width * high * len(frames) > most:
        many = f"{len(frames)} pictures of " if len(frames) > 1 else ""
        raise BadRequest(f"{many}{width} x {high} pixels are too many; choose a smaller width")
    return frames


def opened(svg: str, width: int | None = None) -> Any:
    """A picture, of its own width if nothing is said."""
    return library("pyvips").Image.svgload_buffer((svg if width is None else resized(svg, width)).encode())


def library(name: str) -> Any:
    """A library of the extra `images`. Raises BadRequest if it is not there."""
    try:
        return import_module(name)
    except (ImportError, OSError):  # OSError: of what it needs itself something is missing
        raise BadRequest(f"{name} is missing, which PNG and GIF need: pip install 'fairplay[images]'") from None
