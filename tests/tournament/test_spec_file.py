"""Test how tournaments are read from files: all settings, errors, changes that are refused, and the template."""

import os
import pickle
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields, replace

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.games import GAMES, game_info
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.settings import Duplicate, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import BotCheckPolicy, Penalty, TournamentSpec
from fairplay.tournament.spec_changes import spec_changes
from fairplay.tournament.spec_file import (
    FORMATS,
    MAX_TOML_BYTES,
    TOP_LEVEL_KEYS,
    read_sign_up_settings,
    read_tournament,
)
from fairplay.tournament.template import tournament_template

PLAYER = "def take_turn(view):\n    return None\n"
TWO = 'game = "fish"\nplayers = [{ name = "ann", player = "greedy" }, { player = "random" }]\n'
WHOLE = """
game = "fish"
seed = "autumn cup"
parameters = { rows = 5, columns = 5 }
format = { kind = "round-robin", table = 2, games = 400 }
limits = { move = 2, first = 20, bank = 60, increment = 0.5, start = 30, arrival = 5 }
sandbox = "none"
pondering = true
bot_check = "refuse"
penalties = { default = "forfeit", timed_out = "expel", illegal = "replay" }
players = [ { name = "ann", player = "greedy" }, { name = "bob", player = "./bots/bob.py" } ]
player_files = [ "./bots/*.py" ]
observers = [ "py:tests.tournament.test_spec_file:Watcher" ]
"""


class Watcher:
    """An observer, which must not be made before a match."""

    def __init__(self) -> None:
        raise AssertionError("there is no match yet")


