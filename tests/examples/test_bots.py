"""Let the example bots play whole matches, each in a process of its own."""

import ast
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
from tests.examples.programs import AnyGame, dealt, played

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
TABLES = {"fish_plain.py": FISH, "fish_sdk.py": FISH, "fish.c": FISH, "q.js": QS}

each_bot = pytest.mark.parametrize("bot", TABLES)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to compile fish.c with")
    program = tmp_path_factory.mktemp("bots") / "fish"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, BOTS / "fish.c"], check=True)
    return program


@pytest.fixture
def command(bot: str, request: pytest.FixtureRequest) -> list[str]:
    match bot.rpartition(".")[2]:
        case "c":
            return [str(request.getfixturevalue("compiled"))]
        case "js":
            if shutil.which("node") is None:
                pytest.skip(f"there is no node to run {bot} with")
            return ["node", str(BOTS / bot)]
        case _:
            return [sys.executable, str(BOTS / bot)]


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


@pytest.mark.parametrize("bot", ["fish_plain.py", "fish.c"])
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


def test_the_plain_bot_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse((BOTS / "fish_plain.py").read_text())

    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert "json" in imported
    assert imported <= sys.stdlib_module_names


def test_every_bot_is_tried_out() -> None:
    programs = {path.name for path in BOTS.iterdir() if path.is_file() and path.name != "README.md"}

    assert programs == set(TABLES)
