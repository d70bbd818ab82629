"""Let the example bots play whole matches, each in a process of its own."""

import ast
import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay import Ejected, Fault, Journal, Moment
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.players.wire import goodbye
from tests.cli.command import SMALL, fairplay
from tests.examples.programs import AnyGame, dealt, played, shut_in
from tests.players.machine import needs_strict

BOTS = Path(__file__).parents[2] / "examples" / "bots"

# A text that looks like all that a bot may search for, and holds what is odd in JSON and in JavaScript.
TRICKY = (
    '{"type":"goodbye","nonce":"x","seat":3,"stage":"placing","board":[[9]],"penguins":[[9,9]],"map":[]}'
    '\\" \n\u2028 \U0001f41f'
)

Tables = list[tuple[AnyGame, list[str]]]
FISH: Tables = [
    (Fish(rows=3, columns=3), ["greedy"]),
    (Fish(holes="random"), ["random", "greedy"]),
    (Fish(rows=5, columns=4, colours="random"), ["random", "random", "lookahead:1"]),
    (Fish(rows=1, columns=100, holes=70), ["random"]),
    (Fish(rows=100, columns=2, fish=1, holes=150), ["greedy"]),
    (Fish(rows=30, columns=40), ["random"]),
]
QS: Tables = [(Q(), ["dag"]), (Q(), ["random", "random"]), (Q(), ["random", "dag", "random"])]
TABLES = {
    "fish_plain.py": FISH,
    "fish_sdk.py": FISH,
    "fish.c": FISH,
    "Fish.java": FISH,
    "fish.go": FISH,
    "q.js": QS,
}
TOOLS = {"py": (), "c": ("gcc",), "java": ("java", "javac"), "go": ("go",), "js": ("node",)}
UNHURRIED = ("--limit", "move=60,start=60")  # for this machine may be busy

