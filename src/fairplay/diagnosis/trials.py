"""List the matches in which a bot shows itself before it matters: small games, and odd positions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

import msgspec

from fairplay.core.chance import seed_from
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.games import Title, title
from fairplay.hosting.terms import Terms, terms_for
from fairplay.journal.appeal import lawful_in
from fairplay.players.address import split_label
from fairplay.players.location import Command, Invitation, Person, far
from fairplay.players.remote import DEFAULT
from fairplay.protocol.limits import Limits
from fairplay.referee.host import dealt, distinct
from fairplay.render.words import quoted

GAMES_PLAYED = 3
SEED = "check-bot"


class Bot(msgspec.Struct, frozen=True):
    """Who wants to play, and on what terms."""

    text: str  # as it was named: with its label, if it has one
    address: str
    command: Command | None  # None: it is in this process
    terms: Terms
    options: tuple[str, ...]  # that say so on a command line
    shelf: Title
    logs: str | None = None  # the folder where what it says on stderr is kept

    @property
    def limits(self) -> Limits:
        """How long it may take."""
        return self.terms.limits or DEFAULT


class Trial(msgspec.Struct, frozen=True):
    """A match for a bot to show itself in: a whole one, or one turn of it."""

    name: str
    match: Match[Any, Any, Any]
    seat: Seat  # of the bot
    players: tuple[str, ...]  # by seat, as they are named on a command line
    only_once: bool = False  # after its first turn it is over
    again: str = ""  # the command that plays it again


def bot_named(
    text: str,
    game: str,
    limits: Limits | None,
    sandbox: str | None,
    options: Sequence[str] = (),
    *,
    pondering: bool = False,
    logs: str | None = None,
) -> Bot:
    """The bot that is named by PLAYER or NAME=PLAYER; the options say on a command line what its terms are."""
    shelf, (_, address) = title(game), split_label(text)
    command = far(address, shelf.option)
    if isinstance(command, Invitation | Person):
        raise BadRequest(f"{address} cannot be checked: name the program, for it is started anew for every check")
    hidden = [] if logs is None else [logs]
    terms = terms_for([address], limits, sandbox, hidden, [game], pondering=pondering)
    return Bot(text, address, command, terms, tuple(options) if command else (), shelf, logs)


def trials_for(bot: Bot, chosen: Mapping[str, Any]) -> list[Trial]:
    """All trials of a bot: small matches with these parameters, one of them alone at the table, and odd positions."""
    rules = bot.shelf.rules.with_parameters(chosen)
    small = list(games(bot, {**bot.shelf.quick, **chosen}))
    return [*small, *alone(small[0]), *odd_positions(bot, rules)]


def games(bot: Bot, chosen: Mapping[str, Any]) -> Iterator[Trial]:
    """Matches with house players: one of the fewest whom these parameters allow, one of some, one of the most."""
    game, house = bot.shelf.rules.with_parameters(chosen), list(bot.shelf.house)
    sizes = [seats for seats in game.seats if can_be_dealt(game, seats)] or [game.seats[0]]
    parameters = [f"{name}={value}" for name, value in chosen.items()]
    kind = f" ({', '.join(parameters)})" if parameters else ""
    for number in range(GAMES_PLAYED):
        seats, seed = sizes[ceil((len(sizes) - 1) * number / (GAMES_PLAYED - 1))], f"{SEED}-{number + 1}"
        seat = ceil((seats - 1) * number / (GAMES_PLAYED - 1))
        players = [house[other % len(house)] for other in range(seats)]
        others = ", ".join(player for other, player in enumerate(players) if other != seat)
        players[seat] = bot.text
        names = distinct([split_label(player)[0] for player in players])
        words = ["fairplay", "play", game.name, *players, "--seed", seed, *bot.options, *bot.shelf.option]
        words += [word for parameter in parameters for word in ("--set", parameter)]
        again = " ".join(quoted(word) for word in [*words, "--journal", "games"])
        match = dealt(game, names, seed_from(seed), match_id=f"game-{number + 1}")
        name = f"game {number + 1}{kind}, seat {seat} of {seats}"
        yield Trial(f"{name}, with {others}", match, seat, tuple(players), again=again)


def can_be_dealt(game: Game[Any, Any, Any], seats: int) -> bool:
    """Do the parameters of a game allow so many players?"""
    with suppress(BadRequest):
        return game.deal(seats, seed_from(SEED)) is not None
    return False


def alone(trial: Trial) -> Iterator[Trial]:
    """The same match, but all others are out before it begins; unless it is over then."""
    match = trial.match
    for other in set(match.seated) - {trial.seat}:
        match = match.after(Ejected(other, Fault.GONE, Moment.GREETING, "left the table"))
    if match.turn == trial.seat and lawful_in(match.game, match.view(trial.seat)).count:
        yield Trial("alone: all others are out", match, trial.seat, trial.players)


def odd_positions(bot: Bot, rules: Game[Any, Any, Any]) -> Iterator[Trial]:
    """The examples of a game, wherever there is something to do."""
    for name, state in bot.shelf.examples.items():
        seat = rules.turn(state)
        if seat is None or not lawful_in(rules, rules.view(state, seat)).count:
            continue
        seats = 1 + max(frozenset(rules.order(state)).union(*rules.ranking(state)))
        players = [next(iter(bot.shelf.house))] * seats
        players[seat] = bot.text
        names = tuple(distinct([split_label(player)[0] for player in players]))
        number = f"position-{name.replace(' ', '-')}"
        match = Match(bot.shelf.fitting(rules, state), state, names, seed=seed_from(SEED), id=number)
        yield Trial(f"position {name!r}", match, seat, tuple(players), only_once=True)
