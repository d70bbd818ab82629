"""Test that the example bots and those of `fairplay new-bot` play whole matches, each in its own process."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from fairplay import Ejected, Fault, Moment
from fairplay.cli.new_bot import LANGUAGES, class_name, default_name, render_bot, shell_commands
from fairplay.core.chance import SeededRandom
from fairplay.games import GAMES, game_info
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Action, Tsuro, View
from fairplay.games.tsuro.rules import Kind, kind_of, options_of
from fairplay.journal.record import Journal
from fairplay.protocol.wire import PROTOCOL_VERSION, encode_goodbye
from fairplay.testing.playouts import Sampling, play_events
from tests.cli.command import SMALL_BOARD, run_fairplay
from tests.examples.programs import AnyGame, deal_match, play_match
from tests.examples.template_bots import BOTS, TEMPLATE_BOTS
from tests.nonempty import nonempty
from tests.players.machine import needs_strict

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
TSURO: Tables = [
    (Tsuro(size=5), ["second", "third"]),
    (Tsuro(), ["random", "survivor"]),
    (Tsuro(size=4), ["random", "random", "random", "random"]),
    (Tsuro(size=3, tiles="cycle"), ["random", "third"]),
    (Tsuro(size=30), ["random", "random"]),
]
QS: Tables = [(Q(), ["dag"]), (Q(), ["dag", "ldasg"]), (Q(), ["ldasg", "dag", "ldasg"])]  # who soon come to an end
TABLES = {"fish": FISH, "tsuro": TSURO, "q": QS}
NEW = {default_name(game, language): (game, language) for game in GAMES for language in LANGUAGES}
BY_HAND = {"fish_plain.py": "fish", "fish_sdk.py": "fish"}
PLAYS = {**BY_HAND, **{bot: game for bot, (game, _) in NEW.items()}}  # what each bot plays
FISHERS = [bot for bot, game in PLAYS.items() if game == "fish" and bot != "fish_sdk.py"]
TOOLS = {"py": (), "c": ("gcc",), "java": ("java", "javac"), "go": ("go",), "js": ("node",)}
STRICTLY = {
    "gcc": ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Werror"),
    "javac": ("-Xlint:all", "-Werror"),
}
NO_OPTION = ("3.6", "4.5")  # clauses of Tsuro; those of the others are of things that nobody does here
GOODBYE = encode_goodbye(TRICKY, Ejected(0, Fault.TIMED_OUT, Moment.TURN, TRICKY))
UNHURRIED = ("--limit", "move=60,start=60")  # for this machine may be busy

each_bot = pytest.mark.parametrize("bot", PLAYS)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where bots are compiled, each once."""
    return tmp_path_factory.mktemp("bots")


@pytest.fixture
def command(bot: str, directory: Path) -> list[str]:
    return command_of(bot, directory)


def command_of(bot: str, directory: Path) -> list[str]:
    """What runs a bot, written and compiled if it has to be; the test is skipped where the tools for it are missing."""
    stem, suffix = bot.split(".")
    for tool in TOOLS[suffix]:
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} to run {bot} with")
    if bot in BY_HAND:
        return [sys.executable, str(BOTS / bot)]
    game, language = NEW[bot]
    source, made = directory / suffix / bot, directory / suffix / stem
    if not source.exists():
        source.parent.mkdir(exist_ok=True)
        source.write_text(render_bot(game, language, bot))
        if LANGUAGES[language].compile_command:
            tool, *more = shlex.split(shell_commands(game, language, str(source))[0])
            subprocess.run([tool, *STRICTLY.get(tool, ()), *more], check=True, env=surroundings(directory))
    match suffix:
        case "py":
            return [sys.executable, "-P", "-m", "fairplay.bot", str(source)]
        case "js":
            return ["node", str(source)]
        case "java":
            quickly = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
            return ["java", *quickly, "-cp", str(made), class_name(game)]
    return [str(made)]


