"""Sign up for a tournament, and see who is turned away."""

import asyncio

from fairplay.server.cup import CupLobby
from fairplay.tournament.file import SignUp
from tests.players.lines import Clockwork, in_clockwork
from tests.server.test_attendance import client


def test_nobody_is_taken_beyond_the_last_place_even_before_the_tournament_has_begun() -> None:
    lobby = CupLobby("fish", SignUp(min=2, max=2), None)
    for name in ("ann", "bob"):
        assert lobby.refusal(client(name)) == ""
        lobby.add(client(name))

    assert lobby.refusal(client("cyd")) == "the tournament has begun"
    assert lobby.refusal(client("ann")) == ""  # it is back


def test_the_time_to_sign_up_begins_anew_when_too_few_are_left() -> None:
    lobby = CupLobby("fish", SignUp(min=2, max=4, wait=10.0), None)
    ann, bob, cyd = (client(name) for name in ("ann", "bob", "cyd"))

    async def work(loop: Clockwork) -> list[str]:
        signing_up = asyncio.create_task(lobby.signed_up())
        lobby.add(ann)
        lobby.add(bob)
        await asyncio.sleep(5)
        lobby.remove(bob)
        await asyncio.sleep(60)
        assert not signing_up.done()
        lobby.add(cyd)
        await asyncio.sleep(9)
        assert not signing_up.done()
        return [visitor.id for visitor in await signing_up]

    assert in_clockwork(work) == ["ann", "cyd"]
