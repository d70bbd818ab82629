"""Let the programs of a tournament show that they are ready to play, before it begins."""

from fairplay.diagnosis.gate import Gate
from fairplay.diagnosis.trials import Bot, bot_named, trials_for
from fairplay.games import register
from fairplay.hosting.spec import Entrant
from fairplay.players.address import split_label
from fairplay.players.location import Invitation, far, of_the_house
from fairplay.protocol.limits import limits_in_words
from fairplay.render.text import printable
from fairplay.render.words import LONGEST
from fairplay.tournament.spec import Cup


def to_be_tried(cup: Cup) -> list[Entrant]:
    """Who has to show itself: neither the house, nor whoever joins over a network."""
    return [one for one in cup.players if not (of_the_house(one.address, cup.game) or joins(one.address))]


def joins(address: str) -> bool:
    """Is this a place where somebody comes in?"""
    return isinstance(far(address), Invitation)


def tried(cup: Cup, source: str, entrant: Entrant) -> str:
    """Put an entrant through the trials of `fairplay check-bot`, under the terms of the tournament.

    Returns the first check that failed, in a line; empty: none did. It may be called in any thread of any process.
    Raises HostFault if we failed ourselves, and BadRequest if there is nobody to be tried.
    """
    register(source)  # of the game
    usual = cup.rules().with_parameters({}).parameters()
    chosen = {name: value for name, value in cup.parameters.items() if value != usual.get(name)}
    bot = bot_of(cup, entrant)
    gate = Gate(bot, lambda text: None, colour=False)
    gate.check_all(trials_for(bot, chosen))
    return printable(gate.why, LONGEST)


def bot_of(cup: Cup, entrant: Entrant) -> Bot:
    """An entrant on the terms of the tournament."""
    named = {"--limit": limits_in_words(cup.limits) if cup.limits else "", "--sandbox": cup.sandbox or ""}
    options = [word for name, value in named.items() if value for word in (name, value)]
    return bot_named(labelled(entrant), cup.game, cup.limits, cup.sandbox, options, pondering=cup.pondering)


def labelled(entrant: Entrant) -> str:
    """An entrant as it is named on a command line: NAME=PLAYER, or only PLAYER if the name would be taken for more."""
    text = f"{entrant.name}={entrant.address}"
    return text if split_label(text) == (entrant.name, entrant.address) else entrant.address
