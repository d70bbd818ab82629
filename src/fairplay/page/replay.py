"""Make the page of a recorded match: one file, which needs nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Fact
from fairplay.games import title
from fairplay.journal.replay import Recorded, about, recorded_in, text_of
from fairplay.journal.verify import lawful
from fairplay.observers.reporter import why_out
from fairplay.page.assembly import assembled
from fairplay.page.packing import Shown, packed
from fairplay.render.colours import letters_on
from fairplay.render.svg import escape
from fairplay.render.text import printable

LONGEST = 200  # characters of a title, or of what happened
THEMES = {  # as replay.js asks for them
    "light": {"dark": False},
    "dark": {"dark": True},
    "light small": {"dark": False, "small": True},
    "dark small": {"dark": True, "small": True},
}
PLACE = re.compile(r"\[-?\d+, -?\d+\]")  # whose parts are to stay together


def replay_of(file: Path | str, revealed: Callable[[Path], bool] = lambda file: False) -> str:
    """The page of the match in this file. Raises BadRequest if it may not be shown, or is not lawful.

    Of a sealed match it is asked whether its seed was revealed since.
    """
    with about(file):
        text = text_of(file)
        recorded = lawful(recorded_in(text))
    if recorded.closing is None:
        hidden = ", and what is hidden in it stays so until it ends" if recorded.game.hidden else ""
        raise BadRequest(f"{file}: this match is unfinished{hidden}")
    if recorded.opening.sealed and not revealed(Path(file)):
        raise BadRequest(f"{file}: this match is sealed, and stays so until the seed of its deal is revealed")
    return replay_page(recorded, text)


def replay_page(recorded: Recorded, text: bytes) -> str:
    """The page of a finished match, of which this is the journal."""
    heading = f"{recorded.opening.game}: {', '.join(recorded.names)}"
    return assembled(
        "replay",
        {
            "title": escape(printable(heading, LONGEST)),
            "match": data(told(recorded, text)),
            "pictures": packed(shown(recorded)),
        },
    )


def told(recorded: Recorded, text: bytes) -> dict[str, Any]:
    """What the page knows of a match: the record itself, and what only the rules can make of it."""
    match = recorded.at(0)
    scores = [match.game.scores(match.state)]
    for fact in recorded.facts:
        match = match.after(fact)
        scores.append(match.game.scores(match.state))
    return {
        "journal": text.decode().split("\n")[:-1],
        "words": [in_words(fact) for fact in recorded.facts],
        "scores": None if None in scores else scores,
        "looks": [
            {"letter": look.letter, "paint": look.paint, "ink": letters_on(look.paint)}
            for look in title(recorded.opening.game).looks(match.view(None))
        ],
    }


def in_words(fact: Fact) -> str:
    """What is said of a fact behind the name of the player."""
    said = printable(str(fact.action), LONGEST) if isinstance(fact, Acted) else why_out(fact)
    return PLACE.sub(lambda place: place[0].replace(" ", "\u00a0"), said)


def shown(recorded: Recorded) -> Iterator[Shown]:
    """The pictures of each position as spectators see it; and as each seat does, if there is a difference.

    Those of one position come together, as a game may draw once what they have in common.
    """
    svg, match = title(recorded.opening.game).svg, recorded.at(0)
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


def data(value: Any) -> str:
    """A value as JSON that can stand in a page: there is no tag in it, nor a comment."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
