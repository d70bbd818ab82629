"""Check the bots of a tournament before it begins."""

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
    """The players to check: neither built-in players nor those that join over a network."""
    return [
        one
        for one in tournament.players
        if not (is_built_in(one.address, tournament.game) or is_invitation(one.address))
    ]


def is_invitation(address: str) -> bool:
    """Whether an address is a listener that a player joins."""
    return isinstance(parse_remote_address(address), ListenAddress)


def check_entrant(tournament: TournamentSpec, source: str, entrant: Entrant) -> str:
    """Run the checks of `fairplay check-bot` on an entrant, with the limits and sandbox of the tournament.

    Returns the first check that failed, in a line; empty: none did. It may be called in any thread of any process.
    Raises HostFault if the host fails, and BadRequest if there is no player at the address.
    """
    register(source)  # of the game
    usual = tournament.rules().with_parameters({}).parameters()
    chosen = {name: value for name, value in tournament.parameters.items() if value != usual.get(name)}
    bot = make_bot(tournament, entrant)
    checker = BotChecker(bot, lambda text: None, colour=False)
    checker.check_all(list_trials(bot, chosen))
    return printable(checker.first_failure, MAX_PRINTED_CHARS)


def make_bot(tournament: TournamentSpec, entrant: Entrant) -> Bot:
    """The bot of an entrant, with the limits and sandbox of the tournament."""
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
    """An entrant as an argument of a command: NAME=PLAYER, or PLAYER if the name could not be read back."""
    text = f"{entrant.name}={entrant.address}"
    return text if split_label(text) == (entrant.name, entrant.address) else entrant.address
