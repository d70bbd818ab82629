"""Record matches of Fish for tests, and forge what was recorded."""

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairplay import Ended, Event, Moment, Observer, Started
from fairplay.core.chance import derive_seed
from fairplay.core.match import Match
from fairplay.games import game_info
from fairplay.games.fish import Action, Fish, Place, View
from fairplay.journal.record import Journal, MatchRecord
from fairplay.players.address import open_player
from fairplay.referee.referee import Referee

AnyMatch = Match[Any, Any, Any]
Plain = dict[str, Any]

GAME = Fish(rows=4, columns=4)
SEED = bytes(range(32))


def first_action(view: View) -> Action:
    return next(GAME.actions(view))


def crash_on_turn(view: View) -> Action:
    raise RuntimeError("what it said")


def play_illegal_action(view: View) -> Action:
    return Place((99, 99))


def answer_junk(view: View) -> str:
    return "junk"


def good_then(turns: int, strategy: Callable[[View], Any]) -> Callable[[View], Any]:
    """Good for so many turns, then like this."""
    good = iter(range(turns))
    return lambda view: strategy(view) if next(good, None) is None else first_action(view)


class FailsAtMoment:
    """Good on its turns, and raises when it is greeted or when it hears the result."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        if self._moment is Moment.GREETING:
            raise RuntimeError("not in the mood")

    def take_turn(self, view: View) -> Action:
        return first_action(view)

    def tell(self, news: object) -> None:
        raise AssertionError("Fish has no news")

    def end(self, result: object) -> None:
        if self._moment is Moment.END:
            raise RuntimeError("a bad loser")


TABLES: dict[str, Callable[[], list[Any]]] = {
    "two good ones": lambda: [first_action, first_action],
    "four good ones": lambda: [first_action, first_action, first_action, first_action],
    "three of the server": lambda: built_in_players("random", "greedy", "lookahead:1"),
    "one that cheats": lambda: [first_action, good_then(1, play_illegal_action), first_action],
    "one that talks nonsense": lambda: [good_then(5, answer_junk), first_action],
    "two that crash": lambda: [good_then(2, crash_on_turn), first_action, first_action, good_then(1, crash_on_turn)],
    "one that fails the greeting": lambda: [first_action, FailsAtMoment(Moment.GREETING), first_action],
    "all fail the end": lambda: [FailsAtMoment(Moment.END), FailsAtMoment(Moment.END)],
    "one at each moment": lambda: [
        FailsAtMoment(Moment.GREETING),
        good_then(3, play_illegal_action),
        FailsAtMoment(Moment.END),
        first_action,
    ],
    "nobody stays": lambda: [crash_on_turn, play_illegal_action, answer_junk],
}


class EventCollector:
    """An observer that keeps every event, and the match after each fact."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.matches: list[AnyMatch] = []

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.events.append(event)
        if not isinstance(event, Ended):
            self.matches.append(match)

    @property
    def facts(self) -> list[Event]:
        return [event for event in self.events if not isinstance(event, Started | Ended)]


def built_in_players(*addresses: str) -> list[Any]:
    shelf = game_info("fish")
    return [open_player(address, shelf, derive_seed(SEED, f"seat {seat}")) for seat, address in enumerate(addresses)]


class RecordFactory:
    """Begins records in a journal, and keeps the last one at hand, also if its match did not end."""

    def __init__(self, journal: Journal, **options: Any) -> None:
        self.record: MatchRecord
        self._journal = journal
        self._options = options

    def __call__(self, match: AnyMatch) -> MatchRecord:
        self.record = self._journal.begin(match, **self._options)
        return self.record

    @property
    def path(self) -> Path:
        return self.record.path


def record_match(
    directory: Path,
    players: Sequence[Any],
    *observers: Observer,
    journal: Journal | None = None,
    begin: RecordFactory | None = None,
) -> tuple[Path, AnyMatch]:
    """Play a match and write it down; where, and how it ended."""
    referee = Referee()
    for observer in observers:
        referee.subscribe(observer)
    begin = begin or RecordFactory(journal or Journal(directory))
    match = referee.run(GAME, players, seed=SEED, record=begin)
    return begin.path, match


def read_lines(path: Path) -> list[Plain]:
    """The lines of a journal, without their hashes."""
    lines: list[Plain] = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        del line["hash"]
    return lines


def seal_lines(lines: Sequence[Plain]) -> bytes:
    """A journal of these lines, with a chain made anew by what docs/journal.md says."""
    journal, before, match = b"", "0" * 64, lines[0]["match"]
    for line in lines:
        body = json.dumps(line, separators=(",", ":"), ensure_ascii=False)[:-1]
        before = sha256(f"{before}{match}{body}".encode()).hexdigest()
        journal += f'{body},"hash":"{before}"}}\n'.encode()
    return journal


def renumber_lines(lines: Iterable[Plain]) -> list[Plain]:
    return [{**line, "seq": seq} for seq, line in enumerate(lines)]
