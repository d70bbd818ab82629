"""Test servers that are run from Python, with players that join them."""

import asyncio
import socket
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

import fairplay as fp
from fairplay.app.servers import server_settings
from tests.api.fish_players import FISH


def test_settings_of_the_server_and_of_its_games_are_given_by_name_or_in_a_file(tmp_path: Path) -> None:
    settings = server_settings(
        "fish(rows=4, columns=4)",
        {"port": 0, "directory": tmp_path, "guests": False, "min": 2, "max": 3, "fill": "greedy", "limits": 2.5},
    )

    assert (settings.port, settings.directory, settings.guests) == (0, str(tmp_path), False)
    (offer,) = settings.offers
    assert (offer.rules(), offer.min_players, offer.max_players, offer.fill) == (FISH, 2, 3, "greedy")
    assert offer.limits == fp.Limits(move=2.5)
    assert [offer.game for offer in server_settings(["fish", "q"], {"max": 2}).offers] == ["fish", "q"]
    file = tmp_path / "server.toml"
    file.write_text('port = 0\n[[games]]\ngame = "fish"\nmax = 2\n')
    said = server_settings(file, {})
    assert server_settings(str(file), {}) == server_settings(said, {}) == said
    assert said.offers[0].max_players == 2


def test_players_join_a_server_until_it_is_cancelled(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def serve_one_match() -> list[int]:
        serving = asyncio.create_task(fp.serve_async(FISH, port=port, directory=tmp_path / "server", max=2))
        command = ("-m", "fairplay", "join", f"127.0.0.1:{port}", "random", "--matches", "1")
        joining = [await asyncio.create_subprocess_exec(sys.executable, *command) for _ in range(2)]
        try:
            return [await asyncio.wait_for(one.wait(), 60) for one in joining]
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving

    assert asyncio.run(serve_one_match()) == [0, 0]
    (journal,) = (path for path in (tmp_path / "server").rglob("*.jsonl"))
    assert fp.verify(journal)[0].ejected == {}
    assert "open" in capfd.readouterr().err


def test_ctrl_c_stops_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairplay.server.serving.serve", AsyncMock(side_effect=KeyboardInterrupt))

    fp.serve(FISH, port=0, directory=tmp_path)
