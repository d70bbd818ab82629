"""The referee for board games played by programs.

The layout of the package; imports go downwards only:

    course      the three university courses: formats, dialects, channel, server, harness, verbs
    cli         the command                  bot         a program that plays
    app         one match and one tournament, from a value to all that came of it
    testing     for authors of games and players
    server      the network: rooms, and those who come there
    tournament  many matches, and who is better
    hosting     from a small value to a played match   page   for browsers
    observers   watching: none can disturb a match
    players     reaching a player            journal     matches on disk
    games       the rules: one folder per game
    kit         for games in one file
    referee     how a match is run           render      pictures
    core        the vocabulary: values and interfaces
    kernels     in C: what games are asked most often
"""

import importlib as _importlib
import typing as _typing

from fairplay.core.version import VERSION as __version__

if _typing.TYPE_CHECKING:
    from fairplay.app.tournaments import run_tournament
    from fairplay.core.errors import BadJournal, BadRequest, FairplayError, HostFault, IllegalAction, NotOnTurn
    from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Receipt, Result, Started
    from fairplay.core.game import Game, Moment, News, Ranking, Seat
    from fairplay.core.match import Match
    from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
    from fairplay.core.roles import AsyncChannel, Channel, Observer, Parting, Player, Record, Strategy
    from fairplay.hosting.playouts import playouts
    from fairplay.hosting.run import run, run_async
    from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
    from fairplay.journal.record import Journal, MatchRecord
    from fairplay.journal.requests import Sync
    from fairplay.players.address import house_strategy
    from fairplay.players.serve import serve_player
    from fairplay.protocol.limits import Limits
    from fairplay.referee.drivers import play, play_async
    from fairplay.referee.host import Referee, seats_by_age
    from fairplay.referee.local import Local
    from fairplay.referee.referee import conversation
    from fairplay.server.room import EndGameResult, Room, RoomOptions, create_room
    from fairplay.server.spectating.patches import after_patch, apply_patch
    from fairplay.tournament.file import read_cup
    from fairplay.tournament.result import TournamentResult
    from fairplay.tournament.settings import RoundRobin
    from fairplay.tournament.spec import Cup

_LATER = {  # in which file each of these is, which is loaded when it is first asked for
    name: file
    for file, names in {
        "app.tournaments": "run_tournament",
        "core.errors": "BadJournal BadRequest FairplayError HostFault IllegalAction NotOnTurn",
        "core.events": "Acted Ejected Ended Event Fact Fault Receipt Result Started",
        "core.game": "Game Moment News Ranking Seat",
        "core.match": "Match",
        "core.messages": "Answer Answered End Failed Message Start TakeTurn Tell",
        "core.roles": "AsyncChannel Channel Observer Parting Player Record Strategy",
        "hosting.playouts": "playouts",
        "hosting.run": "run run_async",
        "hosting.spec": "Entrant MatchSpec Outcome",
        "journal.requests": "Sync",
        "journal.record": "Journal MatchRecord",
        "players.address": "house_strategy",
        "players.serve": "serve_player",
        "protocol.limits": "Limits",
        "referee.drivers": "play play_async",
        "referee.host": "Referee seats_by_age",
        "referee.local": "Local",
        "referee.referee": "conversation",
        "server.spectating.patches": "after_patch apply_patch",
        "server.room": "EndGameResult Room RoomOptions create_room",
        "tournament.file": "read_cup",
        "tournament.result": "TournamentResult",
        "tournament.settings": "RoundRobin",
        "tournament.spec": "Cup",
    }.items()
    for name in names.split()
}

__all__ = ["Acted", "Answer", "Answered", "AsyncChannel", "BadJournal", "BadRequest", "Channel", "Cup", "Ejected"]
__all__ += ["End", "EndGameResult", "Ended", "Entrant", "Event", "Fact", "Failed", "FairplayError", "Fault", "Game"]
__all__ += ["HostFault", "IllegalAction", "Journal", "Limits", "Local", "Match", "MatchRecord", "MatchSpec", "Message"]
__all__ += ["Moment", "News", "NotOnTurn", "Observer", "Outcome", "Parting", "Player", "Ranking", "Receipt", "Record"]
__all__ += ["Referee", "Result", "Room", "RoomOptions", "RoundRobin", "Seat", "Start", "Started", "Strategy", "Sync"]
__all__ += ["TakeTurn", "Tell", "TournamentResult", "__version__", "after_patch", "apply_patch", "conversation"]
__all__ += ["create_room", "house_strategy", "play", "play_async", "playouts", "read_cup", "run", "run_async"]
__all__ += ["run_tournament", "seats_by_age", "serve_player"]


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module 'fairplay' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"fairplay.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return __all__
