"""Record matches for tests of `fairplay debug`, and read its output."""

import re
from pathlib import Path

from fairplay.core.messages import TakeTurn
from fairplay.journal.replay import read_journal
from fairplay.journal.transcript import transcript
from tests.cli.command import CommandResult, run_fairplay

PLAYERS_BY_GAME = {
    "fish": ("random", "greedy", "lookahead:1", "random"),
    "tsuro": ("first", "second", "third", "random", "survivor"),
    "q": ("random", "dag", "ldasg", "best"),
}

# What a bot does on its third turn, after two good ones.
FAILING_TURNS = {
    "an illegal action": "return {'type': 'place', 'at': [99, 99]}",
    "a crash": "raise RuntimeError('a bad day')",
    "an exit": "import sys; sys.exit(3)",
    "nonsense": "return 'junk'",
}

COUNTING_BOT = """
from fairplay.games.fish import Fish

class Player:
    def __init__(self):
        self.turns = 0

    def take_turn(self, view):
        self.turns += 1
        if self.turns == 3:
            {third}
        return next(Fish().actions(view))
"""

# Plays like a built-in player, and writes down the messages that it gets.
SPYING_BOT = """
from pathlib import Path
from fairplay.games import game_info

pack = game_info({game!r}).rules().pack

def hear(*message):
    with Path({log!r}).open("a") as log:
        print(*message, file=log)

class Player:
    def __init__(self):
        self.strategy = game_info({game!r}).built_in[{player!r}].make("", bytes(32))

    def start(self, seat, names, view):
        hear("start", seat, names, pack(view))

    def take_turn(self, view):
        hear("take_turn", pack(view))
        {trick}
        return self.strategy(view)

    def tell(self, news):
        hear("tell", {news})

    def changed(self, view):
        hear("changed", pack(view))

    def end(self, result):
        hear("end", result.ranking, result.seed, result.receipt)
"""

EXCHANGING_BOT = """
from fairplay.games.q import Exchange

class Player:
    def take_turn(self, view):
        return Exchange()

    def tell(self, news):
        {how}
"""


def recorded_match(directory: Path, game: str, *players: str, sandbox: str = "auto") -> Path:
    done = run_fairplay("play", game, *players, "--seed", "3", "--sandbox", sandbox, "--journal", str(directory))
    assert done.code == 0, done
    (path,) = directory.glob("*.jsonl")
    return path


def write_bot(directory: Path, source: str, name: str = "bot.py") -> str:
    path = directory / name
    path.write_text(source)
    return str(path)


def write_spying_bot(game: str, player: str, log: Path, trick: str = "pass", *, news: str = "news") -> str:
    return SPYING_BOT.format(log=str(log), game=game, player=player, trick=trick, news=news)


def recorded_turns(path: Path, seat: int) -> int:
    return sum(isinstance(one.message, TakeTurn) for one in transcript(read_journal(path), seat))


def verdict_lines(done: CommandResult) -> list[str]:
    """What is said of a player: without what went over its line, the time that it took, and help for its author."""
    lines = [line for line in done.out.splitlines() if not line.startswith(("  ", "took "))]
    return [re.sub(r", took [\d.]+ (s|ms|µs)(?=;)", "", line) for line in lines]


def connection_lines(done: CommandResult) -> list[str]:
    """What went over the line to a program, and what it said beside."""
    return [line[2:] for line in done.out.splitlines() if line.startswith(("  > ", "  | ", "  < "))]
