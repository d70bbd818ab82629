"""Write the transcript in docs/protocol.md anew, from a match with an example bot."""

import re
import sys
from hashlib import sha256

from fairplay.games.fish import Fish
from fairplay.protocol.limits import Limits
from tests.examples.programs import dealt, played
from tools.marks import filled
from tools.tables import ROOT

PAGE = ROOT / "docs" / "protocol.md"
NONCE = re.compile(rb"([0-9]+)-[0-9a-f]{16}")


def main() -> None:
    """Write it anew."""
    PAGE.write_text(rewritten(), encoding="utf-8")


def rewritten() -> str:
    """The page with the transcript as it should be."""
    return filled(PAGE, "transcript", f"\n```text\n{transcript()}```\n\n")


def transcript() -> str:
    """All that is said between the referee and a bot in a tiny match."""
    bot = [sys.executable, str(ROOT / "examples" / "bots" / "fish_plain.py")]
    match = dealt(Fish(rows=3, columns=3), ["plain", "greedy"], "4")
    done = played(match, [bot, "greedy"], match_id="m1", limits=Limits())
    lines = [("referee" if by_referee else "bot    ", NONCE.sub(settled, text)) for by_referee, text in done.said]
    return "".join(f"{who} {text.decode()}\n" for who, text in lines)


def settled(nonce: re.Match[bytes]) -> bytes:
    """A nonce for the page: those of a match are drawn, and this one is always the same."""
    return nonce[1] + b"-" + sha256(nonce[1]).hexdigest()[:16].encode()


if __name__ == "__main__":
    main()
