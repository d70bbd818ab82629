"""Run the knock-outs of the Fish course and of the Tsuro course, by the order of the file."""

from collections.abc import Iterator, Sequence
from itertools import count

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import (
    NO_RANKED_PLAYERS,
    CountedMatch,
    Format,
    Names,
    Ranking,
    Round,
    RoundResult,
    entrant_names,
)
from fairplay.tournament.courses import Course, FishCourse, TsuroCourse
from fairplay.tournament.formats.table_sizes import split_into_groups
from fairplay.tournament.spec import TournamentSpec

Players = tuple[Entrant, ...]

FISH_TABLE_SIZES, TSURO_TABLE_SIZES = range(2, 5), range(3, 6)  # how many may play one game
TABLE_SIZES: dict[type[Course], range] = {FishCourse: FISH_TABLE_SIZES, TsuroCourse: TSURO_TABLE_SIZES}
TSURO_LAST_TABLES = {
    0: [],
    1: [3, 3],
    2: [4, 3],
    3: [3],
    4: [4],
}  # Tsuro: the last games, by how many are left over behind fives


def fish_course(spec: TournamentSpec, settings: FishCourse) -> Format:
    """Whoever comes first in a game goes on, until few enough are left for one last game."""
    left, deals = spec.players, count()
    out: list[Names] = []  # who lost, round by round
    before: Players | None = None
    while len(left) >= FISH_TABLE_SIZES[0]:
        sent = yield matches_for_groups(spec, split_into_groups(left, fish_sizes(len(left))), deals)
        on = advancing_players(left, sent, ranks=1)
        there = entrant_names(sent.players)
        out.append(tuple(one.name for one in left if one not in on and one.name in there))
        if (
            len(left) <= FISH_TABLE_SIZES[-1] or on == before
        ):  # it was the last game, or two rounds have the same winners
            return knock_out_ranking(on, out)
        left = before = on
    return knock_out_ranking(left, out)


def tsuro_course(spec: TournamentSpec, settings: TsuroCourse) -> Format:
    """Whoever comes first or second in a game goes on, until few enough are left for one game, which decides."""
    left, deals = spec.players, count()
    while len(left) > TSURO_TABLE_SIZES[-1]:
        sent = yield matches_for_groups(spec, split_into_groups(left, tsuro_sizes(len(left))), deals)
        on = advancing_players(left, sent, ranks=2)
        if len(on) == len(left):  # nobody is out, and nobody would be in the next round
            break
        left = on
    else:
        if len(left) >= TSURO_TABLE_SIZES[0]:
            sent = yield matches_for_groups(spec, [left], deals)
            return tuple(ranked_names(sent.matches[0], entrant_names(sent.players))) or NO_RANKED_PLAYERS
    return (entrant_names(left),)


def fish_sizes(players: int) -> list[int]:
    """Fours; if one were left over the last of them is undone, and what is then left is cut into smaller games.

    >>> [fish_sizes(players) for players in (5, 6, 13)]
    [[3, 2], [4, 2], [4, 4, 3, 2]]
    """
    sizes: list[int] = []
    most = FISH_TABLE_SIZES[-1]
    while players > most or players < FISH_TABLE_SIZES[0]:
        if players == 0:
            return sizes
        if players < FISH_TABLE_SIZES[0]:
            players, most = players + sizes.pop(), most - 1
        else:
            sizes.append(most)
            players -= most
    return [*sizes, players]


def tsuro_sizes(players: int) -> list[int]:
    """Fives, and at the end threes and fours so that nobody is left over.

    >>> [tsuro_sizes(players) for players in (6, 7, 8, 11)]
    [[3, 3], [4, 3], [5, 3], [5, 3, 3]]
    """
    rest = TSURO_LAST_TABLES[players % TSURO_TABLE_SIZES[-1]]
    return [TSURO_TABLE_SIZES[-1]] * ((players - sum(rest)) // TSURO_TABLE_SIZES[-1]) + rest


def matches_for_groups(tournament: TournamentSpec, groups: Sequence[Players], deals: Iterator[int]) -> Round:
    """One game for each of these groups."""
    return tuple(tournament.match_spec(group, next(deals)) for group in groups)


def advancing_players(left: Players, sent: RoundResult, *, ranks: int) -> Players:
    """Whoever is in one of the first ranks of a game, in the old order."""
    there = entrant_names(sent.players)
    on = {name for match in sent.matches for rank in ranked_names(match, there)[:ranks] for name in rank}
    return tuple(one for one in left if one.name in on)


def ranked_names(match: CountedMatch, there: Names) -> list[Names]:
    """Those who were not expelled, best first; if the match does not count, nobody is better than the others."""
    places = dict(zip(match.names, match.places or [1] * len(match.names), strict=True))
    here = [name for name in match.names if name in there]
    return [tuple(name for name in here if places[name] == place) for place in sorted({places[name] for name in here})]


def knock_out_ranking(winners: Players, out: Sequence[Names]) -> Ranking:
    """The winners, and behind them the others by how far they came; if nobody won, nobody comes first."""
    return (entrant_names(winners), *(losers for losers in reversed(out) if losers))
