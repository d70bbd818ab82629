"""Test how tournaments are read from files in any directory: all settings, and errors in one line."""

import os
import pickle
from pathlib import Path

import msgspec
import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.tournament.settings import RoundRobin, Swiss
from fairplay.tournament.spec import BotCheckPolicy, Penalty, TournamentSpec
from fairplay.tournament.spec_file import MAX_TOML_BYTES, read_tournament

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


# What can be said.


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

    assert (tournament.seed, tournament.guessable) == (None, False)
    assert (tournament.format, tournament.limits, tournament.sandbox, tournament.pondering) == (
        RoundRobin(),
        None,
        None,
        False,
    )
    assert (tournament.bot_check, tournament.penalties, tournament.default_penalty) == (
        BotCheckPolicy.WARN,
        {},
        Penalty.EJECT,
    )


def test_sections_and_marks_of_other_editors_are_fine(tmp_path: Path) -> None:
    lines = ["game = 'fish'", "[format]", "kind = 'swiss'", *(["[[players]]", "player = 'random'"] * 2)]

    tournament = tournament_of(tmp_path, "\ufeff" + "\r\n".join(lines))

    assert tournament.format == Swiss()
    assert [one.name for one in tournament.players] == ["random", "random-2"]


# Where players are, and what they are called.


