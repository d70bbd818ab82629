"""Choose the next match of a round, and cancel matches of expelled players."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.counted_match import CountedMatch, Names, entrant_names

MIN_WINDOW_MATCHES = 8  # that may begin before the expulsions of earlier ones are known


class ScheduledMatch(NamedTuple):
    """A match of a round."""

    spec: MatchSpec  # with its id
    deal: int


class Schedule:
    """The matches of a round that are still to be played, in their order.

    An expelled player does not play in matches that come a window later, at any speed of play: so the same matches are
    played with any number of workers. Where no player can be expelled, no match waits.
    """

    def __init__(
        self,
        matches: Sequence[ScheduledMatch],
        counted: Mapping[str, CountedMatch],  # all matches that were played, by id; it grows
        *,
        expelled: Iterable[str],  # in earlier rounds
        can_expel: bool,
        cancel: Callable[[ScheduledMatch, Names], None],  # is called for a match of expelled players
    ) -> None:
        self.retries: deque[MatchSpec] = deque()
        self._matches = matches
        self._counted = counted
        self._expelled = set(expelled)
        self._window = window_size(matches) if can_expel else len(matches)
        self._cancel = cancel
        self._next = 0
        self._checked = 0  # matches whose expulsions hold for the next one

    @property
    def left(self) -> int:
        """How many are still to be played."""
        return len(self._matches) - self._next + len(self.retries)

    def next_match(self) -> MatchSpec | None:
        """The next match; None: there is none, at least not before another one has ended.

        Retries come last, as what went wrong may pass.
        """
        if (spec := self._next_untried()) is not None:
            return spec
        return self.retries.popleft() if self.retries else None

    def _next_untried(self) -> MatchSpec | None:
        """The next match without an attempt in this run."""
        while self._next < len(self._matches):
            if not self._update_expelled():
                return None
            match = self._matches[self._next]
            self._next += 1
            if match.spec.id in self._counted:
                continue
            out = tuple(name for name in entrant_names(match.spec.entrants) if name in self._expelled)
            if not out:
                return match.spec
            self._cancel(match, out)
        return None

    def _update_expelled(self) -> bool:
        """Update the expulsions that hold for the next match; False: an earlier match has to end first."""
        while self._checked <= self._next - self._window:
            before = self._counted.get(self._matches[self._checked].spec.id)
            if before is None:
                return False
            self._expelled.update(before.expelled)
            self._checked += 1
        return True


def window_size(matches: Sequence[ScheduledMatch]) -> int:
    """How many matches may be played at once if players can be expelled: two for each player."""
    return max(MIN_WINDOW_MATCHES, 2 * len({name for match in matches for name in entrant_names(match.spec.entrants)}))
