"""Test single matches that are played from Python, and their files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairplay.app.matches import play_match, prepare_match
from fairplay.core.events import Ended, Event
from fairplay.core.match import VisibleMatch
from fairplay.core.roles import Observer
from fairplay.hosting.run import HostedMatch
from fairplay.hosting.spec import Entrant, MatchSpec

SMALL = {"rows": 4, "columns": 4}


class Noting:
    """An observer that keeps the events of a match, and may stop it after some of them."""

    def __init__(self, last: int = 0) -> None:
        self.events: list[Event] = []
        self._last = last

    def observe(self, event: Event, match: VisibleMatch) -> None:
        self.events.append(event)
        if len(self.events) == self._last:
            raise KeyboardInterrupt


def spec_of(journal: Path | None = None) -> MatchSpec:
    players = Entrant("random", "ann"), Entrant("greedy", "bob")
    where = None if journal is None else str(journal)
    return MatchSpec(game="fish", entrants=players, parameters=SMALL, seed=bytes(32), journal=where)


def test_a_played_match_has_its_outcome_and_the_paths_of_its_files(tmp_path: Path) -> None:
    noting = Noting()

    played = play_match(prepare_match(spec_of(tmp_path)), [noting], pictures=tmp_path / "pictures")

    assert isinstance(noting.events[-1], Ended)
    assert played.outcome.result is not None and played.outcome.result.receipt is not None
    assert Path(played.outcome.journal or "").is_file()
    assert played.pictures == tmp_path / "pictures" / played.outcome.id
    assert (played.pictures / "000.svg").is_file()
    assert played.bot_logs == []


def test_a_match_without_pictures_has_no_directory_for_them() -> None:
    assert play_match(prepare_match(spec_of())).pictures is None


def test_the_interrupted_match_of_a_spec_is_resumed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        play_match(prepare_match(spec_of(tmp_path)), [Noting(last=5)])
    (journal,) = tmp_path.glob("*.jsonl")

    prepared = prepare_match(spec_of(tmp_path))
    played = play_match(prepared)

    assert prepared.resumed
    assert played.outcome.journal == str(journal)
    assert list(tmp_path.glob("*.jsonl")) == [journal]


def test_the_context_that_shows_a_match_spans_it_and_may_observe() -> None:
    noting, order = Noting(), list[str]()

    @contextmanager
    def show(hosted: HostedMatch) -> Iterator[Sequence[Observer]]:
        order.append("before" if not hosted.ended else "too late")
        yield [noting]
        order.append("after" if hosted.ended else "too early")

    play_match(prepare_match(spec_of()), show=show)

    assert order == ["before", "after"]
    assert isinstance(noting.events[-1], Ended)
