"""Tell from an address where its player is."""

import pytest

from fairplay import BadRequest
from fairplay.players.location import Command, Invitation, Location, far


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("tcp:4000", Invitation("tcp", "4000")),
        ("ws:example.org:80", Invitation("ws", "example.org:80")),
        ("exec:./bot --flag 'two words'", Command(("./bot", "--flag", "two words"))),
        ("./bot", Command(("./bot",))),
        ("random", None),
        ("lookahead:2", None),
        ("py:some.module:Name", None),
        ("py:module:Name.py", None),
    ],
)
def test_an_address_says_how_far_away_a_player_is(address: str, place: Location | None) -> None:
    assert far(address) == place


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("exec:", "exec: names no program"),
        ("exec:'", "exec:' is no command line: No closing quotation"),
        ("./missing.py", "there is no Python file ./missing.py"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(address: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        far(address)
