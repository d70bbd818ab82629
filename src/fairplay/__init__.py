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
    games       the rules: one directory per game
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
    from fairplay.core.roles import AsyncChannel, Channel, CloseReason, Observer, Player, Record, Strategy
    from fairplay.hosting.playouts import playouts
    from fairplay.hosting.run import run, run_async
    from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
    from fairplay.journal.options import Durability
    from fairplay.journal.record import Journal, MatchRecord
    from fairplay.players.address import built_in_strategy
    from fairplay.players.player_loop import serve_player
    from fairplay.protocol.limits import Limits
    from fairplay.referee.conversation import conversation
    from fairplay.referee.drivers import play, play_async
    from fairplay.referee.local_channel import LocalChannel
    from fairplay.referee.referee import Referee, seats_by_age
    from fairplay.server.room import EndGameResult, Room, RoomOptions, create_room
    from fairplay.server.spectating.patches import apply_patch, apply_patch_line
    from fairplay.tournament.result import TournamentResult
    from fairplay.tournament.settings import RoundRobin
    from fairplay.tournament.spec import TournamentSpec
    from fairplay.tournament.spec_file import read_tournament

_LAZY_EXPORTS = {  # in which file each of these is, which is loaded when it is first asked for
    name: file
    for file, names in {
        "app.tournaments": "run_tournament",
        "core.errors": "BadJournal BadRequest FairplayError HostFault IllegalAction NotOnTurn",
        "core.events": "Acted Ejected Ended Event Fact Fault Receipt Result Started",
        "core.game": "Game Moment News Ranking Seat",
        "core.match": "Match",
        "core.messages": "Answer Answered End Failed Message Start TakeTurn Tell",
        "core.roles": "AsyncChannel Channel Observer CloseReason Player Record Strategy",
        "hosting.playouts": "playouts",
        "hosting.run": "run run_async",
        "hosting.spec": "Entrant MatchSpec Outcome",
        "journal.options": "Durability",
        "journal.record": "Journal MatchRecord",
        "players.address": "built_in_strategy",
        "players.player_loop": "serve_player",
        "protocol.limits": "Limits",
        "referee.drivers": "play play_async",
        "referee.referee": "Referee seats_by_age",
        "referee.local_channel": "LocalChannel",
        "referee.conversation": "conversation",
        "server.spectating.patches": "apply_patch apply_patch_line",
        "server.room": "EndGameResult Room RoomOptions create_room",
        "tournament.spec_file": "read_tournament",
        "tournament.result": "TournamentResult",
        "tournament.settings": "RoundRobin",
        "tournament.spec": "TournamentSpec",
    }.items()
    for name in names.split()
}

__all__ = ["Acted", "Answer", "Answered", "AsyncChannel", "BadJournal", "BadRequest", "Channel", "CloseReason"]
__all__ += ["Durability", "Ejected", "End", "EndGameResult", "Ended", "Entrant", "Event", "Fact", "Failed"]
__all__ += ["FairplayError", "Fault", "Game", "HostFault", "IllegalAction", "Journal", "Limits", "LocalChannel"]
__all__ += ["Match", "MatchRecord", "MatchSpec", "Message", "Moment", "News", "NotOnTurn", "Observer", "Outcome"]
__all__ += ["Player", "Ranking", "Receipt", "Record", "Referee", "Result", "Room", "RoomOptions", "RoundRobin"]
__all__ += ["Seat", "Start", "Started", "Strategy", "TakeTurn", "Tell", "TournamentResult", "TournamentSpec"]
__all__ += ["__version__", "apply_patch", "apply_patch_line", "built_in_strategy", "conversation", "create_room"]
__all__ += ["play", "play_async", "playouts", "read_tournament", "run", "run_async", "run_tournament", "seats_by_age"]
__all__ += ["serve_player"]


def __getattr__(name: str) -> _typing.Any:
    if name not in _LAZY_EXPORTS:
        raise AttributeError(f"module 'fairplay' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"fairplay.{_LAZY_EXPORTS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
