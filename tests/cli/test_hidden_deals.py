"""Refuse tournaments in which a player would see a hidden deal twice, before a folder is made or a port is opened."""

from pathlib import Path

import pytest

from tests.cli.command import fairplay, refusal, script
from tests.cli.cup_files import ENOUGH, cup_file

HIDDEN = {"game": '"q"', "parameters": "{}", "seed": f'"{"5" * 64}"'}
FORMATS = ['{ kind = "duplicate", deals = 2 }', '{ kind = "versus", games = 8 }']


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("address", ["tcp:0", "ws:0", "human", "in-process:fairplay.games.q.strategies:LADDER"])
def test_a_tournament_that_shows_a_hidden_deal_twice_is_refused(format: str, address: str, tmp_path: Path) -> None:
    players = f'[{{ player = "random" }}, {{ name = "ann", player = "{address}" }}]'
    file = cup_file(tmp_path, **HIDDEN, format=format, players=players)

    why = refusal(fairplay("tournament", str(file)))

    assert f"plays each deal more than once, and ann ({address}) is not started afresh for each match" in why
    assert not (tmp_path / "cup").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_a_sign_up_for_hidden_deals_that_are_played_twice_is_refused_before_it_opens(
    format: str, tmp_path: Path
) -> None:
    file = cup_file(tmp_path, **HIDDEN, format=format, players="[]", signup="{ min = 2 }")

    why = refusal(script("serve", "--tournament", str(file), "--port", "0", timeout=ENOUGH))

    assert "plays each deal more than once, and client 1 (visitor:1) is not started afresh for each match" in why
    assert not (tmp_path / "cup").exists()
