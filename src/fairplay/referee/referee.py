"""Run matches of players in this process, one after another."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import urandom
from typing import Any

from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.game import Action, Game, Seat, State, View
from fairplay.core.match import Match
from fairplay.core.roles import NULL_RECORD, Observer, Player, Record, Strategy
from fairplay.referee.conversation import OnEvent
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel, has_method
from fairplay.referee.observers import Observers, Report


def print_warning(text: str) -> None:
    """Print a warning to stderr."""
    print(f"fairplay: {text}", file=sys.stderr)


class Referee:
    """Runs matches one at a time; observers are subscribed and removed between matches.

    >>> from fairplay.games.fish import Fish
    >>> first = lambda view: next(Fish().actions(view))
    >>> match = Referee().run(Fish(rows=3, columns=3), [first, first], names=["ann", "bob"], seed=bytes(32))
    >>> [[match.names[seat] for seat in sorted(group)] for group in match.result.ranking]
    [['ann'], ['bob']]
    """

    def __init__(self, report: Report = print_warning) -> None:
        self._observers: list[Observer] = []
        self._report = report
        self._busy = False

    def subscribe(self, observer: Observer) -> bool:
        """Inform an observer from the next match on. False: it is subscribed already."""
        if any(observer is other for other in self._observers):
            return False
        self._observers.append(observer)
        return True

    def remove(self, observer: Observer) -> bool:
        """Stop informing an observer from the next match on. False: it is not subscribed."""
        for index, other in enumerate(self._observers):
            if observer is other:
                del self._observers[index]
                return True
        return False

    def run(
        self,
        game: Game[State, View, Action],
        players: Sequence[Player | Strategy[View, Action]],
        *,
        names: Sequence[str] | None = None,
        ages: Sequence[int] | None = None,
        seed: bytes | None = None,
        match_id: str | None = None,
        record: Callable[[Match[State, View, Action]], Record] | None = None,
    ) -> Match[State, View, Action]:
        """Play one match to its end; the match that is returned holds the final state and the result.

        Players sit in the given order, or by age according to the game (see `seats_by_age`). Without a seed or an id,
        random ones are drawn. `record` begins the record, such as `Journal.begin`.
        """
        self._refuse_if_busy()
        check_players(game, players)  # before anything is recorded
        seating = seats_by_age(game, len(players), ages)
        labels = [f"player-{n + 1}" for n in range(len(players))] if names is None else distinct_names(names)
        if len(labels) != len(players):
            raise BadRequest(f"there are {len(players)} players, but {len(labels)} names")
        match = deal_match(game, [labels[index] for index in seating], seed, match_id=match_id)
        table = [players[index] for index in seating]
        if record is None:
            return self._play(match, table, NULL_RECORD, resumed=False)
        begun = record(match)
        try:
            return self._play(match, table, begun, resumed=False)
        finally:
            begun.close()

    def resume(
        self,
        match: Match[State, View, Action],
        players: Sequence[Player | Strategy[View, Action]],
        *,
        record: Record = NULL_RECORD,
    ) -> Match[State, View, Action]:
        """Play an unfinished match to its end, with a player for each seat that was not ejected."""
        check_players(match.game, players)
        return self._play(match, players, record, resumed=True)

    def _play(
        self,
        match: Match[State, View, Action],
        players: Sequence[Player | Strategy[View, Action]],
        record: Record,
        *,
        resumed: bool,
    ) -> Match[State, View, Action]:
        seats = sorted(match.remaining_seats)
        if len(players) != len(seats):
            raise BadRequest(f"{len(seats)} players are still at the table, not {len(players)}")
        table = {
            seat: LocalChannel(player, match.game, record.clock) for seat, player in zip(seats, players, strict=True)
        }
        inform = self._begin_match()
        try:
            return play(match, table, record, inform, resumed=resumed)
        finally:
            self._busy = False

    @contextmanager
    def match_observers(self) -> Iterator[OnEvent]:
        """Return the function that informs the subscribed observers of one match, and free the referee at the end.

        `run` and `resume` do this by themselves; use it around `play_async`.
        """
        inform = self._begin_match()
        try:
            yield inform
        finally:
            self._busy = False

    def _begin_match(self) -> OnEvent:
        """Like `match_observers`, for callers that free the referee themselves, which is faster than a context."""
        self._refuse_if_busy()
        self._busy = True
        return Observers(self._observers, self._report).notify

    def _refuse_if_busy(self) -> None:
        if self._busy:
            raise BadRequest("this referee is running a match; another one at the same time needs another referee")


def deal_match(
    game: Game[State, View, Action],
    names: Sequence[str],
    seed: bytes | None,
    *,
    match_id: str | None = None,
    sealed: bool = False,
) -> Match[State, View, Action]:
    """Deal a new match, with the names in the order of the seats. A missing seed or id is drawn."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        raise BadRequest("a name holds half a character (a lone surrogate), which cannot be encoded") from None
    seed = urandom(SEED_BYTES) if seed is None else seed
    check_seed(seed)
    match_id = new_match_id() if match_id is None else match_id
    return Match(game, game.deal(len(names), seed), tuple(names), seed=seed, id=match_id, sealed=sealed)


def check_seed(seed: object) -> None:
    """Raise BadRequest unless this is a valid seed."""
    if not isinstance(seed, bytes):
        raise BadRequest(
            f"a seed has {SEED_BYTES} bytes, not {seed!r:.40}: fairplay.core.chance.seed_from_text(text) makes one"
        )
    if len(seed) != SEED_BYTES:
        raise BadRequest(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")


def check_players(game: Game[Any, Any, Any], players: Sequence[object]) -> None:
    """Raise BadRequest unless every player can take a turn."""
    for player in players:
        if isinstance(player, str):
            raise BadRequest(
                f"{player!r:.80} is the name of a player, and a Referee takes players: "
                f"write built_in_strategy({game.name!r}, {player!r:.80}); fairplay.play takes names too"
            )
        if isinstance(player, type):
            raise BadRequest(f"{player.__name__} is a class, and a Referee takes players: write {player.__name__}()")
        if not (callable(player) or has_method(player, "take_turn")):
            raise BadRequest(f"a {type(player).__name__} is not a player: it has no method take_turn(view)")


def new_match_id() -> str:
    """A random id for a match."""
    return urandom(16).hex()


def seats_by_age(game: Game[Any, Any, Any], players: int, ages: Sequence[int] | None = None) -> list[Seat]:
    """For each seat the index of its player, by age; players of equal age keep their order."""
    if players not in game.seats:
        raise BadRequest(f"{game.name} is for {format_seats(game.seats)} players, not for {players}")
    if ages is None:
        return list(range(players))
    if len(ages) != players:
        raise BadRequest(f"there are {players} players, but {len(ages)} ages")
    return sorted(range(players), key=lambda index: ages[index] if game.youngest_first else -ages[index])


def format_seats(seats: range) -> str:
    """The possible numbers of players as text.

    >>> format_seats(range(2, 5)), format_seats(range(2, 3))
    ('2 to 4', '2')
    """
    return f"{seats[0]} to {seats[-1]}" if len(seats) > 1 else str(seats[0])


def distinct_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """The names, made distinct by numbers.

    >>> distinct_names(["ann", "bob", "ann"]), distinct_names(["ann"], taken=["ann"])
    (['ann', 'bob', 'ann-2'], ['ann-2'])
    """
    labels: list[str] = []
    for name in names:
        label, number = name, 2
        while label in labels or label in taken:
            label, number = f"{name}-{number}", number + 1
        labels.append(label)
    return labels
