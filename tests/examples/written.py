"""Write those of the example bots anew that are what fairplay new-bot writes."""

from fairplay.cli.new_bot import written
from tools.tables import ROOT

BOTS = ROOT / "examples" / "bots"
WRITTEN = {  # one of each language, and of each game
    "FishBot.java": ("fish", "java"),
    "fish_bot.c": ("fish", "c"),
    "q_bot.js": ("q", "js"),
    "tsuro_bot.go": ("tsuro", "go"),
    "tsuro_bot.py": ("tsuro", "python"),
}


def main() -> None:
    """Write them anew."""
    for name, (game, language) in WRITTEN.items():
        (BOTS / name).write_text(written(game, language, name), encoding="utf-8")


if __name__ == "__main__":
    main()
