"""Show the final boards of a few matches in the report, and write a page with the replay of each."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Ejected
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import RecordedMatch, parse_journal, read_bytes
from fairplay.journal.verification import require_legal
from fairplay.page.replay import replay_page
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.layout import MATCHES_DIR, REPLAYS_DIR
from fairplay.tournament.report.ejections import journal_link
from fairplay.tournament.report.html_parts import escape_text, render_figure, render_paragraph
from fairplay.tournament.report.results import write_file_atomically

MAX_PICTURE_CHARS = 100_000  # of a picture in the report
MAX_REPLAY_PICTURE_CHARS = 20_000_000  # of all pictures of a match with a replay page


class FinalBoard(msgspec.Struct, frozen=True):
    """The final board of a match."""

    match: str  # the id of its journal
    why: str  # it is shown
    names: str
    link: str  # to its replay, relative to the directory of the tournament; empty: it would take too long to write
    light: str  # the picture, as SVG
    dark: str


def notable_matches(counted: Sequence[CountedMatch]) -> dict[str, str]:
    """The matches to show: by the ids of their journals, why each is shown."""
    found: dict[str, str] = {}
    played = [one for one in counted if one.places]
    scored = [one for one in played if any(one.scores)]
    for why, some in (
        ("The last match", played[-1:]),
        ("The last ejection", [one for one in played if any(one.faults)][-1:]),
        ("The highest score", sorted(scored, key=lambda one: max(score or 0 for score in one.scores))[-1:]),
    ):
        for one in some:
            found.setdefault(one.attempt or one.match, why)
    return found


def write_replay_pages(directory: Path | str, counted: Sequence[CountedMatch]) -> list[FinalBoard]:
    """Write replays of the notable matches whose journals exist; all deals of the tournament are revealed by now."""
    boards = []
    for match, why in notable_matches(counted).items():
        try:
            text = b"" if "/" in match else read_bytes(Path(directory) / journal_link(match))
            recorded = require_legal(parse_journal(text))
        except BadRequest:
            continue  # the part on ejections reports damaged journals
        if recorded.closing is None:
            continue
        light, dark = (picture_at(recorded, None, dark=dark, small=True) for dark in (False, True))
        link = ""
        if len(recorded.facts) * len(picture_at(recorded, None)) <= MAX_REPLAY_PICTURE_CHARS:
            link = f"{REPLAYS_DIR}/{match}.html"
            try:
                (Path(directory) / REPLAYS_DIR).mkdir(exist_ok=True)
            except OSError as error:
                raise HostFault(f"{Path(directory) / REPLAYS_DIR}: cannot be created: {error.strerror}") from None
            write_file_atomically(Path(directory) / link, replay_page(recorded, text))
            link += f"#{first_ejection(recorded)}" if "ejection" in why else f"#{len(recorded.facts)}"
        boards.append(FinalBoard(match, why, ", ".join(recorded.names), link, light, dark))
    return boards


def first_ejection(recorded: RecordedMatch) -> int:
    """The number of facts up to the first ejection."""
    return next(number for number, fact in enumerate(recorded.facts, 1) if isinstance(fact, Ejected))


def render_boards(boards: Sequence[FinalBoard]) -> Iterator[str]:
    """Render the part of the report with these boards."""
    if not boards:
        return
    yield "<h2>Matches to look at</h2>"
    command = f"<code>fairplay replay {MATCHES_DIR}/MATCH.jsonl -o game.html</code>"
    yield render_paragraph(f"A click on a board opens the replay of its match. To replay another match: {command}.")
    yield '<div class="boards">'
    for board in boards:
        picture = "" if len(board.light) > MAX_PICTURE_CHARS else render_board(board)
        text = f"{picture}Replay of match {escape_text(board.match)}"
        link = (
            f'<a href="{escape_text(board.link)}">{text}</a>'
            if board.link
            else f"{text}, which is long: use that command"
        )
        yield render_figure(board.why, board.names, link)
    yield "</div>"


def render_board(board: FinalBoard) -> str:
    """The picture of a board, light or dark: an image, so that its content cannot act on the page."""
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{data_uri(board.dark)}">'
        f'<img alt="The board at its end." src="{data_uri(board.light)}"></picture>'
    )


def data_uri(picture: str) -> str:
    """A picture as a data URI."""
    return f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}"