def test_paths_are_relative_to_the_file_whatever_directory_the_command_is_given_in(
    shed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    tournament = tournament_of(shed, text)

    assert players(tournament, shed)[1:] == [
        ("cyd", "DIR/bots/cyd.py"),
        ("bob", "DIR/bots/bob.py"),
        ("dan.v2", "DIR/teams/dan.v2/bot"),
        ("eve", "DIR/teams/eve/bot.py"),
    ]


def test_a_player_above_the_file_is_called_like_its_directory(shed: Path) -> None:
    text = TWO.replace('"random"', '"../"')
    file = write(shed / "teams" / "eve" / "cups" / "cup.toml", text)

    assert players(read_tournament(file), shed)[1] == ("eve", "DIR/teams/eve")


def test_a_word_that_is_too_long_for_a_path_stays_as_it_is(tmp_path: Path) -> None:
    word = "x" * 5000

    tournament = tournament_of(tmp_path, TWO.replace('"random"', f'"exec:sh {word}"'))

    assert tournament.players[1].address == f"exec:sh {word}"


def test_a_name_may_have_forty_signs(tmp_path: Path) -> None:
    tournament = tournament_of(tmp_path, TWO.replace('"ann"', f'"{"a" * 40}"'))

    assert tournament.players[0].name == "a" * 40


def test_signs_of_globs_in_the_name_of_the_directory_mean_nothing(tmp_path: Path) -> None:
    write(tmp_path / "[ab]*" / "bots" / "bob.py", PLAYER)

    assert len(tournament_of(tmp_path / "[ab]*", f'{TWO}player_files = ["bots/*"]').players) == 3


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


# What is refused.

FORMAT_KINDS = "round-robin, duplicate, swiss, knock-out, fish-course, tsuro-course, ladder, versus"
REFUSED = {
    "no TOML": (f"{TWO}seed\n", "not TOML: Expected '=' after a key in a key/value pair (at line 3, column 5)"),
    "too deep": (f"a = {'[' * 5000}", "its values are nested too deep"),
    "too deep by dots": (f"parameters.{'a.' * 2000}a = 1", "its values are nested too deep"),
    "too many digits": (f"a = {'9' * 5000}", "not TOML: Exceeds the limit"),
    "nothing": ("", "missing key game"),
    "no players": ('game = "fish"', "there are no players: name some in players or player_files"),
    "an unknown game": ('game = "fihs"', "game: there is no game 'fihs': did you mean 'fish'?"),
    "an unknown key": (f"{TWO}fromat = 1", "unknown key 'fromat': did you mean 'format'?"),
    "a key like no other": (f"{TWO}x = 1", "unknown key 'x'; there is game, seed, parameters, format, "),
    "a hostile key": (f'{TWO}"\\u001b[2J" = 1', "unknown key '\ufffd[2J'; there is game, "),
    "a number for a text": (f"{TWO}seed = 7", "seed: expected str, got int"),
    "a text for a table": (f'{TWO}format = "swiss"', "format: expected table, got str"),
    "a number for a list": (f"{TWO}player_files = 1", "player_files: expected list, got int"),
    "a number for a yes": (f"{TWO}pondering = 1", "pondering: expected bool, got int"),
    "no kind of format": (f"{TWO}format = {{ games = 3 }}", f"format.kind: is missing; there is {FORMAT_KINDS}"),
    "an unknown format": (
        f'{TWO}format = {{ kind = "swis" }}',
        "format.kind: there is no format 'swis': did you mean 'swiss'?",
    ),
    "a number for a format": (
        f"{TWO}format = {{ kind = 1 }}",
        f"format.kind: there is no format 1; there is {FORMAT_KINDS}",
    ),
    "an unknown setting": (
        f'{TWO}format = {{ kind = "round-robin", gamse = 3 }}',
        "format: unknown key 'gamse': did you mean 'games'?",
    ),
    "a setting of another format": (
        f'{TWO}format = {{ kind = "swiss", games = 3 }}',
        "format: unknown key 'games'; there is kind, rounds, table",
    ),
    "a text for a setting": (
        f'{TWO}format = {{ kind = "round-robin", games = "3" }}',
        "format.games: expected int, got str",
    ),
    "no games": (f'{TWO}format = {{ kind = "round-robin", games = 0 }}', "format.games: expected int >= 1"),
    "an error that never happens": (
        f'{TWO}format = {{ kind = "versus", alpha = 0.0 }}',
        "format.alpha: expected float >",
    ),
    "no number": (f'{TWO}format = {{ kind = "versus", elo0 = nan }}', "format.elo0: nan is not a finite number"),
    "an endless limit": (f"{TWO}limits = {{ move = inf }}", "limits.move: inf is not a finite number"),
    "an unknown limit": (f"{TWO}limits = {{ mov = 3 }}", "limits: unknown key 'mov': did you mean 'move'?"),
    "a limit by its other name": (f"{TWO}limits = {{ start_up = 3 }}", "limits: unknown key 'start_up': did you mean "),
    "a text for a limit": (f'{TWO}limits = {{ first = "3" }}', "limits.first: expected float, got str"),
    "no time": (f"{TWO}limits = {{ bank = 0 }}", "limits.bank: expected float > 0.0"),
    "an unknown sandbox": (f'{TWO}sandbox = "stric"', "sandbox: unknown value 'stric': did you mean 'strict'?"),
    "an unknown bot check": (
        f'{TWO}bot_check = "shut"',
        "bot_check: unknown value 'shut'; there is warn, refuse, skip",
    ),
    "an unknown fault": (
        f'{TWO}penalties = {{ timeout = "eject" }}',
        "penalties: unknown key 'timeout': did you mean 'timed",
    ),
    "an unknown penalty": (
        f'{TWO}penalties = {{ gone = "ejct" }}',
        "penalties.gone: unknown value 'ejct': did you mean 'eject'?",
    ),
    "a number for a penalty": (f"{TWO}penalties = {{ gone = 1 }}", "penalties.gone: unknown value 1; there is eject, "),
    "an unknown parameter": (
        f"{TWO}parameters = {{ row = 4 }}",
        "parameters: unknown key 'row': did you mean 'rows'?",
    ),
    "a bad parameter": (
        f'{TWO}parameters = {{ rows = "many" }}',
        "parameters: fish cannot be played with rows=many (rows: of the board, 1 to 100)",
    ),
    "a board too small": (
        f"{TWO}parameters = {{ rows = 1, columns = 4 }}",
        "a board of 1 x 4 with 0 holes is too small",
    ),
    "a section that goes on": (
        f'{TWO}[format]\nkind = "swiss"\nplayer_files = []',
        "format: unknown key 'player_files': it belongs to the top of the file, above any [section]",
    ),
    "players that go on": (
        'game = "fish"\n[[players]]\nplayer = "random"\nseed = "7"',
        "player 1: unknown key 'seed': it belongs to the top of the file, above any [section]",
    ),
    "a table too large": (
        f'{TWO}format = {{ kind = "round-robin", table = 5 }}',
        "format.table: fish is for 2 to 4 players, not for 5",
    ),
    "a table that nobody needs": (
        f'{TWO}format = {{ kind = "round-robin", table = 6 }}',
        "format.table: expected int <= 5",
    ),
    "fewer players than seats": (
        f'{TWO}format = {{ kind = "round-robin", table = 3 }}',
        "there are fewer players (2) than seats at a table (3)",
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
    "an observer of no kind": (f'{TWO}observers = ["me"]', "observers: 'me' is not an observer; write py:module:Name"),
    "an unknown observer": (
        f'{TWO}observers = ["py:nobody:Me"]',
        "observers: py:nobody:Me cannot be loaded: ModuleNot",
    ),
    "a glob that matches nothing": (
        f'{TWO}player_files = ["./nobody/*"]',
        "player_files: nothing matches './nobody/*' in DIR",
    ),
    "a glob that matches what is hidden": (
        f'{TWO}player_files = ["bots/__*__/*"]',
        "player_files: nothing matches 'bots/__*__",
    ),
    "a glob that asks for what is hidden": (
        f'{TWO}player_files = ["bots/.h*"]',
        "player_files: nothing matches 'bots/.h*' in DIR",
    ),
    "a directory without a bot": (
        f'{TWO}player_files = ["./*"]',
        "player_files: there is neither a program bot nor a file bot.py in DIR/bots",
    ),
}
PLAYERS = {
    "a number": ("1", "expected table, got int"),
    "nobody": ('{ name = "ann" }', "missing key player"),
    "an unknown key": ('{ nmae = "ann", player = "random" }', "unknown key 'nmae': did you mean 'name'?"),
    "a number for a name": ('{ name = 1, player = "random" }', "name: expected str, got int"),
    "an unknown built-in player": ('{ player = "rndom" }', "fish has no player 'rndom': did you mean 'random'?"),
    "a name like no other": (
        '{ player = "x" }',
        "fish has no player 'x'; there is random, greedy, lookahead, sampler, territory, ./file.py",
    ),
    "a bad built-in player": ('{ player = "lookahead:x" }', "lookahead looks 1 to 9 turns ahead"),
    "a missing file": ('{ player = "./nobody.py" }', "there is no Python file DIR/nobody.py"),
    "a missing program": ('{ player = "./nobody" }', "there is no program 'DIR/nobody'"),
    "a missing command": ('{ player = "exec:nobody_there x" }', "there is no program 'nobody_there'"),
    "no program": ('{ player = "./cup.toml" }', "DIR/cup.toml may not be executed"),
    "no command line": ('{ player = "exec:\'" }', "exec:' is not a command line: No closing quotation"),
    "a missing module": ('{ player = "py:nobody:Bot" }', "py:nobody:Bot cannot be loaded: ModuleNotFoundError"),
    "a name too long for any file": (f'{{ player = "{"a" * 300}.py" }}', "File name too long"),
    "a NUL": ('{ player = "./a\\u0000.py" }', "this text holds a NUL"),
    "no name": ('{ name = " ", player = "random" }', "' ' is not a name: write 1 to 40 printable characters"),
    "a long name": (f'{{ name = "{"a" * 41}", player = "random" }}', "is not a name: write 1 to 40 printable"),
    "a name with a new line": ('{ name = "a\\nb", player = "random" }', "'a\\nb' is not a name"),
    "a name that moves the cursor": ('{ name = "a\\u001b[2J", player = "random" }', "'a\\x1b[2J' is not a name"),
    "a name from right to left": ('{ name = "\\u202eann", player = "random" }', "'\\u202eann' is not a name"),
    "a name that is taken": ('{ name = "ann", player = "random" }', "the name 'ann' is given twice"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_an_error_is_one_line_with_its_place(text: str, why: str, shed: Path) -> None:
    assert refusal(shed, text).startswith(why)


@pytest.mark.parametrize(("entry", "why"), PLAYERS.values(), ids=PLAYERS)
def test_what_is_wrong_with_a_player_is_said_with_its_number(entry: str, why: str, shed: Path) -> None:
    said = refusal(shed, f'game = "fish"\nplayers = [{{ name = "ann", player = "greedy" }}, {entry}]')

    assert said.startswith(("player 2: ", "players[2].player: "))
    assert why in said


def test_a_hostile_name_of_a_file_is_no_name_for_a_player(tmp_path: Path) -> None:
    write(tmp_path / "bots" / "a\x1b[2J.py", PLAYER)

    assert refusal(tmp_path, f'{TWO}player_files = ["bots/*"]').startswith("player_files: 'a\\x1b[2J' is not a name")


def test_what_is_no_file_is_not_even_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for name, why in (("pipe", "not a file"), ("", "not a file"), ("none", "cannot be read: No such file")):
        with pytest.raises(BadRequest, match=f"^{tmp_path / name}: {why}"):
            read_tournament(tmp_path / name)


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_bytes(TWO.encode() + b"# caf\xe9\n")

    with pytest.raises(BadRequest, match=r"cup.toml: line 3: the byte 0xe9 is not UTF-8$"):
        read_tournament(tmp_path / "cup.toml")


def test_a_file_may_be_long_but_not_endless(tmp_path: Path) -> None:
    filled = TWO + "#" * (MAX_TOML_BYTES - len(TWO))

    assert len(tournament_of(tmp_path, filled).players) == 2
    assert refusal(tmp_path, f"{filled}#") == "has more than 1048576 bytes"
