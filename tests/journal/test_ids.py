"""Test that a match has one id and one file, even if the caller chose the id."""

from pathlib import Path

import pytest

from fairplay import BadRequest, Started
from fairplay.core.chance import seed_commitment
from fairplay.core.match import Match
from fairplay.games.fish.examples import EXAMPLES
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.journals import GAME, SEED, AnyMatch, first_action, read_lines


def called(match_id: str) -> AnyMatch:
    return deal_match(GAME, ["ann", "bob"], SEED, match_id=match_id)


@pytest.mark.parametrize("match_id", ["a", "0", "Round-1_table-7", "-rf", "x" * 64])
def test_an_id_that_the_caller_chose_names_the_file(match_id: str, tmp_path: Path) -> None:
    match = called(match_id)

    with Journal(tmp_path).begin(match) as record:
        final = play(match, [LocalChannel(first_action, GAME), LocalChannel(first_action, GAME)], record)

    assert record.path == tmp_path / f"{match_id}.jsonl"
    assert read_journal(record.path).opening.match == final.id == match_id
    assert verify(read_journal(record.path)) == final


def test_every_match_draws_an_id_of_its_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    matches = [Referee().run(GAME, [first_action, first_action], seed=SEED, record=journal.begin) for _ in range(3)]

    assert {path.stem for path in tmp_path.iterdir()} == {match.id for match in matches}
    assert len({match.id for match in matches}) == 3


def test_a_second_match_with_the_same_id_is_refused(tmp_path: Path) -> None:
    journal, match = Journal(tmp_path), called("again")
    with journal.begin(match) as record:
        for _ in range(2):
            with pytest.raises(BadRequest, match="another process is playing this match"):
                journal.begin(called("again"))
        record.write(Started(match.names), None, None)  # the first goes on as if nothing had been

    with pytest.raises(BadRequest, match="a journal of a match with this id exists already"):
        Journal(tmp_path).begin(called("again"))

    assert [line["type"] for line in read_lines(record.path)] == ["opening", "seated"]
    assert read_journal(record.path).torn_bytes == 0


def test_a_match_whose_id_was_wanted_again_can_be_resumed(tmp_path: Path) -> None:
    with Journal(tmp_path).begin(called("again")) as record:
        pass
    with pytest.raises(BadRequest, match="a journal of a match with this id exists already"):
        Journal(tmp_path).begin(called("again"))

    resumed, recorded = Journal(tmp_path).resume(record.path)

    resumed.close()
    assert recorded.opening.match == "again"


@pytest.mark.parametrize(
    "match_id",
    ["", ".", "..", "a/b", "/a", "../a", "a\\b", "a\0b", "a.b", "a b", "a\n", "ä", "x" * 65, "x" * 5000],
    ids=range(14),
)
def test_an_invalid_match_id_is_refused_and_nothing_is_written(match_id: str, tmp_path: Path) -> None:
    directory = tmp_path / "journals"

    with pytest.raises(BadRequest, match=r"is not a match id: use 1 to 64 letters, digits, - and _$"):
        Journal(directory).begin(called(match_id))

    assert list(tmp_path.rglob("*")) == []


def test_a_match_from_a_given_state_draws_an_id_if_it_has_none(tmp_path: Path) -> None:
    match = Match(GAME, EXAMPLES["star"], ("ann", "bob"))

    with Journal(tmp_path).begin(match) as one, Journal(tmp_path).begin(match) as two:
        pass

    assert one.path != two.path
    assert [read_journal(path).opening.match for path in (one.path, two.path)] == [one.path.stem, two.path.stem]


def test_two_matches_from_one_seed_have_different_commitments(tmp_path: Path) -> None:
    one, two = called("one"), called("two")

    assert one.commitment != two.commitment
    assert (one.commitment, two.commitment) == (seed_commitment(SEED, "one"), seed_commitment(SEED, "two"))
    for match in (one, two):
        with Journal(tmp_path).begin(match) as record:
            play(match, [LocalChannel(first_action, GAME), LocalChannel(first_action, GAME)], record)
        assert read_lines(record.path)[0]["commitment"] == match.commitment