@pytest.fixture
def shed(tmp_path: Path) -> Path:
    """A directory with bots in it."""
    for name in ("bob.py", "cyd.py", ".hidden.py", "__pycache__/bob.py"):
        write(tmp_path / "bots" / name, PLAYER)
    write(tmp_path / "teams" / "eve" / "bot.py", PLAYER)
    program = write(tmp_path / "teams" / "dan.v2" / "bot", "#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def tournament_of(directory: Path, text: str) -> TournamentSpec:
    return read_tournament(write(directory / "cup.toml", text))


def refusal(directory: Path, text: str) -> str:
    """The line with which a file is refused, without the name of the file."""
    with pytest.raises(BadRequest) as refused:
        tournament_of(directory, text)
    file, said = f"{directory / 'cup.toml'}: ", str(refused.value)
    assert said.startswith(file)
    assert said.isprintable()
    return said.removeprefix(file).replace(str(directory), "DIR")


def players(tournament: TournamentSpec, directory: Path) -> list[tuple[str, str]]:
    return [(one.name, one.address.replace(str(directory.resolve()), "DIR")) for one in tournament.players]


def test_every_setting_of_a_file_is_in_the_tournament(shed: Path) -> None:
    bots = shed.resolve() / "bots"

    tournament = tournament_of(shed, WHOLE)

    assert tournament == TournamentSpec(
        game="fish",
        players=(
            Entrant("greedy", "ann"),
            Entrant(f"{bots}/bob.py", "bob", "./bots/bob.py"),
            Entrant(f"{bots}/cyd.py", "cyd", "./bots/cyd.py"),
        ),
        format=RoundRobin(games=400, table=2),
        seed=seed_from_text("autumn cup"),
        guessable=True,
        parameters={"rows": 5, "columns": 5, "fish": "random", "holes": 0, "colours": "fixed", "cramped": False},
        limits=Limits(move=2, first_move=20, bank=60, increment=0.5, start_up=30, arrival=5),
        sandbox="none",
        pondering=True,
        bot_check=BotCheckPolicy.REFUSE,
        penalties={Fault.TIMED_OUT: Penalty.EXPEL, Fault.ILLEGAL: Penalty.REPLAY},
        default_penalty=Penalty.FORFEIT,
        observers=("py:tests.tournament.test_spec_file:Watcher",),
    )
    assert pickle.loads(pickle.dumps(tournament)) == tournament
    assert msgspec.json.decode(msgspec.json.encode(tournament), type=TournamentSpec) == tournament


def test_what_is_not_said_is_as_usual_and_the_seed_is_yet_to_be_drawn(tmp_path: Path) -> None:
    tournament = tournament_of(tmp_path, TWO)

    assert tournament == TournamentSpec(
        game="fish",
        players=(Entrant("greedy", "ann"), Entrant("random", "random")),
        format=RoundRobin(),
        seed=None,
        guessable=False,
        parameters=tournament.parameters,
        bot_check=BotCheckPolicy.WARN,
        default_penalty=Penalty.EJECT,
    )


def test_sections_and_marks_of_other_editors_are_fine(tmp_path: Path) -> None:
    lines = ["game = 'fish'", "[format]", "kind = 'swiss'", *(["[[players]]", "player = 'random'"] * 2)]

    tournament = tournament_of(tmp_path, "\ufeff" + "\r\n".join(lines))

    assert tournament.format == Swiss()
    assert [one.name for one in tournament.players] == ["random", "random-2"]


def test_paths_are_relative_to_the_file(shed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shed / "my bot.js", "")
    write(shed / "fish" / "notes", "")
    text = """
game = "fish"
player_files = ["../bots/*.py", "../teams/*"]
players = [
    { player = "bob.py" },
    { player = "./../bots/cyd.py" },
    { player = "../teams/eve" },
    { player = "exec:../teams/dan.v2/bot --game fish ./new sub/none" },
    { player = "exec:sh '../my bot.js' bob.py" },
]
"""
    write(shed / "cups" / "bob.py", PLAYER)
    write(shed / "cups" / "fish" / "notes", "")
    expected = [
        ("bob", "DIR/cups/bob.py"),
        ("cyd", "DIR/bots/cyd.py"),
        ("eve", "DIR/teams/eve"),
        ("new", "exec:DIR/teams/dan.v2/bot --game fish DIR/cups/new sub/none"),
        ("my bot", "exec:sh 'DIR/my bot.js' DIR/cups/bob.py"),
        ("bob-2", "DIR/bots/bob.py"),
        ("dan.v2", "DIR/teams/dan.v2"),
    ]
    (shed / "link").symlink_to(shed / "cups")
    file = write(shed / "cups" / "cup.toml", text)

    for directory, name in ((shed, "cups/cup.toml"), (shed / "bots", "../link/cup.toml"), (shed, str(file))):
        monkeypatch.chdir(directory)
        assert players(read_tournament(Path(name)), shed) == expected


def test_a_listed_player_is_not_added_again_by_player_files(shed: Path) -> None:
    text = f'{TWO}player_files = ["bots/*.py", "bots/c*", "./teams/*/bot*"]\n'.replace('"random"', '"bots/cyd.py"')
    directory = shed.rename(shed.with_name("[ab]*"))  # which is no glob

    tournament = tournament_of(directory, text)

    assert players(tournament, directory)[1:] == [
        ("cyd", "DIR/bots/cyd.py"),
        ("bob", "DIR/bots/bob.py"),
        ("dan.v2", "DIR/teams/dan.v2/bot"),
        ("eve", "DIR/teams/eve/bot.py"),
    ]


def test_unusual_names_and_words_are_kept(shed: Path) -> None:
    name, word = "a" * 40, "x" * 5000  # no path is so long
    text = f"""
game = "fish"
players = [{{ name = "{name}", player = "random" }}, {{ player = "../" }}, {{ player = "exec:sh {word}" }}]
"""

    found = players(read_tournament(write(shed / "teams" / "eve" / "cups" / "cup.toml", text)), shed)

    assert found[:2] == [(name, "random"), ("eve", "DIR/teams/eve")]
    assert found[2][1] == f"exec:sh {word}"


def test_derived_names_differ_from_given_ones_and_are_not_too_long(shed: Path) -> None:
    long = "b" * 60
    write(shed / f"{long}.py", PLAYER)
    text = f"""
game = "fish"
players = [
    {{ player = "lookahead:2" }}, {{ name = "lookahead:2", player = "random" }}, {{ player = "lookahead:2" }},
    {{ player = "{long}.py" }}, {{ player = "./{long}.py" }}, {{ player = "tcp:4000" }},
]
"""

    names = [one.name for one in tournament_of(shed, text).players]

    assert names == ["lookahead:2-2", "lookahead:2", "lookahead:2-3", f"{'b' * 35}…", f"{'b' * 35}…-2", "tcp:4000"]


REFUSED = {
    "no TOML": (f"{TWO}seed\n", "not TOML: Expected '=' after a key in a key/value pair (at line 3, column 5)"),
    "too deep": (f"a = {'[' * 5000}", "its values are nested too deep"),
    "too deep by dots": (f"parameters.{'a.' * 2000}a = 1", "its values are nested too deep"),
    "too many digits": (f"a = {'9' * 5000}", "not TOML: Exceeds the limit"),
    "nothing": ("", "missing key game"),
    "no players": ('game = "fish"', "there are no players: name some in players or player_files"),
    "an unknown game": ('game = "fihs"', "game: there is no game 'fihs': did you mean 'fish'?"),
    "players that go on": (
        'game = "fish"\n[[players]]\nplayer = "random"\nseed = "7"',
        "player 1: unknown key 'seed': it belongs to the top of the file, above any [section]",
    ),
    "fewer players than a course needs": (
        'game = "fish"\nformat = { kind = "fish-course" }\nplayers = [{ player = "random" }]',
        "there are fewer players (1) than seats at a table (2)",
    ),
    "a board too small for a table of a course": (
        'game = "fish"\nparameters = { rows = 2, columns = 4 }\nformat = { kind = "fish-course" }\nplayers = ['
        '{ player = "random" }, { player = "random" }, { player = "random" }]',
        "a board of 2 x 4 with 0 holes is too small for 3 players",
    ),
    "a table that is usual elsewhere": (
        'game = "tsuro"\nplayers = [{ player = "random" }]',
        "format.table: tsuro is for 3 to 5 players, not for 2",
    ),
}
KINDS = "round-robin, duplicate, swiss, knock-out, fish-course, tsuro-course, ladder, versus"
REFUSED_LINES = {  # behind a game and two players
    "fromat = 1": "unknown key 'fromat': did you mean 'format'?",
    "x = 1": "unknown key 'x'; there is game, seed, parameters, format, ",
    '"\\u001b[2J" = 1': "unknown key '\ufffd[2J'; there is game, ",
    "seed = 7": "seed: expected str, got int",
    'format = "swiss"': "format: expected table, got str",
    "format = { games = 3 }": f"format.kind: is missing; there is {KINDS}",
    'format = { kind = "swis" }': "format.kind: there is no format 'swis': did you mean 'swiss'?",
    "format = { kind = 1 }": f"format.kind: there is no format 1; there is {KINDS}",
    'format = { kind = "round-robin", gamse = 3 }': "format: unknown key 'gamse': did you mean 'games'?",
    'format = { kind = "swiss", games = 3 }': "format: unknown key 'games'; there is kind, rounds, table",
    'format = { kind = "round-robin", games = "3" }': "format.games: expected int, got str",
    'format = { kind = "round-robin", games = 0 }': "format.games: expected int >= 1",
    'format = { kind = "round-robin", table = 5 }': "format.table: fish is for 2 to 4 players, not for 5",
    'format = { kind = "round-robin", table = 6 }': "format.table: expected int <= 5",
    'format = { kind = "round-robin", table = 3 }': "there are fewer players (2) than seats at a table (3)",
    'format = { kind = "versus", alpha = 0.0 }': "format.alpha: expected float >",
    'format = { kind = "versus", elo0 = nan }': "format.elo0: nan is not a finite number",
    'format.kind = "swiss"\nformat.player_files = []': "format: unknown key 'player_files': it belongs to the top of ",
    "limits = { move = inf }": "limits.move: inf is not a finite number",
    "limits = { mov = 3 }": "limits: unknown key 'mov': did you mean 'move'?",
    "limits = { bank = 0 }": "limits.bank: expected float > 0.0",
    'sandbox = "stric"': "sandbox: unknown value 'stric': did you mean 'strict'?",
    'bot_check = "shut"': "bot_check: unknown value 'shut'; there is warn, refuse, skip",
    'penalties = { timeout = "eject" }': "penalties: unknown key 'timeout': did you mean 'timed",
    'penalties = { gone = "ejct" }': "penalties.gone: unknown value 'ejct': did you mean 'eject'?",
    "penalties = { gone = 1 }": "penalties.gone: unknown value 1; there is eject, ",
    "parameters = { row = 4 }": "parameters: unknown key 'row': did you mean 'rows'?",
    'parameters = { rows = "many" }': "parameters: fish cannot be played with rows=many (rows: of the board, 1 to 100)",
    "parameters = { rows = 1, columns = 4 }": "a board of 1 x 4 with 0 holes is too small",
    'observers = ["me"]': "observers: 'me' is not an observer; write py:module:Name",
    'observers = ["py:nobody:Me"]': "observers: py:nobody:Me cannot be loaded: ModuleNot",
    'player_files = ["./nobody/*"]': "player_files: nothing matches './nobody/*' in DIR",
    'player_files = ["bots/__*__/*"]': "player_files: nothing matches 'bots/__*__",
    'player_files = ["bots/.h*"]': "player_files: nothing matches 'bots/.h*' in DIR",
    'player_files = ["./*"]': "player_files: there is neither a program bot nor a file bot.py in DIR/bots",
    'player_files = ["hostile/*"]': "player_files: 'a\\x1b[2J' is not a name",
}
REFUSED |= {line: (TWO + line, why) for line, why in REFUSED_LINES.items()}
PLAYERS = {  # beside one that is called ann
    '{ name = "ann" }': "missing key player",
    '{ nmae = "ann", player = "random" }': "unknown key 'nmae': did you mean 'name'?",
    '{ player = "rndom" }': "fish has no player 'rndom': did you mean 'random'?",
    '{ player = "x" }': "fish has no player 'x'; there is random, greedy, lookahead, sampler, territory, ./file.py",
    '{ player = "lookahead:x" }': "lookahead looks 1 to 9 turns ahead",
    '{ player = "./nobody.py" }': "there is no Python file DIR/nobody.py",
    '{ player = "./nobody" }': "there is no program 'DIR/nobody'",
    '{ player = "exec:nobody_there x" }': "there is no program 'nobody_there'",
    '{ player = "./cup.toml" }': "DIR/cup.toml may not be executed",
    '{ player = "exec:\'" }': "exec:' is not a command line: No closing quotation",
    '{ player = "py:nobody:Bot" }': "py:nobody:Bot cannot be loaded: ModuleNotFoundError",
    f'{{ player = "{"a" * 300}.py" }}': "File name too long",
    '{ player = "./a\\u0000.py" }': "this text holds a NUL",
    '{ name = " ", player = "random" }': "' ' is not a name: write 1 to 40 printable characters",
    f'{{ name = "{"a" * 41}", player = "random" }}': "is not a name: write 1 to 40 printable",
    '{ name = "a\\nb", player = "random" }': "'a\\nb' is not a name",
    '{ name = "a\\u001b[2J", player = "random" }': "'a\\x1b[2J' is not a name",
    '{ name = "\\u202eann", player = "random" }': "'\\u202eann' is not a name",
    '{ name = "ann", player = "random" }': "the name 'ann' is given twice",
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_an_error_is_one_line_with_its_place(text: str, why: str, shed: Path) -> None:
    write(shed / "hostile" / "a\x1b[2J.py", PLAYER)

    assert refusal(shed, text).startswith(why)


@pytest.mark.parametrize("entry", PLAYERS)
def test_what_is_wrong_with_a_player_is_said_with_its_number(entry: str, shed: Path) -> None:
    said = refusal(shed, f'game = "fish"\nplayers = [{{ name = "ann", player = "greedy" }}, {entry}]')

    assert said.startswith(("player 2: ", "players[2].player: "))
    assert PLAYERS[entry] in said


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pipe", "not a file"),
        ("", "not a file"),
        ("none", "cannot be read: No such file"),
        ("latin", "line 3: the byte 0xe9 is not UTF-8$"),
    ],
)
def test_what_is_no_file_is_not_even_opened_and_what_is_no_text_is_named_by_its_line(
    name: str, why: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(TWO.encode() + b"# caf\xe9\n")

    with pytest.raises(BadRequest, match=f"^{tmp_path / name}: {why}"):
        read_tournament(tmp_path / name)


def test_a_file_may_be_long_but_not_endless(tmp_path: Path) -> None:
    filled = TWO + "#" * (MAX_TOML_BYTES - len(TWO))

    assert len(tournament_of(tmp_path, filled).players) == 2
    assert refusal(tmp_path, f"{filled}#") == "has more than 1048576 bytes"


ANN, BOB, CYD = Entrant("greedy", "ann"), Entrant("/bots/bob.py", "bob"), Entrant("random", "cyd")
TOURNAMENT = TournamentSpec(
    game="fish", players=(ANN, BOB), format=RoundRobin(), seed=bytes(32), parameters={"rows": 5}
)
OTHERS: dict[str, tuple[Any, list[str]]] = {
    "game": ("q", ["game was fish and is q"]),
    "players": ((ANN, CYD), ["cyd was added", "bob was removed"]),
    "format": (RoundRobin(games=7), ["format.games was 100 and is 7"]),
    "seed": (bytes([1]) * 32, ["the seed has changed"]),
    "parameters": ({"rows": 6}, ["parameters.rows was 5 and is 6"]),
    "limits": (Limits(first_move=3), ["limits.first was None and is 3"]),
    "sandbox": ("none", ["sandbox was auto and is none"]),
    "pondering": (True, ["pondering was False and is True"]),
    "bot_check": (BotCheckPolicy.SKIP, ["bot_check was warn and is skip"]),
    "penalties": ({Fault.GONE: Penalty.REPLAY}, ["penalties.gone was eject and is replay"]),
    "default_penalty": (Penalty.FORFEIT, [f"penalties.{fault.value} was eject and is forfeit" for fault in Fault]),
    "observers": (("py:a:B",), ["observers was () and is ('py:a:B',)"]),
}


def test_writing_a_default_is_not_a_change() -> None:
    gone = {Fault.GONE: Penalty.EJECT}
    said = replace(TOURNAMENT, limits=Limits(), sandbox="auto", penalties=gone, guessable=True, parameters={"rows": 5})
    course = replace(TOURNAMENT, format=FishCourse())

    assert spec_changes(TOURNAMENT, TOURNAMENT) == []
    assert spec_changes(TOURNAMENT, said) == spec_changes(said, TOURNAMENT) == []
    assert spec_changes(course, replace(course, default_penalty=Penalty.REPLAY)) == []  # as it has penalties of its own
    settings = {field.name for field in fields(TournamentSpec)}
    assert {*OTHERS, "guessable"} == settings, "or a new one could be edited unseen"


@pytest.mark.parametrize("name", OTHERS)
def test_every_edit_is_described(name: str) -> None:
    value, told = OTHERS[name]

    assert spec_changes(TOURNAMENT, replace(TOURNAMENT, **{name: value})) == told


def test_another_format_is_another_tournament() -> None:
    told = spec_changes(TOURNAMENT, replace(TOURNAMENT, format=Duplicate()))

    assert "format.kind was round-robin and is duplicate" in told
    assert "format.games was 100 and is missing" in told


@pytest.mark.parametrize("settings", [Swiss(), Ladder()], ids=lambda one: type(one).__name__)
def test_players_may_come_and_go_between_rounds_but_keep_their_names(settings: Any) -> None:
    tournament = replace(TOURNAMENT, format=settings)

    def changes(*players: Entrant) -> list[str]:
        return spec_changes(tournament, replace(tournament, players=players))

    assert changes(CYD, ANN) == changes(ANN, CYD, BOB) == []
    assert changes(CYD, BOB, ANN) == ["the order of the players has changed"]
    assert changes(ANN, Entrant("random", "bob")) == ["bob was /bots/bob.py and is random"]
    turned = replace(TOURNAMENT, players=(BOB, ANN))
    assert spec_changes(TOURNAMENT, turned) == ["the order of the players has changed"]


SUGGESTED = r"^# (\w+) = (.*)$"
IN_A_LIST = r"^    # (\{ .* \},)$"


def read(directory: Path, text: str) -> TournamentSpec:
    file = directory / "cup.toml"
    file.write_text(text, encoding="utf-8")
    joined = [Entrant("client:ann", "ann")] if "signup" in tomllib.loads(text) else []
    assert not joined or read_sign_up_settings(file).min == 2
    return read_tournament(file, joined)


@pytest.mark.parametrize("game", GAMES)
def test_all_keys_are_shown_and_whatever_is_suggested_can_be_said(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tournament_template(game)
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "bob.py").write_text("def take_turn(view): ...\n")
    (tmp_path / "my_module.py").write_text("class Watcher:\n    def observe(self, event, match): ...\n")
    monkeypatch.syspath_prepend(tmp_path)

    tournament = read(tmp_path, text)
    assert isinstance(tournament.format, RoundRobin) and tournament.format.table == tournament.rules().seats[0]
    assert tournament == read(tmp_path, re.sub("^#.*\n", "", text, flags=re.MULTILINE))
    assert text.count("\n") < 60
    assert all(name in text for name in game_info(game).built_in)
    assert [player.address for player in tournament.players] == [
        name for name, player in game_info(game).built_in.items() if not player.is_slow
    ]
    suggested = re.findall(SUGGESTED, text, re.MULTILINE)
    for key, value in suggested:
        others = re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE)
        assert read(tmp_path, f"{key} = {value}\n{others}")
    more = read(tmp_path, re.sub(IN_A_LIST, r"\1", text, flags=re.MULTILINE))

    assert more.players[-1].name == "bob"
    assert {key for key, _ in suggested} | set(tomllib.loads(text)) == set(TOP_LEVEL_KEYS)
    kinds = [tomllib.loads(f"format = {value}")["format"]["kind"] for key, value in suggested if key == "format"]
    assert [RoundRobin.__struct_config__.tag, *kinds] == list(FORMATS)
