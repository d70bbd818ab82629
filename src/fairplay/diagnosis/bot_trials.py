"""List the matches that check a bot: small games, a game without opponents, and unusual positions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

import msgspec

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.games import GameInfo, game_info
from fairplay.hosting.conditions import MatchConditions, match_conditions
from fairplay.journal.ejection_report import legal_actions
from fairplay.players.address import split_label
from fairplay.players.location import Command, ListenAddress, Person, parse_remote_address
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import deal_match, distinct_names
from fairplay.render.formatting import shell_quote

TRIAL_GAMES = 3
TRIAL_SEED = "check-bot"


class Bot(msgspec.Struct, frozen=True):
    """Who wants to play, and on what conditions."""

    player: str  # as it was named: with its label, if it has one
    address: str
    command: Command | None  # None: it is in this process
    conditions: MatchConditions
    options: tuple[str, ...]  # that ask for these conditions on a command line
    game_info: GameInfo
    logs: str | None = None  # the directory for its stderr

    @property
    def limits(self) -> Limits:
        """The limits of time, the usual ones unless others were chosen."""
        return self.conditions.limits or DEFAULT_LIMITS


class BotTrial(msgspec.Struct, frozen=True):
    """A match that checks a bot: a whole one, or one turn of it."""

    name: str
    match: Match[Any, Any, Any]
    seat: Seat  # of the bot
    players: tuple[str, ...]  # by seat, as arguments of a command
    single_turn: bool = False  # the trial is over after the first turn
    command: str = ""  # the command that plays it again


def parse_bot(
    text: str,
    game: str,
    limits: Limits | None,
    sandbox: str | None,
    options: Sequence[str] = (),
    *,
    pondering: bool = False,
    logs: str | None = None,
) -> Bot:
    """The bot that PLAYER or NAME=PLAYER names; `options` ask for the same conditions on a command line."""
    info, (_, address) = game_info(game), split_label(text)
    command = parse_remote_address(address, info.option)
    if isinstance(command, ListenAddress | Person):
        raise BadRequest(f"{address} cannot be checked: name a program, as it is started again for every check")
    hidden = [] if logs is None else [logs]
    conditions = match_conditions([address], limits, sandbox, hidden, [game], pondering=pondering)
    return Bot(text, address, command, conditions, tuple(options) if command else (), info, logs)


def list_trials(bot: Bot, chosen: Mapping[str, Any]) -> list[BotTrial]:
    """All trials of a bot: small matches with these parameters, one without opponents, and unusual positions."""
    rules = bot.game_info.rules.with_parameters(chosen)
    small = list(trial_games(bot, {**bot.game_info.quick, **chosen}))
    return [*small, *solo_trials(small[0]), *position_trials(bot, rules)]


def trial_games(bot: Bot, chosen: Mapping[str, Any]) -> Iterator[BotTrial]:
    """Matches with built-in players: of the fewest players that these parameters allow, of some, and of the most."""
    game, built_in = bot.game_info.rules.with_parameters(chosen), list(bot.game_info.built_in)
    sizes = [seats for seats in game.seats if can_deal(game, seats)] or [game.seats[0]]
    parameters = [f"{name}={value}" for name, value in chosen.items()]
    kind = f" ({', '.join(parameters)})" if parameters else ""
    for number in range(TRIAL_GAMES):
        seats, seed = sizes[ceil((len(sizes) - 1) * number / (TRIAL_GAMES - 1))], f"{TRIAL_SEED}-{number + 1}"
        seat = ceil((seats - 1) * number / (TRIAL_GAMES - 1))
        players = [built_in[other % len(built_in)] for other in range(seats)]
        others = ", ".join(player for other, player in enumerate(players) if other != seat)
        players[seat] = bot.player
        names = distinct_names([split_label(player)[0] for player in players])
        words = ["fairplay", "play", game.name, *players, "--seed", seed, *bot.options, *bot.game_info.option]
        words += [word for parameter in parameters for word in ("--set", parameter)]
        again = " ".join(shell_quote(word) for word in [*words, "--journal", "games"])
        match = deal_match(game, names, seed_from_text(seed), match_id=f"game-{number + 1}")
        name = f"game {number + 1}{kind}, seat {seat} of {seats}"
        yield BotTrial(f"{name}, with {others}", match, seat, tuple(players), command=again)


def can_deal(game: Game[Any, Any, Any], seats: int) -> bool:
    """Whether the parameters of a game allow so many players."""
    with suppress(BadRequest):
        return game.deal(seats, seed_from_text(TRIAL_SEED)) is not None
    return False


def solo_trials(trial: BotTrial) -> Iterator[BotTrial]:
    """The same match with all other players ejected before it begins, unless that ends it."""
    match = trial.match
    for other in set(match.remaining_seats) - {trial.seat}:
        match = match.after(Ejected(other, Fault.GONE, Moment.GREETING, "left the table"))
    if match.turn == trial.seat and legal_actions(match.game, match.view(trial.seat)).count:
        yield BotTrial("alone: all other players are out", match, trial.seat, trial.players)


def position_trials(bot: Bot, rules: Game[Any, Any, Any]) -> Iterator[BotTrial]:
    """The example positions of a game in which a player has a legal action."""
    for name, state in bot.game_info.examples.items():
        seat = rules.turn(state)
        if seat is None or not legal_actions(rules, rules.view(state, seat)).count:
            continue
        seats = 1 + max(frozenset(rules.order(state)).union(*rules.ranking(state)))
        players = [next(iter(bot.game_info.built_in))] * seats
        players[seat] = bot.player
        names = tuple(distinct_names([split_label(player)[0] for player in players]))
        number = f"position-{name.replace(' ', '-')}"
        match = Match(
            bot.game_info.game_for_state(rules, state), state, names, seed=seed_from_text(TRIAL_SEED), id=number
        )
        yield BotTrial(f"position {name!r}", match, seat, tuple(players), single_turn=True)
