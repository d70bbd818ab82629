"""Schedule the knock-outs of the Fish course and of the Tsuro course, in the order of the players in the file."""

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

FISH_TABLE_SIZES, TSURO_TABLE_SIZES = range(2, 5), range(3, 6)  # players in a game
TABLE_SIZES: dict[type[Course], range] = {FishCourse: FISH_TABLE_SIZES, TsuroCourse: TSURO_TABLE_SIZES}
TSURO_LAST_TABLES = {  # the sizes of the last games, by the number of players that remain after games of five
    0: [],
    1: [3, 3],
    2: [4, 3],
    3: [3],
    4: [4],
}


def fish_course(spec: TournamentSpec, settings: FishCourse) -> Format:
    """The first of each game advances, until few enough are left for a last game."""
    left, deals = spec.players, count()
    out: list[Names] = []  # the losers of each round
    before: Players | None = None
    while len(left) >= FISH_TABLE_SIZES[0]:
        sent = yield matches_for_groups(spec, split_into_groups(left, fish_sizes(len(left))), deals)
        on = advancing_players(left, sent, ranks=1)
        there = entrant_names(sent.players)
        out.append(tuple(one.name for one in left if one not in on and one.name in there))
        if len(left) <= FISH_TABLE_SIZES[-1] or on == before:  # the last game, or the same winners twice
            return knock_out_ranking(on, out)
        left = before = on
    return knock_out_ranking(left, out)


def tsuro_course(spec: TournamentSpec, settings: TsuroCourse) -> Format:
    """The first two ranks of each game advance, until few enough are left for a last game, which decides."""
    left, deals = spec.players, count()
    while len(left) > TSURO_TABLE_SIZES[-1]:
        sent = yield matches_for_groups(spec, split_into_groups(left, tsuro_sizes(len(left))), deals)
        on = advancing_players(left, sent, ranks=2)
        if len(on) == len(left):  # all advance, and would again in the next round
            break
        left = on
    else:
        if len(left) >= TSURO_TABLE_SIZES[0]:
            sent = yield matches_for_groups(spec, [left], deals)
            return tuple(ranked_names(sent.matches[0], entrant_names(sent.players))) or NO_RANKED_PLAYERS
    return (entrant_names(left),)


def fish_sizes(players: int) -> list[int]:
    """Games of four; if one player were left over, the last game is split again with it into smaller ones.

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
    """Games of five, and at the end of three and four, so that no player is left over.

    >>> [tsuro_sizes(players) for players in (6, 7, 8, 11)]
    [[3, 3], [4, 3], [5, 3], [5, 3, 3]]
    """
    rest = TSURO_LAST_TABLES[players % TSURO_TABLE_SIZES[-1]]
    return [TSURO_TABLE_SIZES[-1]] * ((players - sum(rest)) // TSURO_TABLE_SIZES[-1]) + rest


def matches_for_groups(tournament: TournamentSpec, groups: Sequence[Players], deals: Iterator[int]) -> Round:
    """One game for each of these groups."""
    return tuple(tournament.match_spec(group, next(deals)) for group in groups)


def advancing_players(left: Players, sent: RoundResult, *, ranks: int) -> Players:
    """The players in the first ranks of a game, in their old order."""
    there = entrant_names(sent.players)
    on = {name for match in sent.matches for rank in ranked_names(match, there)[:ranks] for name in rank}
    return tuple(one for one in left if one.name in on)


def ranked_names(match: CountedMatch, there: Names) -> list[Names]:
    """The ranks of a match without expelled players, best first; if the match does not count, all share one."""
    places = dict(zip(match.names, match.places or [1] * len(match.names), strict=True))
    here = [name for name in match.names if name in there]
    return [tuple(name for name in here if places[name] == place) for place in sorted({places[name] for name in here})]


def knock_out_ranking(winners: Players, out: Sequence[Names]) -> Ranking:
    """The winners, and after them the others by the round they reached; without a winner the first group is empty."""
    return (entrant_names(winners), *(losers for losers in reversed(out) if losers))
