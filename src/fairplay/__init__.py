"""Referee board games that programs play.

    >>> import fairplay as fp
    >>> fp.play("fish(rows=4, columns=4)", {"ann": "greedy", "bob": "lookahead:2"}, seed=7)
    <MatchResult of fish: 1. ann 19, 2. bob 10>

docs/python.md shows the rest of this interface, and docs/stability.md says what may change.
Packages import downwards only:

    course      the three university courses: formats, dialects, channels, server, test harness, commands
    cli         the command                  bot         a program that plays
    terminal    displays and players on a terminal
    app         the Python interface, and what it shares with the commands
    testing     for authors of games and players
    server      the game server: sign-in, lobby, rooms, spectators, pages
    tournament  formats, runs, ratings, reports
    diagnosis   bot checks, explanations of ejections, the debugger
    hosting     matches from specs           page        replay pages for browsers
    observers   what watches a match
    players     channels to players          journal     recorded matches
    sandbox     isolation of programs        transport   connections and clocks
    protocol    messages to and from players
    games       the rules, one directory per game
    kit         games in one file
    referee     how a match is run           render      pictures and text
    core        values and interfaces
    kernels     the slowest parts of games, in C
"""

import importlib as _importlib
import typing as _typing

from fairplay.core.version import VERSION as __version__

if _typing.TYPE_CHECKING:
    from fairplay.app.games import make_game, register_game
    from fairplay.app.journals import read_journal, verify
    from fairplay.app.play import play, play_async
    from fairplay.app.servers import serve, serve_async
    from fairplay.app.tournaments import run_tournament
    from fairplay.core.errors import BadJournal, BadRequest, FairplayError, HostFault, IllegalAction, NotOnTurn
    from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Receipt, Started
    from fairplay.core.game import Game, Moment, News, Ranking, Seat
    from fairplay.core.roles import Observer, Player, Strategy
    from fairplay.hosting.match_result import Ejection, MatchResult
    from fairplay.hosting.playouts import playouts
    from fairplay.hosting.spec import Entrant
    from fairplay.journal.replay import RecordedMatch
    from fairplay.players.address import built_in_strategy
    from fairplay.protocol.limits import Limits
    from fairplay.tournament.result import TournamentResult
    from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
    from fairplay.tournament.spec import TournamentSpec
    from fairplay.tournament.spec_file import read_tournament

_LAZY_EXPORTS = {  # the module of each public name, which is loaded when the name is first used
    name: module
    for module, names in {
        "app.games": "make_game register_game",
        "app.journals": "read_journal verify",
        "app.play": "play play_async",
        "app.servers": "serve serve_async",
        "app.tournaments": "run_tournament",
        "core.errors": "BadJournal BadRequest FairplayError HostFault IllegalAction NotOnTurn",
        "core.events": "Acted Ejected Ended Event Fact Fault Receipt Started",
        "core.game": "Game Moment News Ranking Seat",
        "core.roles": "Observer Player Strategy",
        "hosting.match_result": "Ejection MatchResult",
        "hosting.playouts": "playouts",
        "hosting.spec": "Entrant",
        "journal.replay": "RecordedMatch",
        "players.address": "built_in_strategy",
        "protocol.limits": "Limits",
        "tournament.result": "TournamentResult",
        "tournament.settings": "Duplicate KnockOut Ladder RoundRobin Swiss Versus",
        "tournament.spec": "TournamentSpec",
        "tournament.spec_file": "read_tournament",
    }.items()
    for name in names.split()
}

__all__ = ["Acted", "BadJournal", "BadRequest", "Duplicate", "Ejected", "Ejection", "Ended", "Entrant", "Event"]
__all__ += ["Fact", "FairplayError", "Fault", "Game", "HostFault", "IllegalAction", "KnockOut", "Ladder", "Limits"]
__all__ += ["MatchResult", "Moment", "News", "NotOnTurn", "Observer", "Player", "Ranking", "Receipt", "RecordedMatch"]
__all__ += ["RoundRobin", "Seat", "Started", "Strategy", "Swiss", "TournamentResult", "TournamentSpec", "Versus"]
__all__ += ["__version__", "built_in_strategy", "make_game", "play", "play_async", "playouts", "read_journal"]
__all__ += ["read_tournament", "register_game", "run_tournament", "serve", "serve_async", "verify"]


def __getattr__(name: str) -> _typing.Any:
    if name not in _LAZY_EXPORTS:
        raise AttributeError(f"module 'fairplay' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"fairplay.{_LAZY_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
