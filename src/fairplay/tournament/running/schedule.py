"""Say which match of a round may begin next, and which will not be played at all."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.counted_match import CountedMatch, Names, entrant_names

MIN_WINDOW_MATCHES = 8  # matches that may have begun before it is known who is expelled by an earlier one


class ScheduledMatch(NamedTuple):
    """A match of a round."""

    spec: MatchSpec  # with its id
    deal: int


class Schedule:
    """The matches of a round that are still to be played, in their order.

    Who is expelled does not play in a match that comes a window behind, whoever may play faster or slower: so the same
    matches are played however many workers there are. Where nobody can be expelled, nothing is waited for.
    """

    def __init__(
        self,
        matches: Sequence[ScheduledMatch],
        counted: Mapping[str, CountedMatch],  # of all matches that were played, by id; it grows
        *,
        expelled: Iterable[str],  # in earlier rounds
        can_expel: bool,
        cancel: Callable[[ScheduledMatch, Names], None],  # is told of a match that some will not play
    ) -> None:
        self.retries: deque[MatchSpec] = deque()  # other attempts
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

        What has to be tried again comes last, as whatever went wrong may pass.
        """
        if (spec := self._next_untried()) is not None:
            return spec
        return self.retries.popleft() if self.retries else None

    def _next_untried(self) -> MatchSpec | None:
        """The next match that was not tried yet."""
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
        """Know of all expulsions that hold for the next match; False: one that matters has not ended."""
        while self._checked <= self._next - self._window:
            before = self._counted.get(self._matches[self._checked].spec.id)
            if before is None:
                return False
            self._expelled.update(before.expelled)
            self._checked += 1
        return True


def window_size(matches: Sequence[ScheduledMatch]) -> int:
    """How many matches may be played at once where somebody can be expelled: two for each player."""
    return max(MIN_WINDOW_MATCHES, 2 * len({name for match in matches for name in entrant_names(match.spec.entrants)}))
