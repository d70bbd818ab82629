"""Rewrite the transcript in docs/protocol.md, from a match with an example bot."""

import re
import sys
from hashlib import sha256

from fairplay.games.fish import Fish
from fairplay.protocol.limits import Limits
from tests.examples.programs import deal_match, play_match
from tools.page_sections import replace_section
from tools.readme_tables import ROOT

PAGE = ROOT / "docs" / "protocol.md"
NONCE = re.compile(rb"([0-9]+)-[0-9a-f]{16}")


def main() -> None:
    """Write it anew."""
    PAGE.write_text(rewrite_page(), encoding="utf-8")


def rewrite_page() -> str:
    """The page with the transcript as it should be."""
    return replace_section(PAGE, "transcript", f"\n```text\n{transcript()}```\n\n")


def transcript() -> str:
    """All that is said between the referee and a bot in a tiny match."""
    bot = [sys.executable, str(ROOT / "examples" / "bots" / "fish_plain.py")]
    match = deal_match(Fish(rows=3, columns=3), ["plain", "greedy"], "4")
    done = play_match(match, [bot, "greedy"], match_id="m1", limits=Limits())
    lines = [("referee" if by_referee else "bot    ", NONCE.sub(fixed_nonce, text)) for by_referee, text in done.said]
    return "".join(f"{who} {text.decode()}\n" for who, text in lines)


def fixed_nonce(nonce: re.Match[bytes]) -> bytes:
    """A nonce for the page: those of a match are drawn, and this one is always the same."""
    return nonce[1] + b"-" + sha256(nonce[1]).hexdigest()[:16].encode()


if __name__ == "__main__":
    main()
