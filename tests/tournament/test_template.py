"""Test the file that `--init` writes, and every setting in its comments."""

import re
import tomllib
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, game_info
from fairplay.hosting.spec import Entrant
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.spec_file import FORMATS, TOP_LEVEL_KEYS, read_sign_up_settings, read_tournament
from fairplay.tournament.template import tournament_template

SUGGESTED = r"^# (\w+) = (.*)$"
IN_A_LIST = r"^    # (\{ .* \},)$"


def read(directory: Path, text: str) -> TournamentSpec:
    file = directory / "cup.toml"
    file.write_text(text, encoding="utf-8")
    joined = [Entrant("client:ann", "ann")] if "signup" in tomllib.loads(text) else []
    assert not joined or read_sign_up_settings(file).min == 2
    return read_tournament(file, joined)


@pytest.mark.parametrize("game", GAMES)
def test_a_tournament_template_can_be_run_as_it_is(game: str, tmp_path: Path) -> None:
    tournament = read(tmp_path, tournament_template(game))

    assert tournament.game == game
    assert [player.address for player in tournament.players] == [
        name for name, player in game_info(game).built_in.items() if not player.is_slow
    ]
    assert all(name in tournament_template(game) for name in game_info(game).built_in)
    assert isinstance(tournament.format, RoundRobin)
    assert tournament.format.table == tournament.rules().seats[0]
    assert tournament == read(
        tmp_path, "\n".join(line for line in tournament_template(game).splitlines() if not line.startswith("#"))
    )


@pytest.mark.parametrize("game", GAMES)
def test_all_keys_are_shown_and_whatever_is_suggested_can_be_said(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tournament_template(game)
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "bob.py").write_text("def take_turn(view): ...\n")
    (tmp_path / "my_module.py").write_text("class Watcher:\n    def observe(self, event, match): ...\n")
    monkeypatch.syspath_prepend(tmp_path)

    suggested = re.findall(SUGGESTED, text, re.MULTILINE)
    for key, value in suggested:
        others = re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE)
        assert read(tmp_path, f"{key} = {value}\n{others}")
    more = read(tmp_path, re.sub(IN_A_LIST, r"\1", text, flags=re.MULTILINE))

    assert more.players[-1].name == "bob"
    assert {key for key, _ in suggested} | set(tomllib.loads(text)) == set(TOP_LEVEL_KEYS)
    kinds = [tomllib.loads(f"format = {value}")["format"]["kind"] for key, value in suggested if key == "format"]
    assert [RoundRobin.__struct_config__.tag, *kinds] == list(FORMATS)


def test_a_tournament_template_fits_in_a_window_except_comments() -> None:
    assert tournament_template("fish").count("\n") < 60


def test_an_unknown_game_has_no_tournament_template() -> None:
    with pytest.raises(BadRequest, match="there is no game 'chess'"):
        tournament_template("chess")
