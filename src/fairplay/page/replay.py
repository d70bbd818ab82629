"""Make the page of a recorded match, as one file."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Fact
from fairplay.games import game_info
from fairplay.journal.replay import RecordedMatch, journal_errors, parse_journal, read_bytes
from fairplay.journal.verification import require_legal
from fairplay.observers.reporter import describe_fault
from fairplay.page.assembly import assemble_page
from fairplay.page.packing import PositionPictures, pack_pictures
from fairplay.render.colours import letter_colour
from fairplay.render.svg import escape
from fairplay.render.text import printable

MAX_DESCRIPTION_CHARS = 200  # characters of a title, or of what happened
THEMES = {  # as replay.js asks for them
    "light": {"dark": False},
    "dark": {"dark": True},
    "light small": {"dark": False, "small": True},
    "dark small": {"dark": True, "small": True},
}
COORDINATES = re.compile(r"\[-?\d+, -?\d+\]")  # whose parts are to stay together


def render_replay(file: Path | str, revealed: Callable[[Path], bool] = lambda file: False) -> str:
    """The page of the match in this file. Raises BadRequest if it may not be shown, or is not legal.

    Of a sealed match it is asked whether its seed was revealed since.
    """
    with journal_errors(file):
        text = read_bytes(file)
        recorded = require_legal(parse_journal(text))
    if recorded.closing is None:
        hidden = ", and its hidden hands are not shown before it ends" if recorded.game.hidden else ""
        raise BadRequest(f"{file}: this match is unfinished{hidden}")
    if recorded.opening.sealed and not revealed(Path(file)):
        raise BadRequest(f"{file}: this match is sealed until the seed of its deal is revealed")
    return replay_page(recorded, text)


def replay_page(recorded: RecordedMatch, text: bytes) -> str:
    """The page of a finished match, of which this is the journal."""
    heading = f"{recorded.opening.game}: {', '.join(recorded.names)}"
    return assemble_page(
        "replay",
        {
            "title": escape(printable(heading, MAX_DESCRIPTION_CHARS)),
            "match": embed_json(replay_data(recorded, text)),
            "pictures": pack_pictures(draw_positions(recorded)),
        },
    )


def replay_data(recorded: RecordedMatch, text: bytes) -> dict[str, Any]:
    """The data of the page: the record itself, and what the rules derive from it."""
    match = recorded.match_after(0)
    scores = [match.game.scores(match.state)]
    for fact in recorded.facts:
        match = match.after(fact)
        scores.append(match.game.scores(match.state))
    return {
        "journal": text.decode().split("\n")[:-1],
        "words": [describe_fact(fact) for fact in recorded.facts],
        "scores": None if None in scores else scores,
        "looks": [
            {"letter": look.letter, "paint": look.paint, "ink": letter_colour(look.paint)}
            for look in game_info(recorded.opening.game).looks(match.view(None))
        ],
    }


def describe_fact(fact: Fact) -> str:
    """The description of a fact after the name of the player."""
    text = printable(str(fact.action), MAX_DESCRIPTION_CHARS) if isinstance(fact, Acted) else describe_fault(fact)
    return COORDINATES.sub(lambda place: place[0].replace(" ", "\u00a0"), text)


def draw_positions(recorded: RecordedMatch) -> Iterator[PositionPictures]:
    """The pictures of each position as spectators see it; and as each seat does, if there is a difference.

    Those of one position come together, as a game may draw once what they have in common.
    """
    svg, match = game_info(recorded.opening.game).svg, recorded.match_after(0)
    seats = (None, *range(len(recorded.names))) if recorded.game.hidden else (None,)
    before: list[Any] = [None for _ in seats]
    for fact in (None, *recorded.facts):
        match = match if fact is None else match.after(fact)
        views = [match.view(seat) for seat in seats]
        yield {
            theme: [svg(view, match.names, before=last, **look) for view, last in zip(views, before, strict=True)]
            for theme, look in THEMES.items()
        }
        before = views


def embed_json(value: Any) -> str:
    """A value as JSON that can stand in a page: there is no tag in it, nor a comment."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
