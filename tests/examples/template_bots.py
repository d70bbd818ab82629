"""Rewrite the example bots that `fairplay new-bot` generates."""

from fairplay.cli.new_bot import render_bot
from tools.readme_tables import ROOT

BOTS = ROOT / "examples" / "bots"
TEMPLATE_BOTS = {  # one of each language, and of each game
    "FishBot.java": ("fish", "java"),
    "fish_bot.c": ("fish", "c"),
    "q_bot.js": ("q", "js"),
    "tsuro_bot.go": ("tsuro", "go"),
    "tsuro_bot.py": ("tsuro", "python"),
}


def main() -> None:
    """Write them anew."""
    for name, (game, language) in TEMPLATE_BOTS.items():
        (BOTS / name).write_text(render_bot(game, language, name), encoding="utf-8")


if __name__ == "__main__":
    main()
