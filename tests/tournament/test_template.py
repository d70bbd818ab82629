"""Begin with the file that `--init` writes: it can be run as it stands, and so can all that it only suggests."""

import re
import tomllib
from pathlib import Path

import pytest

from fairplay.core.errors import BadRequest
from fairplay.games import GAMES, title
from fairplay.hosting.spec import Entrant
from fairplay.tournament.file import FORMATS, KEYS, read_cup, read_sign_up
from fairplay.tournament.settings import RoundRobin
from fairplay.tournament.spec import Cup
from fairplay.tournament.template import template

SUGGESTED = r"^# (\w+) = (.*)$"
IN_A_LIST = r"^    # (\{ .* \},)$"


def read(directory: Path, text: str) -> Cup:
    file = directory / "cup.toml"
    file.write_text(text, encoding="utf-8")
    joined = [Entrant("visitor:ann", "ann")] if "signup" in tomllib.loads(text) else []
    assert not joined or read_sign_up(file).min == 2
    return read_cup(file, joined)


@pytest.mark.parametrize("game", GAMES)
def test_it_can_be_run_as_it_stands(game: str, tmp_path: Path) -> None:
    cup = read(tmp_path, template(game))

    assert cup.game == game
    assert [player.address for player in cup.players] == [
        name for name, player in title(game).house.items() if not player.thinks
    ]
    assert all(name in template(game) for name in title(game).house)
    assert isinstance(cup.format, RoundRobin)
    assert cup.format.table == cup.rules().seats[0]
    assert cup == read(tmp_path, "\n".join(line for line in template(game).splitlines() if not line.startswith("#")))


@pytest.mark.parametrize("game", GAMES)
def test_all_keys_are_shown_and_whatever_is_suggested_can_be_said(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = template(game)
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
    assert {key for key, _ in suggested} | set(tomllib.loads(text)) == set(KEYS)
    kinds = [tomllib.loads(f"format = {value}")["format"]["kind"] for key, value in suggested if key == "format"]
    assert [RoundRobin.__struct_config__.tag, *kinds] == list(FORMATS)


def test_it_fits_in_a_window_but_for_the_remarks() -> None:
    assert template("fish").count("\n") < 60


def test_there_is_none_for_a_game_that_nobody_knows() -> None:
    with pytest.raises(BadRequest, match="there is no game 'chess'"):
        template("chess")
