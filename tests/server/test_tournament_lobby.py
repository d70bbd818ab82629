"""Test the sign-up for a tournament at a server: who plays, and who is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairplay.server.logs import LOG, log_fields
from fairplay.server.server import RETRY_AFTER_S
from fairplay.server.serving import PAUSE_MESSAGE
from fairplay.server.settings import ServerSettings, make_offer
from fairplay.server.tournament import TournamentLobby, host_tournament
from fairplay.tournament.spec_file import SignUpSettings
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.players.test_listener import run
from tests.server.sign_in.test_sign_in import LOOPBACK, Caller
from tests.server.test_attendance import client


def test_no_client_beyond_the_maximum_signs_up_even_before_the_tournament_begins() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=2), None)
    for name in ("ann", "bob"):
        assert lobby.refusal(client(name)) == ""
        lobby.add(client(name))

    assert lobby.refusal(client("cyd")) == "the tournament has begun"
    assert lobby.refusal(client("ann")) == ""  # it is back


def test_the_time_to_sign_up_begins_anew_when_too_few_are_left() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=4, wait=10.0), None)
    ann, bob, cyd = (client(name) for name in ("ann", "bob", "cyd"))

    async def work(loop: VirtualTimeLoop) -> list[str]:
        signing_up = asyncio.create_task(lobby.wait_for_players())
        lobby.add(ann)
        lobby.add(bob)
        await asyncio.sleep(5)
        lobby.remove(bob)
        await asyncio.sleep(60)
        assert not signing_up.done()
        lobby.add(cyd)
        await asyncio.sleep(9)
        assert not signing_up.done()
        return [one.id for one in await signing_up]

    assert run_in_virtual_time(work) == ["ann", "cyd"]


def test_the_time_to_sign_up_begins_anew_when_another_client_replaces_one_that_left() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=4, wait=10.0), None)
    ann, bob, cyd = (client(name) for name in ("ann", "bob", "cyd"))

    async def work(loop: VirtualTimeLoop) -> float:
        since = loop.time()
        signing_up = asyncio.create_task(lobby.wait_for_players())
        lobby.add(ann)
        lobby.add(bob)
        await asyncio.sleep(5)
        lobby.remove(bob)
        await asyncio.sleep(2)
        lobby.add(cyd)
        await signing_up
        return loop.time() - since

    assert run_in_virtual_time(work) == pytest.approx(17)


def test_a_client_that_names_another_game_is_refused() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=2), None)
    eve, ann = client("eve"), client("ann")
    eve.game, ann.game = "q", "fish"

    assert lobby.refusal(eve) == "q is not played here"
    assert lobby.refusal(ann) == ""


def test_players_are_in_the_order_of_sign_in_though_one_was_away_for_a_moment() -> None:
    lobby = TournamentLobby("fish", SignUpSettings(min=2, max=2), None)
    ann, bob = client("ann"), client("bob")
    ann.number, bob.number = 0, 1
    for one in (bob, ann):  # ann came first, and came back
        lobby.add(one)

    assert [one.id for one in run_in_virtual_time(lambda loop: lobby.wait_for_players())] == ["ann", "bob"]


def test_a_tournament_that_is_interrupted_tells_its_players_when_to_come_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", LOG.name)
    settings = ServerSettings(offers=(make_offer("fish", {}),), directory=str(tmp_path), port=0)

    async def last_message() -> dict[str, Any] | None:
        sign_up = SignUpSettings(min=2, max=2)
        serving = asyncio.create_task(
            host_tournament(settings, "fish", sign_up, (), lambda entrants, make_runner: None)
        )
        while not (addresses := [log_fields(one)["address"] for one in caplog.records if one.message == "listening"]):
            await asyncio.sleep(0)
        ann = Caller(*await asyncio.open_connection(LOOPBACK, int(addresses[0].rpartition(":")[2])))
        await ann.reply({"name": "ann"})
        await ann.hear()  # the welcome
        serving.cancel()
        last = await ann.hear()
        ann.leave()
        await asyncio.wait([serving])
        return last

    assert run(last_message()) == {"type": "suspended", "why": PAUSE_MESSAGE, "retry_after": RETRY_AFTER_S}