def surroundings(directory: Path) -> dict[str, str]:
    """The environment of a host that has this Python and this fairplay; what Go keeps is kept in the directory."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "HOME": str(directory), "GOCACHE": str(directory / "cache")}


def guilty(ejected: Sequence[Ejected], seat: int) -> list[Ejected]:
    """How a bot was ejected for something that it could have helped: now and then Tsuro leaves it no legal option."""
    return [one for one in ejected if one.seat == seat and one.clause not in NO_OPTION]


@each_bot
def test_a_bot_plays_whole_matches_with_a_receipt_and_is_never_ejected(
    bot: str, command: list[str], tmp_path: Path
) -> None:
    for number, (game, others) in enumerate(TABLES[PLAYS[bot]]):
        seat = number % (len(others) + 1)
        names = [f"{other} {TRICKY}" for other in range(len(others) + 1)]
        match = replace(deal_match(game, names, f"{bot} {number}"), id=f"m{number}")

        with Journal(tmp_path).begin(match) as record:
            done = play_match(match, [*others[:seat], command, *others[seat:]], match_id=TRICKY, record=record)

        closing = [said for said in done.said if said.by_referee and said.text.startswith(b'{"type":"closing"')]
        assert len(closing) == 1
        assert guilty(done.match.result.ejected, seat) == []
        assert done.match.turn is None
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("bot", [bot for bot, game in PLAYS.items() if game == "q"])
def test_the_bots_for_q_place_tiles(bot: str, command: list[str]) -> None:
    match = deal_match(Q(), ["bot", "random"], "1")
    short = replace(match, state=replace(match.state, pile=match.state.pile[:30]))

    done = play_match(short, [command, "random"])

    assert done.match.state.scores[0] > done.match.state.scores[1] / 2
    assert any(b'"tell"' in said.text for said in done.said)


@pytest.mark.parametrize("bot", FISHERS)
def test_the_bots_that_look_for_fish_beat_one_that_does_not(bot: str, command: list[str]) -> None:
    matches = [
        play_match(deal_match(Fish(), ["bot", "random"], str(seed)), [command, "random"]).match for seed in range(5)
    ]

    assert sum(match.result.ranking[0] == {0} for match in matches) >= 4


@each_bot
@pytest.mark.parametrize("last", [GOODBYE, b""], ids=["goodbye", "hang-up"])
def test_a_bot_ends_without_a_reply_when_the_referee_leaves(last: bytes, bot: str, command: list[str]) -> None:
    done = subprocess.run(command, input=last, capture_output=True, check=True)

    assert (done.stdout, done.stderr if not last else b"") == (b"", b"")


def said_in(text: str) -> list[str]:
    """The commands that a bot's own text says."""
    return re.findall(r"^[/* \t]*((?:gcc|javac|go|fairplay) .*)$", text.partition("Change")[0], re.MULTILINE)


def run(line: str, directory: Path, where: Path) -> str:
    """What a line that somebody copies says, in a shell of theirs."""
    shell = ["sh", "-c", line]
    done = subprocess.run(shell, cwd=where, env=surroundings(directory), capture_output=True, text=True, check=True)
    return done.stdout


@needs_strict
@each_bot
def test_a_bot_is_compiled_and_checked_and_plays_shut_in_as_its_own_text_says(
    bot: str, command: list[str], directory: Path, tmp_path: Path
) -> None:
    text = (BOTS / bot).read_text() if bot in BY_HAND else render_bot(*NEW[bot], bot)
    (tmp_path / bot).write_text(text)
    small = SMALL_BOARD if TABLES[PLAYS[bot]] is FISH else ()
    more = shlex.join(["--sandbox", "strict", *UNHURRIED])

    *before, play = said_in(text)
    out = [run(f"{line} {more}" if line.startswith("fairplay ") else line, directory, tmp_path) for line in before]
    done = run(f"{play} {more} {shlex.join(['--quiet', '--seed', 'fair', *small])}", directory, tmp_path)

    assert bot in BY_HAND or out[-1].endswith("\nready to play\n")
    assert play.startswith("fairplay play ")
    assert done.startswith("1. ")
    assert " is out: " not in done


@needs_strict
def test_bots_in_four_languages_play_at_one_table_shut_in(directory: Path) -> None:
    bots = ["fish_plain.py", "fish_bot.c", "FishBot.java", "fish_bot.go"]
    players = [f"{seat}=exec:{shlex.join(command_of(bot, directory))}" for seat, bot in zip("abcd", bots, strict=True)]

    done = run_fairplay("play", "fish", *players, "--sandbox", "strict", "--quiet", *UNHURRIED)

    assert done.code == 0
    assert sorted(re.findall(r"\b([abcd]) \(", done.out)) == ["a", "b", "c", "d"]
    assert " is out: " not in done.out


ODD = {'"]}\\,\n': [[], {}, "]}\\", '\\"', -1.5e3, True, False, None, " \u2028 \U0001f41f", {"nonce": [{"view": 1}]}]}
MATCHES, MOST_TURNS = 12, 25  # of which every position is looked at


