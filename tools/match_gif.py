"""Write the GIF of a match for the docs: python -m tools.match_gif."""

from pathlib import Path
from tempfile import TemporaryDirectory

from fairplay import Entrant
from fairplay.core.chance import seed_from_text
from fairplay.hosting.run import run
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.pictures import pictures
from fairplay.journal.replay import read_journal
from fairplay.render.raster import gif

PATH = Path(__file__).parent.parent / "docs" / "match.gif"
PLAYERS = ("ann", "bob", "cyd")
WIDTH, SECONDS = 560, 0.6


def main() -> None:
    """Write the GIF."""
    with TemporaryDirectory() as directory:
        spec = MatchSpec(
            game="fish",
            entrants=tuple(Entrant("lookahead:2", name) for name in PLAYERS),
            parameters={"rows": 5, "columns": 5},
            seed=seed_from_text("film"),
            journal=directory,
        )
        recorded = read_journal(run(spec).journal or "")
    PATH.write_bytes(gif(list(pictures(recorded)), WIDTH, SECONDS))


if __name__ == "__main__":
    main()
