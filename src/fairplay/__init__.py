"""The referee for board games played by programs.

The layout of the package; imports go downwards only:

    cli         the command                  bot         a program that plays
    harness     the course's x-programs: one file per game
    testing     for authors of games and players
    observers   watching: none can disturb a match
    players     reaching a player            journal     matches on disk
    course      the course's JSON: one file per game
    games       the rules: one folder per game
    referee     how a match is run           render      pictures
    core        the vocabulary: values and interfaces
"""

from fairplay.core.errors import BadJournal, BadRequest, FairplayError, HostFault, IllegalAction
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Receipt, Result, Started
from fairplay.core.game import Game, Moment, News, Ranking, Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import AsyncChannel, Channel, Observer, Player, Record, Strategy
from fairplay.core.version import VERSION as __version__
from fairplay.journal.append_file import Sync
from fairplay.journal.record import Journal
from fairplay.players.serve import serve_player
from fairplay.referee.drivers import play, play_async
from fairplay.referee.host import Referee
from fairplay.referee.local import Local
from fairplay.referee.referee import conversation

__all__ = [
    "Acted",
    "Answer",
    "Answered",
    "AsyncChannel",
    "BadJournal",
    "BadRequest",
    "Channel",
    "Ejected",
    "End",
    "Ended",
    "Event",
    "Fact",
    "Failed",
    "FairplayError",
    "Fault",
    "Game",
    "HostFault",
    "IllegalAction",
    "Journal",
    "Local",
    "Match",
    "Message",
    "Moment",
    "News",
    "Observer",
    "Player",
    "Ranking",
    "Receipt",
    "Record",
    "Referee",
    "Result",
    "Seat",
    "Start",
    "Started",
    "Strategy",
    "Sync",
    "TakeTurn",
    "Tell",
    "__version__",
    "conversation",
    "play",
    "play_async",
    "serve_player",
]
