"""Check how a match is reported as text."""

from functools import partial
from typing import Any

import pytest

from fairplay import Acted, Ejected, Ended, Fault, Moment, Started
from fairplay.core.events import Result
from fairplay.core.match import Match
from fairplay.games.fish import Move, Place
from fairplay.games.fish.terminal import text
from fairplay.observers.reporter import Reporter, describe_event, format_standings
from tests.observers.observed import GAME, cheat, first, observe_match

NAMES = ("ann", "bob", "cyd", "dee")
HOSTILE = ("\x1b[2Jann", "bob\nis out: crashed (turn), ha", "c\u202edyc", "\x9b1mdee\r\x07")

WHOLE_MATCH = r"""match: feed-1
at the table: ann, bob, cyd
commitment to the deal: 7ca85e1fc78b1257eb6f1132f097f0f957e5dfe4e9b43de82b315189d7110098

    0   0   1   1   2   2
   ___     ___     ___
0 / 1 \___/ 1 \___/ 1 \___
1 \___/ 1 \___/ 1 \___/ 1 \
2 / 1 \___/ 1 \___/ 1 \___/
  \___/   \___/   \___/

 R  red    ann    0 fish  to place
 W  white  bob    0 fish
 B  brown  cyd    0 fish

ann places a penguin at [0, 0]
bob is out: illegal (turn), rule 3.2: there is no tile at [99, 99]
cyd places a penguin at [0, 1]
ann places a penguin at [0, 2]
cyd places a penguin at [1, 0]
ann places a penguin at [1, 1]
cyd places a penguin at [1, 2]
ann moves from [0, 0] to [2, 0]
cyd moves from [0, 1] to [2, 1]
ann moves from [0, 2] to [2, 2]

    0   0   1   1   2   2

0      ___     ___     ___
1  ___/B 1\___/R 1\___/B 1\
2 /R 1\___/B 1\___/R 1\___/
  \___/   \___/   \___/

 R  red    ann    2 fish  most fish
 W  white  bob    0 fish  ejected
 B  brown  cyd    1 fish

seed of the deal: 0000000000000000000000000000000000000000000000000000000000000000
1. ann (2)
2. cyd (1)
bob (0) is out: illegal (turn), rule 3.2: there is no tile at [99, 99]
"""


def told(reporter_of: Any, names: tuple[str, ...]) -> str:
    said: list[str] = []
    observe_match(reporter_of(said.append), [first, cheat, first], names)
    return "".join(said)


def result(*groups: set[int], ejected: tuple[Ejected, ...] = (), scores: tuple[int, ...] | None = None) -> Result:
    return Result(tuple(frozenset(group) for group in groups), ejected, scores)


def test_the_report_of_a_whole_match_is_as_expected() -> None:
    assert told(partial(Reporter, draw=text), NAMES[:3]) == WHOLE_MATCH


def test_without_a_drawing_only_text_is_reported() -> None:
    words = ("match", "at", "commit", "seed", "ann", "bob", "cyd", "1. a", "2. c")
    lines = [line for line in WHOLE_MATCH.splitlines() if line.startswith(words)]

    assert told(Reporter, NAMES[:3]).splitlines() == lines


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Started(NAMES), "at the table: ann, bob, cyd, dee"),
        (Acted(1, Place((0, 2))), "bob places a penguin at [0, 2]"),
        (Acted(2, Move((0, 2), (4, 2))), "cyd moves from [0, 2] to [4, 2]"),
        (
            Ejected(3, Fault.TIMED_OUT, Moment.NEWS, "no answer within 5 s"),
            "dee is out: timed out (news), no answer within 5 s",
        ),
        (Ended(result({1})), "1. bob"),
    ],
    ids=["start", "place", "move", "kick", "end"],
)
def test_the_five_events_have_different_reports(event: Any, words: str) -> None:
    assert describe_event(event, NAMES) == [words]


@pytest.mark.parametrize(
    ("ranking", "lines"),
    [
        ([{0}, {1}, {2}, {3}], ["1. ann", "2. bob", "3. cyd", "4. dee"]),
        ([{2, 0}, {3}, {1}], ["1. ann, cyd", "3. dee", "4. bob"]),
        ([{3}, {0, 1, 2}], ["1. dee", "2. ann, bob, cyd"]),
        ([{0, 1, 2, 3}], ["1. ann, bob, cyd, dee"]),
        ([set(), {0}], ["1. (no player)", "2. ann"]),
        ([], ["no player is left to be ranked"]),
    ],
)
def test_a_tie_shares_a_rank_and_the_next_rank_counts_them_all(ranking: list[set[int]], lines: list[str]) -> None:
    assert format_standings(result(*ranking), NAMES) == lines


def test_the_ejected_are_listed_after_the_ranking_in_their_order() -> None:
    out = (
        Ejected(2, Fault.CRASHED, Moment.GREETING, "raised ValueError"),
        Ejected(0, Fault.MALFORMED, Moment.END, "answered where only an acknowledgement was due"),
    )

    assert format_standings(result({1}, {3}, ejected=out), NAMES) == [
        "1. bob",
        "2. dee",
        "cyd is out: crashed (greeting), raised ValueError",
        "ann is out: malformed (end), answered where only an acknowledgement was due",
    ]


def test_the_standings_of_a_game_with_points_have_scores() -> None:
    out = (Ejected(2, Fault.CRASHED, Moment.TURN, "raised ValueError"),)

    assert format_standings(result({1}, {0, 3}, ejected=out, scores=(7, 12, 9, 7)), NAMES) == [
        "1. bob (12)",
        "2. ann (7), dee (7)",
        "cyd (9) is out: crashed (turn), raised ValueError",
    ]


def test_hostile_names_never_reach_the_terminal_raw() -> None:
    said = told(partial(Reporter, draw=partial(text, colour=False)), HOSTILE[:3])

    assert all(line.isprintable() for line in said.split("\n"))
    assert len(said.splitlines()) == len(WHOLE_MATCH.splitlines())


@pytest.mark.parametrize(
    ("name", "why"),
    [(HOSTILE[0], "raised \x1b]0;title\x07\n1. ann"), ("x" * 100_000, "y" * 100_000)],
    ids=["hostile", "long"],
)
def test_names_and_reasons_stay_on_one_short_line(name: str, why: str) -> None:
    (line,) = describe_event(Ejected(0, Fault.CRASHED, Moment.TURN, why), (name,))

    assert line.isprintable()
    assert len(line) < 500


def test_the_board_is_the_one_that_spectators_see() -> None:
    shown: list[Any] = []

    def draw(view: Any, names: tuple[str, ...]) -> str:
        shown.append(view)
        return "the board"

    match = Match(GAME, GAME.deal(2, bytes(32)), NAMES[:2])
    said: list[str] = []

    Reporter(said.append, draw).observe(Started(match.names), match)

    assert shown == [match.view(None)]
    assert "".join(said) == "at the table: ann, bob\n\nthe board\n\n"
