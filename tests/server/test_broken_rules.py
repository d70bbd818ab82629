"""Test a game with broken rules at a server: its clients are disconnected, and the server goes on."""

import asyncio
from pathlib import Path

import pytest

from fairplay.games import register
from fairplay.journal.replay import read_journal
from fairplay.server.server import NO_ROOM_MESSAGE
from fairplay.server.settings import Offer, make_offer
from fairplay.server.sign_in.tokens import make_token
from tests.games.external_games import forget_external_games
from tests.kit import countdown
from tests.kit.countdown import EXPECTED_ERROR, FIXED_NEXT, GAME_ADDRESS
from tests.server.test_server import AMPLE, Visit, fish, open_server, rest_of

__all__ = ["forget_external_games"]
pytestmark = pytest.mark.usefixtures("forget_external_games")


def countdown_offer() -> Offer:
    register(GAME_ADDRESS)
    return make_offer("countdown", {}, min_players=2, max_players=2, limits=AMPLE)


def warned(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [
        (record.message, vars(record)["fields"]["why"]) for record in caplog.records if record.levelname == "WARNING"
    ]


async def test_players_and_spectators_are_disconnected_when_the_rules_raise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_server(tmp_path, countdown_offer(), fish()) as server:
        players = await server.come_all("ann", "bob", game="countdown")
        await server.until(lambda: server.server.rooms)
        [room] = server.server.rooms
        spectator, roaming = await server.watch(room), await server.watch()

        last = await asyncio.gather(*(player.play("suspended") for player in players))

        assert [one["why"] for one in last] == [NO_ROOM_MESSAGE] * 2
        assert [message["seq"] for message in await rest_of(spectator)] == [0, 1, 2]
        assert [(await roaming.hear() or {})["type"] for _ in range(4)] == ["snapshot", "patch", "patch", "idle"]
        assert server.server.rooms == {}
        assert len(read_journal(server.journals()[room]).facts) == 2
        others = await server.come_all("cyd", "dee", game="fish")
        await asyncio.gather(*(other.play() for other in others))

    assert warned(caplog) == [("match failed", f"countdown cannot be played: {EXPECTED_ERROR}")]


async def test_a_player_that_left_a_match_stays_in_its_next_one_when_the_first_one_fails(tmp_path: Path) -> None:
    token = make_token(tmp_path, "ann")
    async with open_server(tmp_path, countdown_offer(), fish()) as server:
        bob, ann = await server.come("bob", game="countdown"), await server.come("ann", token=token, game="countdown")
        playing = asyncio.create_task(ann.play("end"))
        await bob.play("take_turn", times=2)
        playing.cancel()
        await server.call({"purpose": "leave", "name": "ann", "token": token})
        await server.until(lambda: not server.has("ann"))
        again, cyd = await server.come("ann", token=token, game="fish"), await server.come("cyd", game="fish")
        playing = asyncio.create_task(cyd.play())
        await again.play("take_turn")

        bob.answer_last()
        await bob.play("suspended")

        again.answer_last()
        await asyncio.gather(again.play(), playing)
        assert [one.game for one in server.server.finished] == ["fish"]


async def test_clients_are_disconnected_when_the_rules_cannot_deal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_server(tmp_path, countdown_offer()) as server:
        monkeypatch.setattr(countdown, "NEXT", {})
        callers = [await server.call({"name": name}) for name in ("ann", "bob")]

        assert [(await rest_of(caller))[-1]["why"] for caller in callers] == [NO_ROOM_MESSAGE] * 2


async def test_a_match_whose_rules_raise_is_left_alone_and_resumed_once_they_are_mended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_server(tmp_path, countdown_offer()) as server:
        players = await server.come_all("ann", "bob", game="countdown")
        await asyncio.gather(*(player.play("suspended") for player in players))
        [path] = server.journals().values()
    monkeypatch.setattr(countdown, "NEXT", {5: 4})
    caplog.clear()
    async with open_server(tmp_path, countdown_offer()) as server:
        server.server.resume_matches()
        assert server.server.rooms == {}
        why = f"{path}: line 4: the match cannot continue here: {EXPECTED_ERROR.replace('3', '4', 1)}"
        assert warned(caplog) == [("cannot resume a match", why)]
    monkeypatch.setattr(countdown, "NEXT", FIXED_NEXT)
    async with open_server(tmp_path, countdown_offer()) as server:
        server.server.resume_matches()
        assert list(server.server.rooms) == [path.stem]
        again = [Visit(await server.call({"token": player.reconnect_token})) for player in players]
        await asyncio.gather(*(player.play() for player in again))

    assert len(read_journal(path).facts) == 5
