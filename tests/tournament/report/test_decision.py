"""Test how the verdict of a sequential test is described."""

import pytest

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.report.decision import describe_verdict
from fairplay.tournament.settings import RoundRobin, Versus
from tests.tournament.small_tournaments import make_tournament

TOURNAMENT = make_tournament("ann=greedy", "bob=random", format=Versus(elo0=0, elo1=50))


def deals(count: int, wins: int) -> list[CountedMatch]:
    """So many deals in both seat orders, of which ann wins so many; the others are shared."""
    matches: list[CountedMatch] = []
    for deal in range(count):
        first = (1, 2) if deal % 2 == 0 or deal < wins else (2, 1)
        for names in (("ann", "bob"), ("bob", "ann")):
            won = deal < wins
            places = ((1, 2) if names[0] == "ann" else (2, 1)) if won else first
            matches.append(CountedMatch(match=f"m{len(matches)}", deal=deal, names=names, places=places))
    return matches


@pytest.mark.parametrize(
    ("matches", "said"),
    [
        (deals(40, 30), "ann is better than bob, by 50 Elo rather than by 0: decided after 2"),
        (deals(4000, 0), "no decision between ann and bob after 4000 deals"),
        ([], "no decision between ann and bob after 0 deals"),
    ],
)
def test_the_sentence_names_the_decision_of_the_test(matches: list[CountedMatch], said: str) -> None:
    decided = describe_verdict(TOURNAMENT, matches)

    assert decided is not None
    assert decided[0].startswith(said)


def test_a_worse_player_is_not_called_better() -> None:
    mirrored = [
        CountedMatch(match=one.match, deal=one.deal, names=one.names, places=one.places[::-1]) for one in deals(40, 40)
    ]

    decided = describe_verdict(TOURNAMENT, mirrored)

    assert decided is not None
    assert decided[0].startswith("ann is not better than bob by 50 Elo, but by 0 at most: decided after 2")


def test_the_sentence_names_the_expected_deals_before_a_decision() -> None:
    decided = describe_verdict(TOURNAMENT, deals(12, 6))

    assert decided is not None
    assert decided[0].endswith(" will be needed")
    assert decided[1].accepted is None


def test_other_formats_have_no_test() -> None:
    assert describe_verdict(make_tournament(format=RoundRobin()), deals(2, 1)) is None