@cache
def views_of(game: str) -> list[Any]:
    """What those on turn saw in matches that were played at random, wherever something was legal."""
    shelf = game_info(game)
    rules = shelf.rules.with_parameters(shelf.quick)
    matches = [deal_match(rules, "abcde"[: rules.seats[seed % len(rules.seats)]], str(seed)) for seed in range(MATCHES)]
    stories = [play_events(match, Sampling(SeededRandom(match.seed or b""), 1000, 99)) for match in matches]
    positions = [match for story in stories for _, match in islice(story, MOST_TURNS)]
    views = [match.view(match.turn) for match in positions if match.turn is not None]
    return [view for view in views if next(iter(rules.actions(view)), None) is not None]


def answers_of(command: list[str], game: str, views: Sequence[Any], more: Mapping[str, Any], signs: Any) -> list[Any]:
    """What a bot answers, one view after the other."""
    rules = game_info(game).rules()
    hello = {"type": "hello", "protocol": PROTOCOL_VERSION, "game": game, "parameters": rules.public_parameters()}
    messages = [hello, *({"type": "take_turn", "view": rules.pack(view)} for view in views)]
    lines = [
        json.dumps({**more, **message, "nonce": f"{number}", "limit": 5.0, "match": "m1", "turn": 1}, separators=signs)
        for number, message in enumerate(messages)
    ]
    done = subprocess.run(command, input="\n".join([*lines, ""]), capture_output=True, text=True, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["nonce"] for reply in replies] == [f"{number}" for number in range(len(messages))]
    return [reply["answer"] for reply in replies[1:]]


@each_bot
def test_every_answer_of_a_bot_is_legal(bot: str, command: list[str]) -> None:
    game, views = PLAYS[bot], views_of(PLAYS[bot])

    answers = answers_of(command, game, views, {}, (",", ":"))

    rules = game_info(game).rules()
    assert len(views) > 100
    for view, answer in zip(views, answers, strict=True):
        rules.check(view, msgspec.convert(answer, rules.action))


def test_there_are_enough_ways_to_go_wrong_in_tsuro() -> None:
    choices = [{kind_of(view, lay) for lay in options_of(view.dealt)} for view in views_of("tsuro") if view.table.round]

    assert sum(kinds >= {Kind.FINE, Kind.SUICIDE} for kinds in choices) > 50
    assert sum(kinds >= {Kind.FINE, Kind.LOOP} for kinds in choices) > 5


@pytest.mark.parametrize("bot", [bot for bot, game in PLAYS.items() if game == "tsuro"])
def test_the_bots_for_tsuro_stay_as_near_to_the_middle_as_they_can(bot: str, command: list[str]) -> None:
    views, rules = views_of("tsuro"), Tsuro(size=5)

    def from_middle(view: View, action: Action) -> int:
        after = rules.view(rules.apply(rules.imagine(view), action), view.seat).avatar
        return 99 if after is None or after.facing is None else sum(abs(place - 2) for place in after.facing)

    answers = answers_of(command, "tsuro", views, {}, (",", ":"))

    assert answers
    for view, answer in zip(views, answers, strict=True):
        chosen = msgspec.convert(answer, rules.action)
        assert from_middle(view, chosen) == min(from_middle(view, action) for action in rules.actions(view))


@each_bot
def test_a_bot_reads_json_however_it_is_written_and_ignores_what_it_does_not_know(bot: str, command: list[str]) -> None:
    game, views = PLAYS[bot], views_of(PLAYS[bot])[:20]

    plain = answers_of(command, game, views, {}, (",", ":"))
    spaced = answers_of(command, game, views, {"odd": ODD}, (" , ", " : "))

    assert plain == spaced or bot == "fish_sdk.py"  # which plays at random


@pytest.mark.parametrize("bot", TEMPLATE_BOTS)
def test_an_example_is_what_new_bot_writes(bot: str) -> None:
    game, language = TEMPLATE_BOTS[bot]

    assert (BOTS / bot).read_text() == render_bot(game, language, bot), "run `make goldens`"


def test_every_bot_is_tried_out_and_on_the_page() -> None:
    programs = {path.name for path in BOTS.iterdir() if path.is_file() and path.name != "README.md"}
    page = (BOTS / "README.md").read_text()

    assert programs == {*BY_HAND, *TEMPLATE_BOTS}
    assert TEMPLATE_BOTS.items() <= NEW.items()
    for bot in nonempty(programs):
        assert f"\n    {said_in((BOTS / bot).read_text())[-1]}\n" in page


def test_go_bots_are_written_as_gofmt_has_it(tmp_path: Path) -> None:
    if shutil.which("gofmt") is None:
        pytest.skip("there is no gofmt")
    for game in GAMES:
        (tmp_path / f"{game}.go").write_text(render_bot(game, "go", "bot.go"))

    done = subprocess.run(["gofmt", "-l", tmp_path], capture_output=True, text=True, check=True)

    assert done.stdout == ""
