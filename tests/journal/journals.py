"""Record matches of Fish for tests, and forge what was recorded."""

import errno
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from fairplay import Ended, Event, Moment, Observer, Started
from fairplay.core.chance import derive_seed
from fairplay.core.match import Match
from fairplay.core.messages import End, Message, Start, TakeTurn, Tell
from fairplay.games import game_info
from fairplay.games.fish import Action, Fish, Place, View
from fairplay.journal.append_file import Disk
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
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
    good = iter(range(turns))
    return lambda view: strategy(view) if next(good, None) is None else first_action(view)


class Spy:
    """Plays by a strategy, and keeps all messages; the keyboard is hit when it has heard more than so many."""

    def __init__(self, strategy: Callable[[Any], Any] = first_action, limit: int = 10**6) -> None:
        self.heard: list[Message] = []
        self._strategy = strategy
        self._limit = limit

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self._hear(Start(seat, names, view))

    def take_turn(self, view: Any) -> Any:
        self._hear(TakeTurn(view))
        return self._strategy(view)

    def tell(self, news: Any) -> None:
        self._hear(Tell(news))

    def end(self, result: Any) -> None:
        self._hear(End(result))

    def _hear(self, message: Message) -> None:
        self.heard.append(message)
        if len(self.heard) > self._limit:
            raise KeyboardInterrupt


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


class HookedDisk(Disk):
    """A disk that calls a hook before each sync, with its number."""

    def __init__(self, before_sync: Callable[[int], object]) -> None:
        self.threads: list[str] = []  # the names of those that synced
        self._before_sync = before_sync

    def sync(self, file: int) -> None:
        self.threads.append(threading.current_thread().name)
        self._before_sync(len(self.threads))
        super().sync(file)


def fail_io() -> NoReturn:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


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


def resume_match(path: Path, players: Sequence[Any], *observers: Observer) -> AnyMatch:
    """Resume a match in its file with these players, one for each seat that is still there."""
    referee = Referee()
    for observer in observers:
        referee.subscribe(observer)
    record, recorded = Journal(path.parent).resume(path)
    with record:
        return referee.resume(recorded.match_after(None), players, record=record)


def read_verified(path: Path) -> AnyMatch:
    return verify(read_journal(path))


def cut_journal(path: Path, lines: int, torn: bytes = b"") -> bytes:
    """Leave the first lines of a file, and perhaps a torn one; return what is left."""
    left = b"".join(path.read_bytes().splitlines(keepends=True)[:lines]) + torn
    path.write_bytes(left)
    return left


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
