"""Say which match of a round may begin next, and which will not be played at all."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.counted import Counted, Names, names_of

LEAST_WINDOW = 8  # matches that may have begun before it is known who is expelled by an earlier one


class Scheduled(NamedTuple):
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
        matches: Sequence[Scheduled],
        counted: Mapping[str, Counted],  # of all matches that were played, by id; it grows
        *,
        expelled: Iterable[str],  # in earlier rounds
        can_expel: bool,
        cancel: Callable[[Scheduled, Names], None],  # is told of a match that some will not play
    ) -> None:
        self.again: deque[MatchSpec] = deque()  # other attempts
        self._matches = matches
        self._counted = counted
        self._expelled = set(expelled)
        self._window = window_of(matches) if can_expel else len(matches)
        self._cancel = cancel
        self._next = 0
        self._looked = 0  # matches whose expulsions hold for the next one

    @property
    def left(self) -> int:
        """How many are still to be played."""
        return len(self._matches) - self._next + len(self.again)

    def take(self) -> MatchSpec | None:
        """The next match; None: there is none, at least not before another one has ended.

        What has to be tried again comes last, as whatever went wrong may pass.
        """
        if (spec := self._fresh()) is not None:
            return spec
        return self.again.popleft() if self.again else None

    def _fresh(self) -> MatchSpec | None:
        """The next match that was not tried yet."""
        while self._next < len(self._matches):
            if not self._look():
                return None
            match = self._matches[self._next]
            self._next += 1
            if match.spec.id in self._counted:
                continue
            out = tuple(name for name in names_of(match.spec.entrants) if name in self._expelled)
            if not out:
                return match.spec
            self._cancel(match, out)
        return None

    def _look(self) -> bool:
        """Know of all expulsions that hold for the next match; False: one that matters has not ended."""
        while self._looked <= self._next - self._window:
            before = self._counted.get(self._matches[self._looked].spec.id)
            if before is None:
                return False
            self._expelled.update(before.expelled)
            self._looked += 1
        return True


def window_of(matches: Sequence[Scheduled]) -> int:
    """How many matches may be played at once where somebody can be expelled: two for each player."""
    return max(LEAST_WINDOW, 2 * len({name for match in matches for name in names_of(match.spec.entrants)}))
