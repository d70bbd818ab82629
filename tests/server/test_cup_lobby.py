"""Sign up for a tournament, and see who is turned away."""

from fairplay.server.cup import CupLobby
from fairplay.tournament.file import SignUp
from tests.server.test_attendance import client


def test_nobody_is_taken_beyond_the_last_place_even_before_the_tournament_has_begun() -> None:
    lobby = CupLobby("fish", SignUp(min=2, max=2), None)
    for name in ("ann", "bob"):
        assert lobby.refusal(client(name)) == ""
        lobby.add(client(name))

    assert lobby.refusal(client("cyd")) == "the tournament has begun"
    assert lobby.refusal(client("ann")) == ""  # it is back