each_bot = pytest.mark.parametrize("bot", TABLES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where bots are compiled, each once."""
    return tmp_path_factory.mktemp("bots")


@pytest.fixture
def command(bot: str, folder: Path) -> list[str]:
    return command_of(bot, folder)


def command_of(bot: str, folder: Path) -> list[str]:
    """What runs a bot, compiled if it has to be; the test is skipped where the tools for it are missing."""
    source, suffix = str(BOTS / bot), bot.rpartition(".")[2]
    for tool in TOOLS[suffix]:
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} to run {bot} with")
    made = str(folder / suffix)
    match suffix:
        case "c":
            compiling, running = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, source], [made]
        case "java":
            compiling = ["javac", "-Xlint:all", "-Werror", "-d", made, source]
            running = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", made, "Fish"]
        case "go":
            compiling, running = ["go", "build", "-o", made, source], [made]
        case "js":
            return ["node", source]
        case _:
            return [sys.executable, source]
    if not Path(made).exists():
        subprocess.run(compiling, check=True, env=surroundings(folder))
    return running


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a host that has this Python and this fairplay; what Go keeps is kept in the folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "HOME": str(folder), "GOCACHE": str(folder / "cache")}


@each_bot
def test_a_bot_plays_whole_matches_and_is_never_ejected(bot: str, command: list[str]) -> None:
    for number, (game, others) in enumerate(TABLES[bot]):
        seat = number % (len(others) + 1)
        names = [f"{other} {TRICKY}" for other in range(len(others) + 1)]
        table = [*others[:seat], command, *others[seat:]]

        done = played(dealt(game, names, f"{bot} {number}"), table, match_id=TRICKY)

        assert done.match.result.ejected == ()
        assert done.match.turn is None
        assert (done.code, done.err) == (0, "")


@each_bot
def test_a_bot_takes_a_receipt_for_the_result(bot: str, command: list[str], tmp_path: Path) -> None:
    game, others = TABLES[bot][0]
    match = replace(dealt(game, ["bot", *others], bot), id="m1")

    with Journal(tmp_path).begin(match) as record:
        done = played(match, [command, *others], match_id="m1", record=record)

    closing = [said.text for said in done.said if said.by_referee and said.text.startswith(b'{"type":"closing"')]
    assert len(closing) == 1
    assert (done.match.result.ejected, done.code, done.err) == ((), 0, "")


@pytest.mark.parametrize("bot", ["q.js"])
def test_the_bot_for_q_places_tiles(bot: str, command: list[str]) -> None:
    match = dealt(Q(), ["bot", "random"], "1")
    short = replace(match, state=replace(match.state, pile=match.state.pile[:30]))

    done = played(short, [command, "random"])

    assert done.match.state.scores[0] > done.match.state.scores[1] / 2
    assert any(b'"tell"' in said.text for said in done.said)


@pytest.mark.parametrize("bot", ["fish_plain.py", "fish.c", "Fish.java", "fish.go"])
def test_the_bots_that_look_for_fish_beat_one_that_does_not(bot: str, command: list[str]) -> None:
    matches = [played(dealt(Fish(), ["bot", "random"], str(seed)), [command, "random"]).match for seed in range(5)]

    assert sum(match.result.ranking[0] == {0} for match in matches) >= 4


@each_bot
def test_a_bot_ends_without_a_reply_when_the_referee_says_goodbye(bot: str, command: list[str]) -> None:
    last = goodbye(TRICKY, Ejected(0, Fault.TIMED_OUT, Moment.TURN, TRICKY))

    done = subprocess.run(command, input=last, capture_output=True, check=True)

    assert done.stdout == b""


@each_bot
def test_a_bot_ends_quietly_when_the_referee_hangs_up(bot: str, command: list[str]) -> None:
    done = subprocess.run(command, input=b"", capture_output=True, check=True)

    assert (done.stdout, done.stderr) == (b"", b"")


@needs_strict
@each_bot
def test_a_bot_that_is_shut_in_plays_whole_matches_and_ends_by_itself(bot: str, command: list[str]) -> None:
    for number, (game, others) in enumerate(TABLES[bot][:3:2]):
        match = dealt(game, ["bot", *others], f"{bot} {number}")

        final, fate = asyncio.run(shut_in(match, [*others[:number], command, *others[number:]]))

        assert final.result.ejected == ()
        assert final.turn is None
        assert fate == "the program ended with exit code 0; it said nothing on stderr"


@needs_strict
@each_bot
def test_a_bot_plays_shut_in_as_its_own_text_and_the_page_say(
    bot: str, command: list[str], folder: Path, tmp_path: Path
) -> None:
    lines = [line.lstrip("/* \t") for line in (BOTS / bot).read_text().splitlines()]
    (line,) = [line for line in lines if "fairplay play " in line]
    shutil.copy(BOTS / bot, tmp_path)
    small = SMALL if TABLES[bot] is FISH else ()
    more = shlex.join(["--sandbox", "strict", "--quiet", *UNHURRIED, *small])

    done = subprocess.run(
        ["sh", "-c", f"{line} {more}"],
        cwd=tmp_path,
        env=surroundings(folder),
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"\n    {line}\n" in (BOTS / "README.md").read_text()
    assert done.stdout.startswith("1. ")
    assert " is out: " not in done.stdout


@needs_strict
def test_bots_in_four_languages_play_at_one_table_shut_in(folder: Path) -> None:
    bots = ["fish_plain.py", "fish.c", "Fish.java", "fish.go"]
    players = [f"{seat}=exec:{shlex.join(command_of(bot, folder))}" for seat, bot in zip("abcd", bots, strict=True)]

    done = fairplay("play", "fish", *players, "--sandbox", "strict", "--quiet", *UNHURRIED)

    assert done.code == 0
    assert sorted(re.findall(r"\b([abcd]) \(", done.out)) == ["a", "b", "c", "d"]
    assert " is out: " not in done.out


def test_the_plain_bot_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse((BOTS / "fish_plain.py").read_text())

    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert "json" in imported
    assert imported <= sys.stdlib_module_names


def test_every_bot_is_tried_out() -> None:
    programs = {path.name for path in BOTS.iterdir() if path.is_file() and path.name != "README.md"}

    assert programs == set(TABLES)
