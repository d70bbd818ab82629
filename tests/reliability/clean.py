"""Record matches of every kind, and demand that nothing is found wrong with any of them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from fairplay.core.chance import Lots, derive
from fairplay.core.errors import BadJournal, BadRequest, FairplayError
from fairplay.core.events import Ended, Event, Receipt
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answer, End, Message
from fairplay.core.roles import Channel, Parting
from fairplay.games import GAMES, game_with, q, title
from fairplay.games.tsuro.game import most_tiles
from fairplay.journal import replay
from fairplay.journal.lines import JournalLine
from fairplay.journal.record import Journal, MatchRecord, branched
from fairplay.journal.replay import read
from fairplay.journal.requests import Sync
from fairplay.journal.verify import verify
from fairplay.players.address import open_player
from fairplay.referee.drivers import play
from fairplay.referee.host import dealt, drawn_id
from fairplay.referee.local import Local
from fairplay.testing.hostile import SHELF
from tests.reliability.attempts import Crash
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading, seed_for
from tests.reliability.tables import AnyMatch, AnyStrategy, progress

HOUSE = {
    "fish": ("random", "greedy", "lookahead:1", "lookahead:2"),
    "tsuro": ("first", "second", "third", "random", "survivor"),
    "q": ("random", "dag", "ldasg", "best"),
}
TIRED = 40  # tiles on the map of Q, after which nobody places any more
FALSE_ALARMS = 12  # of so many journals about one


class Listening:
    """A channel that keeps the receipts, and on which the process may end."""

    def __init__(self, channel: Channel, receipts: list[Receipt], calls: Iterator[int]) -> None:
        self._channel = channel
        self._receipts = receipts
        self._calls = calls

    def ask(self, message: Message) -> Answer:
        if next(self._calls) == 0:
            raise Crash
        if isinstance(message, End) and message.result.receipt is not None:
            self._receipts.append(message.result.receipt)
        return self._channel.ask(message)

    def close(self, parting: Parting) -> None:
        self._channel.close(parting)


def clean(numbers: range, seed: bytes) -> Reading:
    """A number is a match, which may be interrupted, resumed and branched from."""
    return reading(trial for number in numbers for trial in recorded(number, seed))


def recorded(number: int, seed: bytes) -> Iterator[str]:
    """What is found wrong with the journals of one match: its own, and perhaps that of a branch."""
    lots, receipts = lots_for(seed, number), list[Receipt]()
    match = some_match(lots, seed_for(seed, number))
    name = f"match {number} ({match.game})"
    with TemporaryDirectory() as directory:
        journal = Journal(directory, sync=(Sync.OFF, Sync.OFF, Sync.BATCH, Sync.ALWAYS)[lots.below(4)])
        try:
            path = played(match, journal, receipts, lots)
            yield alarm(name, path, receipts)
            if lots.below(3) == 0:
                yield from branch(name, path, journal, lots)
        except FairplayError as error:
            yield f"{name}: {type(error).__name__}: {error}"


def played(match: AnyMatch, journal: Journal, receipts: list[Receipt], lots: Lots) -> Path:
    """The journal of a match that may be interrupted once or twice."""
    record, resumed = journal.begin(match), False
    for _ in range(lots.below(3)):
        if play_on(match, record, receipts, lots, 1 + lots.below(40), resumed=resumed):
            return record.path
        record, recorded = journal.resume(record.path)
        match, resumed = recorded.at(None), True
    play_on(match, record, receipts, lots, 10**6, resumed=resumed)
    return record.path


def branch(name: str, path: Path, journal: Journal, lots: Lots) -> Iterator[str]:
    """The same for a match that leaves another at some point."""
    parent, receipts = read(path), list[Receipt]()
    facts = lots.below(len(parent.facts) + 1)
    match = branched(parent, facts, parent.names)
    record = journal.branch(match, parent, facts)
    play_on(match, record, receipts, lots, 10**6, resumed=True)
    yield alarm(f"branch of {name}", record.path, receipts)


def alarm(name: str, path: Path, receipts: Sequence[Receipt]) -> str:
    """What is found wrong with a journal; nothing, if all is well."""
    if not receipts:
        return f"{name}: nobody was handed a receipt"
    for receipt in receipts:
        try:
            verify(read(path), receipt)
        except BadJournal as error:
            return f"{name}: {error}"
    return ""


def play_on(
    match: AnyMatch, record: MatchRecord, receipts: list[Receipt], lots: Lots, calls: int, *, resumed: bool
) -> bool:
    """Play to the end, or up to so many calls; was it the end? Receipts go to players and to an observer."""

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Ended) and event.result.receipt is not None:
            receipts.append(event.result.receipt)

    left = iter(range(calls, -1, -1))
    table = {seat: Listening(somebody(match.game, lots), receipts, left) for seat in match.seated}
    try:
        with record:
            play(match, table, record, inform, resumed=resumed)
    except Crash:
        return False
    return True


def some_match(lots: Lots, seed: bytes) -> AnyMatch:
    """Any game with any parameters, dealt from a seed or begun from an example."""
    name = tuple(GAMES)[lots.below(len(GAMES))]
    if lots.below(6) == 0 and name != "tsuro":  # whose examples have too few tiles to be played to the end
        states = [state for state in title(name).examples.values() if len(state.scores) in title(name).rules.seats]
        state = states[lots.below(len(states))]
        return Match(game_with(name, {}), state, tuple("abcde"[: len(state.scores)]), id=drawn_id())
    while True:
        seats = title(name).rules.seats
        players = seats[lots.below(len(seats))]
        game = game_with(name, some_parameters(name, players, lots))
        try:
            return dealt(game, "abcde"[:players], seed)
        except BadRequest:
            continue  # such a board is too small for so many


def some_parameters(name: str, players: int, lots: Lots) -> dict[str, Any]:
    """Parameters as a person may choose them."""
    match name:
        case "fish":
            chosen: dict[str, Any] = {"rows": 2 + lots.below(5), "columns": 2 + lots.below(5)}
            chosen["fish"] = ("random", 1, 5)[lots.below(3)]
            chosen["holes"] = ("random", 0, 3)[lots.below(3)]
            return {**chosen, "cramped": lots.below(4) == 0, "colours": ("fixed", "random")[lots.below(2)]}
        case "tsuro":
            size = 3 + lots.below(5)
            given = lots.numbers(most_tiles(size, players), 35)
            return {"size": size, "tiles": ("bag", "cycle", given)[lots.below(3)]}
        case _:
            return {"q_bonus": lots.below(20), "finish_bonus": lots.below(20)}


def somebody(game: Game[Any, Any, Any], lots: Lots) -> Channel:
    """A house player, or somebody from the shelf of bad ones who plays like one."""
    house = HOUSE[game.name]
    key = derive(bytes(32), str(lots.below(2**32)))
    strategy: Any = open_player(house[lots.below(len(house))], title(game.name), key)
    if game.name == "q":
        strategy = tiring(strategy)
    shelf = [bad for bad in SHELF.values() if bad.fits(game.name)]
    return shelf[lots.below(len(shelf))].seat(strategy, game) if lots.below(4) == 0 else Local(strategy, game)


def tiring(strategy: AnyStrategy) -> AnyStrategy:
    """The strategy of somebody who passes when there are many tiles."""
    return lambda view: q.Pass() if progress(view) >= TIRED else strategy(view)


def crying_wolf() -> AbstractContextManager[Any]:
    """The bug of a reader that does not like some journals."""
    chained = replay.chained

    def alarmed(text: bytes) -> tuple[list[JournalLine], tuple[str, ...], int]:
        if sum(text[:2000]) % FALSE_ALARMS == 0:
            raise BadJournal(1, "there is something about this line", 0)
        return chained(text)

    return patch.object(replay, "chained", alarmed)


CLEAN = Meter(
    "journals",
    clean,
    full=range(300),
    least=300,
    small=range(40),
    bugs=(Bug("gives false alarms", crying_wolf),),
    parts=20,
)
