"""Let the programs of a tournament show that they are ready to play, before it begins."""

from fairplay.diagnosis.bot_check import BotChecker
from fairplay.diagnosis.bot_trials import Bot, list_trials, parse_bot
from fairplay.games import register
from fairplay.hosting.spec import Entrant
from fairplay.players.address import split_label
from fairplay.players.location import ListenAddress, is_built_in, parse_remote_address
from fairplay.protocol.limits import format_limits
from fairplay.render.formatting import MAX_PRINTED_CHARS
from fairplay.render.text import printable
from fairplay.tournament.spec import TournamentSpec


def bots_to_check(tournament: TournamentSpec) -> list[Entrant]:
    """Who has to show itself: neither the server, nor whoever joins over a network."""
    return [
        one
        for one in tournament.players
        if not (is_built_in(one.address, tournament.game) or is_invitation(one.address))
    ]


def is_invitation(address: str) -> bool:
    """Is this a place where somebody comes in?"""
    return isinstance(parse_remote_address(address), ListenAddress)


def check_entrant(tournament: TournamentSpec, source: str, entrant: Entrant) -> str:
    """Put an entrant through the trials of `fairplay check-bot`, under the conditions of the tournament.

    Returns the first check that failed, in a line; empty: none did. It may be called in any thread of any process.
    Raises HostFault if we failed ourselves, and BadRequest if there is nobody to be tried.
    """
    register(source)  # of the game
    usual = tournament.rules().with_parameters({}).parameters()
    chosen = {name: value for name, value in tournament.parameters.items() if value != usual.get(name)}
    bot = make_bot(tournament, entrant)
    checker = BotChecker(bot, lambda text: None, colour=False)
    checker.check_all(list_trials(bot, chosen))
    return printable(checker.first_failure, MAX_PRINTED_CHARS)


def make_bot(tournament: TournamentSpec, entrant: Entrant) -> Bot:
    """An entrant on the conditions of the tournament."""
    named = {
        "--limit": format_limits(tournament.limits) if tournament.limits else "",
        "--sandbox": tournament.sandbox or "",
    }
    options = [word for name, value in named.items() if value for word in (name, value)]
    return parse_bot(
        format_entrant(entrant),
        tournament.game,
        tournament.limits,
        tournament.sandbox,
        options,
        pondering=tournament.pondering,
    )


def format_entrant(entrant: Entrant) -> str:
    """An entrant as it is named on a command line: NAME=PLAYER, or only PLAYER if the name would be taken for more."""
    text = f"{entrant.name}={entrant.address}"
    return text if split_label(text) == (entrant.name, entrant.address) else entrant.address
