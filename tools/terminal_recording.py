"""Record a match on a terminal for the docs, as an animated SVG: python -m tools.terminal_recording."""

import tempfile
from collections.abc import Iterator
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from fairplay.journal.replay import read_journal
from fairplay.render.svg import escape
from tests.cli.terminal import Terminal

PATH = Path(__file__).parent.parent / "docs" / "terminal.svg"
PLAY_COMMAND = "fairplay play fish greedy lookahead:2 --seed 7 --journal games"
REPLAY_COMMAND = "fairplay replay games/*.jsonl"
COLUMNS, ROWS = 80, 24
BLANK = "\u00a0"  # which is not collapsed
CELL_WIDTH, CELL_HEIGHT, EDGE = 8.4, 17.0, 12.0  # of a character, and the margin
GROUND, INK = "#1b1f27", "#d7dce4"
COLOURS = {"red": "#d64550", "brown": "#d9a520", "magenta": "#d06fd0", "black": "#000000", "brightwhite": "#ffffff"}

Row = tuple[tuple[int, str, str, str, bool], ...]  # runs: column, text, foreground, background, bold


class Frame(NamedTuple):
    """A screen that is shown for so many seconds."""

    rows: tuple[Row, ...]
    seconds: float


def main() -> None:
    """Write the recording."""
    with tempfile.TemporaryDirectory() as directory:
        frames = list(record_frames(Path(directory)))
    PATH.write_text(render_svg(frames), encoding="utf-8")


def record_frames(directory: Path) -> Iterator[Frame]:
    """A match as it is played, and its replay step by step; all but the prompts is output of the command."""
    yield prompt_screen(PLAY_COMMAND)
    with Terminal(*PLAY_COMMAND.split()[1:], columns=COLUMNS, rows=ROWS, directory=directory) as terminal:
        terminal.wait_for("fish ")
        yield Frame(screen_rows(terminal), 0.6)
        terminal.wait_for_exit()
        yield Frame(screen_rows(terminal), 3.0)
    (path,) = directory.glob("games/*.jsonl")
    last = len(read_journal(path).entries)
    yield prompt_screen(REPLAY_COMMAND)
    with Terminal("replay", str(path), columns=COLUMNS, rows=ROWS) as terminal:
        terminal.wait_for("0 of ")
        yield Frame(screen_rows(terminal), 1.0)
        for fact in range(1, last + 1):
            terminal.press("right")
            terminal.wait_for(f"\n{fact} of {last} facts")
            yield Frame(screen_rows(terminal), 4.0 if fact == last else 0.35)


def prompt_screen(command: str) -> Frame:
    """A screen with a typed command."""
    return Frame((((0, f"$ {command}", INK, GROUND, False),), *((),) * (ROWS - 1)), 1.6)


def screen_rows(terminal: Terminal) -> tuple[Row, ...]:
    """The text of a screen, as runs of equal style."""
    rows = []
    for line in range(ROWS):
        cells = [terminal.screen.buffer[line][column] for column in range(COLUMNS)]
        looks = [
            (COLOURS.get(cell.fg, INK if cell.fg == "default" else f"#{cell.fg}"), cell_background(cell.bg), cell.bold)
            for cell in cells
        ]
        runs = []
        for (ink, ground, bold), run in groupby(range(COLUMNS), key=looks.__getitem__):
            places = list(run)
            text = "".join(cells[place].data for place in places)
            if text.strip() or ground != GROUND:
                runs.append((places[0], text if ground != GROUND else text.rstrip(), ink, ground, bold))
        rows.append(tuple(runs))
    return tuple(rows)


def cell_background(name: str) -> str:
    """The background of a character."""
    return GROUND if name == "default" else COLOURS.get(name, f"#{name}")


def render_svg(frames: list[Frame]) -> str:
    """The frames one below the other, like a film that moves behind the window; equal rows are defined once."""
    width, height = COLUMNS * CELL_WIDTH + 2 * EDGE, ROWS * CELL_HEIGHT + 2 * EDGE
    rows = {
        row: f"r{number}" for number, row in enumerate(dict.fromkeys(row for frame in frames for row in frame.rows))
    }
    film = "".join(
        f'<use href="#{rows[row]}" y="{place * height + EDGE + line * CELL_HEIGHT:.0f}"/>'
        for place, frame in enumerate(frames)
        for line, row in enumerate(frame.rows)
        if row
    )
    whole = sum(frame.seconds for frame in frames)
    begins = accumulate((frame.seconds for frame in frames[:-1]), initial=0.0)
    steps = "".join(
        f"{100 * begin / whole:.2f}%{{transform:translateY({-place * height:.0f}px)}}"
        for place, begin in enumerate(begins)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(PLAY_COMMAND)}">'
        f"<style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}}"
        f"@keyframes film{{{steps}}}#film{{animation:film {whole:.1f}s step-end infinite}}"
        f"@media(prefers-reduced-motion:reduce){{#film{{animation:none;"
        f"transform:translateY({-(len(frames) - 1) * height:.0f}px)}}}}</style>"
        f"<defs>{''.join(render_row(row, name) for row, name in rows.items() if row)}</defs>"
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>'
        f'<svg width="{width:.0f}" height="{height:.0f}"><g id="film">{film}</g></svg></svg>\n'
    )


def render_row(row: Row, name: str) -> str:
    """A row of text."""
    parts = []
    for column, text, ink, ground, bold in row:
        left, long = EDGE + column * CELL_WIDTH, len(text) * CELL_WIDTH
        if ground != GROUND:
            parts.append(f'<rect x="{left:.1f}" width="{long:.1f}" height="{CELL_HEIGHT:.0f}" fill="{ground}"/>')
        blank = len(text) - len(text.lstrip())
        shown, left, long = text.strip().replace(" ", BLANK), left + blank * CELL_WIDTH, len(text.strip()) * CELL_WIDTH
        weight = ' font-weight="bold"' if bold else ""
        parts.append(
            f'<text x="{left:.1f}" y="13" textLength="{long:.1f}" lengthAdjust="spacingAndGlyphs"'
            f' fill="{ink}"{weight}>{escape(shown)}</text>'
        )
    return f'<g id="{name}">{"".join(parts)}</g>'


if __name__ == "__main__":
    main()
