"""Record matches of every kind, and check that all of them are verified."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from fairplay.core.chance import SeededRandom, derive_seed
from fairplay.core.errors import BadJournal, BadRequest, FairplayError
from fairplay.core.events import Ended, Event, Receipt
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answer, End, Message
from fairplay.core.roles import Channel, CloseReason
from fairplay.games import GAMES, game_info, make_game, q
from fairplay.games.tsuro.game import max_tiles
from fairplay.journal import replay
from fairplay.journal.lines import JournalLine
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, MatchRecord, branch_match
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import open_player
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match, new_match_id
from fairplay.testing.hostile import HOSTILE_PLAYERS
from tests.reliability.process_attempts import ProcessEnded
from tests.reliability.readings import Bug, Meter, Reading, make_lots, make_reading, make_seed
from tests.reliability.tables import AnyMatch, AnyStrategy, match_progress

BUILT_IN = {
    "fish": ("random", "greedy", "lookahead:1", "lookahead:2"),
    "tsuro": ("first", "second", "third", "random", "survivor"),
    "q": ("random", "dag", "ldasg", "best"),
}
MAX_Q_TILES = 40  # tiles on the map of Q, after which no player places any more
FALSE_ALARM_INTERVAL = 12  # of so many journals about one


class ReceiptChannel:
    """A channel that keeps the receipts, and on which the process may end."""

    def __init__(self, channel: Channel, receipts: list[Receipt], calls: Iterator[int]) -> None:
        self._channel = channel
        self._receipts = receipts
        self._calls = calls

    def ask(self, message: Message) -> Answer:
        if next(self._calls) == 0:
            raise ProcessEnded
        if isinstance(message, End) and message.result.receipt is not None:
            self._receipts.append(message.result.receipt)
        return self._channel.ask(message)

    def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def measure_clean(numbers: range, seed: bytes) -> Reading:
    """A number is a match, which may be interrupted, resumed and branched from."""
    return make_reading(trial for number in numbers for trial in check_journals(number, seed))


def check_journals(number: int, seed: bytes) -> Iterator[str]:
    """What is found wrong with the journals of one match: its own, and perhaps that of a branch."""
    lots, receipts = make_lots(seed, number), list[Receipt]()
    match = random_match(lots, make_seed(seed, number))
    name = f"match {number} ({match.game})"
    with TemporaryDirectory() as directory:
        journal = Journal(
            directory, sync=(Durability.OFF, Durability.OFF, Durability.BATCH, Durability.ALWAYS)[lots.below(4)]
        )
        try:
            path = play_match(match, journal, receipts, lots)
            yield find_problem(name, path, receipts)
            if lots.below(3) == 0:
                yield from play_branch(name, path, journal, lots)
        except FairplayError as error:
            yield f"{name}: {type(error).__name__}: {error}"


def play_match(match: AnyMatch, journal: Journal, receipts: list[Receipt], lots: SeededRandom) -> Path:
    """The journal of a match that may be interrupted once or twice."""
    record, resumed = journal.begin(match), False
    for _ in range(lots.below(3)):
        if play_until(match, record, receipts, lots, 1 + lots.below(40), resumed=resumed):
            return record.path
        record, recorded = journal.resume(record.path)
        match, resumed = recorded.match_after(None), True
    play_until(match, record, receipts, lots, 10**6, resumed=resumed)
    return record.path


def play_branch(name: str, path: Path, journal: Journal, lots: SeededRandom) -> Iterator[str]:
    """The same for a match that leaves another at some point."""
    parent, receipts = read_journal(path), list[Receipt]()
    facts = lots.below(len(parent.facts) + 1)
    match = branch_match(parent, facts, parent.names)
    record = journal.branch(match, parent, facts)
    play_until(match, record, receipts, lots, 10**6, resumed=True)
    yield find_problem(f"branch of {name}", record.path, receipts)


def find_problem(name: str, path: Path, receipts: Sequence[Receipt]) -> str:
    """What is found wrong with a journal; nothing, if all is well."""
    if not receipts:
        return f"{name}: no player got a receipt"
    for receipt in receipts:
        try:
            verify(read_journal(path), receipt)
        except BadJournal as error:
            return f"{name}: {error}"
    return ""


def play_until(
    match: AnyMatch, record: MatchRecord, receipts: list[Receipt], lots: SeededRandom, calls: int, *, resumed: bool
) -> bool:
    """Play to the end, or up to so many calls; was it the end? Receipts go to players and to an observer."""

    def inform(event: Event, match: AnyMatch) -> None:
        if isinstance(event, Ended) and event.result.receipt is not None:
            receipts.append(event.result.receipt)

    left = iter(range(calls, -1, -1))
    table = {seat: ReceiptChannel(random_player(match.game, lots), receipts, left) for seat in match.remaining_seats}
    try:
        with record:
            play(match, table, record, inform, resumed=resumed)
    except ProcessEnded:
        return False
    return True


def random_match(lots: SeededRandom, seed: bytes) -> AnyMatch:
    """Any game with any parameters, dealt from a seed or begun from an example."""
    name = tuple(GAMES)[lots.below(len(GAMES))]
    if lots.below(6) == 0 and name != "tsuro":  # whose examples have too few tiles to be played to the end
        states = [
            state for state in game_info(name).examples.values() if len(state.scores) in game_info(name).rules.seats
        ]
        state = states[lots.below(len(states))]
        return Match(make_game(name, {}), state, tuple("abcde"[: len(state.scores)]), id=new_match_id())
    while True:
        seats = game_info(name).rules.seats
        players = seats[lots.below(len(seats))]
        game = make_game(name, random_parameters(name, players, lots))
        try:
            return deal_match(game, "abcde"[:players], seed)
        except BadRequest:
            continue  # such a board is too small for so many


def random_parameters(name: str, players: int, lots: SeededRandom) -> dict[str, Any]:
    """Parameters as a person may choose them."""
    match name:
        case "fish":
            chosen: dict[str, Any] = {"rows": 2 + lots.below(5), "columns": 2 + lots.below(5)}
            chosen["fish"] = ("random", 1, 5)[lots.below(3)]
            chosen["holes"] = ("random", 0, 3)[lots.below(3)]
            return {**chosen, "cramped": lots.below(4) == 0, "colours": ("fixed", "random")[lots.below(2)]}
        case "tsuro":
            size = 3 + lots.below(5)
            given = lots.numbers(max_tiles(size, players), 35)
            return {"size": size, "tiles": ("bag", "cycle", given)[lots.below(3)]}
        case _:
            return {"q_bonus": lots.below(20), "finish_bonus": lots.below(20)}


def random_player(game: Game[Any, Any, Any], lots: SeededRandom) -> Channel:
    """A built-in player, or a hostile player with its strategy."""
    server = BUILT_IN[game.name]
    key = derive_seed(bytes(32), str(lots.below(2**32)))
    strategy: Any = open_player(server[lots.below(len(server))], game_info(game.name), key)
    if game.name == "q":
        strategy = tiring_strategy(strategy)
    hostile = [bad for bad in HOSTILE_PLAYERS.values() if bad.applies_to(game.name)]
    return (
        hostile[lots.below(len(hostile))].make_channel(strategy, game)
        if lots.below(4) == 0
        else LocalChannel(strategy, game)
    )


def tiring_strategy(strategy: AnyStrategy) -> AnyStrategy:
    """A strategy that passes when there are many tiles."""
    return lambda view: q.Pass() if match_progress(view) >= MAX_Q_TILES else strategy(view)


def planted_false_alarms() -> AbstractContextManager[Any]:
    """The bug of a reader that does not like some journals."""
    parse_lines = replay.parse_lines

    def alarmed(text: bytes) -> tuple[list[JournalLine], tuple[str, ...], int]:
        if sum(text[:2000]) % FALSE_ALARM_INTERVAL == 0:
            raise BadJournal(1, "there is something about this line", 0)
        return parse_lines(text)

    return patch.object(replay, "parse_lines", alarmed)


CLEAN_METER = Meter(
    "journals",
    measure_clean,
    full=range(300),
    least=300,
    small=range(40),
    bugs=(Bug("gives false alarms", planted_false_alarms),),
    parts=20,
)
